// One GPU: its properties, and its primary context, which the driver's calls work in.

import { WarpstageError } from '../../diagnostics/error.ts';
import type { DeviceProperties } from '../device.ts';
import { Context, type Retained } from './context.ts';
import { type Driver, openDriver } from './driver.ts';

/** Numbers of CUdevice_attribute. */
const attribute = {
  maxThreadsPerBlock: 1,
  maxBlockDim: [2, 3, 4],
  maxGridDim: [5, 6, 7],
  warpSize: 10,
  multiProcessorCount: 16,
  concurrentKernels: 31,
  memoryClockRate: 36,
  memoryBusWidth: 37,
  asyncEngineCount: 40,
  major: 75,
  minor: 76,
  sharedMemoryPerBlock: 97,
} as const;

export interface Gpu {
  readonly driver: Driver;
  readonly context: Context;
  readonly properties: DeviceProperties;
  /** Compute capability times ten. */
  readonly architecture: number;
  /** Bytes that should be on their way to a multiprocessor at any time, so that the memory never waits, where that is known. */
  readonly bytesUnderWay: number | undefined;
  /** Free and all bytes of its memory, now. */
  memory(): { readonly free: number; readonly total: number };
}

/** How many GPUs the driver sees. */
export function gpuCount(): number {
  const driver = openDriver();
  const count = [0];
  driver.check(driver.cuDeviceGetCount(count), 'counting the GPUs');
  return count[0]!;
}

/** The driver's number of a GPU. */
export function findGpu(ordinal: number): number {
  const driver = openDriver();
  const count = gpuCount();
  if (ordinal >= count) {
    throw new WarpstageError({
      code: 'WS4003',
      message:
        count === 0
          ? 'the NVIDIA driver sees no GPU'
          : `there is no GPU ${ordinal}: the driver sees ${count}`,
      hint: count === 0 ? 'check with nvidia-smi, or open("cpu")' : `open one of cuda:0 to cuda:${count - 1}`,
    });
  }
  const device = [0];
  driver.check(driver.cuDeviceGet(device, ordinal), `opening GPU ${ordinal}`);
  return device[0]!;
}

function attributeOf(device: number, which: number): number {
  const driver = openDriver();
  const answer = [0];
  driver.check(driver.cuDeviceGetAttribute(answer, which, device), 'asking for a property');
  return answer[0]!;
}

/** Compute capability times ten. */
export function architectureOf(device: number): number {
  return 10 * attributeOf(device, attribute.major) + attributeOf(device, attribute.minor);
}

/** Seconds from the request of a byte to its arrival under load, as measured on an H100 and an H200. */
const latency = 880e-9;

/**
 * Bytes that a multiprocessor should have under way, in whole KiB: its share of the memory's speed for the time of one
 * access. `clock` is in kHz, with two transfers a turn, `width` in bits. Undefined where the driver tells neither.
 */
export function bytesUnderWay(clock: number, width: number, multiprocessors: number): number | undefined {
  const bytesPerSecond = (2 * 1000 * clock * width) / 8;
  if (bytesPerSecond === 0) return undefined;
  const kibibytes = Math.round(((bytesPerSecond / multiprocessors) * latency) / 1024);
  return 1024 * Math.min(128, Math.max(4, kibibytes));
}

/** Opens a GPU by its ordinal; `retained` is its context, where that was made before. */
export function openGpu(ordinal: number, retained: Retained | null = null): Gpu {
  const driver = openDriver();
  const device = findGpu(ordinal);
  const context = new Context(driver, device, retained);
  const memory = () => {
    context.use();
    const [free, total] = [[0], [0]];
    driver.check(driver.cuMemGetInfo_v2(free, total), 'asking for the memory');
    return { free: Number(free[0]), total: Number(total[0]) };
  };
  try {
    const properties = propertiesOf(device, ordinal, memory().total);
    const architecture = architectureOf(device);
    const ofMemory = bytesUnderWay(
      attributeOf(device, attribute.memoryClockRate),
      attributeOf(device, attribute.memoryBusWidth),
      properties.multiProcessorCount,
    );
    return { driver, context, architecture, bytesUnderWay: ofMemory, memory, properties };
  } catch (error) {
    context.close();
    throw error;
  }
}

function propertiesOf(device: number, ordinal: number, totalGlobalMemory: number): DeviceProperties {
  const driver = openDriver();
  const ask = (which: number) => attributeOf(device, which);
  const askAll = (which: readonly [number, number, number]) =>
    which.map(ask) as unknown as [number, number, number];
  const name = Buffer.alloc(256);
  driver.check(driver.cuDeviceGetName(name, name.length, device), 'asking for the name');
  const architecture = architectureOf(device);
  const asyncEngineCount = ask(attribute.asyncEngineCount);
  return {
    name: name.subarray(0, name.indexOf(0)).toString('utf8'),
    kind: 'cuda',
    ordinal,
    computeCapability: `${Math.floor(architecture / 10)}.${architecture % 10}`,
    multiProcessorCount: ask(attribute.multiProcessorCount),
    warpSize: ask(attribute.warpSize),
    maxThreadsPerBlock: ask(attribute.maxThreadsPerBlock),
    maxBlockDim: askAll(attribute.maxBlockDim),
    maxGridDim: askAll(attribute.maxGridDim),
    sharedMemoryPerBlock: ask(attribute.sharedMemoryPerBlock),
    totalGlobalMemory,
    asyncEngineCount,
    deviceOverlap: asyncEngineCount > 0,
    concurrentKernels: ask(attribute.concurrentKernels) === 1,
  };
}
