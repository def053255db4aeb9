// The memory of one chunk in flight: page-locked and device arrays for every input and output,
// and the stream that its commands go to.

import type { ElementType } from '../kernel/types.ts';
import type { Device, DeviceArray, Event, PinnedArray, Stream } from '../runtime/device.ts';
import type { TypedArray } from './job.ts';

/** An array parameter that streams, and the elements that a full chunk has of it. */
export interface StreamedArray {
  readonly name: string;
  readonly element: ElementType;
  readonly capacity: number;
}

/** The two sides of one streamed array. */
export interface Buffers {
  readonly pinned: PinnedArray;
  readonly device: DeviceArray;
  /** The page-locked memory. */
  readonly host: TypedArray;
}

/** Everything that one chunk in flight needs. */
export class Slot {
  readonly stream: Stream;
  /** The kernel of the chunk in this slot has run. */
  readonly computed: Event;
  readonly #pinned: PinnedArray[] = [];
  readonly #buffers = new Map<string, Buffers>();

  private constructor(device: Device) {
    this.stream = device.createStream({ nonBlocking: true });
    this.computed = device.createEvent();
  }

  /** Allocates a slot, or nothing of it. */
  static async create(device: Device, arrays: readonly StreamedArray[]): Promise<Slot> {
    const slot = new Slot(device);
    try {
      for (const { name, element, capacity } of arrays) {
        const pinned = device.allocPinned(element, capacity);
        slot.#pinned.push(pinned);
        const array = device.alloc(element, capacity);
        slot.#buffers.set(name, { pinned, host: pinned.array, device: array });
      }
    } catch (error) {
      await slot.free();
      throw error;
    }
    return slot;
  }

  buffers(name: string): Buffers {
    return this.#buffers.get(name)!;
  }

  /** Waits for the stream's commands, whatever became of them, and gives the memory back. */
  async free(): Promise<void> {
    await this.stream.destroy().catch(() => {});
    this.computed.destroy();
    for (const pinned of this.#pinned) pinned.free();
    for (const { device } of this.#buffers.values()) device.free();
  }
}
