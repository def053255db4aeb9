// warpstage: CUDA's asynchronous pipelines and streams for TypeScript.

import './diagnostics/disposal.ts';

export type { ByteReader, FilePlace, OpenBytes } from './formats/bytes.ts';
export type { Conversion, Dtype } from './formats/dtype.ts';
export type {
  Contents,
  DecodedValues,
  Elements,
  ElementsInPlace,
  ElementsInUnits,
  Encoding,
  Format,
  OpenRequest,
  OutputDescription,
  StoredArray,
} from './formats/format.ts';
export { registerFormat } from './formats/registry.ts';
export {
  type AccumulatorArrays,
  type AccumulatorDeclaration,
  type AnyDefinition,
  type ArrayDeclaration,
  type ArrayNames,
  type ChunkContext,
  type CombineFunction,
  type ElementOf,
  type FinishContext,
  type FunctionNames,
  type InputDeclaration,
  type Job,
  type JobContext,
  type JobDefinition,
  job,
  type LaunchShape,
  type OperandDeclaration,
  type OutputArrays,
  type OutputDeclaration,
  type ScalarNames,
  type SettingDeclaration,
  type SettingValue,
  type TypedArray,
  type Width,
  type WritableNames,
} from './overlap/job.ts';
export { type MapOutputs, map } from './overlap/map.ts';
export type {
  ChunkReport,
  DeviceReport,
  FileFormat,
  InputData,
  InputFile,
  InputStream,
  JobReport,
  JobResult,
  OutputData,
  OutputFile,
  Progress,
  RunOptions,
  StageName,
  StageReport,
} from './overlap/options.ts';
export type { JobPlan, PlanOptions } from './overlap/plan-job.ts';
export type { Cut } from './overlap/predict.ts';
export { type Fold, type Folded, type ReducedValue, type ReduceOptions, reduce } from './overlap/reduce.ts';
export type {
  ConstantNames,
  ElementNames,
  ElementsFor,
  ElementValueOf,
  HostArrayOf,
  InputNames,
  ResultNames,
  RowData,
  RowOptions,
  RowResult,
  RowSchema,
} from './overlap/row-function.ts';
export { type FollowingPass, type Sequence, sequence } from './overlap/sequence.ts';
export { plan, run } from './overlap/start.ts';
export type { CutStep } from './overlap/tuner.ts';
export * from './portable.ts';
export { open } from './runtime/open.ts';
export { tracePage } from './timeline/page.ts';
