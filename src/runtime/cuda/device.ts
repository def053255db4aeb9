// An NVIDIA GPU as a device: the driver API and NVRTC, found at run time.

import { WarpstageError } from '../../diagnostics/error.ts';
import type { Kernel, LaunchArguments, Schema } from '../../kernel/kernel.ts';
import { bytesOf } from '../../kernel/layout.ts';
import type { RecordOf, Struct, StructFields } from '../../kernel/struct.ts';
import type { ElementType } from '../../kernel/types.ts';
import { compileCuda } from '../../targets/cuda/compile.ts';
import { checkSharedBytes } from '../../targets/cuda/prelude-checks.ts';
import type { Span } from '../../timeline/span.ts';
import {
  Allocation,
  checkLength,
  DeviceMemoryArray,
  elementOf,
  PinnedMemoryArray,
  type Reach,
} from '../arrays.ts';
import { issued } from '../await-issued.ts';
import { LaunchBinder, type LaunchCompiler } from '../bind.ts';
import { type BlockSize, type BlockSizeOptions, proposedBlockSize } from '../block-size.ts';
import { deviceClosed } from '../closed.ts';
import { allocationsOf } from '../copies.ts';
import type {
  CudaKernelOptions,
  Device,
  DeviceArray,
  DeviceProperties,
  Event,
  EventOptions,
  LaunchConfiguration,
  MemoryStatistics,
  PinnedArray,
  Stream,
  StreamOptions,
} from '../device.ts';
import { CommandEvent } from '../event.ts';
import type { Occupancy } from '../occupancy.ts';
import { outOfGpuMemory, outOfHostMemory } from '../out-of-memory.ts';
import { CommandQueue, type DefaultStreamMode } from '../queue.ts';
import type { RecordedTimes, RecordingOptions } from '../recording.ts';
import { CommandStream, type StreamHost } from '../stream.ts';
import { CudaCompiler, portableArchitectures } from './compiler.ts';
import { CudaDispatcher } from './dispatcher.ts';
import type { Gpu } from './gpu.ts';
import { issuingDriver } from './issuing/driver.ts';
import { IssuingThread } from './issuing/issuing-thread.ts';
import { Launcher } from './launcher.ts';
import { DeviceMemory, PinnedMemory } from './memory.ts';
import { GpuReach } from './peers.ts';
import { RawKernels } from './raw-kernels.ts';
import { GpuRecording } from './recording.ts';

export interface CudaSettings {
  /** Opened; closed with the device. */
  readonly gpu: Gpu;
  readonly defaultStream: DefaultStreamMode;
  /** Whether kernels test what they access. */
  readonly checked: boolean;
  readonly specialise: LaunchCompiler['specialise'];
}

const openDevices = new Set<CudaDevice>();

export class CudaDevice implements Device {
  readonly properties: DeviceProperties;
  readonly defaultStream: Stream;
  print: (line: string) => void = (line) => console.log(line);
  readonly #gpu: Gpu;
  readonly #issuing: IssuingThread;
  readonly #launcher: Launcher;
  readonly #compiler: CudaCompiler;
  readonly #raw: RawKernels;
  readonly #memory: DeviceMemory;
  readonly #pinned: PinnedMemory;
  readonly #reach: GpuReach;
  readonly #recording: GpuRecording;
  readonly #dispatcher: CudaDispatcher;
  readonly #queue: CommandQueue;
  readonly #streamHost: StreamHost;
  #arrays = 0;
  #arrayBytes = 0;
  #closed = false;
  /** Resolves when all is given back. */
  #closing: Promise<void> | null = null;

  constructor({ gpu, defaultStream, checked, specialise }: CudaSettings) {
    this.#gpu = gpu;
    const { context, properties, architecture } = gpu;
    this.#issuing = new IssuingThread(gpu.driver.path, context.handle);
    const driver = issuingDriver(gpu.driver, this.#issuing);
    const { sharedMemoryPerBlock } = properties;
    this.properties = checked
      ? { ...properties, sharedMemoryPerBlock: sharedMemoryPerBlock - checkSharedBytes }
      : properties;
    this.#launcher = new Launcher(driver, context, sharedMemoryPerBlock);
    const portable = portableArchitectures();
    this.#compiler = new CudaCompiler(architecture);
    this.#raw = new RawKernels(this, this.#compiler, { architecture, portable });
    this.#memory = new DeviceMemory(driver, context);
    this.#reach = new GpuReach(this.#memory, (device) => {
      if (device instanceof CudaDevice) this.#memory.admit(device.#gpu.context);
    });
    this.#pinned = new PinnedMemory(driver, context);
    this.#recording = new GpuRecording(context.handle);
    this.#dispatcher = new CudaDispatcher({
      driver,
      context,
      launcher: this.#launcher,
      memory: this.#memory,
      pinned: this.#pinned,
      print: (line) => this.print(line),
      recording: this.#recording,
    });
    this.#queue = new CommandQueue(this.#dispatcher, defaultStream);
    const binder = new LaunchBinder(this, {
      specialise: (kernel, specialisation) =>
        this.#raw.specialise(kernel, specialisation) ?? specialise(kernel, specialisation),
      compile: (specialised, alignments) =>
        this.#raw.executable(specialised.program) ??
        compileCuda(specialised, alignments, {
          architecture,
          checked,
          bytesUnderWay: gpu.bytesUnderWay,
          lineInfo: Boolean(process.env.WARPSTAGE_LINE_INFO),
          compile: (...operands) => this.#compiler.compile(...operands).image,
          portable: {
            architectures: portable,
            keep: (...operands) => this.#compiler.keepPortable(...operands),
          },
        }),
      usesAlignments: true,
    });
    this.#streamHost = {
      device: this,
      queue: this.#queue,
      checkOpen: (purpose) => this.#checkOpen(purpose),
      bind: (kernel, configuration, args) => binder.bind(kernel, configuration, args),
    };
    this.defaultStream = new CommandStream(this.#streamHost, this.#queue.defaultStream);
    openDevices.add(this);
  }

  #checkOpen(purpose: string): void {
    if (this.#closed) throw deviceClosed(purpose);
    // What a GPU that stopped was given can still be disposed of.
    if (this.#dispatcher.lost !== null && purpose !== 'destroy') this.#throw(this.#dispatcher.lost);
  }

  /** Throws, which `close` then need not. */
  #throw(error: unknown): never {
    this.#queue.noteThrown(error);
    throw error;
  }

  // Memory

  alloc<F extends StructFields>(type: Struct<F>, length: number): DeviceArray<RecordOf<F>>;
  alloc<E extends ElementType>(element: E, length: number): DeviceArray<E>;
  alloc(type: ElementType | Struct, length: number): DeviceArray {
    this.#checkOpen('alloc');
    const element = elementOf(type);
    checkLength(length);
    const bytes = length * bytesOf(element);
    const allocate = () => this.#dispatcher.guarded(() => this.#memory.allocate(bytes));
    let address = this.#tried(allocate);
    // What commands in flight still hold is waited for, as cudaFree would have.
    if (address === null && this.#drain()) address = this.#tried(allocate);
    if (address === null) {
      throw outOfGpuMemory(`an array of ${length} elements of ${element}`, bytes, this.memory);
    }
    const begin = address;
    ++this.#arrays;
    this.#arrayBytes += bytes;
    const allocation = new Allocation(begin, bytes, this.#reach, () => {
      if (!this.#closed) this.#memory.free(begin);
      --this.#arrays;
      this.#arrayBytes -= bytes;
    });
    return new DeviceMemoryArray(this, element, length, allocation);
  }

  #drain(): boolean {
    return this.#tried(() => this.#dispatcher.drain());
  }

  #tried<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      this.#throw(error);
    }
  }

  allocPinned<F extends StructFields>(type: Struct<F>, length: number): PinnedArray<RecordOf<F>>;
  allocPinned<E extends ElementType>(element: E, length: number): PinnedArray<E>;
  allocPinned(type: ElementType | Struct, length: number): PinnedArray {
    this.#checkOpen('allocPinned');
    const element = elementOf(type);
    checkLength(length);
    const bytes = length * bytesOf(element);
    try {
      const { buffer, begin } = this.#dispatcher.guarded(() => this.#pinned.allocateAligned(bytes));
      return new PinnedMemoryArray(element, length, { buffer, begin, freed: () => this.#freed(buffer) });
    } catch (error) {
      if (error instanceof WarpstageError && error.code !== 'WS4001') this.#throw(error);
      throw outOfHostMemory(`a page-locked array of ${length} elements of ${element}`, bytes, error);
    }
  }

  /** Unlocks memory when no command that was issued before uses it. */
  #freed(buffer: SharedArrayBuffer): void {
    // Other GPUs may copy from and to it as well.
    const before = [...openDevices].flatMap((device) => device.#dispatcher.last);
    let left = before.length;
    const settled = () => {
      if (--left <= 0 && !this.#closed) this.#pinned.free(buffer);
    };
    if (left === 0) settled();
    for (const command of before) command.whenSettled(settled);
  }

  get memory(): MemoryStatistics {
    this.#dispatcher.poll();
    const { free, total } = this.#tried(() => this.#dispatcher.guarded(() => this.#gpu.memory()));
    const spare = this.#memory.spare;
    return { total, allocated: this.#arrayBytes, free: free + spare, allocations: this.#arrays };
  }

  /** Waits until the driver has all that was issued. */
  [issued](): void {
    this.#issuing.settle();
  }

  // Recording

  get recorder(): ((span: Span) => void) | null {
    return this.#recording.recorder;
  }

  set recorder(recorder: ((span: Span) => void) | null) {
    const wasOn = this.#recording.isOn;
    this.#recording.recorder = recorder;
    // What is recorded is issued here, where its times are taken.
    if (this.#recording.isOn && !wasOn) this.#issuing.hold();
    else if (wasOn && !this.#recording.isOn) this.#issuing.letGo();
  }

  get recording(): RecordingOptions {
    return this.#recording.options;
  }

  set recording(options: RecordingOptions) {
    this.#recording.options = options;
  }

  get times(): RecordedTimes {
    return this.#recording.times;
  }

  // Streams and events

  createStream({ nonBlocking = false, priority = 0 }: StreamOptions = {}): Stream {
    this.#checkOpen('createStream');
    return new CommandStream(this.#streamHost, this.#queue.addStream(priority, !nonBlocking));
  }

  createEvent(options: EventOptions = {}): Event {
    this.#checkOpen('createEvent');
    return new CommandEvent(this, this.#queue, options);
  }

  compile<const S extends Schema>(source: string, options: CudaKernelOptions<S>): Kernel<S> {
    this.#checkOpen('compile');
    return this.#raw.make(source, options);
  }

  occupancy<S extends Schema>(
    kernel: Kernel<S>,
    configuration: LaunchConfiguration,
    args: LaunchArguments<S>,
  ): Occupancy {
    this.#checkOpen('occupancy');
    return this.#launcher.occupancyOf(this.#streamHost.bind(kernel as Kernel, configuration, args));
  }

  proposeBlock<S extends Schema>(
    kernel: Kernel<S>,
    args: LaunchArguments<S>,
    options: BlockSizeOptions = {},
  ): BlockSize {
    this.#checkOpen('proposeBlock');
    return proposedBlockSize(this, kernel, args, options);
  }

  async synchronize(): Promise<void> {
    this.#checkOpen('synchronize');
    const streams = [...this.#queue.streams];
    const points = streams.flatMap((stream) => stream.frontier);
    await this.#queue.synchronize(points, streams, () => this.#recording.resolve());
  }

  close(): Promise<void> {
    if (this.#closing !== null) return this.#closing;
    this.#closed = true;
    this.#closing = this.#end();
    // The first call to close it throws what no call has thrown before.
    return this.#closing.then(() => this.#queue.reportLeft());
  }

  async #end(): Promise<void> {
    openDevices.delete(this);
    await this.#dispatcher.close();
    this.#recording.close();
    for (const device of openDevices) device.#finishCopies(this.#reach);
    const { context } = this.#gpu;
    if (!context.lost) {
      this.#launcher.close();
      this.#pinned.close();
      this.#memory.close();
    } else this.#pinned.abandon();
    this.#issuing.stop();
    context.close();
  }

  /** Before memory of another device goes, which commands of this one may still use. */
  #finishCopies(reach: Reach): void {
    this.#dispatcher.giveUp((work) => allocationsOf(work).some((allocation) => allocation.reach === reach));
    try {
      this.#dispatcher.drain();
    } catch {
      // This GPU has stopped: a wait for its commands throws that.
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
