/**
 * A low-pass filter over a signal of any length: every output is a weighted sum of 65 inputs.
 *
 *     node examples/make-npy.mjs noisy.npy 16M
 *     npx warpstage run examples/fir.ts noisy.npy smooth.npy
 *
 * The signal is cut into chunks, but the filter reaches over their borders: the input declares a
 * halo, so that each chunk comes with the neighbours it needs, and the seams cannot be heard.
 * The weights are a constant array, computed here once and uploaded once.
 */

import { job, kernel } from 'warpstage';

/** Inputs that an output sees on either side of its own position. */
const reach = 32;

/** The highest frequency that passes, as a share of the sampling rate. */
const cutoff = 0.05;

/** A windowed-sinc filter (Hamming window) of 2*reach + 1 weights, whose sum is 1. */
export function lowPass(): Float32Array {
  const weights = Array.from({ length: 2 * reach + 1 }, (_, k) => {
    const n = k - reach;
    const sinc = n === 0 ? 2 * cutoff : Math.sin(2 * Math.PI * cutoff * n) / (Math.PI * n);
    return sinc * (0.54 + 0.46 * Math.cos((Math.PI * n) / reach));
  });
  const sum = weights.reduce((total, weight) => total + weight);
  return Float32Array.from(weights, (weight) => weight / sum);
}

export const fir = job({
  description: 'a low-pass filter with 65 weights',
  kernel: kernel(
    { y: 'f32[]', x: 'readonly f32[]', weights: 'readonly f32[]' },
    ({ y, x, weights }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i >= y.length) return;
      let sum = cuda.f32(0);
      for (let k = 0; k < weights.length; k++) sum += weights[k]! * x[i + k]!;
      y[i] = sum;
    },
  ),
  inputs: { x: { halo: [reach, reach], edge: 'clamp' } },
  outputs: { y: {} },
  arrays: { weights: lowPass },
});
