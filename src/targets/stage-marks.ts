// What a running kernel tells of its pipelines' stages, and the clock that turns it into times.
//
// A mark says that threads are at a point of a stage's use: they ask for it, have it, begin to copy,
// and so on. Whoever runs the kernel gives the marks; here they get the time of day. So the spans of a
// run mean the same as those of the checker (stage-spans.ts), on a real clock. Copies on a processor are done
// by whoever issues them: there a copy ends where its call returns.

import { type Pipeline, type PipelineVerb, pipelineVerbs } from '../compiler/ir-pipelines.ts';
import type { Span } from '../timeline/span.ts';
import { type StagePart, StageSpans } from './stage-spans.ts';

/** The points of a stage's use, by the numbers that compiled kernels have for them. */
export const stageMarks = [
  'acquireBegan',
  'acquired',
  'copyBegan',
  'copied',
  'waitBegan',
  'waitEnded',
  'released',
  'releaseEnded',
] as const;
export type StageMark = (typeof stageMarks)[number];

/** Which parts end and which begin at a point. */
const meaning: Readonly<Record<StageMark, { readonly ends?: StagePart; readonly begins?: StagePart }>> = {
  acquireBegan: { begins: 'acquire' },
  acquired: { ends: 'acquire' },
  copyBegan: { begins: 'copy' },
  copied: { ends: 'copy' },
  waitBegan: { begins: 'wait' },
  waitEnded: { ends: 'wait', begins: 'compute' },
  released: { ends: 'compute', begins: 'release' },
  releaseEnded: { ends: 'release' },
};

/** The points at which a verb's part of a use begins and ends, by their numbers. */
export function marksOf(verb: PipelineVerb): { readonly begins: number; readonly ends: number } {
  const { step } = pipelineVerbs[verb];
  const point = (how: 'begins' | 'ends') => stageMarks.findIndex((mark) => meaning[mark][how] === step);
  return { begins: point('begins'), ends: point('ends') };
}

/** Numbers of a mark in the list: point, pipeline, instance, batch, time. */
const markLength = 5;

/** Gives the marks of one block the time, until they are taken. */
export class StageClock {
  /** The present time. */
  readonly now: () => number;
  /** Marks one after the other: little is done with one before the kernel goes on. */
  #marks = new Float64Array(1024 * markLength);
  #length = 0;

  /** `now` is on the clock that the spans' times shall be on. */
  constructor(now: () => number) {
    this.now = now;
  }

  /** Threads are at a point. `instance` distinguishes the pipelines that were made at one place. */
  mark(at: number, pipeline: number, instance: number, batch: number, time = this.now()): void {
    if (this.#length === this.#marks.length) {
      const larger = new Float64Array(2 * this.#length);
      larger.set(this.#marks);
      this.#marks = larger;
    }
    const marks = this.#marks;
    const first = this.#length;
    marks[first] = at;
    marks[first + 1] = pipeline;
    marks[first + 2] = instance;
    marks[first + 3] = batch;
    marks[first + 4] = time;
    this.#length += markLength;
  }

  /** What was marked, for `spansOfMarks`; from now on the marks are those of another block. */
  take(): Float64Array<ArrayBuffer> {
    const marks = this.#marks.slice(0, this.#length);
    this.#length = 0;
    return marks;
  }
}

/** The spans of the marks of a block, whose program has these pipelines. */
export function spansOfMarks(marks: Float64Array, pipelines: readonly Pipeline[]): Span[] {
  const spans = new StageSpans();
  const nameOf = names(pipelines);
  for (let first = 0; first < marks.length; first += markLength) {
    const pipeline = marks[first + 1]!;
    const time = marks[first + 4]!;
    const { ends, begins } = meaning[stageMarks[marks[first]!]!];
    const name = nameOf(pipeline, marks[first + 2]!);
    const use = spans.of(name, pipelines[pipeline]!.stages, marks[first + 3]!);
    if (ends !== undefined) use.ended(ends, time);
    if (begins !== undefined) use.began(begins, time);
  }
  return spans.spans();
}

/** Names of the pipelines: those that were made at one place are numbered in the order of their first marks. */
function names(pipelines: readonly Pipeline[]): (pipeline: number, instance: number) => string {
  const given = pipelines.map(() => new Map<number, string>());
  return (pipeline, instance) => {
    const known = given[pipeline]!;
    let name = known.get(instance);
    if (name === undefined) {
      name = known.size === 0 ? pipelines[pipeline]!.name : `${pipelines[pipeline]!.name} ${known.size + 1}`;
      known.set(instance, name);
    }
    return name;
  };
}
