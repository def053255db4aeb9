// Segments of a cohort while they are written: they name each other by themselves, and get their numbers at the end.

import type { End, Head, Segment, Step } from '../../../compiler/ir-cohorts.ts';

/** A segment that is being written: others are named by themselves. */
export interface Draft {
  head: Head | null;
  readonly steps: Step[];
  end: End<Draft> | null;
}

export function emptyDraft(): Draft {
  return { head: null, steps: [], end: null };
}

/** The segments, which name each other by their numbers. */
export function numbered(drafts: readonly Draft[]): Segment[] {
  const numbers = new Map(drafts.map((draft, number) => [draft, number]));
  const of = (draft: Draft) => numbers.get(draft)!;
  const endOf = (end: End<Draft>): End => {
    switch (end.kind) {
      case 'finish':
        return end;
      case 'branch':
        return { ...end, then: of(end.then), otherwise: of(end.otherwise) };
      case 'split': {
        const exits = end.exits.map(({ to, entry }) => ({ to: of(to), entry: of(entry) }));
        return { ...end, next: of(end.next), exits };
      }
      default:
        return { ...end, to: of(end.to) };
    }
  };
  return drafts.map(({ head, steps, end }) => ({ head, steps, end: endOf(end!) }));
}
