// How long the threads of a block may do nothing but sleep and look again.
//
// A kernel may wait with a limit again and again, and for what never comes it would do so for ever. While
// all threads of a block only yield, the schedule asks here now and then. If nobody has arrived
// anywhere in the meantime (all that threads wait for lies in one stretch of memory), the worker naps, a
// little longer each time; and when that goes on for too long, it is over.

import { patienceOf } from '../patience.ts';
import { sharedBytes } from '../shared-bytes.ts';

/** A look that comes later than this was held up by something else, which may well have been of use. */
const longestRest = 20;
const longestNap = 4;
/** Of the time that has been idled away already. */
const shareOfNap = 1 / 20;

export class Patience {
  readonly #memory: WebAssembly.Memory;
  readonly #limit: number;
  /** What threads have met for, by block, when they last rested. */
  readonly #states = new Map<number, number>();
  /** Nobody ever wakes a nap; null where none may be taken. */
  #bed: Int32Array | null = new Int32Array(sharedBytes(4));
  #last = 0;
  #idle = 0;

  constructor(memory: WebAssembly.Memory, limit = patienceOf()) {
    this.#memory = memory;
    this.#limit = limit;
  }

  /** A launch begins. */
  begin(): void {
    this.#states.clear();
  }

  /** Whether a block's threads have rested for too long: 1 or 0. */
  rests(address: number, bytes: number, block: number): number {
    const now = performance.now();
    const state = hashOf(new Int32Array(this.#memory.buffer, address, bytes >> 2));
    if (this.#states.get(block) === state) {
      this.#idle += Math.min(now - this.#last, longestRest);
      this.#nap(Math.min(this.#idle * shareOfNap, longestNap));
    } else {
      this.#states.set(block, state);
      this.#idle = 0;
    }
    this.#last = now;
    return this.#idle > this.#limit ? 1 : 0;
  }

  #nap(milliseconds: number): void {
    if (this.#bed === null) return;
    try {
      Atomics.wait(this.#bed, 0, 0, milliseconds);
    } catch (error) {
      // The main thread of a browser may not.
      if (!(error instanceof TypeError)) throw error;
      this.#bed = null;
    }
  }
}

function hashOf(words: Int32Array): number {
  let hash = 0;
  for (const word of words) hash = (Math.imul(hash, 31) + word) | 0;
  return hash;
}
