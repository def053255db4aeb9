// `warpstage` for all but what makes a timeline's page: that page's script and style are loaded when they are needed.

export * from '#warpstage/portable.js';
export { open } from '#warpstage/runtime/open-in-browser.js';
