// The GPU's clock on that of the host.
//
// An event's time is told from an origin, an event whose time on the host is known. Origins are
// taken anew from time to time: the driver counts milliseconds in 32-bit floats, and the two
// clocks drift.

import { type Driver, driverResults } from './driver.ts';
import type { EventPool } from './lane.ts';

const originLifetime = 20_000;

export class GpuClock {
  readonly #driver: Driver;
  readonly #pool: EventPool;
  readonly #stream: number;
  #origin: { readonly event: number; readonly time: number };

  constructor(driver: Driver, pool: EventPool) {
    this.#driver = driver;
    this.#pool = pool;
    const stream = [0];
    driver.check(driver.cuStreamCreateWithPriority(stream, 1, 0), 'creating a stream');
    this.#stream = Number(stream[0]);
    this.#origin = this.#measure();
  }

  #measure(): { readonly event: number; readonly time: number } {
    const event = this.#pool.record(this.#stream);
    this.#driver.check(this.#driver.cuEventSynchronize(event), 'waiting for an event');
    return { event, time: performance.now() };
  }

  /** The host's time of an event; null if it was not reached. */
  timeOf(event: number): number | null {
    if (performance.now() - this.#origin.time > originLifetime) {
      this.#pool.give(this.#origin.event);
      this.#origin = this.#measure();
    }
    const milliseconds = this.between(this.#origin.event, event);
    return milliseconds === null ? null : this.#origin.time + milliseconds;
  }

  /** Milliseconds from one event to another, both of which were reached. */
  between(start: number, stop: number): number | null {
    const milliseconds = [0];
    const result = this.#driver.cuEventElapsedTime(milliseconds, start, stop);
    return result === driverResults.success ? milliseconds[0]! : null;
  }

  close(): void {
    this.#driver.cuStreamDestroy_v2(this.#stream);
    this.#driver.cuEventDestroy_v2(this.#origin.event);
  }
}
