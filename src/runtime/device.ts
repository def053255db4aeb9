// Devices, memory, streams and events: the one interface behind which a CPU, a GPU and a
// virtual device stand.
//
// Every operation on a stream returns at once and becomes a command; a stream carries its
// commands out in order, and commands of different streams overlap where engines allow it.
// An error of a command is thrown by the next synchronisation that covers it, or else when the device
// is closed; commands that depended on it are not carried out; after the error was thrown the stream
// is usable again.

import type { Kernel, LaunchArguments, Schema, ShapedArgument } from '../kernel/kernel.ts';
import type { HostShape } from '../kernel/shaped.ts';
import type { RecordOf, Struct, StructFields } from '../kernel/struct.ts';
import type { Element, ElementType, Extent, HostArray } from '../kernel/types.ts';
import type { Span } from '../timeline/span.ts';
import type { Cancelling } from './abort-signal.ts';
import type { BlockSize, BlockSizeOptions } from './block-size.ts';
import type { Occupancy } from './occupancy.ts';
import type { RecordedTimes, RecordingOptions } from './recording.ts';

/** What `cudaDeviceProp` says of a device, as far as it means something on every kind. */
export interface DeviceProperties {
  readonly name: string;
  readonly kind: 'cpu' | 'cuda' | 'model';
  /** Which of the machine's GPUs it is: 1 for `cuda:1`. */
  readonly ordinal?: number;
  /** `'9.0'` for an H200; `'0.0'` on a CPU. */
  readonly computeCapability: string;
  readonly multiProcessorCount: number;
  readonly warpSize: number;
  readonly maxThreadsPerBlock: number;
  readonly maxBlockDim: readonly [number, number, number];
  readonly maxGridDim: readonly [number, number, number];
  /** Bytes. */
  readonly sharedMemoryPerBlock: number;
  /** Bytes that allocations may take in all. */
  readonly totalGlobalMemory: number;
  /** Copy engines: how many copies run beside a kernel. */
  readonly asyncEngineCount: number;
  /** Whether copies and kernels run at the same time at all. */
  readonly deviceOverlap: boolean;
  readonly concurrentKernels: boolean;
}

/** Bytes of a device's memory, as counted by its allocator. */
export interface MemoryStatistics {
  readonly allocated: number;
  readonly free: number;
  readonly total: number;
  readonly allocations: number;
}

/** An array in a device's memory. */
export interface DeviceArray<E extends Element = Element> extends Disposable {
  readonly kind: 'device';
  readonly device: Device;
  readonly element: E;
  readonly length: number;
  readonly byteLength: number;
  /** A part of this array: the same memory, elements `begin` to `end` (exclusive). Freed with the whole. */
  subarray(begin: number, end?: number): DeviceArray<E>;
  /**
   * The same memory as elements of another type, or as records: as many as fit. Where it begins must be a multiple of
   * their alignment. Freed with the whole. CUDA: `reinterpret_cast<T*>(array)`.
   */
  as<F extends StructFields>(type: Struct<F>): DeviceArray<RecordOf<F>>;
  as<A extends ElementType>(element: A): DeviceArray<A>;
  /**
   * The array with a shape, for a parameter of two or three dimensions (`image: 'f32[][]'`): from the outermost extent,
   * with rows that begin `pitch` elements from each other, by default as many as they have. CUDA: `cudaMallocPitch`'s pitch,
   * counted in elements.
   *
   * @example
   * const pixels = device.alloc('f32', height * 128);
   * stream.launch(blur, { grid, block }, { image: pixels.shaped([height, width], 128) });
   *
   * @throws WarpstageError WS4007 for a shape that does not fit into the array
   */
  shaped<const S extends HostShape>(shape: S, pitch?: number): ShapedArray<E, S>;
  /** Gives the memory back, after the commands that use it. A second call is an error. */
  free(): void;
}

/** An array of a device with a shape, made by `array.shaped(…)`: what parameters of several dimensions take. */
export interface ShapedArray<E extends Element = Element, S extends HostShape = HostShape>
  extends ShapedArgument<E, { readonly [K in keyof S]: number } & HostShape> {
  readonly array: DeviceArray<E>;
}

/** An array in page-locked host memory: copies from and to it overlap with everything else. */
export interface PinnedArray<E extends Element = Element> extends Disposable {
  readonly kind: 'pinned';
  readonly element: E;
  readonly length: number;
  readonly byteLength: number;
  /**
   * The memory itself, which changes while a copy into it is under way: read it after a synchronisation
   * that covers the copy. An error after `free()`.
   */
  readonly array: HostArray<E>;
  subarray(begin: number, end?: number): PinnedArray<E>;
  /** The same memory as elements of another type, or as records. */
  as<F extends StructFields>(type: Struct<F>): PinnedArray<RecordOf<F>>;
  as<A extends ElementType>(element: A): PinnedArray<A>;
  free(): void;
}

/** What a copy may have on the host's side: a typed array is pageable memory. */
export type HostOperand<E extends Element = Element> = PinnedArray<E> | HostArray<E>;

/** Rows of `width` elements, `pitch` elements apart. */
export interface Pitched<T> {
  readonly array: T;
  readonly pitch: number;
}

/** Planes of rows: `height` rows of `pitch` elements make a plane. */
export interface Pitched3D<T> extends Pitched<T> {
  readonly height: number;
}

export type Operand<E extends Element> = DeviceArray<E> | HostOperand<E>;

export interface LaunchConfiguration {
  /** Blocks. */
  readonly grid: Extent;
  /** Threads of a block, at most 1024 in all. */
  readonly block: Extent;
  /**
   * All blocks are resident at the same time, so that `grid.sync()` may wait for them: the grid must not
   * be larger than the device can hold at once. Default false. CUDA: `cudaLaunchCooperativeKernel`.
   */
  readonly cooperative?: boolean;
  /** Cancels the kernel, even one that is running. */
  readonly signal?: Cancelling;
}

export interface LaunchInformation {
  /** What carries the kernel out, for example `wasm (regions, vectorised)`. */
  readonly ranOn: string;
}

/** Commands that are carried out in the order in which they were issued. */
export interface Stream extends AsyncDisposable {
  readonly device: Device;
  /** As timelines and errors call it, for example `stream 1`: its own on the device. */
  readonly name: string;
  readonly priority: number;
  /** Copies all of `source` to `destination`; the direction follows from the operands; lengths and types must agree. */
  memcpyAsync<E extends Element>(destination: Operand<E>, source: Operand<NoInfer<E>>): void;
  /** Copies `height` rows of `width` elements. */
  memcpy2DAsync<E extends Element>(
    destination: Pitched<Operand<E>>,
    source: Pitched<Operand<NoInfer<E>>>,
    width: number,
    height: number,
  ): void;
  /** Copies `depth` planes of `height` rows of `width` elements. */
  memcpy3DAsync<E extends Element>(
    destination: Pitched3D<Operand<E>>,
    source: Pitched3D<Operand<NoInfer<E>>>,
    width: number,
    height: number,
    depth: number,
  ): void;
  /** Sets every byte, as cudaMemsetAsync does. */
  memsetAsync(destination: DeviceArray, byte: number): void;
  launch<S extends Schema>(
    kernel: Kernel<S>,
    configuration: LaunchConfiguration,
    args: LaunchArguments<S>,
  ): LaunchInformation;
  /**
   * Calls a function on the main thread when everything before it in this stream is done; what is
   * behind it waits until it has returned and a promise that it gave is resolved.
   */
  launchHostFunction(run: () => unknown): void;
  /**
   * Calls `issue` and notes down what it issues to this stream, instead of carrying it out: the
   * graph can then be launched any number of times. Another stream that waits for an event
   * recorded here joins in. Operands are those of the capture; a typed array is read at each launch.
   */
  capture(issue: () => void): Graph;
  /** Marks this point of the stream. The event must be of its device (WS2005). */
  record(event: Event): void;
  /**
   * Later commands of this stream wait for the point where the event was recorded last, whichever stream that was in, also on
   * another device; an event that was not recorded holds nothing up. They fail with what has failed there. GPUs wait for each other
   * by themselves; a wait between devices of different kinds ends when the event loop turns, or one of them is asked. Virtual
   * devices that wait for each other have one virtual time from then on. CUDA: `cudaStreamWaitEvent`.
   */
  waitEvent(event: Event): void;
  /** True if everything issued so far is done. Throws the error of a command that failed. */
  query(): boolean;
  /**
   * Resolves when everything issued so far is over, also what came before a command that was cancelled. Throws the error of
   * a command that failed.
   */
  synchronize(): Promise<void>;
  /** Waits for the stream's commands and closes it. Throws the error of a command that failed. */
  destroy(): Promise<void>;
}

/** Operations that were captured in a stream, to be launched together. */
export interface Graph {
  readonly device: Device;
  /** How many operations it has. */
  readonly operations: number;
  /** Carries them out in a stream, behind what was issued to it before. */
  launch(stream: Stream): LaunchInformation;
}

/** A point in a stream, and the time at which it was reached. */
export interface Event extends Disposable {
  readonly device: Device;
  query(): boolean;
  synchronize(): Promise<void>;
  /** Milliseconds from `start` to this event; both must have been reached. */
  elapsedTime(start: Event): number;
  destroy(): void;
}

export interface EventOptions {
  /**
   * Whether the event has a time, for `elapsedTime`. Default true. One without is cheaper to record, as with CUDA's
   * `cudaEventDisableTiming`.
   */
  readonly timing?: boolean;
}

export interface StreamOptions {
  /** Does not synchronise with the legacy default stream. Default false. */
  readonly nonBlocking?: boolean;
  /** Lower is more urgent, as in CUDA. A hint. Default 0. */
  readonly priority?: number;
}

/** What `device.compile` takes of a kernel in CUDA C++. */
export interface CudaKernelOptions<S extends Schema> {
  /** The `__global__` function, as C++ names it: `scale`, `scale<float>`. */
  readonly name: string;
  /** Its parameters, in order: an array is a pointer, `index` a `long long`. A constant is a macro. */
  readonly schema: S;
  /** Bytes of dynamic shared memory of a block. Default 0. */
  readonly sharedMemory?: number;
  /** Further options of NVRTC, for example `--use_fast_math`. */
  readonly options?: readonly string[];
}

/** What carries out commands: allocations, streams, events and kernels belong to one device. */
export interface Device extends AsyncDisposable {
  readonly properties: DeviceProperties;
  readonly defaultStream: Stream;
  /** Elements, or records of a type that `struct()` has made; all zero. Throws WS4001 if memory is short. */
  alloc<F extends StructFields>(type: Struct<F>, length: number): DeviceArray<RecordOf<F>>;
  alloc<E extends ElementType>(element: E, length: number): DeviceArray<E>;
  allocPinned<F extends StructFields>(type: Struct<F>, length: number): PinnedArray<RecordOf<F>>;
  allocPinned<E extends ElementType>(element: E, length: number): PinnedArray<E>;
  createStream(options?: StreamOptions): Stream;
  /** Throws WS4007 for an invalid option. */
  createEvent(options?: EventOptions): Event;
  /**
   * Makes a kernel of CUDA C++, on an NVIDIA GPU. Throws WS1014 with what the compiler said. Code is kept on disk, but not
   * of a text that includes files, which may change: that is compiled each time.
   */
  compile<const S extends Schema>(source: string, options: CudaKernelOptions<S>): Kernel<S>;
  /**
   * What a launch takes of this device, and how many of its blocks run at the same time. The kernel is compiled and the arguments are
   * checked as for a launch, and nothing runs. Throws what `launch` would. CUDA: `cudaFuncGetAttributes` and
   * `cudaOccupancyMaxActiveBlocksPerMultiprocessor`.
   *
   * @example
   * const { residentBlocks, limitedBy } = device.occupancy(scale, { grid: 1, block: 256 }, { y, a: 2 });
   * stream.launch(scale, { grid: residentBlocks, block: 256 }, { y, a: 2 });
   */
  occupancy<S extends Schema>(
    kernel: Kernel<S>,
    configuration: LaunchConfiguration,
    args: LaunchArguments<S>,
  ): Occupancy;
  /**
   * The block size with which most threads of a kernel run at the same time, and how many such blocks do. Sizes from 32 to 1024 are
   * tried, from 256 outwards; each is compiled as for a launch, until one fills a multiprocessor. A CPU, whose threads carry out one
   * block after the other, says 256. Throws what `occupancy` does if no size will do. CUDA: `cudaOccupancyMaxPotentialBlockSize`.
   *
   * @example
   * const { block, grid } = device.proposeBlock(scale, { y, a: 2 });
   * stream.launch(scale, { grid, block }, { y, a: 2 });
   */
  proposeBlock<S extends Schema>(
    kernel: Kernel<S>,
    args: LaunchArguments<S>,
    options?: BlockSizeOptions,
  ): BlockSize;
  /** Resolves when everything issued on this device is done. */
  synchronize(): Promise<void>;
  readonly memory: MemoryStatistics;
  /** Called for each span of work the device finished, while a recorder is set (see timeline/). */
  recorder: ((span: Span) => void) | null;
  /** What is recorded beside the spans of operations, while a recorder is set. Default `{}`. */
  recording: RecordingOptions;
  /** Whose times the spans have. */
  readonly times: RecordedTimes;
  /** Called for each line that a kernel printed; `console.log` unless it is replaced. */
  print: (line: string) => void;
  /**
   * Stops the device: cancels what runs, ends its threads, frees its memory. Then it throws the failures of commands that no
   * synchronisation has thrown. Of work that it cancelled itself, and that nothing waits for, it only warns, by
   * `process.emitWarning`. It does not wait for a host function that has not returned: what that throws before all else is
   * stopped is thrown here, and is thrown by nothing later. A second call throws nothing.
   */
  close(): Promise<void>;
}
