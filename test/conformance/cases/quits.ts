// Pipelines quit at the end of the block that declares them, as destructors do, and in any order of the threads.

import { deviceFunction, kernel } from 'warpstage';
import { type Cases, counting, integers } from '../case.ts';

/** Copies one batch in, and adds it up, by a pipeline that lives in this function alone. */
const sumOfBatch = deviceFunction(
  { input: 'readonly i32[]', shared: 'i32[]', skip: 'bool' },
  ({ input, shared, skip }, cuda) => {
    const block = cuda.thisThreadBlock();
    const state = cuda.pipelineSharedState('block', 1);
    const pipeline = cuda.makePipeline(block, state);
    pipeline.producerAcquire();
    if (!skip) cuda.memcpyAsync(block, shared, input, block.size(), pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    if (skip) {
      pipeline.consumerRelease();
      return 0;
    }
    let sum = 0;
    for (let i = 0; i < block.size(); i++) sum += shared[i]!;
    pipeline.consumerRelease();
    return sum;
  },
);

/** A function's pipeline quits where the function returns; so it can be made over its state again. */
const inFunction = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index', sumOfBatch },
  ({ out, input, batches, sumOfBatch }, cuda) => {
    const block = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', block.size());
    let sum = 0;
    for (let batch = 0; batch < batches; batch++) {
      const part = input.subarray(batch * block.size());
      sum += sumOfBatch({ input: part, shared, skip: batch === 1 });
      block.sync();
    }
    out[cuda.thisGrid().threadRank()] = sum;
  },
);

/** A pipeline of each turn of a loop, left by `continue`, by `break` and at the turn's end. */
const inLoop = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index' },
  ({ out, input, batches }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const shared = cuda.sharedArray('i32', block.size());
    const state = cuda.pipelineSharedState('block', 2);
    let sum = 0;
    for (let batch = 0; batch < batches; batch++) {
      block.sync();
      const pipeline = cuda.makePipeline(block, state);
      pipeline.producerAcquire();
      if (batch % 3 === 1) continue;
      cuda.memcpyAsync(block, shared, input.subarray(batch * block.size()), block.size(), pipeline);
      pipeline.producerCommit();
      pipeline.consumerWait();
      sum += shared[(t + 1) % block.size()]!;
      pipeline.consumerRelease();
      if (batch === 5) break;
    }
    out[cuda.thisGrid().threadRank()] = sum;
  },
);

/** The threads quit one after the other, in an order of their own; one of them is the last. */
const inAnyOrder = kernel({ out: 'i32[]', lasts: 'u32[]' }, ({ out, lasts }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const turn = cuda.sharedArray('u32', 1);
  const state = cuda.pipelineSharedState('block', 2);
  if (t === 0) turn[0] = 0;
  const pipeline = cuda.makePipeline(block, state);
  const own = (t * 5 + 3) % block.size();
  while (cuda.atomicAdd(turn, 0, 0) !== own) cuda.nanosleep(20);
  const isLast = pipeline.quit();
  cuda.atomicAdd(turn, 0, 1);
  out[cuda.thisGrid().threadRank()] = cuda.i32(isLast);
  if (isLast) cuda.atomicAdd(lasts, 0, 1);
});

/** Some threads quit by leaving the block that declares the pipeline; those that ask count them. */
const byLeaving = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const gone = cuda.sharedArray('i32', 1);
  const state = cuda.pipelineSharedState('block', 1);
  if (t === 0) gone[0] = 0;
  const quitsLast = () => {
    const pipeline = cuda.makePipeline(block, state);
    if (t % 4 === 0) return false;
    // Those who left have left when they say so.
    while (cuda.atomicAdd(gone, 0, 0) * 4 < block.size()) cuda.nanosleep(20);
    return pipeline.quit();
  };
  const isLast = quitsLast();
  cuda.atomicAdd(gone, 0, 1);
  cuda.atomicAdd(out, cuda.blockIdx.x, cuda.i32(isLast));
});

/** A thread that quits early has nothing left for the destructor; a pipeline that is returned outlives its function. */
const returned = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', block.size());
  const state = cuda.pipelineSharedState('block', 1);
  const start = () => {
    const made = cuda.makePipeline(block, state);
    made.producerAcquire();
    cuda.memcpyAsync(block, shared, input, block.size(), made);
    made.producerCommit();
    return made;
  };
  for (let turn = 0; turn < 2; turn++) {
    {
      const pipeline = start();
      pipeline.consumerWait();
      out[2 * t + turn] = shared[block.size() - 1 - t]! + turn;
      pipeline.consumerRelease();
      if ((t + turn) % 2 === 0) pipeline.quit();
    }
    block.sync();
  }
  const again = cuda.makePipeline(block, state);
  again.producerAcquire();
});

const sumOf = (batch: number) => 32 * (100 + batch * 32) + (31 * 32) / 2;

export const quitCases: Cases = [
  {
    name: "a function's pipeline quits at each of its returns",
    kernel: inFunction,
    grid: 2,
    block: 32,
    data: { out: integers(64, () => -1), input: counting(128), batches: 4 },
    expected: { out: integers(64, () => sumOf(0) + sumOf(2) + sumOf(3)) },
  },
  {
    name: "a pipeline of a loop's body quits by continue, by break and at the end",
    kernel: inLoop,
    grid: 1,
    block: 32,
    data: { out: integers(32, () => -1), input: counting(256), batches: 8 },
    expected: {
      out: integers(32, (t) =>
        [0, 2, 3, 5].reduce((sum, batch) => sum + 100 + batch * 32 + ((t + 1) % 32), 0),
      ),
    },
  },
  {
    name: 'threads quit in any order, and one is the last',
    kernel: inAnyOrder,
    grid: 2,
    block: 64,
    data: { out: integers(128, () => -1), lasts: new Uint32Array(1) },
    expected: {
      out: integers(128, (i) => Number(((i % 64) * 5 + 3) % 64 === 63)),
      lasts: Uint32Array.of(2),
    },
  },
  {
    name: 'those who left the block have quit for those who ask',
    kernel: byLeaving,
    grid: 2,
    block: 64,
    data: { out: integers(2, () => 0) },
    expected: { out: integers(2, () => 1) },
  },
  {
    name: 'a pipeline that is returned outlives its function, and is quit once',
    kernel: returned,
    grid: 1,
    block: 32,
    data: { out: integers(64, () => -1), input: counting(32) },
    expected: { out: integers(64, (i) => 131 - (i >> 1) + (i % 2)) },
  },
];
