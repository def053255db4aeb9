// What a device may have in a browser, which gives less than a process has.

import type { DeviceSize } from '../surroundings.ts';

/** Bytes of each of a device's two memories at most. */
const mostBytes = 2 ** 31;

export function browserSize({ memory, staging, ...rest }: DeviceSize): DeviceSize {
  return { memory: Math.min(memory, mostBytes), staging: Math.min(staging, mostBytes), ...rest };
}
