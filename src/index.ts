// warpstage: CUDA's asynchronous pipelines and streams for TypeScript.

export { type Code, codes } from './diagnostics/codes.ts';
export { type Issue, type Location, WarpstageError } from './diagnostics/error.ts';
export type {
  AlignedSize,
  CooperativeGroups,
  Cuda,
  Dim3,
  Grid,
  Pipeline,
  PipelineRole,
  PipelineScope,
  PipelineSharedState,
  Thread,
  ThreadBlock,
  Tile,
} from './kernel/cuda.ts';
export { decodeBF16, decodeF16, encodeBF16, encodeF16 } from './kernel/half.ts';
export {
  type ArrayArgument,
  deviceFunction,
  type Kernel,
  type KernelOptions,
  kernel,
  type LaunchArguments,
} from './kernel/kernel.ts';
export type {
  DeviceFunction,
  DeviceSchema,
  KernelArray,
  ReadonlyKernelArray,
  Schema,
  Vector2,
  Vector4,
} from './kernel/schema.ts';
export type { ElementType, Extent, HostArrays, ScalarType, VectorType } from './kernel/types.ts';
export {
  type AccumulatorDeclaration,
  type ArrayDeclaration,
  type ChunkContext,
  type FinishContext,
  type InputDeclaration,
  type Job,
  type JobContext,
  type JobDefinition,
  job,
  type LaunchShape,
  type OperandDeclaration,
  type OutputDeclaration,
  type SettingDeclaration,
  type SettingValue,
} from './overlap/job.ts';
export type {
  DeviceReport,
  InputData,
  InputFile,
  InputStream,
  JobReport,
  JobResult,
  OutputData,
  OutputFile,
  Progress,
  RunOptions,
  StageReport,
} from './overlap/options.ts';
export type { JobPlan, PlanOptions } from './overlap/plan-job.ts';
export { type FollowingPass, type Sequence, sequence } from './overlap/sequence.ts';
export { plan, run } from './overlap/start.ts';
export type {
  CudaKernelOptions,
  Device,
  DeviceArray,
  DeviceProperties,
  Event,
  EventOptions,
  Graph,
  HostOperand,
  LaunchConfiguration,
  LaunchInformation,
  MemoryStatistics,
  PinnedArray,
  Pitched,
  Pitched3D,
  Stream,
  StreamOptions,
} from './runtime/device.ts';
export type { KernelTime, TimedLaunch } from './runtime/model/operation-times.ts';
export { type OpenOptions, open } from './runtime/open.ts';
export type { RecordedTimes, RecordingOptions } from './runtime/recording.ts';
export { chromeTrace, type TraceDescription } from './timeline/chrome-trace.ts';
export { type Busy, measureOverlap, type OverlapFigures } from './timeline/overlap.ts';
export { type Trace, tracePage } from './timeline/page.ts';
export { type ReportData, reportText } from './timeline/report.ts';
export type { BlockStages, Span } from './timeline/span.ts';
