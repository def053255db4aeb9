// What is shown, as the part of the page's address behind `#`: opening the link shows the same again.
//
// Only what differs from the page as it opens is in it. What is no view is left out, so that an old or a broken link
// still opens the page.

import type { Trace } from './data.ts';
import type { LaneKind } from './lanes.ts';
import type { Chosen } from './paint.ts';

export interface View {
  /** The stretch of time; null for all of it. */
  readonly range: readonly [from: number, to: number] | null;
  readonly chosen: Chosen | null;
  readonly kind: LaneKind;
}

/** For example `from=1.2&to=3.4&span=0.17&lanes=stream`; nothing for the page as it opens. */
export function linkOf({ range, chosen, kind }: View): string {
  const parts: string[] = [];
  if (range !== null) {
    const [from, to] = range;
    // A hundred-thousandth of what is shown is less than a pixel.
    const figures = Math.max(0, Math.min(15, 5 - Math.floor(Math.log10(to - from))));
    parts.push(`from=${Number(from.toFixed(figures))}`, `to=${Number(to.toFixed(figures))}`);
  }
  if (chosen !== null) parts.push(`span=${chosen.trace}.${chosen.position}`);
  if (kind === 'stream') parts.push('lanes=stream');
  return parts.join('&');
}

export function viewOf(link: string, traces: readonly Trace[]): View {
  const parts = new URLSearchParams(link.replace(/^#/, ''));
  const [from, to] = ['from', 'to'].map((name) => Number(parts.get(name) || NaN)) as [number, number];
  const [, trace, position] = /^(\d+)\.(\d+)$/.exec(parts.get('span') ?? '') ?? [];
  const chosen = { trace: Number(trace), position: Number(position) };
  return {
    range: Number.isFinite(from) && Number.isFinite(to) && from < to ? [from, to] : null,
    chosen: traces[chosen.trace]?.spans[chosen.position] === undefined ? null : chosen,
    kind: parts.get('lanes') === 'stream' ? 'stream' : 'engine',
  };
}
