// The lines that kernels of a GPU print: a ring of words in page-locked memory.
//
// Threads reserve a place by a counter in the GPU's memory and write the site and the bits of the
// values; the first word of a line is written last, so that the host may read while kernels run. It
// clears what it has read, and tells how far it came. A line for which there is no room is
// counted, and lost.

import { reportedLine } from '../../targets/cuda/reported-line.ts';
import type { FaultSite } from '../../targets/executable.ts';
import type { DeviceMemory, PinnedMemory } from './memory.ts';

/** Words of the ring: 1 MiB, as much as CUDA's printf has. */
const capacity = 2 ** 17;
/** The host's words before the lines: how many words were ever read, and how many lines were lost. */
const state = { taken: 0, lost: 1, bytes: 64 };
/** Words of a line before its values: launch and site; block and rank; the block's other extents. */
const headWords = 3;

interface Ring {
  readonly buffer: SharedArrayBuffer;
  readonly head: number;
  readonly state: BigUint64Array;
  readonly lines: BigUint64Array;
  taken: number;
  lost: number;
}

export class PrintedLines {
  readonly #memory: DeviceMemory;
  readonly #pinned: PinnedMemory;
  readonly #print: (line: string) => void;
  #ring: Ring | null = null;

  constructor(memory: DeviceMemory, pinned: PinnedMemory, print: (line: string) => void) {
    this.#memory = memory;
    this.#pinned = pinned;
    this.#print = print;
  }

  /** What a channel knows of the ring: addresses, and its size in words. */
  place(): { readonly ring: number; readonly head: number; readonly lines: number; readonly words: number } {
    this.#ring ??= this.#make();
    const { buffer, head } = this.#ring;
    const ring = this.#pinned.addressOf(buffer)!;
    return { ring, head, lines: ring + state.bytes, words: capacity };
  }

  #make(): Ring {
    const head = this.#memory.allocate(8);
    if (head === null) throw new Error('the GPU has no memory for 8 bytes');
    const buffer = this.#pinned.allocate(state.bytes + 8 * capacity);
    return {
      buffer,
      head,
      state: new BigUint64Array(buffer, 0, state.bytes / 8),
      lines: new BigUint64Array(buffer, state.bytes),
      taken: 0,
      lost: 0,
    };
  }

  /**
   * Prints the lines that are complete, in the order in which their places were reserved; `sitesOf` has the places of
   * a launch by its number.
   */
  deliver(sitesOf: (launch: number) => readonly FaultSite[]): void {
    const ring = this.#ring;
    if (ring === null) return;
    for (;;) {
      const first = Atomics.load(ring.lines, ring.taken % capacity);
      if (first === 0n) break;
      const site = sitesOf(Number(first >> 32n))[Number((first & 0xffffffffn) >> 1n)]!;
      const types = site.values!;
      const word = (position: number) => ring.lines[(ring.taken + position) % capacity]!;
      const values = types.map((_, i) => word(headWords + i));
      const size = headWords + types.length;
      for (let i = 0; i < size; ++i) ring.lines[(ring.taken + i) % capacity] = 0n;
      ring.taken += size;
      Atomics.store(ring.state, state.taken, BigInt(ring.taken));
      this.#print(reportedLine(site, values));
    }
    const lost = Number(Atomics.load(ring.state, state.lost) & 0xffffffffn);
    if (lost === ring.lost) return;
    const count = (lost - ring.lost) >>> 0;
    ring.lost = lost;
    this.#print(
      `(${count === 1 ? '1 more line was' : `${count} more lines were`} printed and lost: the GPU keeps 1 MiB of lines until they are read)`,
    );
  }
}
