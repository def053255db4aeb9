// A point of a stream on the GPU's own clock.

import type { Stamp } from '../command.ts';
import type { GpuClock } from './clock.ts';
import type { Driver } from './driver.ts';
import type { SharedEvent } from './driver-stream.ts';

/** A point of a stream, as an event of the driver. Behind a host function it is placed when that has returned. */
export class EventStamp implements Stamp {
  /** Null until it is placed. */
  #event: SharedEvent | null = null;
  readonly #driver: Driver;
  readonly #clock: GpuClock;
  #released = false;

  constructor(driver: Driver, clock: GpuClock) {
    this.#driver = driver;
    this.#clock = clock;
  }

  /** An event at the point, of which the stamp is a user from now on. */
  place(event: SharedEvent): void {
    if (this.#released) event.release();
    else this.#event = event;
  }

  time(): number {
    if (this.#event === null) return performance.now();
    const { handle } = this.#event;
    this.#driver.cuEventSynchronize(handle);
    this.#clock.renew(performance.now());
    return this.#clock.timeOf(handle) ?? performance.now();
  }

  since(start: Stamp): number | null {
    if (!(start instanceof EventStamp) || this.#event === null || start.#event === null) return null;
    const [from, to] = [start.#event.handle, this.#event.handle];
    this.#driver.cuEventSynchronize(to);
    this.#driver.cuEventSynchronize(from);
    return this.#clock.between(from, to);
  }

  release(): void {
    if (!this.#released) this.#event?.release();
    this.#released = true;
  }
}
