// How much a launch has to do, without running it: the bytes that its threads move between global memory and the chip,
// the operations that they carry out, and how long one takes if nothing but its own chain of operations holds it up.
//
// A few threads, spread over the grid, are followed through the program (followed-thread.ts). The sum over the followed
// threads, times how many threads each stands for, is the estimate; a chain is as long as the longest.

import type { Program } from '../../compiler/ir.ts';
import type { Extent3 } from '../../kernel/types.ts';
import type { Known } from './followed-rounds.ts';
import { FollowedThread } from './followed-thread.ts';

/** What a launch has to do, in all. */
export interface LaunchWorkload {
  /** Read from and written to global memory. */
  readonly bytes: number;
  /** Those of them that are read, element by element, from arrays that the kernel does not write. */
  readonly read: number;
  /** In additions of f32: what takes the schedulers longer counts as several. */
  readonly operations: number;
  /** Cycles that a block takes if it has its processor to itself: its longest chain of operations, waits included. */
  readonly cycles: number;
}

/** How many threads of a block, and blocks of the grid, are followed. */
const threadSamples = 8;
const blockSamples = 2;

const warpSize = 32;
const schedulers = 4;

/**
 * Estimates the work of a launch. `lengths`: elements of each parameter that is an array; `memoryLatency`: cycles until a
 * value from global memory is there; `readLatency`: the same for arrays that the kernel does not write.
 */
export function workOfLaunch(
  program: Program,
  grid: Extent3,
  scalars: readonly Known[],
  lengths: readonly number[],
  memoryLatency = 0,
  readLatency = memoryLatency,
): LaunchWorkload {
  const threads = program.block[0] * program.block[1] * program.block[2];
  const blocks = grid[0] * grid[1] * grid[2];
  const warps = Math.ceil(threads / warpSize);
  const launch = { program, grid, scalars, lengths, memoryLatency, readLatency };
  let [bytes, read, operations, cycles] = [0, 0, 0, 0];
  const ranks = spread(threads, threadSamples);
  const places = spread(blocks, blockSamples);
  for (const block of places) {
    for (const rank of ranks) {
      const thread = new FollowedThread(launch, rank, block).follow();
      bytes += thread.bytes;
      read += thread.read;
      operations += thread.slots;
      // Where warps wait for each other, a scheduler's warps take turns in every phase.
      const turns = (thread.phased * (warps - 1)) / schedulers;
      cycles = Math.max(cycles, thread.cycles + turns);
    }
  }
  const each = (threads * blocks) / (ranks.length * places.length);
  return { bytes: bytes * each, read: read * each, operations: operations * each, cycles };
}

/** At most `count` numbers from 0 to below `end`, spread evenly. */
function spread(end: number, count: number): number[] {
  const length = Math.min(end, count);
  return Array.from({ length }, (_, i) => Math.floor(((i + 0.5) * end) / length));
}
