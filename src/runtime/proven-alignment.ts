// What a launch proves to a compiler of its arrays' addresses: by which power of two bytes, up to 16, each begins at a
// multiple. One that the kernel only reads but that overlaps one that it writes counts for 8 at most: the engine that
// copies 16 bytes at a time reads ahead of the kernel's own stores.

import type { DeviceMemoryArray } from './arrays.ts';

/** `written`: the arrays that the kernel writes, if it only reads this one; null if it writes it. */
export function provenAlignment(
  array: DeviceMemoryArray,
  written: readonly DeviceMemoryArray[] | null,
): number {
  const alignment = addressAlignment(array);
  if (written === null || alignment <= besideWritten) return alignment;
  return written.some((other) => overlap(array, other)) ? besideWritten : alignment;
}

/** What one that is only read counts for at most where it overlaps one that is written. */
export const besideWritten = 8;

/** The power of two, up to 16, that an array's address is a multiple of. */
export function addressAlignment(array: DeviceMemoryArray): number {
  const low = array.address & 15;
  return low === 0 ? 16 : low & -low;
}

export function overlap(a: DeviceMemoryArray, b: DeviceMemoryArray): boolean {
  return a.address < b.address + b.byteLength && b.address < a.address + a.byteLength;
}
