// Threads that wait for what can never come.

import { kernel } from 'warpstage';
import { batched, type Misuse, schema } from './misuse.ts';

export const deadlocks: readonly Misuse[] = [
  {
    name: 'one stage more acquired than there are',
    row: 'UB-10',
    code: 'WS3002',
    says: '2 stages',
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      for (let fetch = 0; fetch < (mended ? 2 : 3); fetch++) {
        pipe.producerAcquire(); // <- WS3002
        pipe.producerCommit();
      }
      for (let batch = 0; batch < 2; batch++) {
        pipe.consumerWait();
        pipe.consumerRelease();
      }
      out[block.threadRank()] = 1;
    }),
  },
  {
    name: 'a commit that one thread skips',
    row: 'UB-11',
    code: 'WS3002',
    says: '31 of 32 threads have committed',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      if (t !== 17) cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe);
      if (mended || t !== 17) pipe.producerCommit();
      pipe.consumerWait(); // <- WS3002
      out[t] = t === 14 ? 0 : t === 17 ? 0 : shared[31 - t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a thread that returns before it commits',
    row: 'UB-11',
    code: 'WS3002',
    says: 'thread 31 has returned',
    launch: { elements: 31 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      if (!mended && t >= x.length) return;
      pipe.producerAcquire();
      if (t < x.length) cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe);
      pipe.producerCommit();
      pipe.consumerWait(); // <- WS3002
      if (t < x.length) out[t] = shared[x.length - 1 - t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a release that `continue` jumps over',
    row: 'UB-11',
    code: 'WS3002',
    says: '31 of 32 threads have released',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      for (let batch = 0; batch < batches; batch++) {
        pipe.producerAcquire(); // <- WS3002
        cuda.memcpyAsync(block, shared, x.subarray(batch * 32), 32, pipe);
        pipe.producerCommit();
        pipe.consumerWait();
        out[batch * 32 + t] = shared[31 - t]!;
        if (!mended && t === 4 && batch === 1) continue;
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'a wait that nobody commits for',
    row: 'UB-11',
    code: 'WS3002',
    says: '0 of 32 threads have committed',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      for (let batch = 0; batch < batches; batch++) {
        const stage = (batch % 2) * 32;
        pipe.producerAcquire();
        cuda.memcpyAsync(block, shared.subarray(stage), x.subarray(batch * 32), 32, pipe);
        pipe.producerCommit();
        pipe.consumerWait();
        out[batch * 32 + block.threadRank()] = shared[stage + 31 - block.threadRank()]!;
        pipe.consumerRelease();
      }
      if (!mended) pipe.consumerWait(); // <- WS3002
    }),
  },
  {
    name: 'producers that end one batch early',
    row: 'UB-11',
    code: 'WS3002',
    says: '0 of 32 producers have committed',
    launch: { block: 64, elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const produces = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 64);
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer');
      const fetches = mended ? batches : batches - 1;
      for (let batch = 0; batch < batches; batch++) {
        const slot = (batch % 2) * 32 + lane;
        if (produces && batch < fetches) {
          pipe.producerAcquire();
          cuda.memcpyAsync(shared.subarray(slot), x.subarray(batch * 32 + lane), 1, pipe);
          pipe.producerCommit();
        }
        if (!produces) {
          pipe.consumerWait(); // <- WS3002
          out[batch * 32 + lane] = shared[slot]!;
          pipe.consumerRelease();
        }
      }
    }),
  },
  {
    name: 'a consumer that does not release',
    row: 'UB-11',
    code: 'WS3002',
    says: '31 of 32 consumers have released',
    launch: { block: 64, elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const produces = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 32);
      const state = cuda.pipelineSharedState('block', 1);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer');
      for (let batch = 0; batch < batches; batch++) {
        if (produces) {
          pipe.producerAcquire(); // <- WS3002
          cuda.memcpyAsync(shared.subarray(lane), x.subarray(batch * 32 + lane), 1, pipe);
          pipe.producerCommit();
        } else {
          pipe.consumerWait();
          out[batch * 32 + lane] = shared[lane]!;
          if (mended || lane > 0) pipe.consumerRelease();
        }
      }
    }),
  },
  {
    name: 'a sync in one branch, a wait in the other',
    row: 'UB-11',
    code: 'WS3002',
    says: 'thread 0 waits',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      if (!mended && t === 0) block.sync(); // <- WS3002
      cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe);
      pipe.producerCommit();
      pipe.consumerWait(); // <- other
      out[t] = shared[31 - t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a sync of the block that some threads never reach',
    row: 'UB-11',
    code: 'WS3002',
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const tile = cuda.tiledPartition(block, 16);
      if (mended || t < 16) {
        block.sync(); // <- WS3002
        tile.sync();
      } else {
        tile.sync();
        if (t === 16) tile.sync(); // <- other
        block.sync(); // <- other
      }
      out[t] = t;
    }),
  },
];
