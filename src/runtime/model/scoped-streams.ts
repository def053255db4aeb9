// Streams for the time of a scope, with events by which the first waits for all.

import type { Device, Event, Stream } from '../device.ts';

export class ScopedStreams implements AsyncDisposable {
  readonly all: readonly Stream[];
  readonly #ended: readonly Event[];

  constructor(device: Device, count: number) {
    this.all = Array.from({ length: count }, () => device.createStream({ nonBlocking: true }));
    this.#ended = this.all.map(() => device.createEvent());
  }

  /** Has all the others wait for what the first has been given. */
  fork(): void {
    const [first, ...others] = this.all;
    first!.record(this.#ended[0]!);
    for (const stream of others) stream.waitEvent(this.#ended[0]!);
  }

  /** Has the first stream wait for what all the others have been given. */
  join(): void {
    const [first, ...others] = this.all;
    for (const [i, stream] of others.entries()) {
      stream.record(this.#ended[i]!);
      first!.waitEvent(this.#ended[i]!);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const event of this.#ended) event.destroy();
    for (const stream of this.all) await stream.destroy();
  }
}
