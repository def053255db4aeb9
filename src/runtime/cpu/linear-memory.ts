// A shared WebAssembly memory with an allocator: the device's memory, and the staging memory of
// copies from and to pageable arrays.
//
// The memory begins small and grows when an allocation needs it; it never moves, so that every
// thread's addresses stay valid. Fresh pages are zero, which spares clearing them.

import { Allocator } from '../allocator.ts';
import { fillBytes } from '../box.ts';

const pageBytes = 65536;

/** The most that one memory may have: its last page would end at 2^32, which 32 bits cannot say. */
export const maximumBytes = 65535 * pageBytes;

export class LinearMemory {
  readonly allocator: Allocator;
  readonly #maximumPages: number;
  #memory: WebAssembly.Memory | null;
  #bytes: Uint8Array;
  /** Everything from here on was never handed out, and is zero. */
  #pristine = 0;

  constructor(limit: number) {
    this.#maximumPages = Math.max(1, Math.floor(Math.min(limit, maximumBytes) / pageBytes));
    this.#memory = new WebAssembly.Memory({ initial: 1, maximum: this.#maximumPages, shared: true });
    this.#bytes = new Uint8Array(this.#memory.buffer);
    // Address 0 is nobody's, so that a wild zero is not an array.
    this.allocator = new Allocator(1, this.#maximumPages * pageBytes);
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
    const address = this.allocator.allocate(bytes);
    if (address === null) return null;
    if (this.#reach(address + bytes)) return address;
    this.allocator.free(address);
    return null;
  }

  /** The same, zeroed. */
  allocateZeroed(bytes: number): number | null {
    const pristine = this.#pristine;
    const address = this.allocate(bytes);
    if (address !== null) fillBytes(this.#bytes, address, Math.min(address + bytes, pristine), 0);
    return address;
  }

  free(address: number): void {
    this.allocator.free(address);
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
      this.memory.grow(pages - this.#bytes.length / pageBytes);
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
      this.#memory.grow(0); // the growth of another thread may not have arrived in this one
      this.#bytes = new Uint8Array(this.#memory.buffer);
    }
    return this.#bytes;
  }
}
