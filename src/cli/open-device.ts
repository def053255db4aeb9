// Opens a device for a command; the runtime is loaded only now.

import type { Device } from '../runtime/device.ts';

/** Opens the device of that name. */
export async function openDevice(name: string, threads?: number): Promise<Device> {
  const { open } = await import('../runtime/open.ts');
  return open(name, threads === undefined ? {} : { threads });
}
