// What a GPU of a compute capability takes at most: "Technical Specifications per Compute Capability" in NVIDIA's CUDA C++
// Programming Guide; of 1.x and 2.x in its version 8.0, of 3.x in version 11.8. Shared memory is what a block may ask for.

import type { DeviceProperties } from '../device.ts';

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
