// Times in words, in the unit of their trace: milliseconds of a device, or the logical steps of a block's threads.

import { formatCount, formatDuration } from '../quantities.ts';
import type { TimeWindow } from './window.ts';

export type Unit = 'ms' | 'steps';

/** How long something took. */
export function durationText(duration: number, unit: Unit): string {
  return unit === 'ms' ? formatDuration(duration) : `${formatCount(duration)} steps`;
}

/** A distance between two points of time, as it is said aloud. */
export function distanceText(distance: number, unit: Unit): string {
  const length = Math.abs(distance);
  return unit === 'ms' ? `${length.toFixed(4)} milliseconds` : `${formatCount(length)} steps`;
}

/** A point of time. */
export function momentText(time: number, unit: Unit): string {
  return unit === 'ms' ? `${time.toFixed(4)} ms` : `step ${formatCount(time)}`;
}

/** A time of the axis, with as many figures as tell neighbouring ticks apart. */
export function tickText(time: number, { from, to }: TimeWindow, unit: Unit): string {
  if (unit === 'steps') return formatCount(time);
  const length = to - from;
  if (length >= 5000) return `${(time / 1000).toFixed(1)} s`;
  const figures = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(length))));
  return length < 0.01
    ? `${(time * 1000).toFixed(Math.max(0, figures - 3))} µs`
    : `${time.toFixed(figures)} ms`;
}
