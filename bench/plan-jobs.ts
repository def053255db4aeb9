// Jobs of the plan's suite: one bound by arithmetic, and one that gives a few numbers for all its input.

import { job, kernel } from 'warpstage';

/** Hundreds of dependent operations for each element. */
export const heavy = job({
  name: 'heavy',
  kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) {
      let a = x[i]!;
      for (let k = 0; k < 256; ++k) a = a * 0.999 + 0.001;
      y[i] = a;
    }
  }),
  inputs: { x: {} },
  outputs: { y: {} },
});

const threads = 256;
const blocks = 64;

/** The sum of all elements: each thread adds up those that it meets. */
export const total = job({
  name: 'total',
  kernel: kernel({ sums: 'f64[]', x: 'readonly f32[]' }, ({ sums, x }, cuda) => {
    const grid = cuda.thisGrid();
    const t = grid.threadRank();
    let sum = sums[t]!;
    for (let i = t; i < x.length; i += grid.size()) sum += cuda.f64(x[i]!);
    sums[t] = sum;
  }),
  inputs: { x: {} },
  accumulators: { sums: { length: threads * blocks, combine: 'sum' } },
  launch: { grid: blocks, block: threads },
  finish: ({ sums }) => sums.reduce((all, one) => all + one, 0),
});
