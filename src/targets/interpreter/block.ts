// A block: its threads, what they meet at, and the schedule that lets them run.
//
// A thread runs until it must wait; then the next one that can go on does. By default they
// take turns by rank; under a seed the order of every round is random, and a thread that
// could go on may be passed over. When no thread can go on, nor will when time passes, that is a
// deadlock.

import { zeroOf } from '../../compiler/arithmetic.ts';
import type { Group } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import type { Extent3 } from '../../kernel/types.ts';
import { warpSize } from '../lanes.ts';
import { placeIn } from '../place-in.ts';
import { deadlockOf, type Progress } from '../waiting.ts';
import { GroupBarriers } from './barrier.ts';
import { Clock } from './clock.ts';
import type { Cohorts } from './cohorts.ts';
import { Copies } from './copies.ts';
import { KernelFault, misuse } from './fault.ts';
import type { Grid } from './grid.ts';
import { Hardware } from './hardware.ts';
import { type Launch, localArraysOf, poisonShared } from './launch.ts';
import { BarrierMaker } from './make-barrier.ts';
import { PipelineMaker } from './make-pipeline.ts';
import { Random } from './random.ts';
import { runByBlock } from './regions.ts';
import type { Completion, Sequence } from './step.ts';
import { Thread, type Wait } from './thread.ts';
import { WarpMeetings } from './warp.ts';

/** Threads that go on as one: a thread by itself, or a cohort. */
export interface Runnable {
  readonly members: readonly Thread[];
  waiting: Wait | null;
}

/** What blocks run whose threads wait for one another. */
export type WaitingBody = Extract<Sequence, { kind: 'coroutine' }> | Cohorts;

export interface BlockOptions {
  readonly delivery: 'eager' | 'late' | number;
  /** How many times the threads may go round in loops, all together. */
  readonly steps: number;
  readonly grid?: Grid | null;
}

export class Block {
  readonly launch: Launch;
  readonly index: Extent3;
  readonly threads: readonly Thread[];
  readonly copies: Copies;
  readonly clock = new Clock();
  readonly makers: readonly PipelineMaker[];
  readonly warps: WarpMeetings;
  readonly hardware: Hardware;
  readonly barrierMakers: readonly BarrierMaker[];
  /** Of a grid that synchronises; else null. */
  readonly grid: Grid | null;
  readonly #random: Random | null;
  readonly #descends: boolean;
  readonly #shift: number;
  readonly #syncs = new Map<number, GroupBarriers>();
  /** Those that have not returned. */
  readonly #running = new Map<Runnable, Generator<Wait, Completion, void>>();
  /** Ranks of the threads that have. */
  readonly #returned: number[] = [];
  readonly #budget: number;
  #steps: number;

  constructor(launch: Launch, linear: number, { delivery, steps, grid: together = null }: BlockOptions) {
    const { program, grid } = launch;
    const size = program.block[0] * program.block[1] * program.block[2];
    this.launch = launch;
    this.index = placeIn(grid, linear);
    this.#random = typeof delivery === 'number' ? new Random(delivery, linear) : null;
    this.#descends = delivery === 'late';
    this.#shift = typeof delivery === 'number' ? delivery : 0;
    this.copies = new Copies(this.#random ?? (delivery as 'eager' | 'late'));
    this.hardware = new Hardware(program, this.#random ?? (delivery as 'eager' | 'late'));
    this.makers = program.pipelines.map((pipeline) => new PipelineMaker(pipeline, size));
    this.warps = new WarpMeetings(size);
    this.barrierMakers = program.barriers.map((barrier) => new BarrierMaker(barrier, size));
    this.grid = together;
    this.#budget = steps;
    this.#steps = steps;
    poisonShared(launch);
    const zeros = program.variables.map(({ type }) => zeroOf(type));
    const local = localArraysOf(program, size);
    this.threads = local.map((arrays, rank) => new Thread(this, rank, zeros.slice(), arrays));
  }

  /** The barriers at which a group's threads sync. */
  syncs(group: Group): GroupBarriers {
    // One set for each size of tile; a block's own barrier is apart from that of a tile as large.
    const key = group.kind === 'tile' ? group.size : 0;
    let barriers = this.#syncs.get(key);
    if (barriers === undefined) {
      barriers = new GroupBarriers(group, this.threads.length);
      this.#syncs.set(key, barriers);
      for (const rank of this.#returned) barriers.leave(this.threads[rank]!);
    }
    return barriers;
  }

  /** A thread goes round a loop once more. */
  spend(thread: Thread, range: Range): void {
    this.#steps -= 1;
    if (this.#steps >= 0) return;
    throw misuse(
      thread,
      'WS3007',
      range,
      `a block went round its loops more than ${this.#budget} times`,
      'See whether this loop ends. A thread may wait for what another one of its block does by an atomic operation; blocks may run one after the other, in any order.',
    );
  }

  /** Runs all threads to their end. */
  run(body: Sequence | Cohorts): void {
    const { observer } = this.launch;
    observer?.blockBegan(this);
    if (body.kind !== 'cohorts' && this.launch.program.level === 'block') {
      runByBlock(this, body);
    } else if (body.kind === 'plain') {
      for (const thread of this.#order([...this.threads])) {
        body.run(thread);
        this.hardware.threadEnds(thread);
        observer?.threadEnded(thread);
      }
    } else {
      this.#start(body);
      while (this.isRunning) if (!this.#round()) this.reportDeadlock();
    }
    this.hardware.blockEnds();
    observer?.blockEnded(this);
  }

  /** Begins a block that runs in turns with others. */
  begin(body: WaitingBody): void {
    this.launch.observer?.blockBegan(this);
    this.#start(body);
  }

  /** Lets every thread that can go on do so, until it must wait. False if none could. */
  round(): boolean {
    if (!this.#round()) return false;
    if (!this.isRunning) {
      this.hardware.blockEnds();
      this.launch.observer?.blockEnded(this);
    }
    return true;
  }

  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  /** How far it has come where its threads wait for the grid. */
  get progressAtGrid(): Progress {
    const arrived = this.threads.filter(({ waiting }) => waiting?.awaitsGrid === true).length;
    return { arrived, expected: this.threads.length, left: this.#returned.length };
  }

  /** Lanes of a thread's warp, as bits: those that wait for the same by the same mask, and those that wait for nothing. */
  progressOfLanes({ rank }: Thread, { meeting, named }: NonNullable<Wait['lanes']>) {
    const first = rank - (rank % warpSize);
    const lanesWhere = (test: (wait: Wait | null) => boolean) =>
      this.threads
        .slice(first, first + warpSize)
        .reduce((bits, { waiting }, lane) => (test(waiting) ? bits | (1 << lane) : bits), 0);
    return {
      arrived: lanesWhere((wait) => wait?.lanes?.meeting === meeting && wait.lanes.named === named),
      returned: lanesWhere((wait) => wait === null),
    };
  }

  #start(body: WaitingBody): void {
    if (body.kind === 'cohorts') body.start(this);
    else for (const thread of this.threads) this.start(thread, body.run(thread));
  }

  /** Lets a thread or cohort run when its turn comes. */
  start(runnable: Runnable, steps: Generator<Wait, Completion, void>): void {
    this.#running.set(runnable, steps);
  }

  /** Whether a cohort parts of which not all can go on. It need not at once. */
  partsNow(): boolean {
    return this.#random === null || this.#random.oneIn(2);
  }

  #round(): boolean {
    let progress = false;
    for (const runnable of this.#order([...this.#running.keys()])) {
      if (runnable.waiting !== null && !runnable.waiting.ready()) continue;
      // A thread that is passed over could have gone on: no deadlock.
      progress = true;
      if (this.#random?.oneIn(4)) continue;
      this.copies.pass();
      this.hardware.flights.pass();
      this.clock.tick();
      const { done, value } = this.#running.get(runnable)!.next();
      runnable.waiting = done ? null : value;
      if (!done) continue;
      this.#running.delete(runnable);
      for (const thread of runnable.members) this.#leave(thread);
    }
    return progress || this.hardware.flights.force() || this.#letTimePass();
  }

  /** Nobody can go on until a wait times out. False if none does. */
  #letTimePass(): boolean {
    let next = Number.POSITIVE_INFINITY;
    for (const { waiting } of this.#running.keys()) {
      next = Math.min(next, waiting?.deadline ?? Number.POSITIVE_INFINITY);
    }
    if (next === Number.POSITIVE_INFINITY) return false;
    this.clock.skipTo(next);
    return true;
  }

  /** Threads in an order that nobody may count on. */
  inAnyOrder(all = this.threads): readonly Thread[] {
    const threads = this.#order([...all]);
    return this.#descends ? threads.reverse() : threads;
  }

  /** The part of a group's copy that falls to the thread of a rank: any, but the same all through the block. */
  shareOf({ rank, size }: { readonly rank: number; readonly size: number }): number {
    return this.#descends ? size - 1 - rank : (rank + this.#shift) % size;
  }

  #order<T>(all: T[]): T[] {
    this.#random?.shuffle(all);
    return all;
  }

  #leave(thread: Thread): void {
    this.hardware.threadEnds(thread);
    thread.observer?.threadEnded(thread);
    this.#returned.push(thread.rank);
    for (const barriers of this.#syncs.values()) barriers.leave(thread);
    this.warps.leave(thread.rank);
    for (const maker of this.makers) maker.leave(thread);
    for (const maker of this.barrierMakers) maker.leave(thread);
    for (const handle of thread.pipelines) handle?.leave();
  }

  /** No thread can go on: throws the fault that says where each waits. */
  reportDeadlock(): never {
    const stuck = [...this.#running.keys()].flatMap(({ members }) => members).sort((a, b) => a.rank - b.rank);
    const waiting = stuck.map(({ rank, waiting }) => ({
      rank,
      range: waiting!.range,
      what: waiting!.describe(),
    }));
    throw new KernelFault(deadlockOf(this.index, waiting));
  }
}
