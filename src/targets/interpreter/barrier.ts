// Barriers: phases that complete when every expected thread has arrived.
//
// A phase counter instead of the hardware's parity bit: a thread waits for a phase by its
// number, so a misuse that would alias two phases on hardware is a deadlock here, not luck.

import type { Group, SharingGroup } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import { lanesOfTile, warpSize } from '../lanes.ts';
import type { Progress } from '../waiting.ts';
import type { Thread } from './thread.ts';

/** Counts arrivals; `phase` is how many times all expected threads have arrived. */
export class PhaseBarrier {
  expected: number;
  arrived = 0;
  phase = 0;

  constructor(expected: number) {
    this.expected = expected;
  }

  arrive(): void {
    this.arrived += 1;
    this.#completeIfAll();
  }

  /** One thread less will arrive, in this phase and in all later ones. */
  drop(): void {
    this.expected -= 1;
    this.#completeIfAll();
  }

  #completeIfAll(): void {
    if (this.arrived < this.expected || this.arrived === 0) return;
    this.arrived = 0;
    this.phase += 1;
  }
}

/** Which of the block's groups of one kind a thread is in, and where. */
export interface Membership {
  /** Of the group among its kind. */
  readonly index: number;
  /** Of the thread in the group. */
  readonly rank: number;
  readonly size: number;
}

/** The ranks in the block of the threads of a thread's group, without those that are there. */
export function othersOf(
  group: Group,
  rank: number,
  blockSize: number,
  isThere: (rank: number) => boolean,
): number[] {
  const own = membership(group, rank, blockSize);
  return Array.from({ length: own.size }, (_, i) => rank - own.rank + i).filter((other) => !isThere(other));
}

/** The place of a thread in its group. */
export function membership(group: Group, rank: number, blockSize: number): Membership {
  switch (group.kind) {
    case 'block':
      return { index: 0, rank, size: blockSize };
    case 'thread':
      return { index: rank, rank: 0, size: 1 };
    case 'tile': {
      const index = Math.floor(rank / group.size);
      const first = index * group.size;
      return { index, rank: rank - first, size: Math.min(group.size, blockSize - first) };
    }
    case 'grid':
      throw new TypeError('the threads of a grid do not meet inside a kernel');
    default:
      return group satisfies never;
  }
}

/**
 * The ranks of those with whom a thread makes something, from the lowest. `masks` name the lanes of a group of lanes: those of
 * the own warp, or of each warp of the block.
 */
export function makersOf(
  group: SharingGroup,
  rank: number,
  blockSize: number,
  masks: readonly number[] | null,
): number[] {
  if (group.kind !== 'lanes') return othersOf(group, rank, blockSize, () => false);
  const ownFirst = rank - (rank % warpSize);
  return masks!.flatMap((mask, warp) => {
    const first = group.of === 'warp' ? ownFirst : warp * warpSize;
    const named = lanesOfTile(warpSize, first, blockSize) & mask;
    return Array.from({ length: warpSize }, (_, lane) => lane).flatMap((lane) =>
      (named >>> lane) & 1 ? [first + lane] : [],
    );
  });
}

/** Where a thread arrives that has returned. */
const nowhere: Range = { source: 0, start: 0, end: 0 };

/**
 * One barrier for each of a block's groups of one kind. A thread that has returned is not expected any
 * more, as on the hardware: the others meet without it.
 */
export class GroupBarriers {
  readonly group: Group;
  readonly #blockSize: number;
  readonly #barriers: (PhaseBarrier | undefined)[] = [];
  readonly #left: number[] = [];

  constructor(group: Group, blockSize: number) {
    this.group = group;
    this.#blockSize = blockSize;
  }

  of(rank: number): PhaseBarrier {
    const { index, size } = membership(this.group, rank, this.#blockSize);
    this.#barriers[index] ??= new PhaseBarrier(size);
    return this.#barriers[index];
  }

  /** What a thread did before it returned comes before the others' meetings after that. */
  leave(thread: Thread): void {
    const { rank } = thread;
    const barrier = this.of(rank);
    thread.observer?.arrived(thread, barrier, barrier.phase, nowhere);
    barrier.drop();
    const { index } = membership(this.group, rank, this.#blockSize);
    this.#left[index] = (this.#left[index] ?? 0) + 1;
  }

  /** How far the current phase of a thread's barrier has come. */
  progress(rank: number): Progress {
    const { arrived, expected } = this.of(rank);
    return { arrived, expected, left: this.#left[membership(this.group, rank, this.#blockSize).index] ?? 0 };
  }
}
