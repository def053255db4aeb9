// Amounts of spans spread over columns of pixels: what a span has lies evenly over its time, and each column gets
// the part that falls into it. So nothing is lost or seen twice, however narrow or wide spans are.

import { firstAbove, type LaneRow } from './lanes.ts';
import type { TimeWindow } from './window.ts';

/** As many zeros as a window has columns of pixels. */
export function columnsOf({ width }: TimeWindow): Float64Array {
  return new Float64Array(Math.ceil(width));
}

/** Adds to each column what falls into it of the spans of a row; `amountOf` is of a whole span, by its position. */
export function spread(
  { positions, starts, ends }: LaneRow,
  { from, to, width }: TimeWindow,
  columns: Float64Array,
  amountOf: (position: number) => number,
): void {
  const scale = width / (to - from);
  const first = Math.max(0, firstAbove(starts, from) - 1);
  for (let place = first; place < starts.length && starts[place]! <= to; ++place) {
    const left = (starts[place]! - from) * scale;
    const right = (ends[place]! - from) * scale;
    // What takes no time has no place to lie on.
    if (right <= 0 || right <= left) continue;
    const density = amountOf(positions[place]!) / (right - left);
    const end = Math.min(columns.length, Math.ceil(right));
    for (let column = Math.max(0, Math.floor(left)); column < end; ++column)
      columns[column]! += density * (Math.min(right, column + 1) - Math.max(left, column));
  }
}
