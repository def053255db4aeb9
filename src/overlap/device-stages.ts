// What the stages of one device did in a run, by the spans that it tells of.
//
// While chunks go through, a device may tell of a sample only: then a stage's time is that of the sample, in
// proportion to all that the stage was given. The loop says what that was. Before the first chunk and behind the
// last one everything is reported.

import type { Span } from '../timeline/span.ts';
import { type StageName, type StageReport, stageNames } from './options.ts';

type Sums = { busy: number; bytes: number; operations: number };

export class DeviceStages {
  readonly #virtual: boolean;
  /** Outside the chunks, and of chunks that are through. */
  readonly #settled = newSums();
  /** Of the chunks that are under way: what was reported, and what was given. */
  #reported = newSums();
  #given = newSums();
  #isSampled = false;

  /** `virtual`: whether the device keeps a clock of its own. */
  constructor(virtual = false) {
    this.#virtual = virtual;
  }

  /** From now on, until the chunks are through, not everything is reported. */
  sample(): void {
    this.#isSampled = true;
  }

  /** A stage was given an operation of a chunk. */
  give(stage: StageName, bytes: number): void {
    const sum = this.#given[stage];
    sum.bytes += bytes;
    sum.operations++;
  }

  /** The device reported an operation. */
  tell({ engine, started, ended, bytes = 0 }: Span): void {
    const sum = this.#reported[engine as StageName];
    if (sum === undefined) return;
    sum.busy += ended - started;
    sum.bytes += bytes;
    sum.operations++;
  }

  /** A stage has done so much, all in all. */
  add(stage: StageName, busy: number, bytes: number, operations: number): void {
    const sum = this.#settled[stage];
    sum.busy += busy;
    sum.bytes += bytes;
    sum.operations += operations;
  }

  /** No chunk is under way any more. */
  settle(): void {
    for (const stage of stageNames) {
      const [reported, given, settled] = [this.#reported[stage], this.#given[stage], this.#settled[stage]];
      const all = this.#isSampled && reported.operations > 0 ? given : reported;
      const share =
        reported.bytes > 0 ? all.bytes / reported.bytes : all.operations / Math.max(1, reported.operations);
      settled.busy += reported.busy * share;
      settled.bytes += all.bytes;
      settled.operations += all.operations;
    }
    [this.#reported, this.#given, this.#isSampled] = [newSums(), newSums(), false];
  }

  /** Milliseconds that a stage has worked, of what was reported. */
  busy(stage: StageName): number {
    return this.#settled[stage].busy + this.#reported[stage].busy;
  }

  report(stage: StageName): StageReport {
    const [reported, settled] = [this.#reported[stage], this.#settled[stage]];
    return {
      name: stage,
      busy: reported.busy + settled.busy,
      bytes: reported.bytes + settled.bytes,
      operations: reported.operations + settled.operations,
      virtual: this.#virtual,
    };
  }
}

function newSums(): Record<StageName, Sums> {
  const sums = stageNames.map((name) => [name, { busy: 0, bytes: 0, operations: 0 }]);
  return Object.fromEntries(sums) as Record<StageName, Sums>;
}
