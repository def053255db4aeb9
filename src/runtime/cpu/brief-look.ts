// How the main thread waits for what is over soon: it looks for a moment before it leaves for the event loop.
//
// A small kernel is done some ten microseconds after its launch, and to be woken takes several times as long. Where it was not
// done the last times, it is not looked for each time: another thread may want the processor.

/** How long it is looked, in milliseconds, how often between two looks at the clock, which may stand, and how often at all. */
const moment = 0.05;
const looksAtOnce = 64;
const mostLooks = 64 * looksAtOnce;
/** How many times it is not looked, at most. */
const mostLeftOut = 15;

export class BriefLook {
  readonly #now: () => number;
  /** How many times are left out after the next look in vain, and how many are still to be. */
  #next = 1;
  #left = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether something was done within a moment; false also where it was not looked for. */
  look(isDone: () => boolean): boolean {
    if (this.#left > 0) {
      this.#left -= 1;
      return false;
    }
    const end = this.#now() + moment;
    for (let look = 0; look < mostLooks; ++look) {
      if (look > 0 && look % looksAtOnce === 0 && this.#now() >= end) break;
      if (!isDone()) continue;
      this.#next = 1;
      return true;
    }
    this.#left = this.#next;
    this.#next = Math.min(2 * this.#next + 1, mostLeftOut);
    return false;
  }
}
