// Jobs that show what was read and written: the same elements, or twice as much.

import { job, kernel } from 'warpstage';

/** Gives what it is given. */
export const copyOf = (element: 'f32' | 'f64' | 'bf16') =>
  job({
    kernel: kernel({ y: `${element}[]`, x: `readonly ${element}[]` }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = x[i]!;
    }),
    inputs: { x: {} },
    outputs: { y: {} },
  });

export const double = job({
  kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = x[i]! * 2;
  }),
  inputs: { x: {} },
  outputs: { y: {} },
});
