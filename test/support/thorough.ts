// How much of what a test looks at is looked at: by `npm test` a part that takes seconds, by `npm run test:long` all,
// by CI, which runs `npm test` before, the rest, and on demand `every`: cases that take turns at ways or moments, in all (WARPSTAGE_LENGTH). Test files that name one of these
// run in both; those of long/files.mjs, which take long, only in the second.

const length = process.env.WARPSTAGE_LENGTH ?? 'part';
if (!['part', 'all', 'rest', 'every'].includes(length))
  throw new Error(`WARPSTAGE_LENGTH is part, all, rest or every, and was ${length}`);

/** Whether more than a part is looked at. */
export const atLength = length !== 'part';

/** Whether nothing has been looked at yet. */
export const isFirst = length !== 'rest';

/** Whether what takes minutes meets one way or moment each, where hours are needed for all. */
export const isInTurn = length !== 'every';

/** What of `all` is looked at, where `npm test` looks at what `isInPart`; at length at all, or at the others. */
export function someOf<T>(all: readonly T[], isInPart: (one: T, position: number) => boolean): readonly T[] {
  return all.filter(
    (one, position) =>
      length === 'all' || length === 'every' || isInPart(one, position) === (length === 'part'),
  );
}

/** One of `all` by itself, from `position` on in turn; at length all of them, or the others. */
export function partOf<T>(all: readonly T[], position: number): readonly T[] {
  return someOf(all, (_, other) => other === position % all.length);
}

/** The first of each `count` of `all`; at length all of them, or the others. */
export function everyOf<T>(count: number, all: readonly T[]): readonly T[] {
  return someOf(all, (_, position) => position % count === 0);
}
