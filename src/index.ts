// warpstage: CUDA's asynchronous pipelines and streams for TypeScript.

export { type Code, codes } from './diagnostics/codes.ts';
export { type Issue, type Location, WarpstageError } from './diagnostics/error.ts';
export { deviceFunction, type Kernel, kernel, type LaunchArguments } from './kernel/kernel.ts';
