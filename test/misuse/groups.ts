// What all threads of a group must do together and alike, and what each thread should do alone.

import { kernel } from 'warpstage';
import { batched, type Misuse, schema } from './misuse.ts';

export const groups: readonly Misuse[] = [
  {
    name: 'a pipeline that half of the threads make',
    row: 'UB-4',
    code: 'WS7009',
    says: 'threads 16 to 31',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      out[t] = t;
      if (!mended && t >= 16) return;
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2)); // <- WS7009
      pipe.producerAcquire();
      cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe);
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = shared[t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'one thread that waits at a sync while the others make a pipeline',
    row: 'UB-4',
    code: 'WS7009',
    says: 'thread 0',
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      if (!mended && t === 0) block.sync(); // <- other
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2)); // <- WS7009
      out[t] = t;
      pipe.quit();
      block.sync();
    }),
  },
  {
    name: 'halves of a block that make a pipeline at different places',
    row: 'UB-4',
    code: 'WS7009',
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      if (mended || t < 16) {
        const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2)); // <- WS7009
        pipe.quit();
      } else {
        const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2)); // <- other
        pipe.quit();
      }
      out[t] = t;
    }),
  },
  {
    name: 'different counts of producers',
    row: 'UB-5',
    code: 'WS7009',
    says: 'different counts of producers',
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const producers = mended || t > 0 ? 16 : 8;
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2), producers); // <- WS7009
      out[t] = t;
      pipe.quit();
    }),
  },
  {
    name: 'a group copy that one thread does not take part in',
    row: 'UB-22',
    code: 'WS7009',
    says: '31 of 32 threads',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      if (mended || t !== 9) cuda.memcpyAsync(block, shared, x, 32, pipe); // <- WS7009
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = t === 9 ? 0 : shared[t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a group copy of each thread’s own element',
    row: 'UB-22',
    code: 'WS7009',
    launch: { arguments: { x: new Int32Array(64) } },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      const own = mended ? 0 : t;
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared.subarray(own), x.subarray(own), 32, pipe); // <- WS7009
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = shared[t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a group copy with a count that differs from thread to thread',
    row: 'UB-22',
    code: 'WS7009',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      const count = mended || t < 31 ? 32 : 31;
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, count, pipe); // <- WS7009
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = t === 31 ? 0 : shared[t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a group copy that two branches make of two halves',
    row: 'UB-22',
    code: 'WS7009',
    launch: { arguments: { x: new Int32Array(64) } },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      if (mended || t < 16) {
        cuda.memcpyAsync(block, shared, x, 32, pipe); // <- WS7009
      } else {
        cuda.memcpyAsync(block, shared.subarray(32), x.subarray(32), 32, pipe); // <- WS7009
      }
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = t;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a tile’s copy that one of its threads skips in one batch',
    row: 'UB-22',
    code: 'WS7009',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const tile = cuda.tiledPartition(block, 8);
      const t = block.threadRank();
      const first = tile.metaGroupRank() * 8;
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      for (let batch = 0; batch < batches; batch++) {
        pipe.producerAcquire();
        if (mended || t !== 13 || batch !== 2) {
          cuda.memcpyAsync(tile, shared.subarray(first), x.subarray(batch * 32 + first), 8, pipe); // <- WS7009
        }
        pipe.producerCommit();
        pipe.consumerWait();
        out[batch * 32 + t] = t === 13 ? 0 : shared[t]!;
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'a copy that every thread makes by itself',
    row: 'UB-23',
    code: 'WS7016',
    says: '32 threads',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      if (mended) cuda.memcpyAsync(block, shared, x, 32, pipe);
      else cuda.memcpyAsync(shared, x, 32, pipe); // <- WS7016
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = shared[31 - t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'producers that all copy the whole batch',
    row: 'UB-23',
    code: 'WS7016',
    says: '32 threads',
    launch: { block: 64, elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const produces = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 64);
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer');
      for (let batch = 0; batch < batches; batch++) {
        const stage = (batch % 2) * 32;
        if (produces) {
          pipe.producerAcquire();
          if (!mended || lane === 0) {
            cuda.memcpyAsync(shared.subarray(stage), x.subarray(batch * 32), 32, pipe); // <- WS7016
          }
          pipe.producerCommit();
        } else {
          pipe.consumerWait();
          out[batch * 32 + lane] = shared[stage + lane]!;
          pipe.consumerRelease();
        }
      }
    }),
  },
];
