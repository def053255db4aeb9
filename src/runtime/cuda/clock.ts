// The GPU's clock on that of the host.
//
// An event's time is counted from an origin, an event whose time on the host is known. Origins are
// taken anew from time to time: the driver counts milliseconds in 32-bit floats, and the two
// clocks drift. Taking one waits for the GPU, so that is done where whoever reads times says so.

import { type Driver, driverResults } from './driver.ts';
import type { EventPool } from './driver-stream.ts';
import { allocateNative } from './native.ts';

const originLifetime = 20_000;
/** Milliseconds that a GPU at rest takes to come to an event and tell, at most; and how often that is tried. */
const narrow = 0.05;
const mostTries = 5;

interface Origin {
  readonly event: number;
  readonly time: number;
}

export class GpuClock {
  readonly #driver: Driver;
  readonly #pool: EventPool;
  readonly #stream: number;
  /** Where the driver writes what it is asked: an array of JavaScript's would cost the FFI a microsecond each time. */
  readonly #answer: { readonly address: number; readonly milliseconds: Float32Array };
  #origin: Origin;

  constructor(driver: Driver, pool: EventPool) {
    this.#driver = driver;
    this.#pool = pool;
    const stream = [0];
    driver.check(driver.cuStreamCreateWithPriority(stream, 1, 0), 'creating a stream');
    this.#stream = Number(stream[0]);
    const { address, bytes } = allocateNative(Float32Array.BYTES_PER_ELEMENT);
    this.#answer = { address, milliseconds: new Float32Array(bytes.buffer, bytes.byteOffset, 1) };
    const { origin, result } = this.#measure();
    driver.check(result, 'taking the time');
    this.#origin = origin!;
  }

  /** A new origin, and what the driver said last; null if that was an error. */
  #measure(): { readonly origin: Origin | null; readonly result: number } {
    let origin: Origin | null = null;
    let narrowest = Number.POSITIVE_INFINITY;
    // The thread may be held up before it has read the time; where the shortest of a few tries ends, it was not.
    for (let tries = 0; tries < mostTries && narrowest > narrow; ++tries) {
      const event = this.#pool.take();
      const before = performance.now();
      const result =
        this.#driver.cuEventRecord(event, this.#stream) || this.#driver.cuEventSynchronize(event);
      const time = performance.now();
      const isBest = result === driverResults.success && time - before < narrowest;
      const spare = isBest ? origin?.event : event;
      if (spare !== undefined) this.#pool.give(spare);
      if (result !== driverResults.success) return { origin, result };
      if (!isBest) continue;
      narrowest = time - before;
      origin = { event, time };
    }
    return { origin, result: driverResults.success };
  }

  /** Takes a new origin if the present one is old. A GPU that has stopped keeps it; others tell of that. */
  renew(now: number): void {
    if (now - this.#origin.time <= originLifetime) return;
    const { origin } = this.#measure();
    if (origin === null) return;
    this.#pool.give(this.#origin.event);
    this.#origin = origin;
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
