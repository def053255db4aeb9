// Which stage bound a schedule, in a sentence: one place decides it for the terminal, the page and the job's result.

import { bindsFrom } from '../overlap/bound.ts';
import { type Busy, isWaiting, type OverlapFigures } from './overlap.ts';
import { formatShare } from './quantities.ts';

/** Of the wall time: where the other stages took less in all, there was nothing to hide. */
const worthHiding = 0.05;

/** The stage that bound the schedule; undefined where none did. */
export function boundOf({ bound, nearness }: OverlapFigures): Busy | undefined {
  return bound === null || nearness < bindsFrom ? undefined : bound;
}

/** Which stage bound the schedule, how near it came to that bound, and how much was hidden behind it. */
export function verdict(figures: OverlapFigures): string {
  const { bound, nearness, achieved, engines, wall } = figures;
  if (bound === null || bound.busy === 0) return 'There was nothing to do.';
  const working = engines.filter(({ name }) => !isWaiting(name));
  const others = working.reduce((sum, { busy }) => sum + busy, 0) - bound.busy;
  // What was idle counts against it, so that this is the least.
  const hidden =
    others < worthHiding * wall || achieved === 0
      ? ''
      : ` Of the other stages' time, at least ${formatShare(achieved)} passed while something else was running.`;
  if (boundOf(figures) === undefined) {
    return (
      `No stage bound it: the busiest, ${bound.name}, worked ${formatShare(nearness)} of the time; ` +
      `the rest went into starting up and waiting between stages.${hidden}`
    );
  }
  return (
    `Bound by ${bound.name}: it worked ${formatShare(nearness)} of the time, so the whole ran at ` +
    `${formatShare(nearness)} of the speed that ${bound.name} alone allows.${hidden}`
  );
}
