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
import type { MadePipeline, StageUse } from '../interpreter/observer.ts';
import type { Thread } from '../interpreter/thread.ts';
import type { PartialObserver } from './observers.ts';

/** What copies take, in steps. */
export interface CopyCost {
  /** From the issue to the first element. */
  readonly latency: number;
  /** Elements of a thread's share that arrive in a step. */
  readonly rate: number;
}

/** One batch's use of a stage, over all threads. */
interface Batch {
  readonly pipeline: string;
  readonly stage: number;
  readonly batch: number;
  readonly acquire: Stretch;
  readonly copy: Stretch;
  readonly wait: Stretch;
  readonly compute: Stretch;
  readonly release: Stretch;
}

/** From the first to the last of many times; nothing while `to` is before `from`. */
class Stretch {
  from = Number.POSITIVE_INFINITY;
  to = Number.NEGATIVE_INFINITY;

  begin(time: number): void {
    this.from = Math.min(this.from, time);
  }

  end(time: number): void {
    this.to = Math.max(this.to, time);
  }
}

const parts = ['acquire', 'copy', 'wait', 'compute', 'release'] as const;

export class StageTimes implements PartialObserver {
  readonly #cost: CopyCost;
  /** The block that is looked at, by its linear number. */
  readonly #chosen: number;
  readonly #clocks = new WeakMap<Thread, number>();
  readonly #ready = new WeakMap<object, Map<number, number>>();
  readonly #copyEnds = new WeakMap<PendingCopy, { readonly begin: number; readonly end: number }>();
  readonly #names = new Map<MadePipeline, string>();
  readonly #batches = new Map<string, Batch>();

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
    this.#of(thread, use)?.acquire.begin(this.#time(thread));
  }

  acquired(thread: Thread, use: StageUse): void {
    this.#of(thread, use)?.acquire.end(this.#time(thread));
  }

  committed(thread: Thread, use: StageUse, copies: readonly PendingCopy[]): void {
    const batch = this.#of(thread, use);
    for (const copy of copies) {
      const times = this.#copyEnds.get(copy);
      if (times === undefined) continue;
      batch?.copy.begin(times.begin);
      batch?.copy.end(times.end);
    }
  }

  waitBegan(thread: Thread, use: StageUse): void {
    this.#of(thread, use)?.wait.begin(this.#time(thread));
  }

  waitEnded(thread: Thread, use: StageUse): void {
    const batch = this.#of(thread, use);
    batch?.wait.end(this.#time(thread));
    batch?.compute.begin(this.#time(thread));
  }

  released(thread: Thread, use: StageUse): void {
    const batch = this.#of(thread, use);
    batch?.compute.end(this.#time(thread));
    batch?.release.begin(this.#time(thread));
    batch?.release.end(this.#time(thread));
  }

  #of(thread: Thread, { pipeline, stage, batch }: StageUse): Batch | null {
    if (!this.#looksAt(thread.block)) return null;
    const name = this.#nameOf(pipeline);
    const key = `${name} ${batch}`;
    let found = this.#batches.get(key);
    if (found === undefined) {
      const [acquire, copy, wait, compute, release] = parts.map(() => new Stretch());
      found = {
        pipeline: name,
        stage: pipeline.declaration.stages === 0 ? batch : stage,
        batch,
        acquire: acquire!,
        copy: copy!,
        wait: wait!,
        compute: compute!,
        release: release!,
      };
      this.#batches.set(key, found);
    }
    return found;
  }

  /** Pipelines of thread scope are one for each thread, and shown as one. */
  #nameOf(pipeline: MadePipeline): string {
    const known = this.#names.get(pipeline);
    if (known !== undefined) return known;
    const { declaration } = pipeline;
    const others = [...this.#names.keys()].filter((other) => other.declaration === declaration).length;
    const alone = declaration.scope === 'thread' || others === 0;
    const name = alone ? declaration.name : `${declaration.name} ${others + 1}`;
    this.#names.set(pipeline, name);
    return name;
  }

  /** The stretches as spans: what was done is the engine, the stage is the stream. */
  spans(): Span[] {
    const spans: Span[] = [];
    const lastRelease = new Map<string, number>();
    for (const batch of this.#batches.values()) {
      const stream = `${batch.pipeline} stage ${batch.stage}`;
      let before = lastRelease.get(stream);
      for (const part of parts) {
        const { from, to } = batch[part];
        // What nobody had to wait for is not worth a span.
        if (to < from || (to === from && part !== 'release')) continue;
        const id = spans.length + 1;
        spans.push({
          name: `${part} batch ${batch.batch}`,
          engine: part,
          stream,
          queued: from,
          started: from,
          ended: to,
          id,
          after: before === undefined ? [] : [before],
        });
        before = id;
      }
      if (before !== undefined) lastRelease.set(stream, before);
    }
    return spans;
  }
}
