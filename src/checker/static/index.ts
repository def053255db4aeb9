// warpstage/editor: what an editor shows of kernels, from the text alone.

import '../../diagnostics/disposal.ts';

export type { Issue, Location } from '../../diagnostics/error.ts';
export type { Edit, Fix } from '../../diagnostics/fix.ts';
export { checkText, type ReadText, type StaticCheck } from './check-text.ts';
export { type NameInKernel, namesInKernels } from './names.ts';
