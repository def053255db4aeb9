// Streams of the driver that are used again: making one takes 20 microseconds and ending it 10, and a job has
// some on every GPU.

import type { Driver } from './driver.ts';

/** CU_STREAM_NON_BLOCKING */
const nonBlocking = 1;
/** So many are kept of each priority. */
const mostSpare = 32;

export class StreamPool {
  readonly #driver: Driver;
  readonly #spare = new Map<number, number[]>();

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /** A stream with nothing in it. */
  take(priority: number): number {
    const spare = this.#spare.get(priority)?.pop();
    if (spare !== undefined) return spare;
    const stream = [0];
    const created = this.#driver.cuStreamCreateWithPriority(stream, nonBlocking, priority);
    this.#driver.check(created, 'creating a stream');
    return Number(stream[0]);
  }

  /** Takes back a stream in which everything is complete. */
  give(stream: number, priority: number): void {
    const spare = this.#spare.get(priority) ?? [];
    this.#spare.set(priority, spare);
    if (spare.length < mostSpare) spare.push(stream);
    else this.#driver.cuStreamDestroy_v2(stream);
  }

  close(): void {
    for (const stream of [...this.#spare.values()].flat()) this.#driver.cuStreamDestroy_v2(stream);
    this.#spare.clear();
  }
}
