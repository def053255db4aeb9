/**
 * The mean of some bytes, of any number: the smallest reduction.
 *
 *     npx warpstage run examples/mean.ts README.md
 *
 * A function says what a row adds to the sum. There is no position in it and no kernel around it: `reduce()`
 * makes both, and the job that streams a file through them.
 */

import { reduce } from 'warpstage';

export const mean = reduce({ sum: 'f64', x: 'u8' }, ({ x }) => x, {
  description: 'the mean of all bytes',
  finish: ({ sum }, { rows }) => sum / rows,
});
