// One GPU: its properties, and its primary context, which the driver's calls work in.

import { WarpstageError } from '../../diagnostics/error.ts';
import type { DeviceProperties } from '../device.ts';
import { Context } from './context.ts';
import { type Driver, openDriver } from './driver.ts';

/** Numbers of CUdevice_attribute. */
const attribute = {
  maxThreadsPerBlock: 1,
  maxBlockDim: [2, 3, 4],
  maxGridDim: [5, 6, 7],
  warpSize: 10,
  multiProcessorCount: 16,
  concurrentKernels: 31,
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

/** Opens a GPU by its ordinal. */
export function openGpu(ordinal: number): Gpu {
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
  const context = new Context(driver, device[0]!);

  const ask = (which: number) => {
    const answer = [0];
    driver.check(driver.cuDeviceGetAttribute(answer, which, device[0]), 'asking for a property');
    return answer[0]!;
  };
  const askAll = (which: readonly [number, number, number]) =>
    which.map(ask) as unknown as [number, number, number];
  const memory = () => {
    context.use();
    const [free, total] = [[0], [0]];
    driver.check(driver.cuMemGetInfo_v2(free, total), 'asking for the memory');
    return { free: Number(free[0]), total: Number(total[0]) };
  };
  const name = Buffer.alloc(256);
  driver.check(driver.cuDeviceGetName(name, name.length, device[0]), 'asking for the name');
  const [major, minor] = [ask(attribute.major), ask(attribute.minor)];
  const asyncEngineCount = ask(attribute.asyncEngineCount);
  return {
    driver,
    context,
    architecture: 10 * major + minor,
    memory,
    properties: {
      name: name.subarray(0, name.indexOf(0)).toString('utf8'),
      kind: 'cuda',
      ordinal,
      computeCapability: `${major}.${minor}`,
      multiProcessorCount: ask(attribute.multiProcessorCount),
      warpSize: ask(attribute.warpSize),
      maxThreadsPerBlock: ask(attribute.maxThreadsPerBlock),
      maxBlockDim: askAll(attribute.maxBlockDim),
      maxGridDim: askAll(attribute.maxGridDim),
      sharedMemoryPerBlock: ask(attribute.sharedMemoryPerBlock),
      totalGlobalMemory: memory().total,
      asyncEngineCount,
      deviceOverlap: asyncEngineCount > 0,
      concurrentKernels: ask(attribute.concurrentKernels) === 1,
    },
  };
}
