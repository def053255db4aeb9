// The stages of a block's pipelines over time: when each batch was acquired, copied, waited for,
// computed with and released.
//
// Time is logical, in steps. A thread's own clock goes on by one for each access to an array; a
// thread that waits goes on to when the last arrived at what it waited for, and to when the
// copies are there that belong to it. A copy takes a latency, and then a step for so many elements,
// whoever else copies. So the picture shows which waits the program's order forces and which
// copies it hides, as if every thread had a processor of its own; how long a GPU takes is another
// question.

import type { Span } from '../../timeline/span.ts';
import type { Block } from '../interpreter/block.ts';
import type { PendingCopy } from '../interpreter/copies.ts';
import type { StageUse } from '../interpreter/observer.ts';
import type { PartialObserver } from '../interpreter/observers.ts';
import { PipelineNames, releasedUse } from '../interpreter/stage-uses.ts';
import type { Thread } from '../interpreter/thread.ts';
import { type Batch, StageSpans } from '../stage-spans.ts';

/** What copies take, in steps. */
export interface CopyCost {
  /** From the issue to the first element. */
  readonly latency: number;
  /** Elements of a thread's share that arrive in a step. */
  readonly rate: number;
}

export class StageTimes implements PartialObserver {
  readonly #cost: CopyCost;
  /** The block that is looked at, by its linear number. */
  readonly #chosen: number;
  readonly #clocks = new WeakMap<Thread, number>();
  readonly #ready = new WeakMap<object, Map<number, number>>();
  readonly #copyEnds = new WeakMap<PendingCopy, { readonly begin: number; readonly end: number }>();
  readonly #names = new PipelineNames();
  readonly #batches = new StageSpans();

  constructor(chosen: number, cost: CopyCost) {
    this.#chosen = chosen;
    this.#cost = cost;
  }

  #looksAt({ index, launch }: Block): boolean {
    const [x, y] = launch.grid;
    return index[0] + x * (index[1] + y * index[2]) === this.#chosen;
  }

  #time(thread: Thread): number {
    return this.#clocks.get(thread) ?? 0;
  }

  #step(thread: Thread): void {
    this.#clocks.set(thread, this.#time(thread) + 1);
  }

  read(thread: Thread): void {
    this.#step(thread);
  }

  write(thread: Thread): void {
    this.#step(thread);
  }

  update(thread: Thread): void {
    this.#step(thread);
  }

  // Order

  arrived(thread: Thread, sync: object, phase: number): void {
    this.#atLeast(sync, phase, this.#time(thread));
  }

  waited(thread: Thread, sync: object, phase: number): void {
    const ready = this.#ready.get(sync)?.get(phase) ?? 0;
    this.#clocks.set(thread, Math.max(this.#time(thread), ready));
  }

  #atLeast(sync: object, phase: number, time: number): void {
    const phases = this.#ready.get(sync) ?? new Map<number, number>();
    this.#ready.set(sync, phases.set(phase, Math.max(phases.get(phase) ?? 0, time)));
  }

  issued(copy: PendingCopy): void {
    this.#step(copy.thread);
    const begin = this.#time(copy.thread);
    const elements = Math.ceil(Math.max(0, copy.count - copy.first) / copy.stride);
    this.#copyEnds.set(copy, { begin, end: begin + this.#cost.latency + elements / this.#cost.rate });
  }

  bound(copies: readonly PendingCopy[], sync: object, phase: number): void {
    for (const copy of copies) this.#atLeast(sync, phase, this.#copyEnds.get(copy)?.end ?? 0);
  }

  // Stages

  acquireBegan(thread: Thread, use: StageUse): void {
    this.#of(thread, use)?.began('acquire', this.#time(thread));
  }

  acquired(thread: Thread, use: StageUse): void {
    this.#of(thread, use)?.ended('acquire', this.#time(thread));
  }

  committed(thread: Thread, use: StageUse, copies: readonly PendingCopy[]): void {
    const batch = this.#of(thread, use);
    for (const copy of copies) {
      const times = this.#copyEnds.get(copy);
      if (times === undefined) continue;
      batch?.began('copy', times.begin);
      batch?.ended('copy', times.end);
    }
  }

  waitBegan(thread: Thread, use: StageUse): void {
    this.#of(thread, use)?.began('wait', this.#time(thread));
  }

  waitEnded(thread: Thread, use: StageUse): void {
    const batch = this.#of(thread, use);
    batch?.ended('wait', this.#time(thread));
    batch?.began('compute', this.#time(thread));
  }

  released(thread: Thread, use: StageUse): void {
    const batch = this.#of(thread, releasedUse(use));
    batch?.ended('compute', this.#time(thread));
    batch?.began('release', this.#time(thread));
    batch?.ended('release', this.#time(thread));
  }

  #of(thread: Thread, { pipeline, batch }: StageUse): Batch | null {
    if (!this.#looksAt(thread.block)) return null;
    return this.#batches.of(this.#names.of(pipeline), pipeline.declaration.stages, batch);
  }

  /** The stretches as spans: what was done is the engine, the stage is the stream. */
  spans(): Span[] {
    return this.#batches.spans();
  }
}
