// What the hardware finishes by itself: copies of the copy engine, and arrivals that wait for copies.
//
// It lands under a policy: at once (`eager`); as late as possible, which is when no thread can go on
// otherwise, the youngest first; or, under a seed, at a random moment in between, in any order.

import type { Range } from '../../diagnostics/source.ts';
import type { Random } from './random.ts';
import type { Thread } from './thread.ts';

export interface Flight {
  /** Who started it, and where. */
  readonly thread: Thread;
  readonly range: Range;
  /** In words: what is under way. */
  readonly what: string;
  land(): void;
}

/** Steps of threads after which what is late is there after all. */
const patience = 512;

export class Flights {
  readonly #policy: 'eager' | 'late' | Random;
  readonly #aloft: Flight[] = [];
  #passed = 0;

  constructor(policy: 'eager' | 'late' | Random) {
    this.#policy = policy;
  }

  start(flight: Flight): void {
    if (this.#policy === 'eager') flight.land();
    else this.#aloft.push(flight);
  }

  /** Time passes: under a seed, a few land. Even what is late lands while threads do nothing but look for it. */
  pass(): void {
    if (typeof this.#policy === 'string') {
      this.#passed += 1;
      if (this.#passed % patience === 0) this.force();
      return;
    }
    if (this.#aloft.length === 0) return;
    if (this.#policy.oneIn(2)) return;
    const [flight] = this.#aloft.splice(this.#policy.below(this.#aloft.length), 1);
    flight!.land();
  }

  /** No thread can go on: the youngest lands. False if none is aloft. */
  force(): boolean {
    const flight = this.#aloft.pop();
    flight?.land();
    return flight !== undefined;
  }

  /** The oldest that has not landed. */
  get oldest(): Flight | undefined {
    return this.#aloft[0];
  }
}
