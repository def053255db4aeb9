// The CPU as a device: WebAssembly memory, three engines in worker threads, streams and events.

import type { Program } from '../../compiler/ir.ts';
import type { WarpstageError } from '../../diagnostics/error.ts';
import type { Kernel, LaunchArguments, Schema } from '../../kernel/kernel.ts';
import { bytesOf } from '../../kernel/layout.ts';
import type { RecordOf, Struct, StructFields } from '../../kernel/struct.ts';
import type { ElementType } from '../../kernel/types.ts';
import type { Executable } from '../../targets/executable.ts';
import { placeIn } from '../../targets/place-in.ts';
import { sharedBytes } from '../../targets/shared-bytes.ts';
import { spansOfMarks } from '../../targets/stage-marks.ts';
import type { Span } from '../../timeline/span.ts';
import {
  Allocation,
  checkLength,
  DeviceMemoryArray,
  elementOf,
  PinnedMemoryArray,
  type Reach,
} from '../arrays.ts';
import { LaunchBinder, type LaunchCompiler } from '../bind.ts';
import { type BlockSize, type BlockSizeOptions, proposedBlockSize } from '../block-size.ts';
import { deviceClosed } from '../closed.ts';
import type { Command, Dispatcher, Work } from '../command.ts';
import type {
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
import { threadsOf } from '../extents.ts';
import { noCudaHere } from '../native-kernels.ts';
import { type Multiprocessor, modelledOccupancy, type Occupancy, occupancyOfCpu } from '../occupancy.ts';
import { outOfHostMemory, outOfLaunchMemory, outOfMemory } from '../out-of-memory.ts';
import { CommandQueue, type DefaultStreamMode } from '../queue.ts';
import { checkEvery, checkStages, type RecordedTimes, type RecordingOptions } from '../recording.ts';
import { spanOf } from '../spans.ts';
import { CommandStream, type StreamHost } from '../stream.ts';
import { inNextTurn } from '../turn.ts';
import { assign } from './assignments.ts';
import { CommandTable, createCommandTableMemory } from './command-table.ts';
import { CpuDispatcher } from './dispatcher.ts';
import { LaunchArea } from './launch-area.ts';
import { type AddressType, LinearMemory, widestBytes } from './linear-memory.ts';
import type { RecordedStages, RunnerSource } from './messages.ts';
import { StageExecutables } from './stage-executables.ts';
import type { StagingHost } from './staging.ts';
import type { Surroundings } from './surroundings.ts';

/** What runs kernels on the CPU. */
export interface CpuTarget {
  compile(program: Program): Executable;
  /** The same executable, in a form that tells of the stages of its pipelines. */
  withStages(executable: Executable): Executable;
  /** Where the device's threads find the other half. */
  readonly runners: RunnerSource;
  /** Whether several threads may run the blocks of a launch. */
  readonly parallel: boolean;
  /** Of a target that compiles beside the program: throws what went wrong with an executable, once. */
  readonly check?: (executable: Executable) => void;
  /** Throws what went wrong and was not thrown. */
  readonly reportLeft?: () => void;
  /** What else the device's name says. */
  readonly about?: string;
}

export interface CpuSettings {
  /** Bytes of device memory, and of which type its addresses are. */
  readonly memory: number;
  readonly addressType: AddressType;
  /** Threads that run blocks. */
  readonly threads: number;
  readonly defaultStream: DefaultStreamMode;
  readonly target: CpuTarget;
  readonly specialise: LaunchCompiler['specialise'];
  /** Loads the compiler, where that was put off (late-compiler.ts). */
  readonly loadCompiler?: () => Promise<void>;
  /** Where its engines work. */
  readonly surroundings: Surroundings;
  /** What a virtual device has of its own; the CPU still does its work. */
  readonly virtual?: {
    readonly multiprocessor: Multiprocessor;
    readonly properties: Partial<DeviceProperties>;
    readonly dispatcher: (
      executor: CpuDispatcher,
      finished: (command: Command, work: Work, engine: string) => void,
    ) => VirtualDispatcher;
  };
}

/** Carries commands out in a time of its own. */
export interface VirtualDispatcher extends Dispatcher {
  waitForOldest(): boolean;
  close(): Promise<void>;
}

/** What an sm_90 GPU gives a block at most, so that a kernel that runs here fits there. */
const sharedMemoryPerBlock = 227 * 1024;

/** Staging takes as much as it needs of one memory. */
const stagingBytes = { i32: 2 ** 32, i64: widestBytes } as const;

export class CpuDevice implements Device {
  readonly properties: DeviceProperties;
  readonly defaultStream: Stream;
  recorder: ((span: Span) => void) | null = null;
  readonly times: RecordedTimes;
  print: (line: string) => void = (line) => console.log(line);
  readonly #memory: LinearMemory;
  readonly #reach: Reach = {
    kind: 'buffer',
    buffer: () => {
      this.#checkOpen('a copy from or to another device');
      return this.#memory.memory.buffer as unknown as SharedArrayBuffer;
    },
  };
  readonly #staging: LinearMemory;
  readonly #addressType: AddressType;
  readonly #surroundings: Surroundings;
  readonly #dispatcher: CpuDispatcher;
  /** What the queue gives its commands to: the dispatcher, or that of a virtual device before it. */
  readonly #front: VirtualDispatcher;
  readonly #queue: CommandQueue;
  readonly #area: LaunchArea;
  readonly #stages: StageExecutables;
  /** Of a virtual device. */
  readonly #multiprocessor: Multiprocessor | null;
  #recording: RecordingOptions = {};
  readonly #streamHost: StreamHost;
  /** Arrays whose memory was not given back yet, and their bytes. */
  #arrays = 0;
  #arrayBytes = 0;
  /** Bytes of page-locked arrays that were not freed. */
  #pinnedBytes = 0;
  /** Resolves when all is stopped. */
  #closed: Promise<void> | null = null;
  readonly #reportLeft: () => void;
  /** Resolves when any kernel can be launched: at once, but for devices of jobs. */
  readonly loadCompiler: () => Promise<void>;

  constructor(settings: CpuSettings) {
    const { surroundings, target, virtual, addressType } = settings;
    const { memory, staging, threads } = surroundings.sizeOf({
      memory: settings.memory,
      staging: stagingBytes[addressType],
      addressType,
      threads: target.parallel ? settings.threads : 1,
    });
    this.#surroundings = surroundings;
    this.#addressType = addressType;
    this.#memory = new LinearMemory(memory, addressType);
    this.#staging = new LinearMemory(staging, addressType);
    this.#reportLeft = () => target.reportLeft?.();
    this.loadCompiler = settings.loadCompiler ?? (async () => {});
    const name = `${surroundings.processor}${target.about === undefined ? '' : `, ${target.about}`}`;
    const own = propertiesOf(name, threads, this.#memory.allocator.total);
    this.properties = { ...own, ...virtual?.properties };
    this.#multiprocessor = virtual?.multiprocessor ?? null;
    const tableMemory = createCommandTableMemory();
    const table = new CommandTable(tableMemory);
    this.times = { source: virtual === undefined ? 'engines' : 'model', note: null };
    this.#stages = new StageExecutables(
      (executable) => target.withStages(executable),
      () => this.recorder !== null && virtual === undefined,
    );
    this.#area = new LaunchArea(threads, (bytes) => this.#takeArea(bytes));
    const stagingHost: StagingHost = {
      staging: this.#staging,
      take: (bytes) => this.#takeStaging(bytes),
      waitForLandings: (buffer) => this.#dispatcher.waitForLandings(buffer),
    };
    this.#dispatcher = new CpuDispatcher(
      {
        assign: (work) =>
          assign(work, {
            stagingHost,
            area: this.#area,
            engines: this.#dispatcher.engines,
            stagesOf: (launch) => this.#stages.of(launch),
          }),
        print: (line) => this.print(line),
        finished: (command, work, engine, stages) => {
          if (virtual === undefined) this.#record(command, work, engine, stages);
        },
      },
      table,
      (events) =>
        surroundings.createEngines({
          table,
          tableMemory,
          memories: () => ({ device: this.#memory.memory, staging: this.#staging.memory }),
          runners: target.runners,
          threads,
          events,
        }),
    );
    this.#front =
      virtual?.dispatcher(this.#dispatcher, (command, work, engine) => this.#record(command, work, engine)) ??
      this.#dispatcher;
    this.#queue = new CommandQueue(this.#front, settings.defaultStream);
    const binder = new LaunchBinder(this, {
      specialise: settings.specialise,
      compile: ({ program }) => target.compile(program),
      usesAlignments: false,
    });
    this.#streamHost = {
      device: this,
      queue: this.#queue,
      checkOpen: (purpose) => this.#checkOpen(purpose),
      bind: (kernel, configuration, args) => {
        // A thread starts in the time that a kernel takes to compile.
        this.#dispatcher.engines.warmUp('compute');
        const work = binder.bind(kernel, configuration, args);
        target.check?.(work.executable);
        return work;
      },
    };
    this.defaultStream = new CommandStream(this.#streamHost, this.#queue.defaultStream);
  }

  #record(command: Command, work: Work, engine: string, stages?: RecordedStages): void {
    if (stages === undefined || work.kind !== 'launch') {
      const isOverFiles = work.kind === 'launch' && work.files !== undefined;
      this.recorder?.(spanOf(command, work, isOverFiles ? 'files' : engine));
      return;
    }
    const block = placeIn(work.grid, stages.block);
    const spans = spansOfMarks(stages.marks, work.executable.program.pipelines);
    this.recorder?.(spanOf(command, work, engine, command, { stages: { block, spans } }));
  }

  get recording(): RecordingOptions {
    return this.#recording;
  }

  set recording(options: RecordingOptions) {
    checkEvery(options);
    this.#stages.block = checkStages(options);
    this.#recording = options;
  }

  #checkOpen(purpose: string): void {
    if (this.#closed !== null) throw deviceClosed(purpose);
  }

  // Memory

  alloc<F extends StructFields>(type: Struct<F>, length: number): DeviceArray<RecordOf<F>>;
  alloc<E extends ElementType>(element: E, length: number): DeviceArray<E>;
  alloc(type: ElementType | Struct, length: number): DeviceArray {
    this.#checkOpen('alloc');
    const element = elementOf(type);
    checkLength(length);
    const bytes = length * bytesOf(element);
    const address = this.#orWait(() => this.#memory.allocateZeroed(bytes));
    if (address === null) throw this.#outOfMemory(`an array of ${length} elements of ${element}`, bytes);
    ++this.#arrays;
    this.#arrayBytes += bytes;
    const allocation = new Allocation(address, bytes, this.#reach, () => {
      this.#memory.free(address);
      --this.#arrays;
      this.#arrayBytes -= bytes;
    });
    return new DeviceMemoryArray(this, element, length, allocation);
  }

  #takeArea(bytes: number): Allocation {
    const address = this.#orWait(() => this.#memory.allocateLow(bytes));
    if (address === null) {
      throw this.#addressType === 'i64'
        ? outOfLaunchMemory(bytes, this.#memory.largestLow)
        : this.#outOfMemory('a launch', bytes);
    }
    return new Allocation(address, bytes, this.#reach, () => this.#memory.free(address));
  }

  #outOfMemory(purpose: string, bytes: number): WarpstageError {
    return outOfMemory(purpose, bytes, this.memory, this.#memory.allocator.largestFree);
  }

  #takeStaging(bytes: number): number {
    const address = this.#orWait(() => this.#staging.allocate(bytes));
    if (address === null) throw outOfHostMemory('staging a copy of a pageable array', bytes, undefined);
    return address;
  }

  /** Tries; where memory is short, waits for what commands in flight will give back, as cudaFree would have. */
  #orWait(allocate: () => number | null): number | null {
    for (let address = allocate(); ; address = allocate()) {
      if (address !== null || !this.#front.waitForOldest()) return address;
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
      const buffer = sharedBytes(bytes);
      this.#pinnedBytes += bytes;
      return new PinnedMemoryArray(element, length, {
        buffer,
        begin: 0,
        freed: () => this.#pinnedFreed(bytes),
      });
    } catch (error) {
      throw outOfHostMemory(`a page-locked array of ${length} elements of ${element}`, bytes, error);
    }
  }

  #pinnedFreed(bytes: number): void {
    this.#pinnedBytes -= bytes;
    if (!this.#surroundings.arrayFreed(bytes)) return;
    this.#dispatcher.engines.collect();
    this.#surroundings.collectGarbage();
  }

  get memory(): MemoryStatistics {
    this.#dispatcher.poll();
    const { total, allocated } = this.#memory.allocator;
    return { total, allocated: this.#arrayBytes, free: total - allocated, allocations: this.#arrays };
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

  compile(): never {
    this.#checkOpen('compile');
    throw noCudaHere(this);
  }

  occupancy<S extends Schema>(
    kernel: Kernel<S>,
    configuration: LaunchConfiguration,
    args: LaunchArguments<S>,
  ): Occupancy {
    this.#checkOpen('occupancy');
    const { executable, sharedBytes } = this.#streamHost.bind(kernel as Kernel, configuration, args);
    const needs = { threads: threadsOf(executable.program.block), sharedBytes };
    if (this.#multiprocessor === null) return occupancyOfCpu(needs);
    return modelledOccupancy(this.#multiprocessor, this.properties.multiProcessorCount, needs);
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
    await this.#queue.synchronize(points, streams);
  }

  close(): Promise<void> {
    if (this.#closed !== null) return this.#closed;
    this.#closed = this.#end();
    // The first call to close it throws what was not reported before.
    return this.#closed.then(() => {
      this.#queue.reportLeft();
      this.#reportLeft();
    });
  }

  async #end(): Promise<void> {
    await this.#front.close();
    // In a turn of its own: what reports a thread's end still refers to what the thread had. Nothing waits for it, as a
    // host function may throw in that turn, which would be known to have happened before the device was closed.
    inNextTurn(() =>
      this.#surroundings.deviceFreed(this.#memory.letGo() + this.#staging.letGo() + this.#pinnedBytes),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function propertiesOf(name: string, threads: number, memory: number): DeviceProperties {
  return {
    name,
    kind: 'cpu',
    computeCapability: '0.0',
    multiProcessorCount: threads,
    warpSize: 32,
    maxThreadsPerBlock: 1024,
    maxBlockDim: [1024, 1024, 64],
    maxGridDim: [2 ** 31 - 1, 65535, 65535],
    sharedMemoryPerBlock,
    totalGlobalMemory: memory,
    asyncEngineCount: 2,
    deviceOverlap: true,
    concurrentKernels: false,
  };
}
