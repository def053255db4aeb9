// Where everything lies on the canvas: traces one above the other, each a title and its lanes.

import type { Trace } from './data.ts';
import { type Lane, type LaneKind, type LaneRow, lanesOf } from './lanes.ts';

export const axisHeight = 26;
export const labelWidth = 132;
const titleHeight = 28;
const rowHeight = 22;
const laneGap = 6;

/** A row of a lane at its height. */
export interface PlacedRow {
  readonly trace: number;
  readonly lane: Lane;
  readonly row: LaneRow;
  readonly top: number;
  readonly height: number;
}

export interface PlacedLane {
  readonly trace: number;
  readonly name: string;
  readonly top: number;
  readonly height: number;
}

export interface Layout {
  readonly titles: readonly { readonly trace: number; readonly top: number }[];
  readonly lanes: readonly PlacedLane[];
  readonly rows: readonly PlacedRow[];
  readonly height: number;
}

/** Lays traces out, below the axis. */
export function layOut(traces: readonly Trace[], kind: LaneKind): Layout {
  let top = axisHeight;
  const titles: { trace: number; top: number }[] = [];
  const lanes: PlacedLane[] = [];
  const rows: PlacedRow[] = [];
  for (const [trace, { spans }] of traces.entries()) {
    titles.push({ trace, top });
    top += titleHeight;
    for (const lane of spans.length === 0 ? [] : lanesOf(traces[trace]!, kind)) {
      const begin = top;
      for (const row of lane.rows) {
        rows.push({ trace, lane, row, top, height: rowHeight });
        top += rowHeight;
      }
      lanes.push({ trace, name: lane.name, top: begin, height: top - begin });
      top += laneGap;
    }
    top += laneGap;
  }
  return { titles, lanes, rows, height: top };
}

/** The row at a height, if one is there. */
export function rowAt({ rows }: Layout, y: number): PlacedRow | undefined {
  return rows.find(({ top, height }) => y >= top && y < top + height);
}
