// What a measurement says of a model: the value of a figure with which it gives a time, and where a cache ends.

/** Of the times of ever larger arrays, each for the same work, the last before they rise: half of the way counts. */
export function lastHeld(times: readonly number[]): number {
  const [least, most] = [Math.min(...times), Math.max(...times)];
  const first = times.findIndex((time) => time > (least + most) / 2);
  return most < 1.5 * least || first < 0 ? times.length - 1 : Math.max(first - 1, 0);
}

/** The value between two bounds with which a time, that falls or rises with it, is the measured one. */
export function fitted(
  measured: number,
  timeAt: (value: number) => number,
  low: number,
  high: number,
): number {
  const rises = timeAt(high) > timeAt(low);
  let [below, above] = [low, high];
  for (let step = 0; step < 64; ++step) {
    // Rates span many powers of ten, and times begin at none.
    const middle = below > 0 && above / below > 4 ? Math.sqrt(below * above) : (below + above) / 2;
    if (timeAt(middle) > measured === rises) above = middle;
    else below = middle;
  }
  return (below + above) / 2;
}
