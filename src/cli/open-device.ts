// Opens devices for a command; the runtime is loaded only now.

import type { OpenDevices } from '../overlap/participants.ts';
import type { Device } from '../runtime/device.ts';
import type { OpenOptions } from '../runtime/open-options.ts';
import type { Terminal } from './terminal.ts';

/** Opens the device of that name. */
export async function openDevice(name: string, options: Pick<OpenOptions, 'execute'> = {}): Promise<Device> {
  const { open } = await import('../runtime/open.ts');
  return open(name, options);
}

/** Has what kernels print go to standard error: standard output is the result's. */
export function printAside(device: Device, { errors }: Terminal): void {
  device.print = (line) => errors.write(`${line}\n`);
}

/** Opens the devices of a job: one name, or several with commas between them. */
export async function openDevices(
  names: string,
  options: Pick<OpenOptions, 'threads' | 'checked'>,
  maxMemory?: string,
): Promise<OpenDevices> {
  const { openDevices } = await import('../overlap/devices.ts');
  return openDevices(names, options, maxMemory);
}
