// What of the address space a CPU device may take, where it is limited: by `ulimit -v`, or by a cluster's queue.
//
// V8 reserves 10 GiB for each memory of WebAssembly, so that code needs no test of its accesses; Node's flag
// `--disable-wasm-trap-handler` has code test them, and a memory then takes what it may grow to. For one of more than 4 GiB
// it reserves 16. A device has two memories, and threads, for each of which V8 reserves more. A process that finds no room for a thread is
// ended by V8, so this is counted before anything is taken. Where there is little, the device is smaller and
// has fewer threads.

import { readFileSync } from 'node:fs';
import { WarpstageError } from '../../diagnostics/error.ts';
import { sizeInWords } from '../out-of-memory.ts';
import type { DeviceSize } from './surroundings.ts';

const MiB = 2 ** 20;
/** What V8 reserves for a memory, unless code tests its accesses. */
const guarded = { i32: 10.5 * 1024 * MiB, i64: 16.5 * 1024 * MiB } as const;
/** What a thread takes: seen on Node 20 to 26 are 590 MiB. */
const ofThread = 640 * MiB;
/** For the program's own arrays, and for what the first thread takes besides. */
const ofProgram = 512 * MiB;
/** A device has no less, and as much for staging. */
const least = 64 * MiB;

/** Node's flag, which has code test its accesses. */
export const untrapped = '--disable-wasm-trap-handler';

/** Bytes of address space that the process has left; infinite where that is not limited, or not known. */
export function addressSpaceLeft(): number {
  try {
    const limit = /^Max address space\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    if (limit === null) return Number.POSITIVE_INFINITY;
    const taken = /^VmSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'));
    return Number(limit[1]) - 1024 * Number(taken?.[1] ?? 0);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Whether this process runs with Node's flag. */
export function isUntrapped(): boolean {
  return [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((one) => one.includes(untrapped));
}

/** Whether it could. */
export function canTest(): boolean {
  return process.allowedNodeEnvironmentFlags.has(untrapped);
}

/**
 * The size of a device that fits what is left; no less than `least` of memory, and one thread. Null if none fits.
 * Besides those that run blocks, two threads copy.
 */
export function sizeThatFits(wanted: DeviceSize, left: number, hasGuards: boolean): DeviceSize | null {
  const isWide = wanted.addressType === 'i64';
  const memories = hasGuards || isWide ? 2 * guarded[wanted.addressType] : 2 * least;
  const threads = Math.min(wanted.threads, Math.floor((left - ofProgram - memories) / ofThread) - 2);
  if (threads < 1) return null;
  if (hasGuards || isWide) return { ...wanted, threads };
  const free = left - ofProgram - (threads + 2) * ofThread;
  const staging = Math.max(least, Math.min(wanted.staging, free / 4));
  return { ...wanted, memory: Math.min(wanted.memory, free - staging), staging, threads };
}

/** What is left of the address space holds no device. */
export function noAddressSpace(left: number, isWide = false): WarpstageError {
  return new WarpstageError({
    code: 'WS4001',
    message: `the CPU device needs more address space than the ${sizeInWords(Math.max(0, left))} that this process has left`,
    hint: isWide
      ? 'open it with 4 GiB of memory at most, or raise the limit (ulimit -v)'
      : !isUntrapped() && canTest()
        ? `set the environment variable NODE_OPTIONS=${untrapped}, with which a device takes less, or raise the limit (ulimit -v)`
        : 'raise the limit (ulimit -v)',
  });
}
