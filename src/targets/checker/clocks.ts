// Who comes after whom: vector clocks.
//
// Every thread counts its own time, which goes on by one at each of its arrivals, and knows the
// time up to which it comes after every other thread of its block: `seen`. An access at time c of
// thread u comes before what thread t does now exactly if t has seen u up to c.
//
// A synchronisation object collects what those who arrive have seen, phase by phase, and whoever
// waits for a phase takes it over. Copies that are bound to a phase have the object itself as
// their agent: it has a component in the clocks of the block like a thread, whose time is the
// number of completed phases. So what a thread knows of copies spreads with all else that it knows.
//
// Of other blocks a thread knows only what an object has said that threads of several blocks
// arrived at. What was collected by the end of a phase is never changed again, so threads share it.

import type { Block } from '../interpreter/block.ts';
import type { Thread } from '../interpreter/thread.ts';

/** Times by component: the ranks of a block, then its agents. What lies beyond the end is 0. */
export type Times = Uint32Array;

/** Times of other blocks, by the first actor of each. */
type Foreign = ReadonlyMap<number, Times>;

/** The clocks of one block's threads. */
export class BlockClocks {
  readonly block: Block;
  /** Of the first thread; the thread of rank r is actor `firstActor + r`, from 1 on over the whole launch. */
  readonly firstActor: number;
  readonly threads: readonly ThreadClock[];
  #components: number;

  constructor(block: Block) {
    const [x, y, z] = block.index;
    const [width, height] = block.launch.grid;
    const size = block.threads.length;
    this.block = block;
    this.firstActor = 1 + (x + width * (y + height * z)) * size;
    this.#components = size;
    this.threads = block.threads.map(({ rank }) => new ThreadClock(this, rank, size));
  }

  /** Knowledge of part of what `general` knows: at first of nothing that its block does. */
  static within(general: BlockClocks): BlockClocks {
    const part = new BlockClocks(general.block);
    for (const clock of part.threads) {
      clock.seen[clock.rank] = 0;
      clock.general = general.threads[clock.rank]!;
    }
    return part;
  }

  /** A component for what is no thread. */
  addAgent(): number {
    this.#components += 1;
    return this.#components - 1;
  }
}

/** What somebody knows of times. */
export interface Knowledge {
  /** Whether it comes after time `time` of a component of a block. */
  hasSeen(block: BlockClocks, component: number, time: number): boolean;
}

/** What one thread has seen. */
export class ThreadClock implements Knowledge {
  readonly block: BlockClocks;
  readonly rank: number;
  readonly actor: number;
  seen: Times;
  /** Of other blocks. */
  foreign: Foreign | null = null;
  /** All that the thread has seen, where this is a part of it. */
  general: ThreadClock = this;
  /** What holds all that it knew of other blocks when it last arrived somewhere, and still knows. */
  arrivedAt: Collected | null = null;

  constructor(block: BlockClocks, rank: number, size: number) {
    this.block = block;
    this.rank = rank;
    this.actor = block.firstActor + rank;
    this.seen = new Uint32Array(size);
    this.seen[rank] = 1;
  }

  get now(): number {
    return this.seen[this.rank]!;
  }

  /** What the thread does from now on is distinguished from what it did. */
  tick(): void {
    this.seen[this.rank]! += 1;
  }

  /** Takes over all that the thread has seen. */
  catchUp(): void {
    this.seen = this.general.seen.slice();
    this.foreign = this.general.foreign;
    this.general.tick();
  }

  hasSeen(block: BlockClocks, component: number, time: number): boolean {
    const times = block === this.block ? this.seen : this.foreign?.get(block.firstActor);
    return times !== undefined && (times[component] ?? 0) >= time;
  }
}

/** What has been collected at an object, by the first actor of each block. */
type Collected = Map<number, Times>;

const nothing: Collected = new Map();

/**
 * How many completed phases are kept for those who have not asked yet. Where a pipeline is used as it should
 * be, none asks for any but the last; a commit without acquire, or a release without wait, lets phases pass
 * that others have yet to ask for. What is not kept any more, a waiter has not seen: so no race is missed.
 */
const keptPhases = 64;

/** One synchronisation object. */
class SyncClock {
  #phase = 0;
  #collected: Collected = new Map();
  /** Knowledge of other blocks that is among what was collected; many threads bring the same. */
  readonly #brought = new Set<Foreign>();
  readonly #completed = new Map<number, Collected>();
  #agent: { readonly block: BlockClocks; readonly component: number } | null = null;

  agentOf(block: BlockClocks) {
    this.#agent ??= { block, component: block.addAgent() };
    return this.#agent;
  }

  arrive(clock: ThreadClock, phase: number): void {
    if (phase > this.#phase) this.#complete(phase);
    const { block, foreign } = clock;
    const known = this.#collected.get(block.firstActor);
    this.#collected.set(
      block.firstActor,
      known === undefined ? clock.seen.slice() : joined(known, clock.seen),
    );
    if (clock.general !== clock) return;
    if (foreign !== null && !this.#brought.has(foreign)) this.#bring(foreign);
    clock.arrivedAt = this.#collected;
    clock.tick();
  }

  #bring(foreign: Foreign): void {
    this.#brought.add(foreign);
    for (const [block, times] of foreign) {
      const before = this.#collected.get(block);
      this.#collected.set(block, before === undefined ? times.slice() : joined(before, times));
    }
  }

  // What was collected goes on growing from a copy, so that a late waiter takes no more than its phase.
  #complete(next: number): void {
    this.#completed.set(this.#phase, this.#collected);
    this.#collected = new Map(Array.from(this.#collected, ([block, times]) => [block, times.slice()]));
    this.#brought.clear();
    this.#phase = next;
    if (this.#completed.size <= keptPhases) return;
    const [oldest] = this.#completed.keys();
    this.#completed.delete(oldest!);
  }

  wait(clock: ThreadClock, phase: number): void {
    const collected = this.#at(phase);
    const own = collected.get(clock.block.firstActor);
    if (own !== undefined) clock.seen = joined(clock.seen, own);
    // What another block ordered before the copy engine of its own is not ordered before this block's.
    if (clock.general !== clock) return;
    if (collected.size > (own === undefined ? 0 : 1)) {
      const holdsAll = clock.foreign === null || clock.arrivedAt === collected;
      clock.foreign = holdsAll ? collected : withForeign(clock.foreign!, collected);
      clock.arrivedAt = null;
    }
    if (this.#agent !== null) this.#tellOfCopies(clock, this.#agent, phase + 1);
  }

  /** All that was collected by the end of a phase, as far as it is kept. */
  #at(phase: number): Collected {
    if (phase >= this.#phase) return this.#collected;
    // In a phase that is left out nobody arrived.
    let latest = nothing;
    for (const [completed, collected] of this.#completed) {
      if (completed > phase) break;
      latest = collected;
    }
    return latest;
  }

  #tellOfCopies(
    clock: ThreadClock,
    { block, component }: NonNullable<SyncClock['agent']>,
    time: number,
  ): void {
    if (block === clock.block) {
      clock.seen = withLength(clock.seen, component + 1);
      clock.seen[component] = Math.max(clock.seen[component]!, time);
      return;
    }
    const times = withLength(
      clock.foreign?.get(block.firstActor) ?? new Uint32Array(0),
      component + 1,
    ).slice();
    times[component] = Math.max(times[component]!, time);
    clock.foreign = new Map([...(clock.foreign ?? []), [block.firstActor, times]]);
    clock.arrivedAt = null;
  }

  get agent() {
    return this.#agent;
  }
}

/** The clocks of all threads of a launch, moved on by what the interpreter tells. */
export class Clocks {
  readonly #blocks = new Map<Block, BlockClocks>();
  readonly #syncs = new Map<object, SyncClock>();
  /** Of what may be waited for when its block has ended, as long as anybody has it. */
  readonly #lasting = new WeakMap<object, SyncClock>();
  #current: BlockClocks | null = null;

  begin(block: Block, clocks = new BlockClocks(block)): BlockClocks {
    this.#blocks.set(block, clocks);
    return clocks;
  }

  /** None of its threads will be heard of again; what others know of them stays. */
  end(block: Block): void {
    this.#blocks.delete(block);
    // Objects outlive their block only where blocks run together.
    if (this.#blocks.size === 0) this.#syncs.clear();
  }

  of(thread: Thread): ThreadClock {
    if (this.#current?.block !== thread.block) this.#current = this.#blocks.get(thread.block)!;
    return this.#current!.threads[thread.rank]!;
  }

  arrived(thread: Thread, sync: object, phase: number): void {
    this.#sync(sync).arrive(this.of(thread), phase);
  }

  waited(thread: Thread, sync: object, phase: number): void {
    this.#known(sync)?.wait(this.of(thread), phase);
  }

  /** The component of the block's clocks that tells how far the copies of an object are. */
  agentOf(thread: Thread, sync: object) {
    return this.#sync(sync).agentOf(this.of(thread).block);
  }

  /** Keeps what was collected at an object when its block ends: threads of later blocks may wait for it. */
  keep(sync: object): void {
    this.#lasting.set(sync, this.#sync(sync));
    this.#syncs.delete(sync);
  }

  #known(sync: object): SyncClock | undefined {
    return this.#syncs.get(sync) ?? this.#lasting.get(sync);
  }

  #sync(sync: object): SyncClock {
    let clock = this.#known(sync);
    if (clock === undefined) {
      clock = new SyncClock();
      this.#syncs.set(sync, clock);
    }
    return clock;
  }
}

/** The later of two times in each component: the first array, or a longer one in its place. */
function joined(into: Times, from: Times): Times {
  const times = withLength(into, from.length);
  for (let i = 0; i < from.length; i += 1) {
    if (from[i]! > times[i]!) times[i] = from[i]!;
  }
  return times;
}

// Rounded up to a fixed step, not in proportion: threads take each other's lengths over, and a share on top
// of every one of them would grow without end.
function withLength(times: Times, length: number): Times {
  if (times.length >= length) return times;
  const longer = new Uint32Array(Math.ceil(length / lengthStep) * lengthStep);
  longer.set(times);
  return longer;
}

const lengthStep = 64;

function withForeign(known: Foreign, collected: Collected): Foreign {
  const merged = new Map(known);
  for (const [block, times] of collected) {
    const before = merged.get(block);
    merged.set(block, before === undefined ? times : joined(before.slice(), times));
  }
  return merged;
}
