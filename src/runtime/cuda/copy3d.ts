// CUDA_MEMCPY3D: the driver's description of a copy of rows and planes, written into native memory.
//
// Two sides of eleven words each, then width, height and depth. Of a side's words a copy between
// plain memories uses the kind of memory, its address (the host's or the device's) and the layout.

import type { Box } from '../box.ts';
import { allocateNative, type NativeMemory } from './native.ts';
import type { Address } from './staging.ts';

/** CUmemorytype */
const memoryType = { host: 1, device: 2 } as const;
const wordBytes = 8;
const sideWords = 11;
const word = { type: 4, host: 5, device: 6, pitch: 9, height: 10 } as const;

export class Copy3D {
  readonly #memory: NativeMemory = allocateNative((2 * sideWords + 3) * wordBytes);

  /** Describes a copy; the address of the description, which is good until the next one. */
  describe(from: Address, to: Address, box: Box): number {
    this.#memory.bytes.fill(0);
    this.#side(0, from);
    this.#side(sideWords, to);
    this.#set(2 * sideWords, box.width);
    this.#set(2 * sideWords + 1, box.height);
    this.#set(2 * sideWords + 2, box.depth);
    return this.#memory.address;
  }

  #side(first: number, { onDevice, address, row, plane }: Address): void {
    this.#set(first + word.type, onDevice ? memoryType.device : memoryType.host);
    this.#set(first + (onDevice ? word.device : word.host), address);
    this.#set(first + word.pitch, row);
    this.#set(first + word.height, row === 0 ? 0 : Math.floor(plane / row));
  }

  #set(position: number, value: number): void {
    this.#memory.view.setBigUint64(position * wordBytes, BigInt(value), true);
  }
}

/** Calls `visit` with where each row of a copy begins, on both sides. */
export function forEachRow(
  from: Address,
  to: Address,
  box: Box,
  visit: (from: number, to: number) => void,
): void {
  for (let z = 0; z < box.depth; ++z) {
    for (let y = 0; y < box.height; ++y) {
      visit(from.address + z * from.plane + y * from.row, to.address + z * to.plane + y * to.row);
    }
  }
}
