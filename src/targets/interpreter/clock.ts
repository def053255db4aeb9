// A block's clock: time is counted, not measured, so that the same seed gives the same run.
//
// A nanosecond passes whenever a thread is resumed or looks at the clock. Where all threads wait,
// and some of them no longer than to a certain time, the nearest such time comes at once: a wait
// that must time out takes no time to do so. The count starts at 0 with every block.

export class Clock {
  #now = 0;

  get now(): number {
    return this.#now;
  }

  /** A nanosecond passes. */
  tick(): number {
    this.#now += 1;
    return this.#now;
  }

  /** Until then nothing can happen. */
  skipTo(time: number): void {
    this.#now = Math.max(this.#now, time);
  }

  /** Whether it is that late; a time that is not a number is past. */
  isPast(time: number): boolean {
    return !(this.#now < time);
  }
}
