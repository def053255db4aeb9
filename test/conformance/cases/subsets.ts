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

/** The lanes of a warp whose ranks leave one remainder share a pipeline: they copy together, and each reads for the next. */
const byRemainder = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index' },
  ({ out, input, batches }, cuda) => {
    const block = cuda.thisThreadBlock();
    const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), block.threadRank() % 3);
    const [rank, size] = [group.threadRank(), group.size()];
    // Each of a warp's three groups has a part of a stage.
    const stages = cuda.sharedArray('i32', 2 * 6 * 16);
    const part = Math.trunc(block.threadRank() / 32) * 3 + (block.threadRank() % 3);
    const pipeline = cuda.makePipeline(group, cuda.pipelineSharedState('block', 2));
    for (let computed = 0, fetched = 0; computed < batches; computed++) {
      for (; fetched < batches && fetched < computed + 2; fetched++) {
        const stage = stages.subarray((fetched % 2) * 96 + part * 16);
        pipeline.producerAcquire();
        cuda.memcpyAsync(group, stage, input.subarray(fetched * block.size() + part * 10), size, pipeline);
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      const stage = stages.subarray((computed % 2) * 96 + part * 16);
      out[computed * block.size() + block.threadRank()] =
        stage[(rank + 1) % size]! * 4 + (block.threadRank() % 3);
      pipeline.consumerRelease();
    }
  },
);

/** The even and the odd lanes of a warp each have two halves: the lower ranks produce, the others consume. */
const halvesOfLanes = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index' },
  ({ out, input, batches }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const group = cuda.binaryPartition(cuda.tiledPartition(block, 32), t % 2 === 1);
    const rank = group.threadRank();
    const stages = cuda.sharedArray('i32', 2 * block.size());
    const produces = rank < 8;
    const state = cuda.pipelineSharedState('block', 2);
    const pipeline = cuda.makePipeline(group, state, produces ? 'producer' : 'consumer');
    const first = 16 * (2 * Math.trunc(t / 32) + (t % 2));
    for (let batch = 0; batch < batches; batch++) {
      const stage = stages.subarray((batch % 2) * block.size() + first);
      const at = batch * block.size() + first;
      if (produces) {
        pipeline.producerAcquire();
        stage[rank] = input[at + rank]! + batch;
        stage[rank + 8] = input[at + rank + 8]! - batch;
        pipeline.producerCommit();
      } else {
        pipeline.consumerWait();
        out[at + rank - 8] = stage[15 - (rank - 8)]!;
        out[at + rank] = stage[rank - 8]!;
        pipeline.consumerRelease();
      }
    }
  },
);

/** Every third thread, of whatever warp, and the others: each half has a pipeline, whose lower ranks produce in one of them. */
const byPredicate = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index' },
  ({ out, input, batches }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const isThird = t % 3 === 0;
    const half = cuda.binaryPartition(block, isThird);
    const [rank, size] = [half.threadRank(), half.size()];
    const stages = cuda.sharedArray('i32', 4 * block.size());
    const own = stages.subarray(isThird ? 0 : 2 * block.size());
    const state = cuda.pipelineSharedState('block', 2);
    const others = cuda.pipelineSharedState('block', 2);
    if (isThird) {
      const pipeline = cuda.makePipeline(half, state);
      for (let batch = 0; batch < batches; batch++) {
        const stage = own.subarray((batch % 2) * block.size());
        pipeline.producerAcquire();
        cuda.memcpyAsync(half, stage, input.subarray(batch * block.size()), size, pipeline);
        pipeline.producerCommit();
        pipeline.consumerWait();
        out[batch * block.size() + t] = stage[size - 1 - rank]!;
        pipeline.consumerRelease();
      }
    } else {
      const pipeline = cuda.makePipeline(half, others, rank < 10 ? 'producer' : 'consumer');
      for (let batch = 0; batch < batches; batch++) {
        const stage = own.subarray((batch % 2) * block.size());
        if (rank < 10) {
          pipeline.producerAcquire();
          stage[rank] = input[batch * block.size() + t]! - batch;
          pipeline.producerCommit();
        } else {
          pipeline.consumerWait();
          out[batch * block.size() + t] = stage[rank % 10]!;
          pipeline.consumerRelease();
        }
      }
    }
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
  {
    name: 'lanes by the remainder of their rank share a pipeline',
    kernel: byRemainder,
    grid: 1,
    block,
    data: { out: new Int32Array(input.length), input, batches },
    expected: {
      out: integers(input.length, (i) => {
        const [batch, t] = [Math.floor(i / block), i % block];
        const warp = Math.floor(t / 32);
        const group = Array.from({ length: 32 }, (_, lane) => 32 * warp + lane).filter(
          (n) => n % 3 === t % 3,
        );
        const next = (group.indexOf(t) + 1) % group.length;
        return input[batch * block + (3 * warp + (t % 3)) * 10 + next]! * 4 + (t % 3);
      }),
    },
  },
  {
    name: 'even and odd lanes have pipelines whose lower ranks produce',
    kernel: halvesOfLanes,
    grid: 1,
    block,
    data: { out: new Int32Array(input.length), input, batches },
    expected: {
      out: integers(input.length, (i) => {
        const [batch, at] = [Math.floor(i / block), i % 16];
        const source = at < 8 ? 15 - at : at - 8;
        return input[i - at + source]! + (source < 8 ? batch : -batch);
      }),
    },
  },
  {
    name: 'threads of any warps, by a predicate, share a pipeline; the others have one with roles',
    kernel: byPredicate,
    grid: 1,
    block,
    data: { out: new Int32Array(input.length), input, batches },
    expected: {
      out: integers(input.length, (i) => {
        const [batch, t] = [Math.floor(i / block), i % block];
        const half = Array.from({ length: block }, (_, n) => n).filter(
          (n) => (n % 3 === 0) === (t % 3 === 0),
        );
        const rank = half.indexOf(t);
        if (t % 3 === 0) return input[batch * block + half.length - 1 - rank]!;
        return rank < 10 ? 0 : input[batch * block + half[rank % 10]!]! - batch;
      }),
    },
  },
];
