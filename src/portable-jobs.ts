// What jobs are wherever they run. Not here are `run`, which differs, and what is about files.

export type { Conversion, Dtype } from './formats/dtype.ts';
export type { ReadableShape } from './formats/stream-bytes.ts';
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
export type { WritableShape } from './overlap/sinks/web-stream.ts';
export type { CutStep } from './overlap/tuner.ts';
