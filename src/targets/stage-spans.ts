// The stages of a block's pipelines over time: what every batch did from when to when.
//
// For each batch of each pipeline there are five parts, whoever measures them and on whichever
// clock: `acquire`, from the first thread that asks for the stage to the last that has it; `copy`, from the
// first copy's issue to the last one's arrival; `wait`, from the first thread that waits for the copies to
// the last that goes on; `compute`, from the first thread that goes on to the last that comes to release
// the stage; `release`, the releases themselves. Producers do the first two, consumers the others; where
// threads have no roles, all of them do all five.

import type { Span } from '../timeline/span.ts';

/** What is done with a batch, in the order in which it is done. */
export const stageParts = ['acquire', 'copy', 'wait', 'compute', 'release'] as const;
export type StagePart = (typeof stageParts)[number];

/** From the first to the last of many times; nothing while `to` is before `from`. */
class Stretch {
  from = Number.POSITIVE_INFINITY;
  to = Number.NEGATIVE_INFINITY;
}

/** One batch's use of a stage, over all threads. */
export class Batch {
  readonly #parts: Readonly<Record<StagePart, Stretch>> = {
    acquire: new Stretch(),
    copy: new Stretch(),
    wait: new Stretch(),
    compute: new Stretch(),
    release: new Stretch(),
  };
  /** The lane that shows it: its pipeline and stage. */
  readonly stream: string;
  readonly batch: number;

  constructor(stream: string, batch: number) {
    this.stream = stream;
    this.batch = batch;
  }

  began(part: StagePart, time: number): void {
    const stretch = this.#parts[part];
    stretch.from = Math.min(stretch.from, time);
  }

  ended(part: StagePart, time: number): void {
    const stretch = this.#parts[part];
    stretch.to = Math.max(stretch.to, time);
  }

  stretch(part: StagePart): { readonly from: number; readonly to: number } {
    return this.#parts[part];
  }
}

/** The batches of a block, by pipeline and number. */
export class StageSpans {
  readonly #batches = new Map<string, Batch>();

  /** The batch; `stages` is how many the pipeline has, 0 where a thread has one of its own. */
  of(pipeline: string, stages: number, batch: number): Batch {
    const key = `${pipeline} ${batch}`;
    let found = this.#batches.get(key);
    if (found === undefined) {
      found = new Batch(`${pipeline} stage ${stages === 0 ? batch : batch % stages}`, batch);
      this.#batches.set(key, found);
    }
    return found;
  }

  /** What was done is a span's engine, the stage its stream. Each follows what was done with the stage before. */
  spans(): Span[] {
    const spans: Span[] = [];
    const last = new Map<string, number>();
    for (const batch of this.#batches.values()) {
      for (const part of stageParts) {
        const { from, to } = batch.stretch(part);
        // What nobody had to wait for is not worth a span.
        if (to < from || (to === from && part !== 'release')) continue;
        const { stream } = batch;
        const before = last.get(stream);
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
        last.set(stream, id);
      }
    }
    return spans;
  }
}
