// The memory of one chunk in flight: arrays on the device for every input and output, page-locked
// memory for what is read and written, and the streams that its commands go to.
//
// What is read has left for the device before results come back: so inputs and outputs lie in the same
// page-locked bytes. Memory is taken when the first chunk is about to be read into it, while other slots are
// at work: page-locked memory above all takes its time, since it is filled with zeros and locked page by
// page. A GPU that stays open keeps some for the next run.

import { viewElements } from '../formats/typed-arrays.ts';
import { bytesOf } from '../kernel/layout.ts';
import { componentCount, type ElementType } from '../kernel/types.ts';
import type { Device, DeviceArray, PinnedArray } from '../runtime/device.ts';
import { ChunkStreams, type CopyStreams } from './chunk-streams.ts';
import type { TypedArray } from './job.ts';
import type { Participant } from './participants.ts';

/** An array parameter that streams, and the elements that a full chunk has of it. */
export interface StreamedArray {
  readonly name: string;
  readonly element: ElementType;
  readonly capacity: number;
  readonly role: 'input' | 'output';
  /** The caller's own memory is page-locked, and takes the place of the slot's. */
  readonly inPlace: boolean;
}

/** Where an array lies in the page-locked bytes. */
interface HostPlace {
  readonly element: ElementType;
  readonly offset: number;
}

/** Arrays begin at cache lines. */
const alignment = 64;

/** Everything that one chunk in flight needs. */
export class Slot {
  readonly streams: ChunkStreams;
  readonly #owner: Device;
  readonly #arrays: readonly StreamedArray[];
  readonly #device = new Map<string, DeviceArray>();
  readonly #places: ReadonlyMap<string, HostPlace>;
  readonly #hostBytes: number;
  #host: PinnedArray<'u8'> | null = null;

  constructor(participant: Participant, arrays: readonly StreamedArray[], copies: CopyStreams | null) {
    this.#owner = participant.device;
    this.#arrays = arrays;
    this.streams = new ChunkStreams(participant, copies);
    const places = new Map<string, HostPlace>();
    const ends = { input: 0, output: 0 };
    for (const { name, element, capacity, role, inPlace } of arrays) {
      if (inPlace) continue;
      const offset = Math.ceil(ends[role] / alignment) * alignment;
      places.set(name, { element, offset });
      ends[role] = offset + capacity * bytesOf(element);
    }
    this.#places = places;
    this.#hostBytes = Math.max(ends.input, ends.output);
  }

  /** Takes its memory, as far as it lacks it. May throw WS4001; what was taken then stays until `free`. */
  take(): void {
    this.takeDevice();
    this.takeHost();
  }

  /** Takes the device's memory. */
  takeDevice(): void {
    for (const { name, element, capacity } of this.#arrays) {
      if (!this.#device.has(name)) this.#device.set(name, this.#owner.alloc(element, capacity));
    }
  }

  /** Takes the page-locked memory. */
  takeHost(): void {
    if (this.#hostBytes > 0) this.#host ??= takeHost(this.#owner, this.#hostBytes);
  }

  /** An array's memory on the device. */
  device(name: string): DeviceArray {
    return this.#device.get(name)!;
  }

  /** So many elements of an array that is read or written here, in page-locked memory. */
  host(name: string, length: number): TypedArray {
    const { element, offset } = this.#places.get(name)!;
    const { buffer, byteOffset } = this.#host!.array;
    return viewElements(element, buffer, byteOffset + offset, length * componentCount(element));
  }

  /** Waits for its kernel, whatever became of it, and gives the memory back. All its copies must be done. */
  async free(): Promise<void> {
    await this.streams.destroy();
    if (this.#host !== null) giveHost(this.#owner, this.#host);
    this.#host = null;
    for (const array of this.#device.values()) array.free();
  }
}

/** What a GPU keeps locked from one run to the next, at most. */
const mostSpare = 128 * 2 ** 20;

const spares = new WeakMap<Device, PinnedArray<'u8'>[]>();

function takeHost(device: Device, bytes: number): PinnedArray<'u8'> {
  const spare = spares.get(device) ?? [];
  const fitting = spare.findIndex(({ length }) => length === bytes);
  if (fitting >= 0) return spare.splice(fitting, 1)[0]!;
  // What is left of another job would only take memory from this one.
  for (const other of spare.splice(0)) other.free();
  return device.allocPinned('u8', bytes);
}

function giveHost(device: Device, host: PinnedArray<'u8'>): void {
  const spare = spares.get(device) ?? [];
  spares.set(device, spare);
  const kept = spare.reduce((sum, { length }) => sum + length, host.length);
  if (device.properties.kind === 'cuda' && kept <= mostSpare) spare.push(host);
  else host.free();
}
