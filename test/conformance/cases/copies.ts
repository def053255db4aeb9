// Copies of any size, of a group's and of a thread's own, and what covers them.

import { kernel } from 'warpstage';
import { type Case, type Cases, counting, integers } from '../case.ts';

/**
 * Bytes from and to odd places: no byte more, and none less, whatever the hardware's chunks are. Shared
 * memory around the copy is filled with 9, and everything is looked at.
 */
const bytes = kernel(
  { out: 'u8[]', input: 'readonly u8[]', from: 'index', to: 'index', count: 'index' },
  ({ out, input, from, to, count }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const staged = cuda.sharedArray('u8', 64);
    for (let i = t; i < 64; i += block.size()) staged[i] = 9;
    block.sync();
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    pipeline.producerAcquire();
    cuda.memcpyAsync(block, staged.subarray(to), input.subarray(from), count, pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    for (let i = t; i < 64; i += block.size()) out[i] = staged[i]!;
    pipeline.consumerRelease();
  },
);

const ofBytes = (from: number, to: number, count: number): Case => {
  const input = Uint8Array.from({ length: 64 }, (_, i) => 100 + i);
  return {
    name: `${count} bytes from ${from} to ${to}`,
    kernel: bytes,
    grid: 1,
    block: 8,
    data: { out: new Uint8Array(64), input, from, to, count },
    expected: {
      out: Uint8Array.from({ length: 64 }, (_, i) => (i >= to && i < to + count ? 100 + from + i - to : 9)),
    },
  };
};

/** A copy that promises 16 bytes, beside one that promises nothing, in one stage. */
const promised = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const staged = cuda.sharedArray('i32', 24);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
  pipeline.producerAcquire();
  cuda.memcpyAsync(block, staged, input.subarray(4), cuda.alignedSize(16, 12), pipeline);
  cuda.memcpyAsync(block, staged.subarray(13), input.subarray(1), 7, pipeline);
  pipeline.producerCommit();
  pipeline.consumerWait();
  if (t < 12) out[t] = staged[t]!;
  if (t < 7) out[12 + t] = staged[13 + t]!;
  pipeline.consumerRelease();
});

/** One thread copies for all; the others only wait. */
const single = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const size = block.size();
  const staged = cuda.sharedArray('i32', 2 * size);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
  for (let batch = 0; batch * size < input.length; batch++) {
    pipeline.producerAcquire();
    const slot = staged.subarray((batch % 2) * size);
    if (t === batch % size) cuda.memcpyAsync(slot, input.subarray(batch * size), size, pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    out[batch * size + t] = slot[size - 1 - t]!;
    pipeline.consumerRelease();
  }
});

/** Tiles copy, each its own part; the block waits for all of them. */
const tiles = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const tile = cuda.tiledPartition(block, 8);
  const begin = tile.metaGroupRank() * 8;
  const staged = cuda.sharedArray('i32', block.size());
  cuda.cg.memcpyAsync(tile, staged.subarray(begin), input.subarray(begin), 8);
  cuda.cg.wait(block);
  out[t] = staged[block.size() - 1 - t]!;
});

/** Two batches, of which the first is used while the second may be under way; the counts differ. */
const layouts = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const size = block.size();
  const staged = cuda.sharedArray('i32', 2 * size);
  staged[t] = -1;
  staged[size + t] = -1;
  block.sync();
  cuda.cg.memcpyAsync(block, staged, size, input, 2 * size);
  cuda.cg.memcpyAsync(block, staged.subarray(size), size, input.subarray(size), size - 3);
  cuda.cg.waitPrior(block, 1);
  out[t] = staged[size - 1 - t]!;
  cuda.cg.waitPrior(block, 5);
  cuda.cg.wait(block);
  out[size + t] = staged[2 * size - 1 - t]!;
});

/** Copies of nothing are batches too. */
const nothing = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const staged = cuda.sharedArray('i32', block.size());
  cuda.cg.memcpyAsync(block, staged, input, block.size());
  cuda.cg.memcpyAsync(block, staged, input, 0);
  cuda.cg.memcpyAsync(block, staged, cuda.alignedSize(16, 0), input, 0);
  cuda.cg.waitPrior(block, 2);
  out[t] = staged[block.size() - 1 - t]!;
  cuda.cg.wait(block);
});

/** Each thread its own two elements, and zeros behind the end of the input. */
const primitives = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const staged = cuda.sharedArray('i32', 2 * block.size());
  staged[2 * t] = -1;
  staged[2 * t + 1] = -1;
  const left = input.length - 2 * t;
  cuda.pipelineMemcpyAsync(
    staged.subarray(2 * t),
    input.subarray(2 * t),
    2,
    Math.min(Math.max(2 - left, 0), 2),
  );
  cuda.pipelineCommit();
  cuda.pipelineWaitPrior(0);
  block.sync();
  out[t] = staged[block.size() - 1 - t]!;
  out[block.size() + t] = staged[2 * block.size() - 1 - t]!;
});

/** 4, 8 and 16 bytes, as elements of several sizes. */
const sizes = kernel(
  { out: 'i32[]', floats: 'readonly f64[]', words: 'readonly i32[]', small: 'readonly u8[]' },
  ({ out, floats, words, small }, cuda) => {
    const t = cuda.thisThreadBlock().threadRank();
    const stagedFloats = cuda.sharedArray('f64', 2 * cuda.thisThreadBlock().size());
    const stagedWords = cuda.sharedArray('i32', 4 * cuda.thisThreadBlock().size());
    const stagedSmall = cuda.sharedArray('u8', 16 * cuda.thisThreadBlock().size());
    cuda.pipelineMemcpyAsync(stagedFloats.subarray(2 * t), floats.subarray(2 * t), 2, 1);
    cuda.pipelineMemcpyAsync(stagedWords.subarray(4 * t), words.subarray(4 * t), 4);
    cuda.pipelineCommit();
    cuda.pipelineMemcpyAsync(stagedSmall.subarray(16 * t), small.subarray(16 * t), 8, 3);
    cuda.pipelineMemcpyAsync(stagedSmall.subarray(16 * t + 8), small.subarray(16 * t + 8), 4, 0);
    cuda.pipelineMemcpyAsync(stagedSmall.subarray(16 * t + 12), small.subarray(16 * t + 12), 4, 4);
    cuda.pipelineCommit();
    cuda.pipelineWaitPrior(1);
    let sum = cuda.i32(stagedFloats[2 * t]! + 10 * stagedFloats[2 * t + 1]!);
    for (let i = 0; i < 4; i++) sum = sum * 3 + stagedWords[4 * t + i]!;
    out[2 * t] = sum;
    cuda.pipelineWaitPrior(0);
    sum = 0;
    for (let i = 0; i < 16; i++) sum = sum * 3 + cuda.i32(stagedSmall[16 * t + i]!);
    out[2 * t + 1] = sum;
  },
);

const small = (i: number) => (i * 7) % 50;
const ofSmall = (t: number) => {
  let sum = 0;
  for (let i = 0; i < 16; i++) sum = (sum * 3 + ((i >= 5 && i < 8) || i >= 12 ? 0 : small(16 * t + i))) | 0;
  return sum;
};
const ofWords = (t: number) => {
  let sum = t + 1;
  for (let i = 0; i < 4; i++) sum = sum * 3 + 4 * t + i;
  return sum;
};

/** One queue for pipelines of the thread's own, a group's copies and primitives: commits count, whoever makes them. */
const mixed = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const size = block.size();
  const staged = cuda.sharedArray('i32', 5 * size);
  const first = cuda.makePipeline();
  const second = cuda.makePipeline();
  cuda.memcpyAsync(staged.subarray(t), input.subarray(t), 1, first);
  first.producerCommit();
  cuda.memcpyAsync(staged.subarray(size + t), input.subarray(size + t), 1, second);
  second.producerCommit();
  cuda.cg.memcpyAsync(cuda.thisThread(), staged.subarray(2 * size + t), input.subarray(2 * size + t), 1);
  cuda.pipelineMemcpyAsync(staged.subarray(3 * size + t), input.subarray(3 * size + t), 1);
  // What a pipeline was given is in the queue too: the next commit of anybody makes it a batch.
  cuda.memcpyAsync(staged.subarray(4 * size + t), input.subarray(4 * size + t), 1, first);
  cuda.pipelineCommit();
  second.consumerWait();
  out[size + t] = staged[size + t]!;
  out[t] = staged[t]!;
  cuda.pipelineWaitPrior(1);
  out[2 * size + t] = staged[2 * size + t]!;
  cuda.pipelineWaitPrior(0);
  out[3 * size + t] = staged[3 * size + t]!;
  out[4 * size + t] = staged[4 * size + t]!;
  first.consumerWait();
});

/** A stage of the block's and copies of the thread's own at once; neither waits for the other. */
const beside = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const size = block.size();
  const staged = cuda.sharedArray('i32', 2 * size);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
  const own = cuda.makePipeline();
  pipeline.producerAcquire();
  cuda.memcpyAsync(block, staged, input, size, pipeline);
  cuda.memcpyAsync(staged.subarray(size + t), input.subarray(size + t), 1, own);
  own.producerCommit();
  pipeline.producerCommit();
  own.consumerWait();
  out[size + t] = staged[size + t]!;
  pipeline.consumerWait();
  out[t] = staged[size - 1 - t]!;
  pipeline.consumerRelease();
});

const copied = (
  name: string,
  of: Case['kernel'],
  block: number,
  expected: Int32Array,
  length = expected.length,
): Case => ({
  name,
  kernel: of,
  grid: 1,
  block,
  data: { out: new Int32Array(expected.length), input: counting(length) },
  expected: { out: expected },
});

export const copyCases: Cases = [
  ...[0, 1, 2, 3, 5, 15, 16, 17, 31].map((count) => ofBytes(0, 0, count)),
  ofBytes(1, 3, 29),
  ofBytes(16, 32, 19),
  ofBytes(63, 63, 1),
  copied(
    'a promise of 16 bytes beside none',
    promised,
    16,
    integers(19, (i) => (i < 12 ? 104 + i : 101 + i - 12)),
    24,
  ),
  copied(
    'by one thread for all',
    single,
    8,
    integers(40, (i) => 100 + (i - (i % 8)) + 7 - (i % 8)),
  ),
  copied(
    'cg: tiles copy, the block waits',
    tiles,
    32,
    integers(32, (t) => 131 - t),
  ),
  copied(
    'cg: two counts, and all but the youngest batch',
    layouts,
    16,
    integers(32, (i) => (i < 16 ? 115 - i : i - 16 < 3 ? -1 : 131 - (i - 16))),
  ),
  copied(
    'cg: copies of nothing are batches',
    nothing,
    8,
    integers(8, (t) => 107 - t),
  ),
  copied(
    'primitives: zeros behind the end',
    primitives,
    8,
    integers(16, (i) => {
      const at = i < 8 ? 7 - i : 15 - (i - 8);
      return at < 11 ? 100 + at : 0;
    }),
    11,
  ),
  {
    name: 'primitives: 4, 8 and 16 bytes of several elements',
    kernel: sizes,
    grid: 1,
    block: 4,
    data: {
      out: new Int32Array(8),
      floats: Float64Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? i / 2 + 1 : 1000)),
      words: integers(16, (i) => i),
      small: Uint8Array.from({ length: 64 }, (_, i) => small(i)),
    },
    expected: { out: integers(8, (i) => (i % 2 === 0 ? ofWords(i / 2) : ofSmall((i - 1) / 2))) },
  },
  copied('one queue for all copies of a thread', mixed, 8, counting(40)),
  copied(
    "a stage beside the thread's own copies",
    beside,
    8,
    integers(16, (i) => (i < 8 ? 107 - i : 100 + i)),
  ),
];
