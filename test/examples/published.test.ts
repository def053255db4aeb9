// The guide's kernels as they were published: the oracle shows what is wrong with them.

import { describe, expect, test } from 'vitest';
import { deviceFunction, type Kernel, kernel } from 'warpstage';
import { compute } from '../../examples/guide/compute.ts';
import { withSpecializedStaging } from '../../examples/guide/specialized-staging.ts';
import { interpreter } from '../support/interpreter.ts';
import { runKernel } from '../support/run-kernel.ts';

const schema = {
  globalOut: 'i32[]',
  globalIn: 'readonly i32[]',
  batchCount: 'index',
} as const;

const input = (length: number) => Int32Array.from({ length }, (_, i) => i + 100);

test('two-stage staging writes every result one batch too late', () => {
  const published = kernel({ ...schema, compute }, ({ globalOut, globalIn, batchCount, compute }, cuda) => {
    const grid = cuda.thisGrid();
    const block = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', 2 * block.size());
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
    const blockBatch = (batch: number) => block.groupIndex().x * block.size() + grid.size() * batch;
    if (batchCount === 0) return;
    pipeline.producerAcquire();
    cuda.memcpyAsync(block, shared, globalIn.subarray(blockBatch(0)), block.size(), pipeline);
    pipeline.producerCommit();
    for (let batch = 1; batch < batchCount; ++batch) {
      const computeStage = (batch - 1) % 2;
      const copyStage = batch % 2;
      const globalIdx = blockBatch(batch);
      pipeline.producerAcquire();
      cuda.memcpyAsync(
        block,
        shared.subarray(copyStage * block.size()),
        globalIn.subarray(globalIdx),
        block.size(),
        pipeline,
      );
      pipeline.producerCommit();
      pipeline.consumerWait();
      compute({ out: globalOut.subarray(globalIdx), staged: shared.subarray(computeStage * block.size()) });
      pipeline.consumerRelease();
    }
    pipeline.consumerWait();
    compute({
      out: globalOut.subarray(blockBatch(batchCount - 1)),
      staged: shared.subarray(((batchCount - 1) % 2) * block.size()),
    });
    pipeline.consumerRelease();
  });
  const globalIn = input(96);
  const globalOut = new Int32Array(96);
  runKernel(interpreter('late'), published as Kernel, {
    grid: 1,
    block: 32,
    arguments: { globalOut, globalIn, batchCount: 3 },
  });
  const right = globalIn.map((x) => x * 3 + 1);
  expect([...globalOut.subarray(0, 32)]).toEqual(Array(32).fill(0));
  expect(globalOut.subarray(32, 64)).toEqual(right.subarray(0, 32));
  expect(globalOut.subarray(64, 96)).toEqual(right.subarray(64, 96));
});

describe('thread scope without a sync after the computation', () => {
  const reads = deviceFunction({ out: 'i32[]', staged: 'readonly i32[]' }, ({ out, staged }, cuda) => {
    const block = cuda.thisThreadBlock();
    out[block.threadRank()] = staged[block.size() - 1 - block.threadRank()]!;
  });
  const published = kernel({ ...schema, reads }, ({ globalOut, globalIn, batchCount, reads }, cuda) => {
    const grid = cuda.thisGrid();
    const block = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', 2 * block.size());
    const pipeline = cuda.makePipeline();
    const blockBatch = (batch: number) => block.groupIndex().x * block.size() + grid.size() * batch;
    for (let computeBatch = 0, fetchBatch = 0; computeBatch < batchCount; ++computeBatch) {
      for (; fetchBatch < batchCount && fetchBatch < computeBatch + 2; ++fetchBatch) {
        pipeline.producerAcquire();
        cuda.memcpyAsync(
          cuda.thisThread(),
          shared.subarray((fetchBatch % 2) * block.size() + cuda.threadIdx.x),
          globalIn.subarray(blockBatch(fetchBatch) + cuda.threadIdx.x),
          1,
          pipeline,
        );
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      block.sync();
      reads({
        out: globalOut.subarray(blockBatch(computeBatch)),
        staged: shared.subarray((computeBatch % 2) * block.size()),
      });
      pipeline.consumerRelease();
    }
  });
  const run = (delivery: 'eager' | 'late' | number) => {
    const globalIn = input(32 * 8);
    const globalOut = new Int32Array(globalIn.length);
    runKernel(interpreter(delivery), published as Kernel, {
      grid: 1,
      block: 32,
      arguments: { globalOut, globalIn, batchCount: 8 },
    });
    const right = globalIn.map((_, i) => globalIn[i - (i % 32) + 31 - (i % 32)]!);
    return globalOut.every((x, i) => x === right[i]);
  };

  test('is a race that late delivery hides, and early delivery shows', () => {
    expect(run('late')).toBe(true);
    expect(run('eager')).toBe(false);
    expect(run(1)).toBe(false);
  });
});

test('roles without a commit in the producers deadlock', () => {
  const published = kernel(schema, ({ globalOut, globalIn, batchCount }, cuda) => {
    const block = cuda.thisThreadBlock();
    const role = block.threadRank() % 2 === 0 ? 'producer' : 'consumer';
    const shared = cuda.sharedArray('i32', 16);
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1), role);
    const own = Math.trunc(block.threadRank() / 2);
    for (let batch = 0; batch < batchCount; ++batch) {
      if (role === 'producer') {
        pipeline.producerAcquire();
        cuda.memcpyAsync(shared.subarray(own), globalIn.subarray(16 * batch + own), 1, pipeline);
      } else {
        pipeline.consumerWait();
        globalOut[16 * batch + own] = shared[own]!;
        pipeline.consumerRelease();
      }
    }
  });
  const { fault } = runKernel(interpreter('eager'), published as Kernel, {
    grid: 1,
    block: 32,
    arguments: { globalOut: new Int32Array(32), globalIn: input(32), batchCount: 2 },
  });
  expect(fault).toMatchObject({
    kind: 'deadlock',
    waiting: [
      {
        what: 'consumerWait on stage 0 of `pipeline`: 0 of 16 producers have committed; 16 threads have returned',
        threads: Array.from({ length: 16 }, (_, i) => 2 * i + 1),
      },
    ],
  });
});

test('a block of one thread cannot have both roles', () => {
  const launch = {
    grid: 1,
    block: 1,
    arguments: { globalOut: new Int32Array(1), globalIn: input(1), batchCount: 1 },
  };
  expect(() => runKernel(interpreter('late'), withSpecializedStaging as Kernel, launch)).toThrow(
    'WS1008: a shared array cannot have 0 elements',
  );
});
