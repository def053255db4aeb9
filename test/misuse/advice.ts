// What is right, and slower than it need be.

import { kernel } from 'warpstage';
import { batched, type Misuse, schema } from './misuse.ts';

export const advice: readonly Misuse[] = [
  {
    name: 'a copy of bytes without a promise',
    row: 'PERF-1',
    code: 'WS7101',
    says: '1 byte',
    launch: { arguments: { out: new Uint8Array(32), x: new Uint8Array(32) } },
    kernel: kernel({ ...schema, out: 'u8[]', x: 'readonly u8[]' }, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('u8', 32);
      const pipe = cuda.makePipeline();
      const count = cuda.alignedSize(mended ? 16 : 1, 32);
      cuda.memcpyAsync(block, shared, x, count, pipe); // <- WS7101
      pipe.producerCommit();
      pipe.consumerWait();
      block.sync();
      out[t] = shared[31 - t]!;
    }),
  },
  {
    name: 'a copy that does not go from global to shared memory',
    row: 'PERF-2',
    code: 'WS7102',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline();
      shared[t] = x[t]! + 1;
      block.sync();
      if (!mended) cuda.memcpyAsync(block, out, shared, 32, pipe); // <- WS7102
      pipe.producerCommit();
      pipe.consumerWait();
      if (mended) out[t] = shared[t]!;
    }),
  },
  {
    name: 'roles that alternate in a warp',
    row: 'PERF-3',
    code: 'WS7103',
    launch: { block: 64 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = mended ? block.threadRank() % 32 : Math.floor(block.threadRank() / 2);
      const produces = mended ? block.threadRank() < 32 : block.threadRank() % 2 === 0;
      const shared = cuda.sharedArray('i32', 32);
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer'); // <- WS7103
      if (produces) {
        pipe.producerAcquire();
        cuda.memcpyAsync(shared.subarray(lane), x.subarray(lane), 1, pipe);
        pipe.producerCommit();
      } else {
        pipe.consumerWait();
        out[lane] = shared[lane]!;
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'a warp whose lanes commit at two places',
    row: 'PERF-3',
    code: 'WS7103',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline();
      if (t % 2 === 0) {
        cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe);
        if (!mended) pipe.producerCommit(); // <- WS7103
      } else {
        shared[t] = 0;
        if (!mended) pipe.producerCommit(); // <- WS7103
      }
      if (mended) pipe.producerCommit();
      pipe.consumerWait();
      block.sync();
      out[t] = shared[31 - t]!;
    }),
  },
  {
    name: 'a block’s pipeline in which all threads take part',
    row: 'PERF-4',
    code: 'WS7104',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = mended
        ? cuda.makePipeline()
        : cuda.makePipeline(block, cuda.pipelineSharedState('block', 1)); // <- WS7104
      for (let batch = 0; batch < batches; batch++) {
        pipe.producerAcquire();
        cuda.memcpyAsync(block, shared, x.subarray(batch * 32), 32, pipe);
        pipe.producerCommit();
        pipe.consumerWait();
        if (mended) block.sync();
        out[batch * 32 + t] = shared[31 - t]!;
        pipe.consumerRelease();
        if (mended) block.sync();
      }
    }),
  },
];
