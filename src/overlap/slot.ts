// The memory of one chunk in flight: page-locked and device arrays for every input and output,
// and the stream that its commands go to.

import type { ElementType } from '../kernel/types.ts';
import type { Device, DeviceArray, Event, PinnedArray, Stream } from '../runtime/device.ts';

/** An array parameter that streams, and the elements that a full chunk has of it. */
export interface StreamedArray {
  readonly name: string;
  readonly element: ElementType;
  readonly capacity: number;
  /** The caller's own memory is page-locked, and takes the place of the slot's. */
  readonly inPlace: boolean;
}

/** Everything that one chunk in flight needs. */
export class Slot {
  readonly stream: Stream;
  /** The kernel of the chunk in this slot has run. */
  readonly computed: Event;
  readonly #pinned = new Map<string, PinnedArray>();
  readonly #device = new Map<string, DeviceArray>();

  private constructor(device: Device) {
    this.stream = device.createStream({ nonBlocking: true });
    this.computed = device.createEvent();
  }

  /** Allocates a slot, or nothing of it. */
  static async create(device: Device, arrays: readonly StreamedArray[]): Promise<Slot> {
    const slot = new Slot(device);
    try {
      for (const { name, element, capacity, inPlace } of arrays) {
        if (!inPlace) slot.#pinned.set(name, device.allocPinned(element, capacity));
        slot.#device.set(name, device.alloc(element, capacity));
      }
    } catch (error) {
      await slot.free();
      throw error;
    }
    return slot;
  }

  /** An array's memory on the device. */
  device(name: string): DeviceArray {
    return this.#device.get(name)!;
  }

  /** The page-locked memory of an array that is read or written here. */
  pinned(name: string): PinnedArray {
    return this.#pinned.get(name)!;
  }

  /** Waits for the stream's commands, whatever became of them, and gives the memory back. */
  async free(): Promise<void> {
    await this.stream.destroy().catch(() => {});
    this.computed.destroy();
    for (const pinned of this.#pinned.values()) pinned.free();
    for (const array of this.#device.values()) array.free();
  }
}
