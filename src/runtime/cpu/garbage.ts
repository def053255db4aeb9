// Collecting garbage where the engine would not think of it.
//
// V8 does not count a SharedArrayBuffer's memory as garbage-collection pressure, since several
// threads may hold it: a program that allocates and frees large page-locked arrays, or opens and closes devices,
// would grow until the machine has no more. So when enough was let go, every thread that held it is asked to collect.
//
// A collection takes about as long as the heap is large. So it waits until the heap could be paid for by what it frees,
// as V8's own collections do.

import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of an open device's arrays after which collecting is worth the pause of all its threads. */
const ofArrays = 256 * 1024 * 1024;
/** Bytes of closed devices after which it is, however small the heap. */
const ofDevices = 8 * 1024 * 1024;

let collect: (() => void) | null = null;
/** Bytes that were let go since this thread collected. */
let uncollected = 0;

/** Collects this thread's garbage. */
export function collectGarbage(): void {
  uncollected = 0;
  if (collect === null) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}

/** An open device has freed an array of so many bytes. Whether to collect now, in its threads too. */
export function arrayFreed(bytes: number): boolean {
  uncollected += bytes;
  return uncollected >= ofArrays;
}

/** A closed device has let go of so many bytes. Collects if that is worth it. */
export function deviceFreed(bytes: number): void {
  uncollected += bytes;
  if (uncollected >= Math.max(ofDevices, getHeapStatistics().used_heap_size)) collectGarbage();
}
