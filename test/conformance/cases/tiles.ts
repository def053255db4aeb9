// Pipelines of tiles: several for each tile, and more tiles than the hardware has barriers.

import { kernel } from 'warpstage';
import { type Case, type Cases, counting, integers } from '../case.ts';

/** A pipeline for each tile; the tiles take different numbers of rounds, and two pipelines each. */
const tiles = kernel(
  { out: 'i32[]', input: 'readonly i32[]', quits: 'i32[]', width: 'constant index' },
  ({ out, input, quits, width }, cuda) => {
    const block = cuda.thisThreadBlock();
    const tile = cuda.tiledPartition(block, width);
    const rank = tile.threadRank();
    const which = tile.metaGroupRank();
    const staged = cuda.sharedArray('i32', 2 * block.size());
    const back = cuda.sharedArray('i32', block.size());
    const there = cuda.makePipeline(tile, cuda.pipelineSharedState('block', 2));
    const own = staged.subarray(2 * which * width);
    const pass = cuda.makePipeline(
      tile,
      cuda.pipelineSharedState('block', 1),
      rank === 0 ? 'producer' : 'consumer',
    );
    for (let round = 0; round <= which; round++) {
      there.producerAcquire();
      cuda.memcpyAsync(tile, own.subarray((round % 2) * width), input.subarray(which * width), width, there);
      there.producerCommit();
      there.consumerWait();
      const seen = own[(round % 2) * width + ((rank + 1) % width)]!;
      there.consumerRelease();
      if (rank === 0) {
        pass.producerAcquire();
        back[which * width] = 1000 * round;
        pass.producerCommit();
      } else {
        pass.consumerWait();
        out[block.threadRank()] = out[block.threadRank()]! + seen + back[which * width]!;
        pass.consumerRelease();
      }
    }
    if (there.quit()) cuda.atomicAdd(quits, which, 1);
    if (pass.quit()) cuda.atomicAdd(quits, which, 10);
  },
);

const ofTiles = (width: number): Case => {
  const block = 128;
  return {
    name: `tiles of ${width}, each with two pipelines`,
    kernel: tiles,
    grid: 1,
    block,
    data: {
      out: new Int32Array(block),
      input: counting(block),
      quits: new Int32Array(block / width),
      width,
    },
    expected: {
      out: integers(block, (t) => {
        const which = Math.floor(t / width);
        const rank = t % width;
        const neighbour = 100 + which * width + ((rank + 1) % width);
        const rounds = which + 1;
        return rank === 0 ? 0 : rounds * neighbour + (1000 * rounds * (rounds - 1)) / 2;
      }),
      quits: integers(block / width, () => 11),
    },
  };
};

/** More tiles of several warps than the hardware has barriers, of two sizes. */
const manyTiles = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const half = cuda.tiledPartition(block, Math.trunc(block.size() / 2));
  const tile = cuda.tiledPartition(block, 64);
  const staged = cuda.sharedArray('i32', 2 * block.size());
  const rank = tile.threadRank();
  const begin = 64 * tile.metaGroupRank();
  const pipeline = cuda.makePipeline(
    tile,
    cuda.pipelineSharedState('block', 1),
    rank === 0 ? 'producer' : 'consumer',
  );
  if (rank === 0) {
    pipeline.producerAcquire();
    cuda.memcpyAsync(staged.subarray(begin), input.subarray(begin), 64, pipeline);
    pipeline.producerCommit();
  } else {
    pipeline.consumerWait();
    staged[block.size() + t] = staged[begin + 64 - rank]!;
    pipeline.consumerRelease();
  }
  tile.sync();
  half.sync();
  out[t] = rank === 0 ? -1 : staged[block.size() + t]!;
});

export const tileCases: Cases = [
  ofTiles(4),
  ofTiles(32),
  ofTiles(64),
  {
    name: 'sixteen tiles of two warps',
    kernel: manyTiles,
    grid: 1,
    block: 1024,
    data: { out: new Int32Array(1024), input: counting(1024) },
    expected: {
      out: integers(1024, (t) => (t % 64 === 0 ? -1 : 100 + (t - (t % 64)) + 64 - (t % 64))),
    },
  },
];
