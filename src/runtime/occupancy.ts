// How many blocks of a launch a multiprocessor holds at once, and what keeps it from more.
//
// A multiprocessor has so many threads, places for blocks, registers and bytes of shared memory; a block takes its part of
// each for as long as it runs, warps and parts rounded up as the hardware deals them out. What runs out first is the limit.
// A CPU's thread carries out one block after the other.

import { mostCooperativeThreads } from '../targets/grid.ts';

/** What a launch takes of a device, and how many of its blocks run at the same time. */
export interface Occupancy {
  /** Blocks that a multiprocessor holds at once. CUDA: `cudaOccupancyMaxActiveBlocksPerMultiprocessor`. */
  readonly blocksPerMultiprocessor: number;
  /** As many blocks as a cooperative grid of such a launch may have. */
  readonly residentBlocks: number;
  /** The part of a multiprocessor's threads that these blocks have, above 0 and at most 1. */
  readonly occupancy: number;
  /** What a multiprocessor has not enough of for one block more. */
  readonly limitedBy: Resource;
  /** Registers of a thread; null on a device that has none of its own. CUDA: `cudaFuncAttributes::numRegs`. */
  readonly registers: number | null;
  /** Bytes of shared memory of a block. */
  readonly sharedBytes: number;
  /** Bytes of a thread's own memory outside registers; null where that is not known. CUDA: `localSizeBytes`. */
  readonly localBytes: number | null;
}

/** Of what a multiprocessor has a limited amount. */
export type Resource = 'threads' | 'blocks' | 'registers' | 'shared memory';

/** What a multiprocessor has. */
export interface Multiprocessor {
  readonly threads: number;
  readonly blocks: number;
  /** Null where they are not known, or each thread has its own. */
  readonly registers: number | null;
  readonly sharedBytes: number;
  /** Shared memory that each block takes beside its own. */
  readonly reservedBytes: number;
}

/** What a block takes. */
export interface BlockNeeds {
  readonly threads: number;
  readonly registers: number | null;
  readonly sharedBytes: number;
}

const warpSize = 32;
/** Registers are dealt out to a warp in so many. */
const registerUnit = 256;
/** Shared memory is dealt out to a block in so many bytes. */
const sharedUnit = 128;

/** What a launch takes of a device that has so many multiprocessors of a kind, if code needs no more registers than there are. */
export function modelledOccupancy(
  has: Multiprocessor,
  count: number,
  { threads, sharedBytes }: Omit<BlockNeeds, 'registers'>,
): Occupancy {
  const fits = blocksThatFit(has, { threads, sharedBytes, registers: null });
  const limitedBy = scarcest(fits);
  const blocks = fits.get(limitedBy)!;
  return {
    blocksPerMultiprocessor: blocks,
    residentBlocks: Math.min(blocks * count, mostTogether(threads)),
    occupancy: Math.min(1, (blocks * threads) / has.threads),
    limitedBy,
    registers: null,
    sharedBytes,
    localBytes: null,
  };
}

/** What a launch takes of a CPU, each of whose threads carries out one block after the other. */
export function occupancyOfCpu({ threads, sharedBytes }: Omit<BlockNeeds, 'registers'>): Occupancy {
  return {
    blocksPerMultiprocessor: 1,
    residentBlocks: mostTogether(threads),
    occupancy: 1,
    limitedBy: 'blocks',
    registers: null,
    sharedBytes,
    localBytes: null,
  };
}

/** How many blocks a cooperative grid may have on a CPU. */
function mostTogether(threads: number): number {
  return Math.floor(mostCooperativeThreads / threads);
}

/** How many blocks fit by each resource; without one that does not bound them. */
export function blocksThatFit(has: Multiprocessor, needs: BlockNeeds): ReadonlyMap<Resource, number> {
  const warps = Math.ceil(needs.threads / warpSize);
  const fits = new Map<Resource, number>([
    ['threads', Math.floor(has.threads / (warps * warpSize))],
    ['blocks', has.blocks],
  ]);
  if (has.registers !== null && needs.registers !== null && needs.registers > 0) {
    const ofWarp = roundedUp(needs.registers * warpSize, registerUnit);
    fits.set('registers', Math.floor(has.registers / (ofWarp * warps)));
  }
  const shared = roundedUp(needs.sharedBytes + has.reservedBytes, sharedUnit);
  if (shared > 0) fits.set('shared memory', Math.floor(has.sharedBytes / shared));
  return fits;
}

/** The resource that runs out first. */
export function scarcest(fits: ReadonlyMap<Resource, number>): Resource {
  return [...fits].reduce((least, one) => (one[1] < least[1] ? one : least))[0];
}

function roundedUp(number: number, unit: number): number {
  return Math.ceil(number / unit) * unit;
}
