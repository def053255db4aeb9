/**
 * z = (x - mean) / deviation: two passes over an array that need not fit into memory.
 *
 *     node examples/make-npy.mjs x.npy 16M
 *     npx warpstage run examples/zscore.ts x.npy z.npy
 *     npx warpstage run examples/zscore.ts x.npy --job moments
 *
 * The first pass reduces: every block adds up its part in shared memory, halving the number of
 * threads at each step, and keeps a sum and a sum of squares of its own from chunk to chunk, in
 * f64. The second maps, with what the first found as its settings.
 */

import { job, kernel, sequence } from 'warpstage';

export const moments = job({
  description: 'mean and standard deviation',
  kernel: kernel({ x: 'readonly f32[]', sums: 'f64[]', squares: 'f64[]' }, ({ x, sums, squares }, cuda) => {
    const block = cuda.thisThreadBlock();
    const grid = cuda.thisGrid();
    const t = block.threadRank();
    const partial = cuda.sharedArray('f64', 2 * block.size());
    let sum = cuda.f64(0);
    let square = cuda.f64(0);
    for (let i = grid.threadRank(); i < x.length; i += grid.size()) {
      const value = cuda.f64(x[i]!);
      sum += value;
      square += value * value;
    }
    partial[t] = sum;
    partial[t + block.size()] = square;
    block.sync();
    for (let half = block.size() >> 1; half > 0; half >>= 1) {
      if (t < half) {
        partial[t] = partial[t]! + partial[t + half]!;
        partial[t + block.size()] = partial[t + block.size()]! + partial[t + half + block.size()]!;
      }
      block.sync();
    }
    if (t === 0) {
      const b = block.groupIndex().x;
      sums[b] = sums[b]! + partial[0]!;
      squares[b] = squares[b]! + partial[block.size()]!;
    }
  }),
  inputs: { x: {} },
  accumulators: { sums: { per: 'block' }, squares: { per: 'block' } },
  launch: { grid: 64, block: 256 },
  finish: ({ sums, squares }, { rows }) => {
    const mean = sums[0]! / rows;
    return { mean, deviation: Math.sqrt(Math.max(0, squares[0]! / rows - mean * mean)) };
  },
});

const standardise = job({
  kernel: kernel(
    { z: 'f32[]', x: 'readonly f32[]', mean: 'f32', deviation: 'f32' },
    ({ z, x, mean, deviation }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < z.length) z[i] = (x[i]! - mean) / deviation;
    },
  ),
  description: 'every element as its distance from the mean, in standard deviations',
  inputs: { x: {} },
  outputs: { z: {} },
  settings: { mean: {}, deviation: {} },
});

export const zscore = sequence([
  moments,
  { job: standardise, settings: ({ mean, deviation }) => ({ mean, deviation }) },
]);
