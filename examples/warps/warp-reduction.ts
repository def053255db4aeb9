/**
 * The sum of each warp's 32 elements, by shuffles: no shared memory and no block barrier.
 *
 *     npx warpstage emit examples/warps/warp-reduction.ts --target cuda
 */

import { kernel } from 'warpstage';

export const warpReduction = kernel({ sums: 'f32[]', x: 'readonly f32[]' }, ({ sums, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  // Every lane comes to the shuffles; those behind the end bring what changes nothing.
  let sum = i < x.length ? x[i]! : 0;
  for (let delta = cuda.warpSize >> 1; delta > 0; delta >>= 1) {
    sum += cuda.shflDownSync(0xffffffff, sum, delta);
  }
  const warp = i >> 5;
  if (cuda.laneId === 0 && warp < sums.length) sums[warp] = sum;
});
