// How the uses of stages that an observer is notified of are called where they are shown.

import type { MadePipeline, StageUse } from './observer.ts';

/** Names of pipelines. Those of thread scope are one for each thread, and shown as one. */
export class PipelineNames {
  readonly #names = new Map<MadePipeline, string>();

  of(pipeline: MadePipeline): string {
    const known = this.#names.get(pipeline);
    if (known !== undefined) return known;
    const { declaration } = pipeline;
    const others = [...this.#names.keys()].filter((other) => other.declaration === declaration).length;
    const alone = declaration.scope === 'thread' || others === 0;
    const name = alone ? declaration.name : `${declaration.name} ${others + 1}`;
    this.#names.set(pipeline, name);
    return name;
  }
}

/** What a release gives up: in thread scope the wait has moved on already, to what is waited for next. */
export function releasedUse(use: StageUse): StageUse {
  if (use.pipeline.declaration.scope !== 'thread') return use;
  const batch = Math.max(0, use.batch - 1);
  return { ...use, batch, stage: batch };
}
