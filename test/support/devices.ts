// The devices that tests of the runtime run on.

import type { Device } from 'warpstage';
import { type OpenOptions, open } from 'warpstage';

/** Every kind of device, for `describe.each`. */
export const devices = [
  { name: 'cpu, wasm', options: { threads: 2 } },
  { name: 'cpu, wasm, one thread', options: { threads: 1 } },
  { name: 'cpu, interpreter', options: { target: 'interpreter' } },
] as const satisfies { name: string; options: OpenOptions }[];

/** Opens a device for the duration of a function. */
export async function withDevice<T>(options: OpenOptions, use: (device: Device) => Promise<T>): Promise<T> {
  await using device = await open('cpu', options);
  return await use(device);
}
