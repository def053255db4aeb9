// Stages used out of order: commit without acquire, release without wait, copies that no commit covers.

import { kernel } from 'warpstage';
import { batched, type Misuse, schema } from './misuse.ts';

export const order: readonly Misuse[] = [
  {
    name: 'a commit without acquire',
    row: 'UB-9',
    code: 'WS7010',
    says: 'stage 0 of `pipe`',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      if (mended) pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit(); // <- WS7010
      pipe.consumerWait();
      out[block.threadRank()] = shared[31 - block.threadRank()]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'an acquire that stands before the loop',
    row: 'UB-9',
    code: 'WS7010',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      if (!mended) pipe.producerAcquire();
      for (let batch = 0; batch < batches; batch++) {
        const stage = (batch % 2) * 32;
        if (mended) pipe.producerAcquire();
        cuda.memcpyAsync(block, shared.subarray(stage), x.subarray(batch * 32), 32, pipe);
        pipe.producerCommit(); // <- WS7010
        pipe.consumerWait();
        out[batch * 32 + block.threadRank()] = shared[stage + 31 - block.threadRank()]!;
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'one thread that commits without acquire',
    row: 'UB-9',
    code: 'WS7010',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      if (mended || t !== 5) pipe.producerAcquire();
      if (t !== 5) cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe);
      pipe.producerCommit(); // <- WS7010
      pipe.consumerWait();
      out[t] = t === 5 || t === 26 ? 0 : shared[31 - t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'two commits after one acquire',
    row: 'UB-9',
    code: 'WS7010',
    launch: { elements: 64 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit();
      if (mended) pipe.producerAcquire();
      cuda.memcpyAsync(block, shared.subarray(32), x.subarray(32), 32, pipe);
      pipe.producerCommit(); // <- WS7010
      for (let batch = 0; batch < 2; batch++) {
        pipe.consumerWait();
        out[batch * 32 + block.threadRank()] = shared[batch * 32 + 31 - block.threadRank()]!;
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'producers that do not acquire',
    row: 'UB-9',
    code: 'WS7010',
    launch: { block: 64, elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const produces = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 64);
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer');
      for (let batch = 0; batch < batches; batch++) {
        const slot = (batch % 2) * 32 + lane;
        if (produces) {
          if (mended) pipe.producerAcquire();
          cuda.memcpyAsync(shared.subarray(slot), x.subarray(batch * 32 + lane), 1, pipe);
          pipe.producerCommit(); // <- WS7010
        } else {
          pipe.consumerWait();
          out[batch * 32 + lane] = shared[slot]!;
          pipe.consumerRelease();
        }
      }
    }),
  },
  {
    name: 'a release without wait',
    row: 'UB-12',
    code: 'WS7011',
    says: 'stage 0 of `pipe`',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      if (mended) cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit();
      if (mended) pipe.consumerWait();
      out[block.threadRank()] = mended ? shared[block.threadRank()]! : x[block.threadRank()]!;
      pipe.consumerRelease(); // <- WS7011
    }),
  },
  {
    name: 'a stage that is released twice',
    row: 'UB-12',
    code: 'WS7011',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit();
      pipe.consumerWait();
      out[block.threadRank()] = shared[31 - block.threadRank()]!;
      pipe.consumerRelease();
      if (!mended) pipe.consumerRelease(); // <- WS7011
    }),
  },
  {
    name: 'one thread that does not wait',
    row: 'UB-12',
    code: 'WS7011',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit();
      if (mended || t !== 3) pipe.consumerWait();
      out[t] = t === 3 ? 0 : shared[31 - t]!;
      pipe.consumerRelease(); // <- WS7011
    }),
  },
  {
    name: 'a release before the wait',
    row: 'UB-12',
    code: 'WS7011',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit();
      if (mended) pipe.consumerWait();
      else pipe.consumerRelease(); // <- WS7011
      if (mended) pipe.consumerRelease();
      out[block.threadRank()] = 1;
    }),
  },
  {
    name: 'a consumer that releases without wait',
    row: 'UB-12',
    code: 'WS7011',
    launch: { block: 64, elements: 32 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const produces = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 32);
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer');
      if (produces) {
        pipe.producerAcquire();
        cuda.memcpyAsync(shared.subarray(lane), x.subarray(lane), 1, pipe);
        pipe.producerCommit();
      } else {
        if (mended || lane > 0) pipe.consumerWait();
        out[lane] = lane > 0 ? shared[lane]! : 0;
        pipe.consumerRelease(); // <- WS7011
      }
    }),
  },
  {
    name: 'a copy after the last commit',
    row: 'UB-16',
    code: 'WS7012',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      for (let batch = 0; batch <= batches; batch++) {
        const stage = (batch % 2) * 32;
        pipe.producerAcquire();
        if (!mended || batch < batches) {
          const from = (batch % batches) * 32;
          cuda.memcpyAsync(block, shared.subarray(stage), x.subarray(from), 32, pipe); // <- WS7012
        }
        if (batch === batches) break;
        pipe.producerCommit();
        pipe.consumerWait();
        out[batch * 32 + block.threadRank()] = shared[stage + 31 - block.threadRank()]!;
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'a thread-scoped copy that is never committed',
    row: 'UB-16',
    code: 'WS7012',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline();
      cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe); // <- WS7012
      if (mended) pipe.producerCommit();
      pipe.consumerWait();
      out[t] = t;
    }),
  },
  {
    name: 'a commit that half of the threads make',
    row: 'UB-16',
    code: 'WS7012',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline();
      cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe); // <- WS7012
      if (mended || t < 16) pipe.producerCommit();
      pipe.consumerWait();
      out[t] = t < 16 ? shared[t]! : 0;
    }),
  },
  {
    name: 'a copy that is not committed before quit',
    row: 'UB-16',
    code: 'WS7012',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe); // <- WS7012
      if (mended) {
        pipe.producerCommit();
        pipe.consumerWait();
        pipe.consumerRelease();
      }
      pipe.quit(); // <- other
      out[block.threadRank()] = 1;
    }),
  },
  {
    name: 'more commits in flight than a thread-scoped pipeline can count',
    row: 'UB-26',
    code: 'WS7018',
    says: '256',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline();
      for (let i = 0; i < 300; i++) {
        if (i === 0) cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe);
        pipe.producerCommit(); // <- WS7018
        if (mended) pipe.consumerWait();
      }
      for (let i = 0; i < 300; i++) pipe.consumerWait();
      out[t] = shared[t]!;
    }),
  },
];
