// Accesses that nothing orders: between threads, and between a thread and a copy in flight.

import { kernel } from 'warpstage';
import { batched, type Misuse, schema } from './misuse.ts';

export const races: readonly Misuse[] = [
  {
    name: 'a read of a stage between commit and wait',
    row: 'UB-13',
    code: 'WS7002',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe); // <- other
      pipe.producerCommit();
      if (mended) pipe.consumerWait();
      out[t] = shared[t]!; // <- WS7002
      if (!mended) pipe.consumerWait();
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a write to a stage that a copy is filling',
    row: 'UB-13',
    code: 'WS7002',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe); // <- other
      if (!mended) shared[t] = 0; // <- WS7002
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = shared[t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a read of a stage after its release',
    row: 'UB-13',
    code: 'WS7002',
    timed: true,
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      for (let batch = 0; batch < batches; batch++) {
        pipe.producerAcquire();
        cuda.memcpyAsync(shared.subarray(t), x.subarray(batch * 32 + t), 1, pipe); // <- WS7002
        pipe.producerCommit();
        pipe.consumerWait();
        if (!mended) pipe.consumerRelease();
        out[batch * 32 + t] = shared[31 - t]!; // <- other
        if (mended) pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'a stage index that is one ahead',
    row: 'UB-13',
    code: 'WS7002',
    timed: true,
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      for (let batch = 0, fetch = 0; batch < batches; batch++) {
        for (; fetch < batches && fetch < batch + 2; fetch++) {
          const stage = shared.subarray((fetch % 2) * 32);
          pipe.producerAcquire();
          cuda.memcpyAsync(block, stage, x.subarray(fetch * 32), 32, pipe); // <- other
          pipe.producerCommit();
        }
        const stage = (mended ? batch : batch + 1) % 2;
        pipe.consumerWait();
        out[batch * 32 + t] = shared[stage * 32 + t]!; // <- WS7002
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'more stages in the pipeline than in shared memory',
    row: 'UB-13',
    code: 'WS7002',
    timed: true,
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 96);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 3));
      const slots = mended ? 3 : 2;
      for (let batch = 0, fetch = 0; batch < batches; batch++) {
        for (; fetch < batches && fetch < batch + 3; fetch++) {
          const stage = shared.subarray((fetch % slots) * 32);
          pipe.producerAcquire();
          cuda.memcpyAsync(block, stage, x.subarray(fetch * 32), 32, pipe); // <- WS7002
          pipe.producerCommit();
        }
        pipe.consumerWait();
        out[batch * 32 + t] = shared[(batch % slots) * 32 + t]!; // <- WS7002
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'a write to the source of a copy in flight',
    row: 'UB-14',
    code: 'WS7002',
    kernel: kernel({ ...schema, x: 'i32[]' }, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe); // <- other
      pipe.producerCommit();
      if (!mended) x[t] = 0; // <- WS7002
      pipe.consumerWait();
      if (mended) x[t] = 0;
      out[t] = shared[t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'thread scope: other threads read after this thread’s wait alone',
    row: 'UB-15',
    code: 'WS7002',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline();
      cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe); // <- WS7002 <- other
      pipe.producerCommit();
      pipe.consumerWait();
      if (mended) block.sync();
      out[t] = shared[31 - t]!; // <- WS7002
    }),
  },
  {
    name: 'thread scope: a stage is filled anew while others read it',
    row: 'UB-15',
    code: 'WS7002',
    timed: true,
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline();
      for (let batch = 0; batch < batches; batch++) {
        cuda.memcpyAsync(shared.subarray(t), x.subarray(batch * 32 + t), 1, pipe); // <- WS7002
        pipe.producerCommit();
        pipe.consumerWait();
        block.sync();
        out[batch * 32 + t] = shared[31 - t]!; // <- WS7002 <- other
        if (mended) block.sync();
      }
    }),
  },
  {
    name: 'shared memory that is read without a sync',
    row: 'race',
    code: 'WS7001',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      shared[t] = x[t]!; // <- WS7001
      if (mended) block.sync();
      out[t] = shared[31 - t]!; // <- WS7001
    }),
  },
  {
    name: 'a tile’s sync where the block’s is needed',
    row: 'race',
    code: 'WS7001',
    launch: { block: 64, elements: 64 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const tile = cuda.tiledPartition(block, 32);
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 64);
      shared[t] = x[t]!; // <- WS7001
      if (mended) block.sync();
      else tile.sync();
      out[t] = shared[63 - t]!; // <- WS7001
    }),
  },
  {
    name: 'two threads that write one element of shared memory',
    row: 'race',
    code: 'WS7001',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 1);
      if (!mended || t === 0) shared[0] = x[t]!; // <- WS7001
      block.sync();
      out[t] = shared[0]!;
    }),
  },
  {
    name: 'a stencil that is computed in place',
    row: 'race',
    code: 'WS7001',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      shared[t] = x[t]!;
      block.sync();
      const left = t > 0 ? shared[t - 1]! : 0; // <- WS7001
      if (mended) block.sync();
      shared[t] = shared[t]! + left; // <- WS7001
      out[t] = shared[t]!;
    }),
  },
  {
    name: 'a reduction whose last steps have no sync',
    row: 'race',
    code: 'WS7001',
    launch: { arguments: { out: new Int32Array(1) } },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      shared[t] = x[t]!;
      block.sync();
      for (let width = 16; width > 0; width >>= 1) {
        if (t < width) shared[t] = shared[t]! + shared[t + width]!; // <- WS7001
        if (mended || width > 4) block.sync();
      }
      if (t === 0) out[0] = shared[0]!;
    }),
  },
  {
    name: 'a histogram without atomics',
    row: 'race',
    code: 'WS7001',
    launch: { arguments: { out: new Int32Array(4) } },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const bin = x[t]! & 3;
      if (mended) cuda.atomicAdd(out, bin, 1);
      else out[bin] = out[bin]! + 1; // <- WS7001
    }),
  },
  {
    name: 'blocks that count in one element without atomics',
    row: 'race',
    code: 'WS7001',
    launch: { grid: 4, arguments: { out: new Int32Array(1) } },
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      if (t > 0) return;
      if (mended) cuda.atomicAdd(out, 0, 1);
      else out[0] = out[0]! + 1; // <- WS7001
    }),
  },
];
