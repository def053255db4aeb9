// What a launch proves to a compiler of its arrays' addresses: by which power of two bytes, up to 16, each begins at a
// multiple. One that the kernel only reads but that overlaps one that it writes counts for 8 at most: the engine that
// copies 16 bytes at a time reads ahead of the kernel's own stores.

import type { DeviceMemoryArray } from './arrays.ts';

/** `written`: the arrays that the kernel writes, if it only reads this one; null if it writes it. */
export function provenAlignment(
  array: DeviceMemoryArray,
  written: readonly DeviceMemoryArray[] | null,
): number {
  const begin = array.address;
  const alignment = alignmentOf(begin);
  if (written === null || alignment < 16) return alignment;
  const end = begin + array.byteLength;
  for (const other of written) {
    if (other.address < end && begin < other.address + other.byteLength) return 8;
  }
  return alignment;
}

/** The power of two, up to 16, that an address is a multiple of. */
function alignmentOf(address: number): number {
  let power = 16;
  while (address % power !== 0) power /= 2;
  return power;
}
