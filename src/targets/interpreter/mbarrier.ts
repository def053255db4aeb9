// One mbarrier of a block, exactly as PTX has it, with the rules that hardware leaves unchecked.
//
// A phase ends when no arrival is pending and no byte: at an arrival, or when a copy completes. Each
// phase publishes by an object of its own, so that a wait acquires from the phase that it waited for
// and from no other. To observers the mbarrier itself is an element of shared memory: making it is
// a write, using it an atomic operation, so that a use that nothing orders after the making is a race.

import { mostArrivals } from '../../compiler/ir-barriers.ts';
import type { Range } from '../../diagnostics/source.ts';
import type { PendingCopy } from './copies.ts';
import { brokenRule } from './fault.ts';
import { type Elements, elementsAt } from './memory.ts';
import type { Thread, Wait } from './thread.ts';

/** What a phase publishes, and the copies that completed in it. */
class Phase {
  readonly copies: PendingCopy[] = [];
}

const mostBytes = 2 ** 20 - 1;

export class Mbarrier {
  readonly #name: string;
  readonly #completes: boolean;
  readonly #word: boolean;
  readonly #place: Elements;
  #valid = false;
  #number = 0;
  #expected = 0;
  #pending = 0;
  /** Bytes that the phase waits for; below zero where copies completed before they were expected. */
  #bytes = 0;
  #current = new Phase();
  #before: Phase | null = null;
  /** Copies and arrivals under way that will come here. */
  #outstanding = 0;

  /**
   * Where a phase `completes`, the thread of its last arrival ends it. One that is a `word` in which threads count may be
   * initialised again as it is.
   */
  constructor(name: string, { completes = false, word = false } = {}) {
    this.#name = name;
    this.#completes = completes;
    this.#word = word;
    this.#place = elementsAt(name, 'i32', new ArrayBuffer(4), 0, 1);
  }

  init(thread: Thread, expected: number, range: Range): void {
    thread.observer?.write(thread, this.#place, 0, 0, range, 0);
    if (this.#valid && !this.#word)
      this.#break(thread, range, 'is initialised again without being invalidated');
    if (!(expected >= 1 && expected <= mostArrivals)) {
      this.#break(thread, range, `cannot expect ${expected} arrivals`);
    }
    this.#valid = true;
    this.#number = 0;
    this.#expected = expected;
    this.#pending = expected;
    this.#bytes = 0;
    this.#current = new Phase();
    this.#before = null;
  }

  invalidate(thread: Thread, range: Range): void {
    thread.observer?.write(thread, this.#place, 0, 0, range, 0);
    this.#check(thread, range);
    if (this.#outstanding > 0 || this.#bytes !== 0) {
      this.#break(thread, range, 'is invalidated while copies to it are under way');
    }
    if (this.#pending !== this.#expected) {
      this.#break(
        thread,
        range,
        `is invalidated in a phase that has ${this.#pending} of ${this.#expected} arrivals to come`,
      );
    }
    this.#valid = false;
  }

  /** Counts arrivals; gives a token: the number of the phase after the one arrived in, negative where that is to be ended. */
  arrive(
    thread: Thread,
    {
      count,
      bytes,
      drop,
      releases,
    }: { readonly count: number; readonly bytes: number; readonly drop: boolean; readonly releases: boolean },
    range: Range,
  ): bigint {
    this.#use(thread, range);
    if (!(count >= 1 && count <= this.#pending)) {
      this.#break(thread, range, `gets ${count} arrivals, and its phase lacks ${this.#pending}`);
    }
    if (drop && this.#expected - count < 1) this.#break(thread, range, 'loses the last arrival it expects');
    this.#wait(thread, bytes, range);
    if (releases) thread.observer?.arrived(thread, this.#current, 0, range);
    if (drop) this.#expected -= count;
    this.#pending -= count;
    const token = BigInt(this.#number + 1);
    if (!this.#completes) {
      this.#endIfDone();
      return token;
    }
    if (this.#pending > 0) return token;
    thread.observer?.waited(thread, this.#current, 0, range);
    return BigInt.asIntN(64, token | (1n << 63n));
  }

  /** The thread of the last arrival ends the phase. */
  end(thread: Thread, range: Range): void {
    this.#use(thread, range);
    if (this.#pending > 0) this.#break(thread, range, 'is to end a phase that lacks arrivals');
    thread.observer?.arrived(thread, this.#current, 0, range);
    this.#endIfDone();
  }

  expect(thread: Thread, bytes: number, range: Range): void {
    this.#use(thread, range);
    this.#wait(thread, bytes, range);
    if (this.#pending === 0) {
      this.#break(thread, range, 'expects bytes when all arrivals of its phase have come');
    }
  }

  /** An arrival comes later, when copies are done. */
  announce(thread: Thread, counted: boolean, range: Range): void {
    this.#use(thread, range);
    this.#outstanding += 1;
    if (counted) return;
    if (this.#pending >= mostArrivals) this.#break(thread, range, 'counts too many arrivals');
    this.#pending += 1;
  }

  /** It comes. It publishes the copies that it waited for, and nothing that their thread did. */
  arriveAfter(thread: Thread, copies: readonly PendingCopy[], range: Range): void {
    this.#outstanding -= 1;
    this.#check(thread, range);
    if (this.#pending < 1) this.#break(thread, range, 'gets an arrival that its phase does not lack');
    this.#publish(thread, copies, range);
    this.#pending -= 1;
    this.#endIfDone();
  }

  /** A copy of the copy engine is on its way here. */
  announceBytes(thread: Thread, range: Range): void {
    this.#use(thread, range);
    this.#outstanding += 1;
  }

  /** It is there. */
  complete(copy: PendingCopy, bytes: number, range: Range): void {
    this.#outstanding -= 1;
    this.#check(copy.thread, range);
    this.#publish(copy.thread, [copy], range);
    this.#bytes -= bytes;
    if (this.#bytes < -mostBytes) this.#break(copy.thread, range, 'has more bytes than it can count');
    this.#endIfDone();
  }

  /** What a thread waits for: the end of a phase of this parity. `phase` is which one that must be, if known. */
  begin(thread: Thread, parity: number, phase: number | null, range: Range): Wait {
    this.#use(thread, range);
    if (phase !== null) this.#matches(thread, parity, phase, range);
    return {
      range,
      ready: () => this.#isOver(parity),
      describe: () =>
        `mbarrier \`${this.#name}\`, phase ${this.#number}: ${this.#pending} of ${this.#expected} arrivals and ${this.#bytes} bytes to come`,
    };
  }

  /** Whether the wait is over; then it acquires. */
  finish(thread: Thread, parity: number, phase: number | null, range: Range): boolean {
    this.#use(thread, range);
    if (phase !== null) this.#matches(thread, parity, phase, range);
    if (!this.#isOver(parity)) return false;
    if (this.#before === null) return true;
    for (const copy of this.#before.copies) copy.cover();
    thread.observer?.waited(thread, this.#before, 0, range);
    return true;
  }

  #isOver(parity: number): boolean {
    return (this.#number & 1) !== parity;
  }

  /** Parity means the current phase or the one before; a wait for any other waits for the wrong one. */
  #matches(thread: Thread, parity: number, phase: number, range: Range): void {
    if ((phase & 1) === parity && phase <= this.#number && phase >= this.#number - 1) return;
    this.#break(
      thread,
      range,
      `is waited for by parity ${parity} for phase ${phase}, while phase ${this.#number} is current`,
    );
  }

  #publish(thread: Thread, copies: readonly PendingCopy[], range: Range): void {
    if (copies.length === 0) return;
    thread.observer?.bound(copies, this.#current, 0, range);
    this.#current.copies.push(...copies);
  }

  #wait(thread: Thread, bytes: number, range: Range): void {
    this.#bytes += bytes;
    if (bytes < 0 || this.#bytes > mostBytes) this.#break(thread, range, `cannot wait for ${bytes} bytes`);
  }

  #endIfDone(): void {
    if (this.#pending !== 0 || this.#bytes !== 0) return;
    this.#number += 1;
    this.#pending = this.#expected;
    this.#before = this.#current;
    this.#current = new Phase();
  }

  #use(thread: Thread, range: Range): void {
    thread.observer?.update(thread, this.#place, 0, range);
    this.#check(thread, range);
  }

  #check(thread: Thread, range: Range): void {
    if (!this.#valid) this.#break(thread, range, 'is used and is not initialised');
  }

  #break(thread: Thread, range: Range, what: string): never {
    throw brokenRule(thread, range, `mbarrier \`${this.#name}\` ${what}`);
  }
}
