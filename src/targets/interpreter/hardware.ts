// What a block of a lowered program has of the hardware: mbarriers, numbered barriers, and what is
// under way by itself.

import type { Group, Program } from '../../compiler/ir.ts';
import type { MbarrierArray } from '../../compiler/ir-core.ts';
import type { Range } from '../../diagnostics/source.ts';
import { membership, PhaseBarrier } from './barrier.ts';
import type { PendingCopy } from './copies.ts';
import { CopyQueue } from './copy-queue.ts';
import { brokenRule, type KernelFault } from './fault.ts';
import { Flights } from './flights.ts';
import { Mbarrier } from './mbarrier.ts';
import type { Random } from './random.ts';
import type { Thread, Wait } from './thread.ts';

/** Of one thread. */
export interface HardwareThread {
  /** Chunk copies that no wait has covered yet. */
  chunks: PendingCopy[];
  /** Copies from shared to global memory: until their sources are read, and until they are done. */
  readonly reads: CopyQueue;
  readonly stores: CopyQueue;
}

export class Hardware {
  readonly flights: Flights;
  readonly #mbarriers: readonly MbarrierArray[];
  readonly #made = new Map<string, Mbarrier>();
  readonly #named = new Map<number, { readonly threads: number; readonly barrier: PhaseBarrier }>();
  /** By where threads meet: how many voted yes, by the number of the meeting. */
  readonly #votes = new Map<PhaseBarrier, Map<number, number>>();
  readonly #threads = new Map<Thread, HardwareThread>();
  /** Copies that some thread must have waited for when the block ends. */
  #owed: PendingCopy[] = [];
  #settleAt = 256;
  /** The first hint that was wrong. */
  #wrongHint: KernelFault | null = null;

  constructor({ mbarriers = [] }: Program, policy: 'eager' | 'late' | Random) {
    this.flights = new Flights(policy);
    this.#mbarriers = mbarriers;
  }

  of(thread: Thread): HardwareThread {
    let own = this.#threads.get(thread);
    if (own === undefined) {
      own = { chunks: [], reads: new CopyQueue(thread), stores: new CopyQueue(thread) };
      this.#threads.set(thread, own);
    }
    return own;
  }

  /** `instance` says which group's is meant where it is one of lanes. */
  mbarrier(thread: Thread, array: number, index: number, instance: number | null, range: Range): Mbarrier {
    const { name, count, group, completes, made } = this.#mbarriers[array]!;
    if (!(index >= 0 && index < count)) {
      throw brokenRule(thread, range, `mbarrier ${index} of the ${count} of \`${name}\` is used`);
    }
    const own =
      group.kind === 'lanes' ? instance! : membership(group, thread.rank, thread.block.threads.length).index;
    const key = `${array} ${own} ${index}`;
    let found = this.#made.get(key);
    if (found === undefined) {
      found = new Mbarrier(`${name}[${index}]`, { completes, word: made === 'software' });
      this.#made.set(key, found);
    }
    return found;
  }

  /** A thread comes to a numbered barrier; what it waits for if it stays. */
  meet(thread: Thread, id: number, threads: number, range: Range): Wait {
    let found = this.#named.get(id);
    if (found === undefined) {
      found = { threads, barrier: new PhaseBarrier(threads) };
      this.#named.set(id, found);
    }
    if (found.threads !== threads) {
      throw brokenRule(thread, range, `barrier ${id} is for ${found.threads} threads and for ${threads}`);
    }
    const { barrier } = found;
    const { phase } = barrier;
    thread.observer?.arrived(thread, barrier, phase, range);
    barrier.arrive();
    return {
      range,
      ready: () => barrier.phase > phase,
      describe: () => `barrier ${id}: ${barrier.arrived} of ${threads} threads have come`,
    };
  }

  /** It goes on from there. The next phase cannot end without it. */
  leave(thread: Thread, id: number, range: Range): void {
    const { barrier } = this.#named.get(id)!;
    thread.observer?.waited(thread, barrier, barrier.phase - 1, range);
  }

  /** A thread of a group brings a vote to a meeting of all its threads. */
  vote(thread: Thread, group: Group, yes: boolean): void {
    const { barrier, counts } = this.#votesOf(thread, group);
    counts.delete(barrier.phase - 2);
    counts.set(barrier.phase, (counts.get(barrier.phase) ?? 0) + Number(yes));
  }

  /** How many voted yes at the meeting that is just over. The next cannot be over without this thread. */
  votes(thread: Thread, group: Group): number {
    const { barrier, counts } = this.#votesOf(thread, group);
    return counts.get(barrier.phase - 1)!;
  }

  #votesOf(thread: Thread, group: Group) {
    const barrier = thread.block.syncs(group).of(thread.rank);
    const counts = this.#votes.get(barrier) ?? new Map<number, number>();
    this.#votes.set(barrier, counts);
    return { barrier, counts };
  }

  /** A copy completes at an mbarrier: by the end of the block somebody must have seen that. */
  owe(copies: readonly PendingCopy[]): void {
    this.#owed.push(...copies);
    if (this.#owed.length < this.#settleAt) return;
    this.#owed = this.#owed.filter(({ covered }) => !covered);
    this.#settleAt = Math.max(256, 2 * this.#owed.length);
  }

  /** A hint is of no use: no fault of the kernel by itself, and one of its lowering if nothing else is wrong. */
  hintFails(thread: Thread, range: Range, what: string): void {
    this.#wrongHint ??= brokenRule(thread, range, what);
  }

  /** A thread ends: copies of its own that nobody has waited for would land in the memory of a later block. */
  threadEnds(thread: Thread): void {
    const own = this.#threads.get(thread);
    const copy = own?.chunks.find(({ covered, awaited }) => !covered && !awaited);
    if (copy !== undefined) throw this.#underWay(copy.thread, copy.call.range, 'a copy');
  }

  /** All threads have ended. */
  blockEnds(): void {
    const flight = this.flights.oldest;
    if (flight !== undefined) throw this.#underWay(flight.thread, flight.range, flight.what);
    const copy = this.#owed.find(({ covered }) => !covered);
    if (copy !== undefined)
      throw this.#underWay(copy.thread, copy.call.range, 'a copy that nobody waited for');
    if (this.#wrongHint !== null) throw this.#wrongHint;
  }

  #underWay(thread: Thread, range: Range, what: string) {
    return brokenRule(thread, range, `${what} is under way at the end of its block`);
  }
}
