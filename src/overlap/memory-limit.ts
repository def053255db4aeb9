// --max-memory: what a process may hold resident, and what of it is left for chunks.
//
// What a run has not taken yet is counted before it is taken: threads that have not started, a heap that has not grown,
// the decoding of a format. What is left goes to the chunks in flight, which are made as small as that takes; and where
// too little is left, the run is refused before it begins. Given too many threads, a device has fewer.

import { availableParallelism } from 'node:os';
import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import type { Device } from '../runtime/device.ts';
import { heldByOutputs } from './held-by-outputs.ts';
import type { RunOptions } from './options.ts';
import type { HostMemory, PlanRequest } from './plan.ts';
import { sizeOf } from './sizes.ts';
import type { BesideChunks } from './surroundings.ts';

const MiB = 2 ** 20;
/** What the program holds with a small device: seen on Node 20 to 26 are 80 to 115 MiB. */
const ofProgram = 120 * MiB;
/** What a thread holds: seen are 11 MiB. */
const ofThread = 14 * MiB;
/** Threads that copy. */
const copyThreads = 2;
/** What the main thread's heap grows to, and by how much in any case. */
const grownHeap = 48 * MiB;
const leastGrowth = 12 * MiB;
/** What chunks have where just enough is allowed, and by how much what is held differs from run to run. */
const spare = 16 * MiB;

/** The limit in bytes; undefined where there is none. Throws WS5008 for what is no size. */
export function memoryLimit(given: RunOptions['maxMemory']): number | undefined {
  if (given === undefined) return undefined;
  const bytes = typeof given === 'number' ? given : sizeOf(String(given))?.amount;
  if (bytes !== undefined && Number.isFinite(bytes) && bytes >= 1) return Math.floor(bytes);
  throw problem(
    'WS5008',
    `the limit of memory must be a size, and is ${String(given)}`,
    'write for example 300MiB',
  );
}

/** As many of the threads as a device may have under a limit: they take half of what the program leaves. */
export function threadsWithin(limit: number, wanted: number): number {
  return Math.max(1, Math.min(wanted, Math.floor((limit - ofProgram) / 2 / ofThread)));
}

/** Of devices that were opened under a limit, the threads that they would have without one. */
const wantedThreads = new WeakMap<Device, number>();

/** Notes how many threads a device would have without a limit, if these are the host's. */
export function noteWanted(device: Device, threads: number): void {
  if (device.properties.kind === 'cpu') wantedThreads.set(device, threads);
}

/** What a run holds beside its chunks. */
interface Held {
  readonly devices: readonly Device[];
  /** Bytes that its sources take to decode. */
  readonly decoding: number;
  /** Bytes that its outputs take to encode, and on their way. */
  readonly encoding: number;
  /** Bytes that go to the devices before the first chunk does. */
  readonly resident: number;
}

/**
 * What the process holds beside its heap and its arrays, threads and chunks: code above all. Looked at once, since what
 * former runs have left counts as resident and serves the next ones.
 */
let code: number | undefined;

/** What chunks may take of the host's memory, where that is limited. Throws WS5008 where nothing is left for them. */
export function hostMemory(beside: BesideChunks): HostMemory | undefined {
  const limit = memoryLimit(beside.limit);
  if (limit === undefined) return undefined;
  const { devices, inputs, operands, streams, outputs, destinations } = beside;
  const here = devices.some(isHere);
  const bytes = bytesForChunks(limit, {
    devices,
    decoding: inputs.reduce((sum, { reader }) => sum + (reader.source.decodingBytes ?? 0), 0),
    encoding: heldByOutputs(outputs, destinations, beside),
    resident: here ? [...operands.values()].reduce((sum, { byteLength }) => sum + byteLength, 0) : 0,
  });
  return { bytes, ...hostBytesOfRow(streams, here) };
}

/** Bytes that all chunks in flight may take. Throws WS5008 where there are none. */
function bytesForChunks(limit: number, { devices, decoding, encoding, resident }: Held): number {
  const here = devices.filter(isHere);
  const threads = here.reduce((sum, device) => sum + threadsOf(device) + copyThreads, 0);
  const { rss, heapTotal, external } = process.memoryUsage();
  code ??= Math.max(0, rss - heapTotal - external);
  const heap = Math.max(heapTotal + leastGrowth, grownHeap);
  const fixed = code + heap + external + decoding + encoding + resident;
  const held = fixed + threads * ofThread;
  const bytes = limit - held;
  if (bytes >= MiB) return bytes;
  const share = devices.length;
  const needed = (allowed: number) =>
    here.reduce((sum, device) => {
      const most = wantedThreads.get(device);
      const then = most === undefined ? threadsOf(device) : threadsWithin(allowed / share, most);
      return sum + (then + copyThreads) * ofThread;
    }, fixed + spare);
  // More memory is more threads, which take half of it at most: so this ends.
  let enough = needed(limit);
  while (needed(enough) > enough) enough = needed(enough);
  throw problem(
    'WS5008',
    `the run takes ${inMiB(held)} beside its chunks, and may take ${inMiB(limit)} in all`,
    `allow at least ${inMiB(enough)} (--max-memory), or let it have fewer threads`,
  );
}

function inMiB(bytes: number): string {
  return `${count(Math.ceil(bytes / MiB))} MiB`;
}

/** Threads of this machine that run its blocks; a virtual device has multiprocessors of its own besides. */
function threadsOf({ properties: { kind, multiProcessorCount } }: Device): number {
  return kind === 'cpu' ? multiProcessorCount : availableParallelism();
}

/** Whether a device's memory is the host's. */
function isHere({ properties: { kind } }: Device): boolean {
  return kind !== 'cuda';
}

/** Bytes that a row of a chunk in flight takes of the host's memory: what is read and what is written lie in the same. */
function hostBytesOfRow(
  streams: readonly (PlanRequest['streams'][number] & { readonly role: 'input' | 'output' })[],
  here: boolean,
): { readonly perRow: number; readonly ofChunk: number } {
  const sum = (role: 'input' | 'output') =>
    streams
      .filter((stream) => stream.role === role)
      .reduce((bytes, { rowBytes, ratio }) => bytes + (rowBytes * ratio[0]) / ratio[1], 0);
  const [read, written] = [sum('input'), sum('output')];
  const halos = streams.reduce((bytes, { rowBytes, halo }) => bytes + rowBytes * halo, 0);
  const places = here ? 2 : 1;
  return { perRow: Math.max(read, written) + (here ? read + written : 0), ofChunk: places * halos };
}
