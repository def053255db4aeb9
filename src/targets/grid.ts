// Grids whose blocks wait for each other: which programs have them, and how many blocks a device
// of the CPU keeps at the same time.

import type { Program } from '../compiler/ir.ts';
import { anyStatement } from './analysis/walk.ts';

/**
 * Threads of a grid that synchronises, on a CPU. Each keeps its state in memory while others run; this
 * many take about as much as the arrays that such a grid works on.
 */
export const mostCooperativeThreads = 2 ** 18;

/** Whether a program's grid synchronises, by a sync or by words in which its blocks count. */
export function synchronisesGrid({ body, sharedArrays }: Program): boolean {
  return (
    sharedArrays.some(({ ofGrid }) => ofGrid === true) ||
    anyStatement(
      body,
      (each) => each.kind === 'call' && each.intrinsic === 'sync' && each.group.kind === 'grid',
    )
  );
}
