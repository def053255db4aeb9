// The streams of one run on a device. Others may use the device at the same time, also other runs: by its streams a run
// knows what it did itself.

import type { Device, Stream } from '../runtime/device.ts';

export class OwnStreams {
  readonly #device: Device;
  readonly #names = new Set<string>();

  constructor(device: Device) {
    this.#device = device;
  }

  /** A stream of the run, which no other waits for. */
  create(): Stream {
    const stream = this.#device.createStream({ nonBlocking: true });
    this.#names.add(stream.name);
    return stream;
  }

  /** Whether it is the name of one of them. */
  has(name: string): boolean {
    return this.#names.has(name);
  }
}
