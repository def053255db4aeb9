// Marks of the stages of a block that is interpreted (stage-marks.ts).

import type { StageRecording } from '../executable.ts';
import { type StageMark, stageMarks } from '../stage-marks.ts';
import type { Block } from './block.ts';
import type { PendingCopy } from './copies.ts';
import type { MadePipeline, Observer, StageUse } from './observer.ts';
import { combineObservers } from './observers.ts';
import { releasedUse } from './stage-uses.ts';
import type { Thread } from './thread.ts';

/** The linear number of a block. */
export function numberOf({ index: [x, y, z], launch: { grid } }: Block): number {
  return x + grid[0] * (y + grid[1] * z);
}

/** An observer that tells a recording of the uses of stages by its block. */
export function stageObserver(recording: StageRecording): Observer {
  const { clock } = recording;
  const numbers = new WeakMap<MadePipeline, number>();
  let made = 0;
  // The pipelines of thread scope are shown as one.
  const instanceOf = (pipeline: MadePipeline): number => {
    if (pipeline.declaration.scope === 'thread') return 0;
    const number = numbers.get(pipeline) ?? ++made;
    numbers.set(pipeline, number);
    return number;
  };
  const mark = ({ block }: Thread, at: StageMark, { pipeline, batch }: StageUse, time?: number) => {
    if (numberOf(block) !== recording.block) return;
    const { declaration } = pipeline;
    const place = block.launch.program.pipelines.indexOf(declaration);
    clock.mark(stageMarks.indexOf(at), place, instanceOf(pipeline), batch, time);
  };
  /** When a copy was issued and when it arrived; which batch it belongs to is known at the commit. */
  const copies = new WeakMap<PendingCopy, { readonly issued: number; arrived?: number; use?: StageUse }>();
  return combineObservers([
    {
      acquireBegan: (thread, use) => mark(thread, 'acquireBegan', use),
      acquired: (thread, use) => mark(thread, 'acquired', use),
      issued: (copy) => void copies.set(copy, { issued: clock.now() }),
      delivered: (copy) => {
        const times = copies.get(copy);
        if (times === undefined) return;
        times.arrived = clock.now();
        if (times.use !== undefined) mark(copy.thread, 'copied', times.use, times.arrived);
      },
      committed: (thread, use, issued) => {
        for (const copy of issued) {
          const times = copies.get(copy);
          if (times === undefined) continue;
          times.use = use;
          mark(thread, 'copyBegan', use, times.issued);
          if (times.arrived !== undefined) mark(thread, 'copied', use, times.arrived);
        }
      },
      waitBegan: (thread, use) => mark(thread, 'waitBegan', use),
      waitEnded: (thread, use) => mark(thread, 'waitEnded', use),
      released: (thread, use) => {
        mark(thread, 'released', releasedUse(use));
        mark(thread, 'releaseEnded', releasedUse(use));
      },
    },
  ]);
}
