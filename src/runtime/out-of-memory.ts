// The error of an allocation that does not fit, with the figures.

import { WarpstageError } from '../diagnostics/error.ts';
import type { MemoryStatistics } from './device.ts';

/** Bytes as people read them; exact below a KiB. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const power = Math.min(4, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 2 ** (10 * power);
  return `${Number(amount.toPrecision(4))} ${['KiB', 'MiB', 'GiB', 'TiB'][power - 1]}`;
}

/** WS4001. `purpose` says what the bytes were wanted for. */
export function outOfMemory(
  purpose: string,
  bytes: number,
  memory: MemoryStatistics,
  largestFree: number,
): WarpstageError {
  const arrays = memory.allocations === 1 ? '1 array' : `${memory.allocations} arrays`;
  return new WarpstageError({
    code: 'WS4001',
    message:
      `${purpose} needs ${sizeInWords(bytes)}: of the device's ${sizeInWords(memory.total)}, ${arrays} take ` +
      `${sizeInWords(memory.allocated)}, and the largest free stretch is ${sizeInWords(largestFree)}`,
    hint: 'free arrays, work in smaller chunks, or open the device with a larger `memory`',
  });
}

/** WS4001 of what a launch needs beside its arrays, which lies below 4 GiB whatever a device has. */
export function outOfLaunchMemory(bytes: number, largestFree: number): WarpstageError {
  return new WarpstageError({
    code: 'WS4001',
    message: `a launch needs ${sizeInWords(bytes)} beside its arrays, and the largest free stretch for that is ${sizeInWords(largestFree)}`,
    hint: 'launch fewer blocks, or blocks with less shared memory',
  });
}

/** The same for a GPU, whose memory other processes use as well. */
export function outOfGpuMemory(purpose: string, bytes: number, memory: MemoryStatistics): WarpstageError {
  const arrays = memory.allocations === 1 ? '1 array' : `${memory.allocations} arrays`;
  const others = Math.max(0, memory.total - memory.allocated - memory.free);
  return new WarpstageError({
    code: 'WS4001',
    message:
      `${purpose} needs ${sizeInWords(bytes)}: of the device's ${sizeInWords(memory.total)}, ${arrays} take ` +
      `${sizeInWords(memory.allocated)}, other processes and the driver ${sizeInWords(others)}, and ` +
      `${sizeInWords(memory.free)} are free`,
    hint: 'free arrays, work in smaller chunks, or see with nvidia-smi which other processes hold memory',
  });
}

/** The same for memory of the host. */
export function outOfHostMemory(purpose: string, bytes: number, cause: unknown): WarpstageError {
  return new WarpstageError(
    {
      code: 'WS4001',
      message: `${purpose} needs ${sizeInWords(bytes)} of host memory, which the system does not give`,
      hint: 'work in smaller chunks',
    },
    { cause },
  );
}
