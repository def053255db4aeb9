// Staging: how copies reach pageable memory, which the copy engines cannot.
//
// A pageable source is copied to page-locked memory when the copy is issued, so that the caller
// may change it at once; a pageable destination is filled when the main thread settles the copy.
// So a source that an earlier copy has still to fill must be waited for. The driver's own
// staging would block the main thread until the stream has come that far. In staging memory a
// box has no gaps, and it begins there as far from a whole word as in the typed array: V8 copies words of shared
// memory only where both sides lie alike, and single bytes else, at a third of the speed.

import { WarpstageError } from '../../diagnostics/error.ts';
import { boxBytes, copyBox, denseLayout } from '../box.ts';
import type { Work } from '../command.ts';
import type { CopyWork, Memory, Side } from '../copies.ts';
import type { PinnedMemory } from './memory.ts';

const leastBytes = 4096;
/** What copies in flight may take together before the next one waits for the oldest. */
const mostBytes = 256 * 1024 * 1024;

/** A stretch begins where what it stands for lies in a word, so it has as much more. */
const wordBytes = 8;

interface Stage {
  readonly bytes: Uint8Array;
  readonly address: number;
  /** Bytes that it is for. */
  readonly size: number;
}

/** Page-locked stretches that are used again, by size. */
export class StagingPool {
  readonly #pinned: PinnedMemory;
  readonly #free = new Map<number, Stage[]>();
  readonly #settleOldest: () => boolean;
  #used = 0;

  /** `settleOldest` waits for a copy in flight that has a stretch; false if there is none. */
  constructor(pinned: PinnedMemory, settleOldest: () => boolean) {
    this.#pinned = pinned;
    this.#settleOldest = settleOldest;
  }

  /** A stretch for so many bytes. Where copies in flight have too many, it waits for the oldest of them. */
  take(bytes: number): Stage {
    const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, leastBytes)));
    while (this.#used + size > mostBytes && this.#settleOldest());
    let stage = this.#free.get(size)?.pop();
    if (stage === undefined) {
      const { buffer, begin } = this.#pinned.allocateAligned(size + wordBytes);
      const address = this.#pinned.addressOf(buffer)! + begin;
      stage = { bytes: new Uint8Array(buffer, begin, size + wordBytes), address, size };
    }
    this.#used += size;
    return stage;
  }

  give(stage: Stage): void {
    const { size } = stage;
    this.#used -= size;
    const free = this.#free.get(size);
    if (free === undefined) this.#free.set(size, [stage]);
    else free.push(stage);
  }
}

/** A side of a copy as the driver sees it: addresses, with the layout. */
export interface Address {
  readonly onDevice: boolean;
  readonly address: number;
  readonly row: number;
  readonly plane: number;
}

/** A side of a copy that the engines reach as it is; null if only the main thread reaches it. */
export function reachedAsItIs({ memory, row, plane }: Side, pinned: PinnedMemory): Address | null {
  if (memory.kind === 'device') return { onDevice: true, address: memory.address, row, plane };
  if (memory.kind === 'pageable') return null;
  const begin = pinned.addressOf(memory.buffer);
  return begin === undefined ? null : { onDevice: false, address: begin + memory.offset, row, plane };
}

/** The bytes of memory that only the main thread reaches, or null. */
function pageable(memory: Memory, pinned: PinnedMemory): Uint8Array | null {
  if (memory.kind === 'pageable') return memory.bytes;
  if (memory.kind === 'device' || pinned.addressOf(memory.buffer) !== undefined) return null;
  return new Uint8Array(memory.buffer, memory.offset);
}

/** How many bytes lie between a whole word and these. */
function besideWord({ byteOffset }: Uint8Array): number {
  return byteOffset % wordBytes;
}

/** A copy whose sides the engines reach. */
export class StagedCopy {
  readonly from: Address;
  readonly to: Address;
  /** The memory that it fills when it has landed, if that is pageable. */
  readonly filled: ArrayBufferLike | null;
  readonly #work: CopyWork;
  readonly #pool: StagingPool;
  readonly #stages: Stage[] = [];
  readonly #landing: { readonly bytes: Uint8Array; readonly staged: Uint8Array } | null;

  /** `waitFor` is called with a source's memory before it is read. */
  constructor(
    work: CopyWork,
    pinned: PinnedMemory,
    pool: StagingPool,
    waitFor: (source: ArrayBufferLike) => void,
  ) {
    this.#work = work;
    this.#pool = pool;
    const { source, destination, box } = work;
    const read = pageable(source.memory, pinned);
    const written = pageable(destination.memory, pinned);
    try {
      if (read !== null) waitFor(read.buffer);
      this.from = this.#reach(source, pinned, read);
      if (read !== null) {
        copyBox(this.#staged(read), { ...denseLayout(box), offset: 0 }, read, { ...source, offset: 0 }, box);
      }
      this.to = this.#reach(destination, pinned, written);
    } catch (error) {
      this.release();
      throw error;
    }
    this.filled = written?.buffer ?? null;
    this.#landing = written === null ? null : { bytes: written, staged: this.#staged(written) };
  }

  /** Where the engines find a side; `bytes` are those of memory that they do not reach. */
  #reach(side: Side, pinned: PinnedMemory, bytes: Uint8Array | null): Address {
    const reached = reachedAsItIs(side, pinned);
    if (reached !== null || bytes === null) return reached!;
    const { box } = this.#work;
    const stage = this.#pool.take(boxBytes(box));
    this.#stages.push(stage);
    return { onDevice: false, address: stage.address + besideWord(bytes), ...denseLayout(box) };
  }

  /** The part of the stretch taken last that stands for these bytes. */
  #staged(bytes: Uint8Array): Uint8Array {
    return this.#stages.at(-1)!.bytes.subarray(besideWord(bytes));
  }

  get isStaged(): boolean {
    return this.#stages.length > 0;
  }

  /**
   * Fills a pageable destination, unless something before it failed, and gives staging memory back. Its error, if
   * the destination is gone.
   */
  readonly land = (failed: boolean): WarpstageError | null => {
    const { box, destination, direction } = this.#work;
    try {
      if (this.#landing !== null && !failed) {
        const { bytes, staged } = this.#landing;
        copyBox(bytes, { ...destination, offset: 0 }, staged, { ...denseLayout(box), offset: 0 }, box);
      }
      return null;
    } catch {
      return new WarpstageError({
        code: 'WS4004',
        message: `memcpy ${direction}: the destination was detached before the copy was done`,
        hint: 'transfer or resize an array only after the stream was synchronised',
      });
    } finally {
      this.release();
    }
  };

  release(): void {
    for (const stage of this.#stages.splice(0)) this.#pool.give(stage);
  }
}

/** Whether work fills a part of this memory of the host. */
export function fills(work: Work, memory: ArrayBufferLike): boolean {
  if (work.kind !== 'copy') return false;
  const { destination } = work;
  if (destination.memory.kind === 'pageable') return destination.memory.bytes.buffer === memory;
  return destination.memory.kind === 'shared' && destination.memory.buffer === memory;
}
