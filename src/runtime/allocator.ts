// The allocator of a linear memory: best fit over a list of free ranges.
//
// Free ranges are kept sorted by address and never touch each other (neighbours are joined when
// memory is given back). All sizes and addresses are multiples of 256 bytes, as those of a GPU are: so
// a copy that promises an alignment finds it on every device. A device holds tens to
// thousands of arrays, so that a scan of the list costs less than any cleverer structure.

import { arrayAlignment } from '../targets/shared-alignment.ts';

/** Addresses and sizes are multiples of this. */
export const alignment = arrayAlignment;

interface FreeRange {
  address: number;
  bytes: number;
}

/** Hands out stretches of the addresses from `begin` to `end` (exclusive). */
export class Allocator {
  readonly #total: number;
  readonly #free: FreeRange[];
  readonly #taken = new Map<number, number>();
  #allocated = 0;

  constructor(begin: number, end: number) {
    const first = Math.ceil(begin / alignment) * alignment;
    this.#total = Math.max(0, Math.floor((end - first) / alignment) * alignment);
    this.#free = this.#total > 0 ? [{ address: first, bytes: this.#total }] : [];
  }

  /** Bytes that are managed at all. */
  get total(): number {
    return this.#total;
  }

  /** Bytes handed out, rounding included. */
  get allocated(): number {
    return this.#allocated;
  }

  /** How many stretches are handed out. */
  get count(): number {
    return this.#taken.size;
  }

  /** The largest stretch that could be had now. */
  get largestFree(): number {
    return this.#free.reduce((largest, { bytes }) => Math.max(largest, bytes), 0);
  }

  /** The address of a stretch of at least `bytes`, or null if there is none. */
  allocate(bytes: number): number | null {
    const rounded = Math.max(alignment, Math.ceil(bytes / alignment) * alignment);
    let best = -1;
    for (let i = 0; i < this.#free.length; ++i) {
      const size = this.#free[i]!.bytes;
      if (size >= rounded && (best < 0 || size < this.#free[best]!.bytes)) best = i;
    }
    if (best < 0) return null;
    const range = this.#free[best]!;
    const address = range.address;
    range.address += rounded;
    range.bytes -= rounded;
    if (range.bytes === 0) this.#free.splice(best, 1);
    this.#taken.set(address, rounded);
    this.#allocated += rounded;
    return address;
  }

  /** Takes back what `allocate` handed out. */
  free(address: number): void {
    const bytes = this.#taken.get(address);
    if (bytes === undefined) throw new RangeError(`no allocation begins at ${address}`);
    this.#taken.delete(address);
    this.#allocated -= bytes;

    const next = this.#firstFreeAbove(address);
    const before = this.#free[next - 1];
    const after = this.#free[next];
    const joinsBefore = before !== undefined && before.address + before.bytes === address;
    const joinsAfter = after !== undefined && address + bytes === after.address;
    if (joinsBefore && joinsAfter) {
      before.bytes += bytes + after.bytes;
      this.#free.splice(next, 1);
    } else if (joinsBefore) {
      before.bytes += bytes;
    } else if (joinsAfter) {
      after.address = address;
      after.bytes += bytes;
    } else {
      this.#free.splice(next, 0, { address, bytes });
    }
  }

  /** Position of the first free range that begins above an address. */
  #firstFreeAbove(address: number): number {
    let low = 0;
    let high = this.#free.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#free[middle]!.address > address) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
