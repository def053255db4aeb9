// The devices of a run, by the names that they have here.
//
// A name may stand for several: `cuda:0,cuda:1`, and `cuda:*` is every GPU of the machine. Under a limit of memory they
// have no more threads than it leaves room for.

import { availableParallelism } from 'node:os';
import { openForJobs } from '../runtime/open.ts';
import type { DeviceName, OpenOptions } from '../runtime/open-options.ts';
import { memoryLimit, noteWanted, threadsWithin } from './memory-limit.ts';
import type { RunOptions } from './options.ts';
import { listDevices, OpenDevices } from './participants.ts';

/** Opens the devices that are named; all of them, or none. */
export async function openDevices(
  wanted?: RunOptions['device'],
  given: Pick<OpenOptions, 'threads' | 'checked'> = {},
  maxMemory?: RunOptions['maxMemory'],
): Promise<OpenDevices> {
  const list = await listDevices(wanted, named);
  const limit = memoryLimit(maxMemory);
  if (limit === undefined) return OpenDevices.of(list, (name) => openForJobs(name as DeviceName, given));
  const threads = given.threads ?? availableParallelism();
  const options = { ...given, threads: threadsWithin(limit / list.length, threads) };
  return OpenDevices.of(list, async (name) => {
    const device = await openForJobs(name as DeviceName, options);
    noteWanted(device, threads);
    return device;
  });
}

async function named(name: string): Promise<readonly string[]> {
  if (name !== 'cuda:*') return [name];
  const { startDriver } = await import('../runtime/cuda/driver.ts');
  const { gpuCount } = await import('../runtime/cuda/gpu.ts');
  await startDriver();
  // Where there is none, opening the first says so.
  return Array.from({ length: Math.max(1, gpuCount()) }, (_, ordinal) => `cuda:${ordinal}`);
}
