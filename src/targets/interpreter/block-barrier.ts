// Barriers that a kernel makes: arrivals are counted down, and a phase that has them all is over.
//
// Phases are numbered, so that what would alias two of them on hardware, which keeps their parity
// alone, is an error here. Copies that are bound to a phase are delivered when a wait finds
// the phase over, or before.

import { mostArrivals } from '../../compiler/ir-barriers.ts';
import type { Range } from '../../diagnostics/source.ts';
import { barrierName, noToken, otherToken, staleToken, wrongCount } from '../barrier-misuse.ts';
import { type Progress, waitsAtBarrier } from '../waiting.ts';
import type { PendingCopy } from './copies.ts';
import { barrierMisuse } from './fault.ts';
import type { Thread, Wait } from './thread.ts';

/** What the barriers of one making have in common. */
export interface BarrierFamily {
  readonly name: string;
  readonly count: number | null;
  readonly completes: boolean;
  /** The ranks of the group that made them. */
  readonly members: readonly number[];
  /** Threads of the group that returned. */
  returned: number;
}

/** The sign of a token: its thread is to end the phase. */
const last = 1n << 63n;

export class BlockBarrier {
  readonly #family: BarrierFamily;
  readonly #index: number;
  #expected: number;
  #pending: number;
  #phase = 0;
  /** Ranks of those that have arrived in this phase, and of those that have dropped out. */
  readonly #arrived = new Set<number>();
  readonly #dropped = new Set<number>();
  /** Whether it was made to expect each of its group once. */
  readonly #expectsAll: boolean;
  #bound: { readonly phase: number; readonly copies: readonly PendingCopy[] }[] = [];

  constructor(family: BarrierFamily, index: number, expected: number) {
    this.#family = family;
    this.#index = index;
    this.#expected = expected;
    this.#pending = expected;
    this.#expectsAll = expected === family.members.length;
  }

  /** Counts arrivals, and gives the token. */
  arrive(thread: Thread, { count, drop }: { count: number; drop: boolean }, range: Range): bigint {
    thread.observer?.arrived(thread, this, this.#phase, range);
    if (!(count >= 1 && count <= this.#pending && count <= mostArrivals)) {
      throw barrierMisuse(thread, range, wrongCount(this.#name, count, this.#pending));
    }
    const token = (BigInt(this.#index) << 32n) | BigInt(this.#phase + 1);
    this.#pending -= count;
    this.#arrived.add(thread.rank);
    if (drop) {
      this.#expected -= 1;
      this.#dropped.add(thread.rank);
    }
    if (this.#pending > 0) return token;
    if (!this.#family.completes) {
      this.#begin();
      return token;
    }
    // All others have arrived before what its thread does now.
    thread.observer?.waited(thread, this, this.#phase, range);
    return BigInt.asIntN(64, token | last);
  }

  /** The thread that arrived last has done what is to be done before the phase is over. */
  complete(thread: Thread, range: Range): void {
    thread.observer?.arrived(thread, this, this.#phase, range);
    this.#begin();
  }

  /** The phase is over, and the next begins. */
  #begin(): void {
    this.#phase += 1;
    this.#pending = this.#expected;
    this.#arrived.clear();
  }

  /** These copies arrive before the current phase is over. */
  bind(thread: Thread, copies: readonly PendingCopy[], range: Range): void {
    thread.observer?.bound(copies, this, this.#phase, range);
    if (copies.length > 0) this.#bound.push({ phase: this.#phase, copies });
  }

  /** The phase that a token or a parity means. */
  awaited(thread: Thread, by: bigint | boolean, range: Range): number {
    if (typeof by === 'boolean') return this.#phase % 2 === Number(by) ? this.#phase : this.#phase - 1;
    if (by === 0n) throw barrierMisuse(thread, range, noToken(this.#name));
    const index = Number(BigInt.asUintN(63, by) >> 32n);
    if (index !== this.#index) {
      throw barrierMisuse(thread, range, otherToken(this.#name, barrierName(this.#family, index)));
    }
    return Number(BigInt.asUintN(32, by)) - 1;
  }

  wait(thread: Thread, phase: number, range: Range): Wait {
    this.#refuseStale(thread, phase, range);
    return {
      range,
      ready: () => this.#phase > phase,
      describe: () => waitsAtBarrier(this.#name, phase, this.#progress),
      awaited: () => ({ at: 'barrier', ranks: this.#late, all: this.#expectsAll }),
    };
  }

  /** Whether a phase is over; its copies are delivered then. */
  isOver(thread: Thread, phase: number, range: Range): boolean {
    this.#refuseStale(thread, phase, range);
    if (this.#phase <= phase) return false;
    const over = this.#bound;
    this.#bound = over.filter((bound) => bound.phase >= this.#phase);
    for (const bound of over) {
      if (bound.phase < this.#phase) for (const copy of bound.copies) copy.cover();
    }
    thread.observer?.waited(thread, this, phase, range);
    return true;
  }

  #refuseStale(thread: Thread, phase: number, range: Range): void {
    if (this.#phase - phase <= 1) return;
    throw barrierMisuse(thread, range, staleToken(this.#name, phase, this.#phase));
  }

  get #name(): string {
    return barrierName(this.#family, this.#index);
  }

  /** Members that have not arrived in this phase, and may. */
  get #late(): number[] {
    return this.#family.members.filter((rank) => !this.#arrived.has(rank) && !this.#dropped.has(rank));
  }

  get #progress(): Progress {
    const arrived = this.#expected - this.#pending;
    return { arrived, expected: this.#expected, left: this.#family.returned };
  }
}
