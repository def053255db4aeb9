/**
 * The sum of each block's elements, by tiles: each warp adds up its own, and the first warp adds up
 * what the warps have found.
 *
 *     npx warpstage emit examples/warps/block-reduction.ts --target cuda
 */

import { kernel } from 'warpstage';

export const blockReduction = kernel({ sums: 'f32[]', x: 'readonly f32[]' }, ({ sums, x }, cuda) => {
  const grid = cuda.thisGrid();
  const block = cuda.thisThreadBlock();
  const warp = cuda.tiledPartition(block, 32);
  const sumsOfWarps = cuda.sharedArray('f32', 32);

  const i = grid.threadRank();
  const sum = cuda.cg.reduce(warp, i < x.length ? x[i]! : 0, 'plus');
  if (warp.threadRank() === 0) sumsOfWarps[warp.metaGroupRank()] = sum;
  block.sync();
  if (warp.metaGroupRank() === 0) {
    const rank = warp.threadRank();
    const all = cuda.cg.reduce(warp, rank < warp.metaGroupSize() ? sumsOfWarps[rank]! : 0, 'plus');
    if (rank === 0) sums[block.groupIndex().x] = all;
  }
});
