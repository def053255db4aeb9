// warpstage: CUDA's asynchronous pipelines and streams for TypeScript.

import './diagnostics/disposal.ts';

export type { FileWithin } from './files/folder.ts';
export type { ByteReader, FilePlace, OpenBytes } from './formats/bytes.ts';
export type { FolderFile, FolderFiles } from './formats/folder-files.ts';
export type {
  Archive,
  Contents,
  DecodedValues,
  Elements,
  ElementsInPlace,
  ElementsInUnits,
  Encoding,
  FolderEncoding,
  Format,
  OpenRequest,
  OutputDescription,
  ReadRequest,
  StoredArray,
} from './formats/format.ts';
export { registerFormat } from './formats/registry.ts';
export type { JobPlan, PlanOptions } from './overlap/plan-job.ts';
export type { Cut } from './overlap/predict.ts';
export { job, map, plan, reduce, run } from './overlap/start.ts';
export * from './portable.ts';
export * from './portable-jobs.ts';
export { open } from './runtime/open.ts';
export { tracePage } from './timeline/page.ts';
