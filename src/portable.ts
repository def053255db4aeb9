// What warpstage is wherever it runs: kernels, devices and timelines. Not here are `open`, which differs, and
// `tracePage`, whose script and style a page may load when it needs them.

import './diagnostics/disposal.ts';

export { type Code, codes } from './diagnostics/codes.ts';
export {
  type Issue,
  type Location,
  WarpstageError,
  type WarpstageErrorOptions,
} from './diagnostics/error.ts';
export type { Edit, Fix } from './diagnostics/fix.ts';
export type { AnyFunction, Place } from './diagnostics/source.ts';
export type {
  AlignedSize,
  AnyVector,
  AtomicElement,
  BitType,
  Castable,
  Constant,
  CooperativeGroups,
  Cuda,
  Dim3,
  Divided,
  Exchanged,
  Grid,
  Index,
  Lanes,
  MemoryOrder,
  MemoryScope,
  Nanoseconds,
  Pipeline,
  PipelinedBatches,
  PipelineRole,
  PipelineScope,
  PipelineSharedState,
  RandomState,
  Scalar,
  StageCopies,
  StageCopy,
  Staged,
  Thread,
  ThreadBlock,
  Tile,
  TileSize,
  VectorOrNumber,
} from './kernel/cuda.ts';
export type { CudaAsync } from './kernel/cuda-async.ts';
export type { CudaAtomics } from './kernel/cuda-atomics.ts';
export type { ArrivalToken, Barrier, BarrierArray, CudaBarriers } from './kernel/cuda-barriers.ts';
export type { CoalescedGroup, CudaGroups, CudaWarps, ThreadSubset } from './kernel/cuda-groups.ts';
export type { CudaVectors } from './kernel/cuda-vectors.ts';
export { decodeBF16, decodeF16, encodeBF16, encodeF16 } from './kernel/half.ts';
export type { Combination } from './kernel/intrinsics.ts';
export {
  type AnyArgument,
  type ArrayArgument,
  deviceFunction,
  type Kernel,
  type KernelOptions,
  kernel,
  type LaunchArgument,
  type LaunchArguments,
  type LaunchBounds,
  type ShapedArgument,
  type ShapedArgumentOf,
} from './kernel/kernel.ts';
export type {
  BodyData,
  DeviceFunction,
  DeviceFunctionArguments,
  DeviceSchema,
  ElementValue,
  ElementValues,
  EntryValue,
  HandleEntry,
  Handles,
  KernelArray,
  NumberValues,
  OptionalNames,
  ReadonlyKernelArray,
  ResultTypes,
  Rows,
  RowsOf,
  Schema,
  SchemaEntry,
  Shape,
  Shaped,
  ValueOf,
  Vector2,
  Vector3,
  Vector4,
  VectorValues,
  WindowEntry,
} from './kernel/schema.ts';
export {
  type FieldValue,
  type RecordOf,
  type RecordValue,
  type Struct,
  type StructArray,
  type StructFields,
  struct,
} from './kernel/struct.ts';
export type {
  Element,
  ElementType,
  Extent,
  Extent3,
  HostArray,
  HostArrays,
  NumberArrays,
  NumberElement,
  RecordType,
  ScalarType,
  Vector,
  VectorArrays,
  VectorComponent,
  VectorLength,
  VectorType,
  VectorTypes,
} from './kernel/types.ts';
export type { Cancelling, SignalShape } from './runtime/abort-signal.ts';
export type { BlockSize, BlockSizeOptions } from './runtime/block-size.ts';
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
  Operand,
  PinnedArray,
  Pitched,
  Pitched3D,
  ShapedArray,
  Stream,
  StreamOptions,
} from './runtime/device.ts';
export type { KernelTime, TimedLaunch } from './runtime/model/operation-times.ts';
export type { PresetName } from './runtime/model/presets.ts';
export type { Occupancy, Resource } from './runtime/occupancy.ts';
export type { DeviceName, OpenOptions } from './runtime/open-options.ts';
export type { RecordedTimes, RecordingOptions } from './runtime/recording.ts';
export { chromeTrace, type TraceDescription } from './timeline/chrome-trace.ts';
export { type Busy, measureOverlap, type OverlapFigures } from './timeline/overlap.ts';
export type { Trace } from './timeline/page.ts';
export { type CutFigures, type DeviceFigures, type ReportData, reportText } from './timeline/report.ts';
export type { BlockStages, Span } from './timeline/span.ts';
export type { Unit } from './timeline/viewer/units.ts';
