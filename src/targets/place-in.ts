// Where the n-th thread of a block lies, and the n-th block of a grid: x counts fastest.

import type { Extent3 } from '../kernel/types.ts';

export function placeIn([x, y]: readonly [number, number, ...unknown[]], linear: number): Extent3 {
  return [linear % x, Math.floor(linear / x) % y, Math.floor(linear / (x * y))];
}
