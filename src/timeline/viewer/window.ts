// The stretch of time that is shown, and how it moves: zoom about a point, pan, fit.
//
// Times are milliseconds, positions are pixels from the left edge of the lanes.

/** A stretch of time on so many pixels. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
  readonly width: number;
}

/** A nanosecond: nothing shorter is shown across the page. */
const shortest = 1e-6;

/** All of it, with a little room on both sides. */
export function framing(from: number, to: number, width: number): TimeWindow {
  const length = Math.max(to - from, shortest);
  return { from: from - length * 0.02, to: to + length * 0.02, width };
}

export function timeAt({ from, to, width }: TimeWindow, x: number): number {
  return from + ((to - from) * x) / width;
}

export function positionOf({ from, to, width }: TimeWindow, time: number): number {
  return ((time - from) / (to - from)) * width;
}

/** Shows `1 / factor` of the time, and keeps the time at `x` where it is. Not wider than `whole` much. */
export function zoom(window: TimeWindow, factor: number, x: number, whole: TimeWindow): TimeWindow {
  const length = Math.min((window.to - window.from) / factor, (whole.to - whole.from) * 1.5);
  const shown = Math.max(length, shortest);
  const time = timeAt(window, x);
  const from = time - (shown * x) / window.width;
  return within({ ...window, from, to: from + shown }, whole);
}

export function pan(window: TimeWindow, pixels: number, whole: TimeWindow): TimeWindow {
  const by = ((window.to - window.from) * pixels) / window.width;
  return within({ ...window, from: window.from + by, to: window.to + by }, whole);
}

/** The stretch from one time to another, as near to it as is allowed. */
export function stretch(from: number, to: number, whole: TimeWindow): TimeWindow {
  const length = Math.min(Math.max(to - from, shortest), (whole.to - whole.from) * 1.5);
  return within({ from, to: from + length, width: whole.width }, whole);
}

/** Moves a stretch so that something of the whole stays in sight. */
function within(window: TimeWindow, whole: TimeWindow): TimeWindow {
  const length = window.to - window.from;
  const from = Math.min(Math.max(window.from, whole.from - length * 0.9), whole.to - length * 0.1);
  return { ...window, from, to: from + length };
}

/** Moves a stretch as little as shows all of `from` to `to`, and widens it if need be. */
export function reveal(window: TimeWindow, from: number, to: number, whole: TimeWindow): TimeWindow {
  if (from >= window.from && to <= window.to) return window;
  const length = window.to - window.from;
  const margin = length * 0.05;
  if (to - from > length * 0.9) return { ...window, ...edges(framing(from, to, window.width)) };
  if (from < window.from)
    return within({ ...window, from: from - margin, to: from - margin + length }, whole);
  return within({ ...window, from: to + margin - length, to: to + margin }, whole);
}

function edges({ from, to }: TimeWindow) {
  return { from, to };
}

/** Round times about `pixels` apart. */
export function ticks({ from, to, width }: TimeWindow, pixels: number): number[] {
  const rough = ((to - from) * pixels) / width;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((multiple) => power * multiple >= rough) ?? 10);
  const first = Math.ceil(from / step);
  const count = Math.floor(to / step) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step);
}
