// Pipelines of some of a block's threads: the others have none, and do something else meanwhile.

import { kernel } from 'warpstage';
import { type Cases, counting, integers } from '../case.ts';

/** Tiles of eight whose number is odd go through their batches in two stages, chosen from a list by the batch. */
const someTiles = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index' },
  ({ out, input, batches }, cuda) => {
    const block = cuda.thisThreadBlock();
    cuda.assert(input.length === batches * block.size(), `as many elements as ${batches} batches have`);
    const tile = cuda.tiledPartition(block, 8);
    const memory = cuda.sharedArray('i32', 2 * block.size());
    const state = cuda.pipelineSharedState('block', 2);
    const first = block.threadRank() - tile.threadRank();
    const shared = [memory.subarray(first), memory.subarray(block.size() + first)];
    const rank = tile.threadRank();
    if (tile.metaGroupRank() % 2 === 0) {
      for (let batch = 0; batch < batches; batch++)
        out[batch * block.size() + first + rank] = -input[batch * block.size() + first + rank]!;
      return;
    }
    const pipeline = cuda.makePipeline(tile, state);
    const fetch = (batch: number) => {
      pipeline.producerAcquire();
      cuda.memcpyAsync(
        tile,
        shared[batch % 2]!,
        input.subarray(batch * block.size() + first),
        tile.size(),
        pipeline,
      );
      pipeline.producerCommit();
    };
    fetch(0);
    for (let batch = 0; batch < batches; batch++) {
      if (batch + 1 < batches) fetch(batch + 1);
      pipeline.consumerWait();
      // What the lane beside this one has fetched.
      out[batch * block.size() + first + rank] = shared[batch % 2]![7 - rank]!;
      pipeline.consumerRelease();
    }
  },
);

/** Every third thread fetches for itself, and leaves when it likes. */
const everyThird = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index' },
  ({ out, input, batches }, cuda) => {
    const block = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', block.size());
    const rank = block.threadRank();
    if (rank % 3 === 1) {
      const pipeline = cuda.makePipeline();
      for (let batch = 0; batch < batches; batch++) {
        if (batch > rank) {
          pipeline.quit();
          return;
        }
        pipeline.producerAcquire();
        const place = batch * block.size() + rank;
        cuda.memcpyAsync(shared.subarray(rank), input.subarray(place), 1, pipeline);
        pipeline.producerCommit();
        pipeline.consumerWait();
        out[place] = shared[rank]! + 1;
        pipeline.consumerRelease();
      }
    } else for (let batch = 0; batch < batches; batch++) out[batch * block.size() + rank] = rank;
  },
);

const block = 64;
const batches = 5;
const input = counting(batches * block);

export const subsetCases: Cases = [
  {
    name: 'some tiles of a block have a pipeline, the others none',
    kernel: someTiles,
    grid: 1,
    block,
    data: { out: new Int32Array(input.length), input, batches },
    expected: {
      out: integers(input.length, (i) => {
        const tile = Math.floor((i % block) / 8);
        return tile % 2 === 0 ? -input[i]! : input[i - (i % 8) + 7 - (i % 8)]!;
      }),
    },
  },
  {
    name: 'every third thread has a pipeline of its own, and quits when it likes',
    kernel: everyThird,
    grid: 1,
    block,
    data: { out: new Int32Array(input.length), input, batches },
    expected: {
      out: integers(input.length, (i) => {
        const [batch, rank] = [Math.floor(i / block), i % block];
        if (rank % 3 !== 1) return rank;
        return batch > rank ? 0 : input[i]! + 1;
      }),
    },
  },
];
