// Copies between arrays of the host: of a typed array into a chunk's page-locked memory, and back.
//
// On the main thread a core's rate bounds them, and everything else that a run does waits. A GPU is
// far faster than a core; where one takes part, long copies go in parts to Node's pool of threads.
// The CPU device has its own threads at work on the same cores, and copies on the main thread.

import { poolCopies } from '../runtime/cuda/pool-copies.ts';
import { type CopyBytes, copyHere } from './copy-here.ts';
import type { Participant } from './participants.ts';

/** As many threads as Node's pool has, unless UV_THREADPOOL_SIZE says otherwise. */
const mostParts = 4;
/** Shorter parts are copied sooner than they are handed over. */
const leastPart = 256 * 1024;
/** Parts begin at multiples of this: pages are filled by one thread. */
const page = 4096;

/** How the devices of a run are fed. */
export function copiesFor(participants: readonly Pick<Participant, 'name' | 'device'>[]): CopyBytes {
  if (participants.every(({ device }) => device.properties.kind !== 'cuda')) return copyHere;
  const copy = poolCopies();
  return copy === null ? copyHere : inParts(copy);
}

/** Copies in several parts side by side. */
export function inParts(copy: CopyBytes): CopyBytes {
  return async (into, from) => {
    const parts = Math.min(mostParts, Math.floor(from.length / leastPart));
    if (parts < 2 || mayShrink(into) || mayShrink(from)) return copyHere(into, from);
    const size = Math.ceil(from.length / parts / page) * page;
    const begins = Array.from({ length: Math.ceil(from.length / size) }, (_, part) => part * size);
    // All must have ended before an error leaves: the memory may be freed then.
    const ended = await Promise.allSettled(
      begins.map((begin) => copy(into.subarray(begin, begin + size), from.subarray(begin, begin + size))),
    );
    for (const part of ended) if (part.status === 'rejected') throw part.reason;
  };
}

/** Whether the memory may become shorter at any time: a thread that copies would not know. */
function mayShrink({ buffer }: Uint8Array): boolean {
  return 'resizable' in buffer && buffer.resizable === true;
}
