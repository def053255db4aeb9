// The intrinsics that tell a thread who and where it is, and those that hold groups together.

import type { Intrinsic } from './entry.ts';

export const groupIntrinsics = {
  'cuda.thisGrid': {
    cuda: 'cooperative_groups::this_grid()',
    forms: [{}],
    result: 'grid',
    doc: 'All threads of the launch.',
  },
  'cuda.thisThreadBlock': {
    cuda: 'cooperative_groups::this_thread_block()',
    forms: [{}],
    result: 'block',
    doc: 'The threads of this block.',
  },
  'cuda.thisThread': {
    cuda: 'cooperative_groups::this_thread()',
    forms: [{}],
    result: 'thread',
    doc: 'A group of the calling thread alone.',
  },
  'cuda.tiledPartition': {
    cuda: 'cooperative_groups::tiled_partition<size>(group)',
    forms: [{ group: 'block or tile', size: 'constant' }],
    result: 'tile',
    doc: 'The tile of `size` consecutive threads of the group that this thread is in; size is a power of two that divides the group.',
  },
  'cuda.threadIdx': {
    cuda: 'threadIdx',
    result: 'extent',
    doc: 'The place of this thread in its block.',
  },
  'cuda.blockIdx': { cuda: 'blockIdx', result: 'extent', doc: 'The place of this block in the grid.' },
  'cuda.blockDim': { cuda: 'blockDim', result: 'extent', doc: 'The threads of a block in each dimension.' },
  'cuda.gridDim': { cuda: 'gridDim', result: 'extent', doc: 'The blocks of the grid in each dimension.' },
  'cuda.syncthreads': {
    cuda: '__syncthreads()',
    forms: [{}],
    result: 'nothing',
    synchronises: 'barrier',
    involves: 'block',
    doc: 'Waits until every thread of the block is here; what they wrote before is then visible to all.',
  },

  'grid.sync': {
    cuda: 'grid_group::sync()',
    forms: [{}],
    result: 'nothing',
    synchronises: 'barrier',
    involves: 'group',
    doc: 'Waits until every thread of the grid is here; what they wrote before is then visible to all. It needs a cooperative launch.',
  },
  'grid.isValid': {
    cuda: 'grid_group::is_valid()',
    forms: [{}],
    result: 'bool',
    doc: 'Whether the launch is cooperative, so that the grid may synchronise.',
  },
  'grid.size': {
    cuda: 'grid_group::size()',
    forms: [{}],
    result: 'index',
    doc: 'The number of threads of the grid.',
  },
  'grid.numThreads': {
    cuda: 'grid_group::num_threads()',
    forms: [{}],
    result: 'index',
    doc: 'The number of threads of the grid.',
  },
  'grid.threadRank': {
    cuda: 'grid_group::thread_rank()',
    forms: [{}],
    result: 'index',
    doc: 'The rank of this thread in the grid: block by block, and in a block x fastest.',
  },
  'grid.numBlocks': {
    cuda: 'grid_group::num_blocks()',
    forms: [{}],
    result: 'index',
    doc: 'The number of blocks of the grid.',
  },
  'grid.blockRank': {
    cuda: 'grid_group::block_rank()',
    forms: [{}],
    result: 'index',
    doc: 'The rank of this block in the grid, x fastest.',
  },
  'grid.blockIndex': {
    cuda: 'grid_group::block_index()',
    forms: [{}],
    result: 'extent',
    doc: 'The place of this block in the grid.',
  },
  'grid.dimBlocks': {
    cuda: 'grid_group::dim_blocks()',
    forms: [{}],
    result: 'extent',
    doc: 'The blocks of the grid in each dimension.',
  },
  'grid.groupDim': {
    cuda: 'grid_group::group_dim()',
    forms: [{}],
    result: 'extent',
    doc: 'The blocks of the grid in each dimension, by their older name.',
  },

  'block.size': {
    cuda: 'thread_block::size()',
    forms: [{}],
    result: 'constant',
    doc: 'The number of threads of the block.',
  },
  'block.numThreads': {
    cuda: 'thread_block::num_threads()',
    forms: [{}],
    result: 'constant',
    doc: 'The number of threads of the block.',
  },
  'block.threadRank': {
    cuda: 'thread_block::thread_rank()',
    forms: [{}],
    result: 'index',
    doc: 'The rank of this thread in its block, x fastest.',
  },
  'block.groupIndex': {
    cuda: 'thread_block::group_index()',
    forms: [{}],
    result: 'extent',
    doc: 'The place of this block in the grid.',
  },
  'block.threadIndex': {
    cuda: 'thread_block::thread_index()',
    forms: [{}],
    result: 'extent',
    doc: 'The place of this thread in its block.',
  },
  'block.groupDim': {
    cuda: 'thread_block::group_dim()',
    forms: [{}],
    result: 'extent',
    doc: 'The threads of the block in each dimension.',
  },
  'block.dimThreads': {
    cuda: 'thread_block::dim_threads()',
    forms: [{}],
    result: 'extent',
    doc: 'The threads of the block in each dimension.',
  },
  'block.sync': {
    cuda: 'thread_block::sync()',
    forms: [{}],
    result: 'nothing',
    synchronises: 'barrier',
    involves: 'group',
    doc: 'Waits until every thread of the block is here; what they wrote before is then visible to all.',
  },

  'tile.size': {
    cuda: 'thread_block_tile::size()',
    forms: [{}],
    result: 'constant',
    doc: 'The number of threads of the tile.',
  },
  'tile.numThreads': {
    cuda: 'thread_block_tile::num_threads()',
    forms: [{}],
    result: 'constant',
    doc: 'The number of threads of the tile.',
  },
  'tile.threadRank': {
    cuda: 'thread_block_tile::thread_rank()',
    forms: [{}],
    result: 'index',
    doc: 'The rank of this thread in its tile.',
  },
  'tile.metaGroupSize': {
    cuda: 'thread_block_tile::meta_group_size()',
    forms: [{}],
    result: 'constant',
    doc: 'How many tiles the partitioned group was cut into.',
  },
  'tile.metaGroupRank': {
    cuda: 'thread_block_tile::meta_group_rank()',
    forms: [{}],
    result: 'index',
    doc: 'The rank of this tile among those.',
  },
  'tile.sync': {
    cuda: 'thread_block_tile::sync()',
    forms: [{}],
    result: 'nothing',
    synchronises: 'barrier',
    involves: 'group',
    doc: 'Waits until every thread of the tile is here; what they wrote before is then visible to them.',
  },

  'thread.size': { cuda: 'this_thread().size()', forms: [{}], result: 'constant', doc: 'Always 1.' },
  'thread.numThreads': {
    cuda: 'this_thread().num_threads()',
    forms: [{}],
    result: 'constant',
    doc: 'Always 1.',
  },
  'thread.threadRank': {
    cuda: 'this_thread().thread_rank()',
    forms: [{}],
    result: 'constant',
    doc: 'Always 0.',
  },
  'thread.sync': {
    cuda: 'this_thread().sync()',
    forms: [{}],
    result: 'nothing',
    doc: 'Does nothing: a thread is in step with itself.',
  },
} as const satisfies Readonly<Record<string, Intrinsic>>;
