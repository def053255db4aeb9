// A point of a stream on the GPU's own clock.

import type { Stamp } from '../command.ts';
import type { GpuClock } from './clock.ts';
import type { Driver } from './driver.ts';
import type { EventPool } from './driver-stream.ts';

/** A point of a stream, as an event of the driver. Behind a host function it is placed when that has returned. */
export class EventStamp implements Stamp {
  /** 0 until it is placed. */
  #event = 0;
  readonly #driver: Driver;
  readonly #clock: GpuClock;
  readonly #pool: EventPool;
  #released = false;

  constructor(driver: Driver, clock: GpuClock, pool: EventPool) {
    this.#driver = driver;
    this.#clock = clock;
    this.#pool = pool;
  }

  /** An event at the point, which is the stamp's from now on. */
  place(event: number): void {
    if (this.#released) this.#pool.give(event);
    else this.#event = event;
  }

  time(): number {
    if (this.#event === 0) return performance.now();
    this.#driver.cuEventSynchronize(this.#event);
    this.#clock.renew(performance.now());
    return this.#clock.timeOf(this.#event) ?? performance.now();
  }

  since(start: Stamp): number | null {
    if (!(start instanceof EventStamp) || this.#event === 0 || start.#event === 0) return null;
    this.#driver.cuEventSynchronize(this.#event);
    this.#driver.cuEventSynchronize(start.#event);
    return this.#clock.between(start.#event, this.#event);
  }

  release(): void {
    if (!this.#released && this.#event !== 0) this.#pool.give(this.#event);
    this.#released = true;
  }
}
