// Memory that is read before it is written, output that is not written or written twice, indices that
// overflow, and operands that are wrong by themselves.

import { kernel } from 'warpstage';
import { batched, type Misuse, schema } from './misuse.ts';

export const memory: readonly Misuse[] = [
  {
    name: 'shared memory that nobody wrote',
    row: 'memory',
    code: 'WS7003',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 33);
      shared[t] = x[t]!;
      if (mended && t === 0) shared[32] = 0;
      block.sync();
      out[t] = shared[t + 1]!; // <- WS7003
    }),
  },
  {
    name: 'a copy that is too short',
    row: 'memory',
    code: 'WS7003',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, mended ? 32 : 31, pipe);
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = shared[31 - t]!; // <- WS7003
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a last element that is never written',
    row: 'memory',
    code: 'WS7004',
    says: '1 of the 32 elements of `out`',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      if (t < (mended ? out.length : out.length - 1)) out[t] = x[t]!; // <- WS7004
    }),
  },
  {
    name: 'a grid that is too small',
    row: 'memory',
    code: 'WS7004',
    launch: { grid: 3, elements: 128 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const grid = cuda.thisGrid();
      const i = grid.threadRank();
      if (mended) for (let k = i; k < out.length; k += grid.size()) out[k] = x[k]!;
      else if (i < out.length) out[i] = x[i]!; // <- WS7004
    }),
  },
  {
    name: 'batches that write the same output',
    row: 'memory',
    code: 'WS7005',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      if (!mended) for (let batch = 0; batch < batches; batch++) out[batch * 32 + t] = 0; // <- other
      for (let batch = 0; batch < batches; batch++) {
        pipe.producerAcquire();
        cuda.memcpyAsync(block, shared, x.subarray(batch * 32), 32, pipe);
        pipe.producerCommit();
        pipe.consumerWait();
        const to = mended ? batch : batch & 2;
        out[to * 32 + t] = shared[31 - t]!; // <- WS7005
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'an index that overflows',
    row: 'memory',
    code: 'WS7006',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      // 65537 * 65535 is 2^32 - 1, so that in 32 bits this comes to t again.
      const i = mended ? t : -(cuda.i32(t) * 65537 * 65535); // <- WS7006
      out[i] = x[t]!;
    }),
  },
  {
    name: 'a read past the end',
    row: 'memory',
    code: 'WS3001',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      out[t] = mended && t === 31 ? 0 : x[t + 1]!; // <- WS3001
    }),
  },
  {
    name: 'a copy past the end of its source',
    row: 'UB-21',
    code: 'WS3001',
    launch: { arguments: { x: new Int32Array(30) } },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, mended ? x.length : 32, pipe); // <- WS3001
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = t < x.length ? shared[t]! : 0;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a copy onto itself',
    row: 'UB-20',
    code: 'WS3005',
    says: 'overlap',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      shared[t] = x[t]!;
      block.sync();
      pipe.producerAcquire();
      const to = mended ? 32 : 16;
      cuda.memcpyAsync(block, shared.subarray(to), shared, 32, pipe); // <- WS3005
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = shared[to + t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a copy of a negative count',
    row: 'UB-20',
    code: 'WS3005',
    says: 'negative',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      const rest = x.length - 33;
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, mended ? 32 : rest, pipe); // <- WS3005
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = shared[t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a promise of 16 bytes that the offset does not keep',
    row: 'UB-21',
    code: 'WS3005',
    says: 'an alignment of 16 bytes',
    launch: { arguments: { x: new Int32Array(36) } },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      const from = x.subarray(mended ? 4 : 1);
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, from, cuda.alignedSize(16, 32), pipe); // <- WS3005
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = shared[t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a promise of 16 bytes that the size does not keep',
    row: 'UB-21',
    code: 'WS3005',
    says: 'but copies 124',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      const count = mended ? 32 : 31;
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, cuda.alignedSize(16, count), pipe); // <- WS3005
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = t < count ? shared[t]! : 0;
      pipe.consumerRelease();
    }),
  },
];
