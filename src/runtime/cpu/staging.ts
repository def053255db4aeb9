// Staging: how copies reach pageable memory, which only the main thread can.
//
// A pageable source is copied to staging memory when the copy is issued, so that the caller may
// change it at once; a pageable destination is filled from staging memory when the main thread
// settles the copy. In staging memory a box has no gaps.

import { type Box, boxBytes, copyBox, denseLayout } from '../box.ts';
import type { CopyWork, Side } from '../copies.ts';
import type { LinearMemory } from './linear-memory.ts';
import type { Target, Task } from './messages.ts';

/** Takes that many bytes of staging memory. */
export type TakeStaging = (bytes: number) => number;

/** A copy in flight. */
export class StagedCopy {
  readonly task: Task;
  readonly #work: CopyWork;
  readonly #staging: LinearMemory;
  readonly #taken: number[] = [];
  readonly #landing: number | null;

  constructor(work: CopyWork, staging: LinearMemory, take: TakeStaging) {
    const { source, destination, box } = work;
    this.#work = work;
    this.#staging = staging;
    const leaving = this.#stage(source, take);
    this.#landing = this.#stage(destination, take);
    if (leaving !== null && source.memory.kind === 'pageable') {
      const from = { ...source, offset: 0 };
      copyBox(staging.bytes, stagedAt(leaving, box), source.memory.bytes, from, box);
    }
    this.task = {
      kind: 'copy',
      source: targetOf(source, leaving, box),
      destination: targetOf(destination, this.#landing, box),
      box,
    };
  }

  #stage({ memory }: Side, take: TakeStaging): number | null {
    if (memory.kind !== 'pageable') return null;
    try {
      const address = take(boxBytes(this.#work.box));
      this.#taken.push(address);
      return address;
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Whether the main thread has to do its part when the copy is complete. */
  get lands(): boolean {
    return this.#landing !== null;
  }

  /** Fills a pageable destination. Throws if it was detached meanwhile. */
  land(): void {
    const { destination, box } = this.#work;
    if (this.#landing === null || destination.memory.kind !== 'pageable') return;
    const to = { ...destination, offset: 0 };
    copyBox(destination.memory.bytes, to, this.#staging.bytes, stagedAt(this.#landing, box), box);
  }

  release(): void {
    for (const address of this.#taken) this.#staging.free(address);
  }
}

function stagedAt(address: number, box: Box): Target {
  return { buffer: 'staging', offset: address, ...denseLayout(box) };
}

function targetOf({ memory, row, plane }: Side, staged: number | null, box: Box): Target {
  if (memory.kind === 'device') return { buffer: 'device', offset: memory.address, row, plane };
  if (memory.kind === 'shared') return { buffer: memory.buffer, offset: memory.offset, row, plane };
  return stagedAt(staged!, box);
}
