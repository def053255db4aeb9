// The queue of each thread's own copies, as a pipeline of the program.
//
// Copies that name no pipeline, and the verbs that are for them, belong to a pipeline of thread
// scope that nobody wrote. It is in the program where something needs it, and is made before
// anything else.

import type { Range } from '../diagnostics/source.ts';
import type { Statement } from './ir.ts';
import type { Pipeline } from './ir-pipelines.ts';

/** What all pipelines of a thread's own have in common. */
export const threadPipeline = {
  scope: 'thread',
  stages: 0,
  state: null,
  group: { kind: 'thread' },
  partition: 'unified',
} as const satisfies Omit<Pipeline, 'name'>;

export class OwnQueue {
  readonly #pipelines: Pipeline[];
  #made: { readonly pipeline: number; readonly range: Range } | null = null;

  constructor(pipelines: Pipeline[]) {
    this.#pipelines = pipelines;
  }

  /** The pipeline's number; `range` is where something needs it. */
  pipeline(range: Range): number {
    this.#made ??= { pipeline: this.#pipelines.push({ ...threadPipeline, name: 'queue' }) - 1, range };
    return this.#made.pipeline;
  }

  /** What the program begins with. */
  made(): Statement[] {
    if (this.#made === null) return [];
    return [{ kind: 'call', intrinsic: 'makePipeline', producers: null, ...this.#made }];
  }
}
