// A point of a stream on the GPU's own clock.

import type { Stamp } from '../command.ts';
import type { GpuClock } from './clock.ts';
import type { Driver } from './driver.ts';
import type { EventPool } from './lane.ts';

/** A point of a stream, as an event of the driver. */
export class EventStamp implements Stamp {
  readonly #event: number;
  readonly #driver: Driver;
  readonly #clock: GpuClock;
  readonly #pool: EventPool;
  #released = false;

  constructor(event: number, driver: Driver, clock: GpuClock, pool: EventPool) {
    this.#event = event;
    this.#driver = driver;
    this.#clock = clock;
    this.#pool = pool;
  }

  time(): number {
    this.#driver.cuEventSynchronize(this.#event);
    return this.#clock.timeOf(this.#event) ?? performance.now();
  }

  since(start: Stamp): number | null {
    if (!(start instanceof EventStamp)) return null;
    this.#driver.cuEventSynchronize(this.#event);
    this.#driver.cuEventSynchronize(start.#event);
    return this.#clock.between(start.#event, this.#event);
  }

  release(): void {
    if (!this.#released) this.#pool.give(this.#event);
    this.#released = true;
  }
}
