// Bandwidth over time: below the lane of an engine that moves bytes, a chart of its bytes a second on the same axis.
//
// A column of pixels is as high as the mean rate in its time. The highest column in sight is as high as the chart,
// and its rate stands at the left.

import { formatRate } from '../quantities.ts';
import type { Span } from '../span.ts';
import { columnsOf, spread } from './columns.ts';
import type { Lane } from './lanes.ts';
import { labelWidth, type PlacedChart } from './layout.ts';
import { colourOf, type Theme } from './theme.ts';
import type { TimeWindow } from './window.ts';

/** Bytes a millisecond of a lane, in each column of pixels. */
export function ratesOf(lane: Lane, spans: readonly Span[], window: TimeWindow): Float64Array {
  const rates = columnsOf(window);
  for (const row of lane.rows) spread(row, window, rates, (position) => spans[position]!.bytes ?? 0);
  const time = (window.to - window.from) / window.width;
  return rates.map((bytes) => bytes / time);
}

export function paintChart(
  pen: CanvasRenderingContext2D,
  { lane, top, height }: PlacedChart,
  spans: readonly Span[],
  window: TimeWindow,
  theme: Theme,
): void {
  const rates = ratesOf(lane, spans, window);
  const highest = rates.reduce((most, rate) => Math.max(most, rate), 0);
  const floor = top + height;
  pen.fillStyle = theme.line;
  pen.fillRect(labelWidth, floor, window.width, 1);
  pen.fillStyle = theme.faint;
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  // Nothing that is in sight moves bytes.
  if (highest === 0) return;
  pen.fillText(`up to ${formatRate(highest, 1)}`, 10, top + height / 2);
  pen.fillStyle = colourOf(lane.name, theme);
  pen.globalAlpha = 0.6;
  pen.beginPath();
  for (const [column, rate] of rates.entries()) {
    const high = (rate / highest) * height;
    pen.rect(labelWidth + column, floor - high, 1, high);
  }
  pen.fill();
  pen.globalAlpha = 1;
}
