// The findings of all runs: each place once, worst first.
//
// Runs find the same fault again and again, of other threads and on other elements; it is reported as the
// first run met it, with the runs that found it. What follows from another finding is not reported by
// itself: an element that is read in a race may also be one that was not written yet.

import type { Code } from '../diagnostics/codes.ts';
import type { Range } from '../diagnostics/source.ts';
import type { Finding, Findings } from '../targets/checker/finding.ts';

/** A finding, and the names of the schedules that found it. */
export interface CollectedFinding {
  readonly finding: Finding;
  readonly schedules: readonly string[];
}

interface Entry {
  readonly finding: Finding;
  readonly schedules: string[];
}

export class CollectedFindings implements Findings {
  readonly #entries = new Map<string, Entry>();
  /** The schedule that runs now. */
  schedule = '';

  report(finding: Finding): void {
    const key = keyOf(finding);
    const entry = this.#entries.get(key);
    if (entry === undefined) this.#entries.set(key, { finding, schedules: [this.schedule] });
    else if (entry.schedules.at(-1) !== this.schedule) entry.schedules.push(this.schedule);
  }

  /** All that do not follow from another, worst first. */
  all(): CollectedFinding[] {
    const entries = [...this.#entries.values()];
    return entries
      .filter(({ finding }) => !entries.some((other) => explains(other.finding, finding)))
      .sort(byWeight);
  }
}

function keyOf({ code, place, related, part }: Finding): string {
  const places = [place, ...related.slice(0, 1)].map(({ range }) => keyOfRange(range));
  // Of two accesses that race, either may come second.
  if (code === 'WS7001' || code === 'WS7002') places.sort();
  return [code, ...places, part?.array ?? ''].join(' ');
}

function keyOfRange({ source, start, end }: Range): string {
  return `${source}:${start}:${end}`;
}

/** What each code's findings follow from, at the same place and of the same array. */
const causes: Readonly<Partial<Record<Code, readonly Code[]>>> = {
  WS3006: ['WS7007', 'WS7008', 'WS7009'],
  WS7003: ['WS7001', 'WS7002'],
  WS7005: ['WS7001', 'WS7002'],
  WS7106: ['WS3010'],
};

function explains(cause: Finding, effect: Finding): boolean {
  if (!causes[effect.code]?.includes(cause.code) || cause.severity !== 'error') return false;
  if (cause.part?.array !== effect.part?.array) return false;
  const at = keyOfRange(effect.place.range);
  return [cause.place, ...cause.related].some(({ range }) => keyOfRange(range) === at);
}

/** From what fails at once to what is only slow. Within a code, in the order of the text. */
const weights: readonly (readonly [prefix: string, weight: number])[] = [
  ['WS3', 0],
  ['WS7002', 1],
  ['WS7001', 1],
  ['WS7003', 2],
  ['WS7005', 4],
  ['WS7004', 5],
  ['WS7', 3],
];

function byWeight({ finding: a }: CollectedFinding, { finding: b }: CollectedFinding): number {
  const weight = ({ code, severity }: Finding) =>
    severity === 'advice' ? 9 : (weights.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 8);
  const { range: left } = a.place;
  const { range: right } = b.place;
  return weight(a) - weight(b) || left.source - right.source || left.start - right.start;
}
