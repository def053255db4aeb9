// Staging: how copies reach pageable memory, which only the main thread can.
//
// A pageable source is copied to staging memory when the copy is issued, so that the caller may
// change it at once; a pageable destination is filled from staging memory when the main thread
// settles the copy. So a source that an earlier copy has still to fill must be waited for. In
// staging memory a box has no gaps.

import { type Box, boxBytes, copyBox, denseLayout } from '../box.ts';
import type { CopyWork, Side } from '../copies.ts';
import type { Assignment } from './dispatcher.ts';
import type { LinearMemory } from './linear-memory.ts';
import type { Target, Task } from './messages.ts';

export interface StagingHost {
  readonly staging: LinearMemory;
  /** Takes that many bytes of staging memory. */
  take(bytes: number): number;
  /** Waits until no copy has still to fill a part of this memory. */
  waitForLandings(buffer: ArrayBufferLike): void;
}

/** A copy in flight. */
export class StagedCopy {
  readonly task: Task;
  readonly #work: CopyWork;
  readonly #staging: LinearMemory;
  readonly #taken: number[] = [];
  readonly #landing: number | null;

  constructor(work: CopyWork, host: StagingHost) {
    const { source, destination, box } = work;
    const { staging } = host;
    this.#work = work;
    this.#staging = staging;
    if (source.memory.kind === 'pageable') host.waitForLandings(source.memory.bytes.buffer);
    const leaving = this.#stage(source, host);
    this.#landing = this.#stage(destination, host);
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

  #stage({ memory }: Side, host: StagingHost): number | null {
    if (memory.kind !== 'pageable') return null;
    try {
      const address = host.take(boxBytes(this.#work.box));
      this.#taken.push(address);
      return address;
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** What the main thread has to do when the copy is complete, if anything. */
  get landing(): Assignment['landing'] {
    const address = this.#landing;
    const { destination, box } = this.#work;
    if (address === null || destination.memory.kind !== 'pageable') return undefined;
    const { bytes } = destination.memory;
    const to = { ...destination, offset: 0 };
    const land = () => copyBox(bytes, to, this.#staging.bytes, stagedAt(address, box), box);
    return { buffer: bytes.buffer, land };
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
