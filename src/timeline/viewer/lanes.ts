// Lanes: the spans of a trace sorted by engine or by stream.
//
// In a lane, spans are in the order of their start and do not overlap; where they would (kernels
// that share an engine), the lane has several rows. So what is in sight, and what lies under
// the pointer, is found by bisection.

import { inFlowOrder } from '../overlap.ts';
import type { Span } from '../span.ts';
import type { Trace } from './data.ts';

export type LaneKind = 'engine' | 'stream';

/** Spans that do not overlap, in order. */
export interface LaneRow {
  /** Positions in the trace's spans. */
  readonly positions: Int32Array;
  readonly starts: Float64Array;
  readonly ends: Float64Array;
}

export interface Lane {
  readonly name: string;
  readonly rows: readonly LaneRow[];
}

/** Times of a file are rounded to nanoseconds: a span may seem to begin so much before another's end, in milliseconds. */
const rounding = 2e-6;

/** More rows than these are not shown apart. */
const mostRows = 8;

/** The lanes of a trace. */
export function lanesOf(trace: Trace, kind: LaneKind): Lane[] {
  const byName = new Map<string, number[]>();
  const order = trace.spans
    .map((_, position) => position)
    .sort((a, b) => trace.spans[a]!.started - trace.spans[b]!.started || a - b);
  for (const position of order) {
    const name = trace.spans[position]![kind];
    const lane = byName.get(name);
    if (lane === undefined) byName.set(name, [position]);
    else lane.push(position);
  }
  const known = (trace.lanes ?? []).filter((name) => byName.has(name));
  const others = [...byName.keys()].filter((name) => !known.includes(name));
  const sorted = kind === 'engine' ? inFlowOrder(others) : others.sort(byNumber);
  return [...known, ...sorted].map((name) => ({ name, rows: rowsOf(trace.spans, byName.get(name)!) }));
}

function byNumber(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

function rowsOf(spans: readonly Span[], positions: readonly number[]): LaneRow[] {
  const rows: { positions: number[]; end: number }[] = [];
  for (const position of positions) {
    const { started, ended } = spans[position]!;
    let row = rows.find(({ end }) => end <= started + rounding);
    if (row === undefined) {
      row = rows.length < mostRows ? { positions: [], end: 0 } : rows.at(-1)!;
      if (rows.length < mostRows) rows.push(row);
    }
    row.positions.push(position);
    row.end = Math.max(row.end, ended);
  }
  return rows.map((row) => ({
    positions: Int32Array.from(row.positions),
    starts: Float64Array.from(row.positions, (position) => spans[position]!.started),
    ends: Float64Array.from(row.positions, (position) => spans[position]!.ended),
  }));
}

/** The first place in a sorted list whose value is above `value`. */
export function firstAbove(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The place in a row of the span at a time, or of one that is nearer to it than `near`; -1 if there is none. */
export function spanAt(row: LaneRow, time: number, near: number): number {
  const next = firstAbove(row.starts, time);
  const candidates = [next - 1, next].filter((place) => place >= 0 && place < row.starts.length);
  const distance = (place: number) => Math.max(row.starts[place]! - time, time - row.ends[place]!, 0);
  const best = candidates.reduce<number>(
    (a, place) => (a < 0 || distance(place) < distance(a) ? place : a),
    -1,
  );
  return best >= 0 && distance(best) <= near ? best : -1;
}
