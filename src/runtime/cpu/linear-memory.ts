// A shared WebAssembly memory with an allocator: the device's memory, and the staging memory of
// copies from and to pageable arrays.
//
// The memory begins small and grows when an allocation needs it; it never moves, so that every
// thread's addresses stay valid. Fresh pages are zero, which spares clearing them.
//
// In a memory with addresses of 64 bits arrays begin at 4 GiB. Below that, where 32 bits are enough, lies what launches
// have beside their arrays.

import { Allocator } from '../allocator.ts';
import { fillBytes } from '../box.ts';

const pageBytes = 65536;

/** The most that one memory may have: its last page would end at 2^32, which 32 bits cannot say. */
export const maximumBytes = 65535 * pageBytes;

const arraysBegin = 2 ** 32;
/** The most bytes of arrays in a memory with addresses of 64 bits: engines give 16 GiB in all. */
export const widestBytes = 2 ** 34 - arraysBegin;

export type AddressType = 'i32' | 'i64';

/** The addresses of a memory for so many bytes of arrays. */
export function addressTypeFor(bytes: number): AddressType {
  return bytes > maximumBytes ? 'i64' : 'i32';
}

/** Whether the engine has memories with addresses of 64 bits: Node has from version 24. */
export function hasMemory64(): boolean {
  try {
    return newMemory(1, 'i64').grow(0n as never) === (1n as never);
  } catch (error) {
    // It has, but no address space for one.
    return error instanceof RangeError;
  }
}

function newMemory(maximum: number, addressType: AddressType): WebAssembly.Memory {
  if (addressType === 'i32') return new WebAssembly.Memory({ initial: 1, maximum, shared: true });
  // The types that Node has know numbers alone.
  const wide = { address: addressType, initial: 1n, maximum: BigInt(maximum), shared: true };
  return new WebAssembly.Memory(wide as unknown as WebAssembly.MemoryDescriptor);
}

/** Whether a memory has addresses of 64 bits is known by what it grows by. */
function grow(memory: WebAssembly.Memory, pages: number): void {
  try {
    memory.grow(pages);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    memory.grow(BigInt(pages) as never);
  }
}

export class LinearMemory {
  /** Of arrays. */
  readonly allocator: Allocator;
  /** Of what launches have beside them: the same one, where all addresses have 32 bits. */
  readonly #low: Allocator;
  readonly #maximumPages: number;
  #memory: WebAssembly.Memory | null;
  #bytes: Uint8Array;
  /** Everything from here on was never handed out, and is zero. */
  #pristine = 0;

  /** `limit`: bytes of arrays at most. */
  constructor(limit: number, addressType: AddressType = 'i32') {
    const isWide = addressType === 'i64';
    const end = isWide
      ? arraysBegin + Math.min(limit, widestBytes)
      : Math.max(pageBytes, Math.min(limit, maximumBytes));
    this.#maximumPages = Math.floor(end / pageBytes);
    this.#memory = newMemory(this.#maximumPages, addressType);
    this.#bytes = new Uint8Array(this.#memory.buffer);
    // Address 0 is nobody's, so that a wild zero is not an array.
    this.allocator = new Allocator(isWide ? arraysBegin : 1, this.#maximumPages * pageBytes);
    this.#low = isWide ? new Allocator(1, arraysBegin - pageBytes) : this.allocator;
  }

  get memory(): WebAssembly.Memory {
    if (this.#memory === null) throw new TypeError('the memory was let go');
    return this.#memory;
  }

  /** Lets go of it, whatever still refers to this object; how many bytes it had. */
  letGo(): number {
    const { length } = this.#bytes;
    this.#memory = null;
    this.#bytes = new Uint8Array();
    return length;
  }

  /** All of the memory, as grown by now. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** The address of `bytes` bytes, or null if they are not to be had. */
  allocate(bytes: number): number | null {
    return this.#allocate(this.allocator, bytes);
  }

  /** The same below 4 GiB. */
  allocateLow(bytes: number): number | null {
    return this.#allocate(this.#low, bytes);
  }

  #allocate(allocator: Allocator, bytes: number): number | null {
    const address = allocator.allocate(bytes);
    if (address === null) return null;
    if (this.#reach(address + bytes)) return address;
    allocator.free(address);
    return null;
  }

  /** The same, zeroed. */
  allocateZeroed(bytes: number): number | null {
    const pristine = this.#pristine;
    const address = this.allocate(bytes);
    if (address !== null) fillBytes(this.#bytes, address, Math.min(address + bytes, pristine), 0);
    return address;
  }

  /** The largest stretch below 4 GiB that could be had now. */
  get largestLow(): number {
    return this.#low.largestFree;
  }

  free(address: number): void {
    (address < arraysBegin ? this.#low : this.allocator).free(address);
  }

  #reach(end: number): boolean {
    if (end > this.#bytes.length) {
      const needed = Math.ceil(end / pageBytes);
      const doubled = Math.min(this.#maximumPages, 2 * (this.#bytes.length / pageBytes));
      // Every growth interrupts all threads, so it goes by doubling; where the system does not
      // give as much, by what is needed.
      if (!this.#grow(Math.max(needed, doubled)) && !this.#grow(needed)) return false;
    }
    this.#pristine = Math.max(this.#pristine, end);
    return true;
  }

  #grow(pages: number): boolean {
    try {
      grow(this.memory, pages - this.#bytes.length / pageBytes);
    } catch {
      return false;
    }
    this.#bytes = new Uint8Array(this.memory.buffer);
    return true;
  }
}

/** Another thread's view of such a memory, which follows its growth. */
export class MemoryView {
  readonly #memory: WebAssembly.Memory;
  #bytes: Uint8Array;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
    this.#bytes = new Uint8Array(memory.buffer);
  }

  /** The memory, of which the first `end` bytes are needed. */
  upTo(end: number): Uint8Array {
    if (end > this.#bytes.length) {
      grow(this.#memory, 0); // the growth of another thread may not have arrived in this one
      this.#bytes = new Uint8Array(this.#memory.buffer);
    }
    return this.#bytes;
  }
}
