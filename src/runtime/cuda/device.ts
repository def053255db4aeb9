// An NVIDIA GPU as a device: the driver API and NVRTC, found at run time.

import { WarpstageError } from '../../diagnostics/error.ts';
import { type ElementType, elementBytes } from '../../kernel/types.ts';
import { compileCuda } from '../../targets/cuda/compile.ts';
import type { Span } from '../../timeline/span.ts';
import {
  Allocation,
  checkElement,
  checkLength,
  DeviceMemoryArray,
  PinnedMemoryArray,
  type PinnedOwner,
} from '../arrays.ts';
import { LaunchBinder, type LaunchCompiler } from '../bind.ts';
import type {
  Device,
  DeviceArray,
  DeviceProperties,
  Event,
  MemoryStatistics,
  PinnedArray,
  Stream,
  StreamOptions,
} from '../device.ts';
import { CommandEvent } from '../event.ts';
import { outOfHostMemory, outOfMemory } from '../out-of-memory.ts';
import { CommandQueue, type DefaultStreamMode } from '../queue.ts';
import { CommandStream, type StreamHost } from '../stream.ts';
import { CudaCarrier } from './carrier.ts';
import { driverResults } from './driver.ts';
import { type Gpu, openGpu } from './gpu.ts';
import { Launcher } from './launcher.ts';
import { openNvrtc } from './nvrtc.ts';

export interface CudaSettings {
  readonly ordinal: number;
  readonly defaultStream: DefaultStreamMode;
  readonly specialise: LaunchCompiler['specialise'];
}

/** CU_MEMHOSTREGISTER_PORTABLE */
const portable = 1;

export class CudaDevice implements Device {
  readonly properties: DeviceProperties;
  readonly defaultStream: Stream;
  recorder: ((span: Span) => void) | null = null;
  print: (line: string) => void = (line) => console.log(line);
  readonly #gpu: Gpu;
  readonly #launcher: Launcher;
  readonly #carrier: CudaCarrier;
  readonly #queue: CommandQueue;
  readonly #streamHost: StreamHost;
  #arrays = 0;
  #arrayBytes = 0;
  #closed = false;

  constructor({ ordinal, defaultStream, specialise }: CudaSettings) {
    this.#gpu = openGpu(ordinal);
    const { driver, properties, architecture } = this.#gpu;
    this.properties = properties;
    this.#launcher = new Launcher(driver);
    this.#carrier = new CudaCarrier(driver, this.#launcher);
    this.#queue = new CommandQueue(this.#carrier, defaultStream);
    const binder = new LaunchBinder(this, {
      specialise,
      compile: (program, alignments) =>
        compileCuda(program, alignments, {
          architecture,
          compile: (...operands) => openNvrtc().compile(...operands),
        }),
      usesAlignments: true,
    });
    this.#streamHost = {
      device: this,
      queue: this.#queue,
      checkOpen: (purpose) => this.#checkOpen(purpose),
      bind: (kernel, configuration, args) => binder.bind(kernel, configuration, args),
    };
    this.defaultStream = new CommandStream(this.#streamHost, this.#queue.defaultLane);
  }

  #checkOpen(purpose: string): void {
    if (!this.#closed) return;
    throw new WarpstageError({
      code: 'WS4006',
      message: `${purpose}: the device was closed`,
      hint: 'open the device again, or close it later',
    });
  }

  // Memory

  alloc<E extends ElementType>(element: E, length: number): DeviceArray<E> {
    this.#checkOpen('alloc');
    checkElement(element);
    checkLength(length);
    const { driver } = this.#gpu;
    const bytes = length * elementBytes[element];
    const address = [0];
    // The driver refuses to allocate nothing; one byte stands for an array without elements.
    const result = driver.cuMemAlloc_v2(address, Math.max(bytes, 1));
    if (result === driverResults.outOfMemory) {
      throw outOfMemory(`an array of ${length} elements of ${element}`, bytes, this.memory, this.memory.free);
    }
    driver.check(result, 'alloc');
    driver.check(driver.cuMemsetD8_v2(address[0], 0, Math.max(bytes, 1)), 'setting an array to zero');
    ++this.#arrays;
    this.#arrayBytes += bytes;
    const allocation = new Allocation(Number(address[0]), bytes, () => {
      if (!this.#closed) driver.cuMemFree_v2(address[0]);
      --this.#arrays;
      this.#arrayBytes -= bytes;
    });
    return new DeviceMemoryArray(this, element, length, allocation);
  }

  allocPinned<E extends ElementType>(element: E, length: number): PinnedArray<E> {
    this.#checkOpen('allocPinned');
    checkElement(element);
    checkLength(length);
    const bytes = length * elementBytes[element];
    const { driver } = this.#gpu;
    try {
      // Memory of JavaScript's own, locked in place: a view that is kept after `free()` stays harmless.
      const buffer = new SharedArrayBuffer(bytes);
      const memory = new Uint8Array(buffer);
      if (bytes > 0) driver.check(driver.cuMemHostRegister_v2(memory, bytes, portable), 'allocPinned');
      return new PinnedMemoryArray(element, length, this.#owner(buffer, memory));
    } catch (error) {
      throw outOfHostMemory(`a page-locked array of ${length} elements of ${element}`, bytes, error);
    }
  }

  /** Holds pinned memory until it is freed, and then until no copy that was issued before uses it. */
  #owner(buffer: SharedArrayBuffer, memory: Uint8Array): PinnedOwner {
    const release = () => {
      if (!this.#closed && memory.length > 0) this.#gpu.driver.cuMemHostUnregister(memory);
    };
    const issued = () => [...this.#queue.lanes].flatMap(({ frontier }) => frontier);
    return {
      buffer,
      freed: () => {
        const before = issued().filter(({ status }) => status === 'queued');
        let left = before.length;
        if (left === 0) release();
        for (const command of before) {
          command.whenSettled(() => {
            if (--left === 0) release();
          });
        }
      },
    };
  }

  get memory(): MemoryStatistics {
    this.#carrier.poll();
    const { free, total } = this.#gpu.memory();
    return { total, allocated: this.#arrayBytes, free, allocations: this.#arrays };
  }

  // Streams and events

  createStream({ nonBlocking = false, priority = 0 }: StreamOptions = {}): Stream {
    this.#checkOpen('createStream');
    return new CommandStream(this.#streamHost, this.#queue.addLane(priority, !nonBlocking));
  }

  createEvent(): Event {
    this.#checkOpen('createEvent');
    return new CommandEvent(this, this.#queue);
  }

  async synchronize(): Promise<void> {
    this.#checkOpen('synchronize');
    const lanes = [...this.#queue.lanes];
    const points = lanes.flatMap((lane) => lane.frontier);
    await this.#queue.completion(points);
    this.#queue.report(points, lanes);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#carrier.close();
    this.#launcher.close();
    this.#closed = true;
    this.#gpu.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
