/**
 * The sum of a whole array in one launch: every block adds up its share, the grid meets, and the
 * first block adds up what the blocks have found.
 *
 * It needs a cooperative launch, so that all blocks are there to meet:
 *
 *     stream.launch(gridReduction, { grid: 64, block: 256, cooperative: true }, { total, partial, x });
 *
 * `partial` has an element for each block.
 */

import { kernel } from 'warpstage';

export const gridReduction = kernel(
  { total: 'f32[]', partial: 'f32[]', x: 'readonly f32[]' },
  ({ total, partial, x }, cuda) => {
    const grid = cuda.thisGrid();
    const block = cuda.thisThreadBlock();
    const warp = cuda.tiledPartition(block, 32);
    const sumsOfWarps = cuda.sharedArray('f32', 32);

    /** The sum of one value of each thread, in the threads of the first warp. */
    const sumOfBlock = (own: number) => {
      const sum = cuda.cg.reduce(warp, own, 'plus');
      if (warp.threadRank() === 0) sumsOfWarps[warp.metaGroupRank()] = sum;
      block.sync();
      const isOfWarp = block.threadRank() < warp.metaGroupSize();
      return cuda.cg.reduce(warp, isOfWarp ? sumsOfWarps[block.threadRank()]! : 0, 'plus');
    };

    let share = cuda.f32(0);
    for (let i = grid.threadRank(); i < x.length; i += grid.size()) share += x[i]!;
    const ofBlock = sumOfBlock(share);
    if (block.threadRank() === 0) partial[grid.blockRank()] = ofBlock;

    grid.sync();
    if (grid.blockRank() === 0) {
      let found = cuda.f32(0);
      for (let i = block.threadRank(); i < grid.numBlocks(); i += block.size()) found += partial[i]!;
      const all = sumOfBlock(found);
      if (block.threadRank() === 0) total[0] = all;
    }
  },
);
