// warpstage in a browser: kernels, devices and timelines. What reads and writes files is not here: formats and jobs.

export * from './portable.ts';
export { open } from './runtime/open-in-browser.ts';
export { tracePage } from './timeline/page.ts';
