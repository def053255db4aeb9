// What jobs are wherever they run. Not here are `run`, which differs, what declares jobs for it, and what is about files.

export type { Conversion, Dtype } from './formats/dtype.ts';
export type { ReadableShape } from './formats/stream-bytes.ts';
export type { Group } from './overlap/groups.ts';
export type { HaloDeclaration } from './overlap/halo.ts';
export type {
  AccumulatorArrays,
  AccumulatorDeclaration,
  AnyDefinition,
  ArrayDeclaration,
  ArrayNames,
  ChunkContext,
  CombineFunction,
  DeclareJob,
  ElementOf,
  FinishContext,
  FunctionNames,
  InputDeclaration,
  Job,
  JobContext,
  JobDefinition,
  LaunchShape,
  OperandDeclaration,
  OutputArrays,
  OutputDeclaration,
  ScalarNames,
  SettingDeclaration,
  SettingValue,
  StreamingJob,
  TypedArray,
  Width,
  WritableNames,
} from './overlap/job.ts';
export type { DeclareMap, MapOptions, MapOutputs, MapPart } from './overlap/map.ts';
export type {
  ChunkReport,
  DeviceReport,
  FileFormat,
  InputData,
  InputFile,
  InputFiles,
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
export type {
  DeclareReduce,
  Fold,
  Folded,
  GroupOptions,
  ReducedValue,
  ReduceOptions,
} from './overlap/reduce.ts';
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
export type { JobStream, JobStreamOptions, StreamPart, StreamResult, WebReadable } from './overlap/stream.ts';
export type { CutStep } from './overlap/tuner.ts';
