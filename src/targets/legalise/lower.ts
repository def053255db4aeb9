// The passes that bring a program down to what a GPU has, one after the other.

import type { Program } from '../../compiler/ir.ts';
import { returnsAmongCopies } from './calls.ts';
import { expandCounts } from './counts.ts';
import type { Lowering } from './decisions.ts';
import { mayBeForgotten } from './forgotten.ts';
import { legaliseForGpu } from './gpu.ts';
import { defaultPace, newLoopSchedule } from './loop-schedule.ts';
import { chooseLowerings, type LoweringOptions } from './lowering.ts';
import { onlyCopiesMeet } from './only-copies.ts';
import { prefetchInLoops } from './prefetch.ts';
import { rotateFillLoops } from './rotate.ts';
import { syncsApart } from './synchronisation.ts';
import { unrollStages } from './unroll.ts';

export interface Lowered {
  readonly program: Program;
  /** What was chosen for each pipeline. */
  readonly lowerings: readonly Lowering[];
}

export function lowerForGpu(given: Program, options: LoweringOptions): Lowered {
  const original = expandCounts(given, false, syncsApart(given));
  const choices = chooseLowerings(original, options);
  const lowerings = choices.map(({ lowering }) => lowering);
  const chosen = choices.find(({ program }) => program !== undefined)?.program ?? original;
  const { checked = false, bytesUnderWay = defaultPace.bytesUnderWay } = options;
  // With a test of each access and copy, long bodies cost more than what they save.
  const roundTurns = checked ? 2 : defaultPace.roundTurns;
  const hints = options.architecture >= 90 && !returnsAmongCopies(original.body);
  const schedule = newLoopSchedule({ bytesUnderWay, roundTurns, hints });
  for (const pipeline of lowerings.keys()) {
    if (!mayBeForgotten(chosen.body, pipeline)) schedule.settled.add(pipeline);
  }
  let proven: boolean | undefined;
  const onlyCopies = () => {
    proven ??= onlyCopiesMeet(original, options.alignments);
    return proven;
  };
  const rotated = rotateFillLoops(chosen, lowerings, schedule, onlyCopies);
  if (hints) prefetchInLoops(rotated, schedule);
  const unrolled = unrollStages(rotated, schedule);
  const program = legaliseForGpu(unrolled, {
    architecture: options.architecture,
    alignments: options.alignments,
    lowerings,
    schedule,
    onlyCopiesMeet: onlyCopies,
    isApart: syncsApart(unrolled),
  });
  return { program, lowerings };
}
