// Draws the timeline on a canvas.
//
// A span that is a few pixels wide is drawn as a box with its name. Where spans are narrower than
// a pixel, a column of pixels stands for all of them, filled as high as they cover its time. So a
// picture costs at most a box for every pixel of every row, however many spans there are.

import { paintChart } from './bandwidth.ts';
import type { Trace } from './data.ts';
import { firstAbove } from './lanes.ts';
import { axisHeight, type Layout, labelWidth, type PlacedRow } from './layout.ts';
import { colourOf, type Theme } from './theme.ts';
import { durationText, tickText, type Unit } from './units.ts';
import { positionOf, type TimeWindow, ticks } from './window.ts';

/** A span, by its trace and its position there. */
export interface Chosen {
  readonly trace: number;
  readonly position: number;
}

/** What is shown. */
export interface Picture {
  readonly traces: readonly Trace[];
  /** Of the axis. */
  readonly unit: Unit;
  readonly layout: Layout;
  readonly window: TimeWindow;
  readonly scrollTop: number;
  readonly height: number;
  readonly theme: Theme;
  readonly chosen: Chosen | null;
  /** What the chosen span waited for, and what waited for it: positions in its trace. */
  readonly related: { readonly before: readonly number[]; readonly behind: readonly number[] };
  /** Spans that a search found; null while nothing is searched. */
  readonly found: readonly ReadonlySet<number>[] | null;
  /** Two times whose distance is measured. */
  readonly measured: readonly [number, number] | null;
}

type Pen = CanvasRenderingContext2D;

export function paint(pen: Pen, picture: Picture): void {
  const { theme, window, height } = picture;
  const full = labelWidth + window.width;
  pen.fillStyle = theme.background;
  pen.fillRect(0, 0, full, height);
  pen.save();
  pen.translate(0, -picture.scrollTop);
  paintBands(pen, picture);
  pen.save();
  pen.beginPath();
  pen.rect(labelWidth, 0, window.width, picture.layout.height + height);
  pen.clip();
  pen.translate(labelWidth, 0);
  paintGrid(pen, picture);
  for (const row of picture.layout.rows) if (inSight(row, picture)) paintRow(pen, row, picture);
  paintRelations(pen, picture);
  pen.restore();
  for (const chart of picture.layout.charts) {
    if (inSight(chart, picture)) paintChart(pen, chart, picture.traces[chart.trace]!.spans, window, theme);
  }
  paintTitles(pen, picture);
  pen.restore();
  paintAxis(pen, picture);
  paintMeasure(pen, picture);
}

function inSight({ top, height }: { top: number; height: number }, picture: Picture): boolean {
  return top + height > picture.scrollTop && top < picture.scrollTop + picture.height;
}

function paintBands(pen: Pen, { layout, theme, window }: Picture): void {
  pen.font = '12px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  for (const { name, top, height } of layout.lanes) {
    pen.fillStyle = theme.band;
    pen.fillRect(labelWidth, top, window.width, height);
    pen.fillStyle = theme.text;
    pen.fillText(fitted(pen, name, labelWidth - 16), 10, top + height / 2);
  }
}

/** A text in so many pixels: whole, or as many letters as there is room for beside three dots; nothing where none fits. */
function fitted(pen: Pen, text: string, room: number): string {
  if (pen.measureText(text).width <= room) return text;
  let [fits, not] = [0, text.length];
  while (not - fits > 1) {
    const middle = (fits + not) >> 1;
    if (pen.measureText(`${text.slice(0, middle)}\u2026`).width <= room) fits = middle;
    else not = middle;
  }
  return fits === 0 ? '' : `${text.slice(0, fits)}\u2026`;
}

function paintTitles(pen: Pen, { traces, layout, theme, window }: Picture): void {
  pen.font = '600 13px system-ui, sans-serif';
  pen.fillStyle = theme.text;
  const room = labelWidth + window.width - 20;
  for (const { trace, top } of layout.titles)
    pen.fillText(fitted(pen, traces[trace]!.title, room), 10, top + 15);
}

function paintGrid(pen: Pen, { window, layout, theme }: Picture): void {
  pen.strokeStyle = theme.line;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const time of ticks(window, 110)) {
    const x = Math.round(positionOf(window, time)) + 0.5;
    pen.moveTo(x, axisHeight);
    pen.lineTo(x, layout.height);
  }
  pen.stroke();
}

function paintAxis(pen: Pen, { window, theme, unit }: Picture): void {
  pen.fillStyle = theme.background;
  pen.fillRect(0, 0, labelWidth + window.width, axisHeight);
  pen.fillStyle = theme.faint;
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  for (const time of ticks(window, 110)) {
    const x = labelWidth + positionOf(window, time);
    const text = tickText(time, window, unit);
    const isWhole = x + 4 + pen.measureText(text).width <= labelWidth + window.width;
    if (x >= labelWidth - 1 && isWhole) pen.fillText(text, x + 4, axisHeight / 2);
  }
}

function paintRow(pen: Pen, { trace, row, top, height }: PlacedRow, picture: Picture): void {
  const { window, theme, traces, found } = picture;
  const { spans } = traces[trace]!;
  const hits = found?.[trace] ?? null;
  const first = Math.max(0, firstAbove(row.starts, window.from) - 1);
  let column = -1;
  let covered = 0;
  let colour = '';
  let bright = true;
  const flush = () => {
    if (column < 0) return;
    pen.globalAlpha = bright ? 1 : 0.2;
    pen.fillStyle = colour;
    const part = Math.max(2, Math.min(1, covered) * (height - 4));
    pen.fillRect(column, top + 2 + (height - 4 - part), 1, part);
    column = -1;
    covered = 0;
  };
  for (let place = first; place < row.starts.length && row.starts[place]! <= window.to; ++place) {
    const position = row.positions[place]!;
    const left = positionOf(window, row.starts[place]!);
    const right = positionOf(window, row.ends[place]!);
    if (right < 0) continue;
    const hit = hits === null || hits.has(position);
    if (right - left < 1.5) {
      const at = Math.floor(left);
      if (at !== column) {
        flush();
        column = at;
        bright = hits === null;
        colour = colourOf(spans[position]!.engine, theme);
      }
      covered += right - left;
      bright ||= hit;
      continue;
    }
    flush();
    pen.globalAlpha = hit ? 1 : 0.2;
    paintBox(pen, left, right, top, height, colourOf(spans[position]!.engine, theme));
    if (right - left > 34) paintName(pen, spans[position]!.name, left, right, top, height, theme);
  }
  flush();
  pen.globalAlpha = 1;
  paintChosen(pen, { trace, row, top, height }, picture);
}

function paintBox(pen: Pen, left: number, right: number, top: number, height: number, colour: string): void {
  const begin = Math.max(left, -4);
  pen.fillStyle = colour;
  pen.fillRect(begin, top + 2, Math.max(1, Math.min(right, 1e5) - begin - 0.75), height - 4);
}

function paintName(
  pen: Pen,
  name: string,
  left: number,
  right: number,
  top: number,
  height: number,
  theme: Theme,
): void {
  const begin = Math.max(left, 0) + 5;
  pen.fillStyle = theme.lightness > 50 ? '#0b0d10' : '#ffffff';
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  pen.fillText(fitted(pen, name, right - begin - 5), begin, top + height / 2);
}

function paintChosen(
  pen: Pen,
  { trace, row, top, height }: Pick<PlacedRow, 'trace' | 'row' | 'top' | 'height'>,
  { chosen, window, theme }: Picture,
): void {
  if (chosen?.trace !== trace) return;
  const place = row.positions.indexOf(chosen.position);
  if (place < 0) return;
  const left = positionOf(window, row.starts[place]!);
  const width = Math.max(3, positionOf(window, row.ends[place]!) - left);
  pen.strokeStyle = theme.accent;
  pen.lineWidth = 2;
  pen.strokeRect(Math.max(left, -3), top + 1.5, Math.min(width, window.width + 6), height - 3);
}

/** Arrows from what the chosen span waited for, and to what waited for it. */
function paintRelations(pen: Pen, picture: Picture): void {
  const { chosen, related, window, theme } = picture;
  if (chosen === null) return;
  const own = placeOf(picture, chosen);
  if (own === null) return;
  pen.lineWidth = 1.5;
  pen.strokeStyle = theme.accent;
  const arrow = (from: Place, to: Place) => {
    const [x1, x2] = [positionOf(window, from.ended), positionOf(window, to.started)];
    const bend = Math.max(14, Math.abs(x2 - x1) / 3);
    pen.beginPath();
    pen.moveTo(x1, from.middle);
    pen.bezierCurveTo(x1 + bend, from.middle, x2 - bend, to.middle, x2, to.middle);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x2, to.middle);
    pen.lineTo(x2 - 6, to.middle - 4);
    pen.lineTo(x2 - 6, to.middle + 4);
    pen.closePath();
    pen.fillStyle = theme.accent;
    pen.fill();
  };
  const placed = (positions: readonly number[]) =>
    positions.flatMap((position) => placeOf(picture, { trace: chosen.trace, position }) ?? []);
  for (const other of placed(related.before)) arrow(other, own);
  for (const other of placed(related.behind)) arrow(own, other);
}

interface Place {
  readonly middle: number;
  readonly started: number;
  readonly ended: number;
}

function placeOf({ layout, traces }: Picture, { trace, position }: Chosen): Place | null {
  const placed = layout.rows.find((row) => row.trace === trace && row.row.positions.includes(position));
  if (placed === undefined) return null;
  const { started, ended } = traces[trace]!.spans[position]!;
  return { middle: placed.top + placed.height / 2, started, ended };
}

function paintMeasure(pen: Pen, { measured, window, theme, height, unit }: Picture): void {
  if (measured === null) return;
  const [a, b] = measured.map((time) => labelWidth + positionOf(window, time)) as [number, number];
  const [left, right] = [Math.min(a, b), Math.max(a, b)];
  pen.fillStyle = theme.accent;
  pen.globalAlpha = 0.12;
  pen.fillRect(left, axisHeight, right - left, height);
  pen.globalAlpha = 1;
  pen.fillRect(left, axisHeight, 1, height);
  pen.fillRect(right, axisHeight, 1, height);
  pen.font = '600 12px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  const text = durationText(Math.abs(measured[1] - measured[0]), unit);
  const width = pen.measureText(text).width;
  const x = Math.min(
    Math.max((left + right - width) / 2, labelWidth + 4),
    labelWidth + window.width - width - 4,
  );
  pen.fillStyle = theme.background;
  pen.fillRect(x - 4, 0, width + 8, axisHeight);
  pen.fillStyle = theme.accent;
  pen.fillText(text, x, axisHeight / 2);
}
