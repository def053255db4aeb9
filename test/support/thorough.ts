// How much of what a test looks at is looked at: all by `npm run test:long`, and by `npm test` a part that takes
// seconds. Test files that name `atLength`, `partOf` or `everyOf` run in both.

import { randomRuns } from '../differential/tape.ts';

/** Whether this is `npm run test:long`. */
export const atLength = randomRuns(1).numRuns! > 1;

/** One of `all` by itself, from `position` on in turn, or all of them at length. */
export function partOf<T>(all: readonly T[], position: number): readonly T[] {
  return atLength ? all : [all[position % all.length]!];
}

/** The first of each `count` of `all`, or all of them at length. */
export function everyOf<T>(count: number, all: readonly T[]): readonly T[] {
  return atLength ? all : all.filter((_, position) => position % count === 0);
}
