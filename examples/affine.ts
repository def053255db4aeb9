/**
 * y = a*x + b over an array of any size: the smallest job.
 *
 *     node examples/make-npy.mjs x.npy 16M
 *     npx warpstage run examples/affine.ts x.npy y.npy --set a=2 --set b=1
 *
 * A kernel says what one thread does with its element; the job says which parameter streams in,
 * which streams out, and what may be set.
 */

import { job, kernel } from 'warpstage';

export const affine = job({
  description: 'y = a*x + b',
  kernel: kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32', b: 'f32' }, ({ y, x, a, b }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = a * x[i]! + b;
  }),
  inputs: { x: {} },
  outputs: { y: {} },
  settings: {
    a: { default: 1, description: 'what every element is multiplied by' },
    b: { default: 0, description: 'what is added then' },
  },
});
