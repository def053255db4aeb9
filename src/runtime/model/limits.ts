// What a GPU of a compute capability takes at most: "Technical Specifications per Compute Capability" in NVIDIA's CUDA C++
// Programming Guide; of 1.x and 2.x in its version 8.0, of 3.x in version 11.8. Shared memory is what a block may ask for.

import type { DeviceProperties } from '../device.ts';
import type { Multiprocessor } from '../occupancy.ts';
import type { EngineModel } from './engines.ts';

type Limits = Pick<
  DeviceProperties,
  'maxThreadsPerBlock' | 'maxBlockDim' | 'maxGridDim' | 'sharedMemoryPerBlock'
>;

const kiB = 1024;
const narrow = 65535;

/** KiB of shared memory that a block of a compute capability may have, where it is not that of its generation. */
const sharedKiB: Readonly<Record<string, number>> = {
  '7.5': 64,
  '8.0': 163,
  '8.7': 163,
  '11.0': 227,
};

/** The same by generation. */
const sharedKiBOfGeneration: Readonly<Record<number, number>> = {
  1: 16,
  2: 48,
  3: 48,
  5: 48,
  6: 48,
  7: 96,
  8: 99,
  9: 227,
  10: 227,
  12: 99,
};

/** Blocks that a multiprocessor holds, where it is not as many as others of its generation. */
const blocksOf: Readonly<Record<string, number>> = { '7.5': 16, '8.6': 16, '8.7': 16, '8.9': 24 };
const blocksOfGeneration: Readonly<Record<number, number>> = { 1: 8, 2: 8, 3: 16, 11: 24, 12: 24 };

/** What a multiprocessor of a virtual device has. */
export function multiprocessorOf({
  computeCapability,
  threadsAtOnce,
  multiProcessors,
}: Pick<EngineModel, 'computeCapability' | 'threadsAtOnce' | 'multiProcessors'>): Multiprocessor {
  const generation = Math.floor(Number(computeCapability));
  // From 8.0 on, a KiB of each block is the system's.
  const reservedBytes = generation < 8 ? 0 : kiB;
  const { sharedMemoryPerBlock } = limitsOf(computeCapability);
  return {
    threads: Math.floor(threadsAtOnce / multiProcessors),
    blocks: blocksOf[computeCapability] ?? blocksOfGeneration[generation] ?? 32,
    registers: null,
    sharedBytes:
      Math.max(sharedMemoryPerBlock, generation === 5 || generation === 6 ? 64 * kiB : 0) + reservedBytes,
    reservedBytes,
  };
}

/** What a virtual device of a compute capability, such as `'3.5'`, reports and refuses to go beyond. */
export function limitsOf(computeCapability: string): Limits {
  const generation = Math.floor(Number(computeCapability));
  const kilobytes = sharedKiB[computeCapability] ?? sharedKiBOfGeneration[generation] ?? 48;
  const threads = generation < 2 ? 512 : 1024;
  const planes = generation < 2 ? 1 : narrow;
  return {
    maxThreadsPerBlock: threads,
    maxBlockDim: [threads, threads, 64],
    maxGridDim: [generation < 3 ? narrow : 2 ** 31 - 1, narrow, planes],
    sharedMemoryPerBlock: kilobytes * kiB,
  };
}
