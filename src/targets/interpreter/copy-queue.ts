// A thread's own queue of asynchronous copies.
//
// Every commit makes a batch of what was issued since the last one; a wait names how many of the
// youngest batches need not be done. All pipelines of thread scope share the queue, and so do the
// copies that name no pipeline. So another's commit may make a wait cover more than it has to,
// but never less. What is not committed is covered by no wait.
//
// To an observer the queue is a synchronisation object whose phases are the batches.

import type { Range } from '../../diagnostics/source.ts';
import type { PendingCopy } from './copies.ts';
import type { Thread } from './thread.ts';

export class CopyQueue {
  readonly #thread: Thread;
  #uncommitted: PendingCopy[] = [];
  /** Batches that no wait has covered yet, oldest first; and how many were before them. */
  readonly #batches: PendingCopy[][] = [];
  #covered = 0;

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  /** What the next commit makes a batch of. */
  get uncommitted(): readonly PendingCopy[] {
    return this.#uncommitted;
  }

  add(copy: PendingCopy): void {
    this.#uncommitted.push(copy);
  }

  commit(range: Range): void {
    const phase = this.#covered + this.#batches.length;
    this.#thread.observer?.bound(this.#uncommitted, this, phase, range);
    this.#batches.push(this.#uncommitted);
    this.#uncommitted = [];
  }

  /** A wait is over that covers all batches but the youngest `prior`. */
  waitForAllBut(prior: number, range: Range): void {
    const covered = this.#batches.splice(0, Math.max(this.#batches.length - prior, 0));
    if (covered.length === 0) return;
    this.#covered += covered.length;
    for (const batch of covered) for (const copy of batch) copy.cover();
    this.#thread.observer?.waited(this.#thread, this, this.#covered - 1, range);
  }
}
