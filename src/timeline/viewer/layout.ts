// Where everything lies on the canvas: traces one above the other, each its lanes below a title. A single
// trace has none: the page's heading is its title.

import type { Trace } from './data.ts';
import { type Lane, type LaneKind, type LaneRow, lanesOf } from './lanes.ts';

export const axisHeight = 26;
export const labelWidth = 132;
const titleHeight = 28;
const rowHeight = 22;
const laneGap = 6;
const chartHeight = 26;

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

/** A chart of the bytes a second of a lane. */
export interface PlacedChart {
  readonly trace: number;
  readonly lane: Lane;
  readonly top: number;
  readonly height: number;
}

export interface Layout {
  readonly titles: readonly { readonly trace: number; readonly top: number }[];
  readonly lanes: readonly PlacedLane[];
  readonly rows: readonly PlacedRow[];
  readonly charts: readonly PlacedChart[];
  readonly height: number;
}

/** Lays traces out, below the axis. */
export function layOut(traces: readonly Trace[], kind: LaneKind): Layout {
  let top = axisHeight;
  const titles: { trace: number; top: number }[] = [];
  const lanes: PlacedLane[] = [];
  const rows: PlacedRow[] = [];
  const charts: PlacedChart[] = [];
  for (const [trace, { spans, unit = 'ms' }] of traces.entries()) {
    if (traces.length > 1) {
      titles.push({ trace, top });
      top += titleHeight;
    }
    for (const lane of spans.length === 0 ? [] : lanesOf(traces[trace]!, kind)) {
      const begin = top;
      for (const row of lane.rows) {
        rows.push({ trace, lane, row, top, height: rowHeight });
        top += rowHeight;
      }
      lanes.push({ trace, name: lane.name, top: begin, height: top - begin });
      // A stream's spans are of several engines, and steps are no time to divide bytes by.
      if (kind === 'engine' && unit === 'ms' && movesBytes(lane, spans)) {
        charts.push({ trace, lane, top: top + 2, height: chartHeight - 2 });
        top += chartHeight;
      }
      top += laneGap;
    }
    top += laneGap;
  }
  return { titles, lanes, rows, charts, height: top };
}

function movesBytes({ rows }: Lane, spans: Trace['spans']): boolean {
  return rows.some(({ positions }) => positions.some((position) => (spans[position]!.bytes ?? 0) > 0));
}

/** The row at a height, if one is there. */
export function rowAt({ rows }: Layout, y: number): PlacedRow | undefined {
  return rows.find(({ top, height }) => y >= top && y < top + height);
}
