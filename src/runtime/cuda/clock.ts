// The GPU's clock on that of the host.
//
// An event's time is told from an origin, an event whose time on the host is known. Origins are
// taken anew from time to time: the driver counts milliseconds in 32-bit floats, and the two
// clocks drift. Taking one waits for the GPU, so that is done where whoever reads times says so.

import { type Driver, driverResults } from './driver.ts';
import type { EventPool } from './lane.ts';
import { allocateNative } from './native.ts';

const originLifetime = 20_000;

export class GpuClock {
  readonly #driver: Driver;
  readonly #pool: EventPool;
  readonly #stream: number;
  /** Where the driver writes what it is asked: an array of JavaScript's would cost the FFI a microsecond each time. */
  readonly #answer: { readonly address: number; readonly milliseconds: Float32Array };
  #origin: { readonly event: number; readonly time: number };

  constructor(driver: Driver, pool: EventPool) {
    this.#driver = driver;
    this.#pool = pool;
    const stream = [0];
    driver.check(driver.cuStreamCreateWithPriority(stream, 1, 0), 'creating a stream');
    this.#stream = Number(stream[0]);
    const { address, bytes } = allocateNative(Float32Array.BYTES_PER_ELEMENT);
    this.#answer = { address, milliseconds: new Float32Array(bytes.buffer, bytes.byteOffset, 1) };
    const event = pool.take();
    driver.check(this.#reach(event), 'taking the time');
    this.#origin = { event, time: performance.now() };
  }

  /** Waits until the GPU has come to an event. */
  #reach(event: number): number {
    return this.#driver.cuEventRecord(event, this.#stream) || this.#driver.cuEventSynchronize(event);
  }

  /** Takes a new origin if the present one is old. A GPU that has stopped keeps it; others tell of that. */
  renew(now: number): void {
    if (now - this.#origin.time <= originLifetime) return;
    const former = this.#origin.event;
    const event = this.#pool.take();
    const result = this.#reach(event);
    this.#pool.give(result === driverResults.success ? former : event);
    if (result === driverResults.success) this.#origin = { event, time: performance.now() };
  }

  /** The host's time of an event; null if it was not reached. */
  timeOf(event: number): number | null {
    const milliseconds = this.between(this.#origin.event, event);
    return milliseconds === null ? null : this.#origin.time + milliseconds;
  }

  /** Milliseconds from one event to another; null unless both were reached. */
  between(start: number, stop: number): number | null {
    const { address, milliseconds } = this.#answer;
    const result = this.#driver.cuEventElapsedTime(address, start, stop);
    return result === driverResults.success ? milliseconds[0]! : null;
  }

  close(): void {
    this.#driver.cuStreamDestroy_v2(this.#stream);
    this.#driver.cuEventDestroy_v2(this.#origin.event);
  }
}
