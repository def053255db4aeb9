// warpstage in a browser: kernels, devices, timelines, and jobs over arrays and streams. Files and their formats are not
// here.

export { job, map, reduce, run } from './overlap/start-in-browser.ts';
export * from './portable.ts';
export * from './portable-jobs.ts';
export { open } from './runtime/open-in-browser.ts';
export { tracePage } from './timeline/page.ts';
