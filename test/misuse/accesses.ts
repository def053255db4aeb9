// Accesses of plain memory and of atomics that nothing orders, and operands that stop a thread.

import { kernel } from 'warpstage';
import { type Misuse, schema } from './misuse.ts';

export const accesses: readonly Misuse[] = [
  {
    name: 'blocks that count by operations of one block',
    row: 'race',
    code: 'WS7001',
    launch: { grid: 2 },
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      if (mended) cuda.atomicAdd(out, 0, 1);
      else cuda.atomicAdd(out, 0, 1, 'relaxed', 'block'); // <- WS7001
    }),
  },
  {
    name: 'a count that is read while others count',
    row: 'race',
    code: 'WS7001',
    launch: { elements: 64 },
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      cuda.atomicAdd(out, 0, 1); // <- WS7001
      if (mended) block.sync();
      out[32 + block.threadRank()] = out[0]!; // <- WS7001
    }),
  },
  {
    name: 'a copy of the group over what its threads stored',
    row: 'race',
    code: 'WS7002',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      pipe.producerAcquire();
      shared[t] = -1; // <- other
      if (mended) block.sync();
      cuda.memcpyAsync(block, shared, x, 32, pipe); // <- WS7002
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = shared[31 - t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a copy of what another thread stores',
    row: 'race',
    code: 'WS7002',
    launch: { elements: 64 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline();
      if (t < 16) out[t] = x[t]!; // <- WS7002
      if (mended) block.sync();
      if (t >= 16) cuda.memcpyAsync(shared.subarray(t), out.subarray(31 - t), 1, pipe); // <- WS7002
      pipe.producerCommit();
      pipe.consumerWait();
      if (t >= 16) out[t] = shared[t]!;
    }),
  },
  {
    name: 'a quotient by zero',
    row: 'memory',
    code: 'WS3003',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const by = t % 4;
      if (mended && by === 0) out[t] = 0;
      else out[t] = Math.trunc(x[t]! / by); // <- WS3003
    }),
  },
  {
    name: 'an index behind the end',
    row: 'memory',
    code: 'WS3001',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      if (mended && t + 1 >= x.length) out[t] = 0;
      else out[t] = x[t + 1]!; // <- WS3001
    }),
  },
  {
    name: 'more zeros than the copy has elements',
    row: 'memory',
    code: 'WS3005',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const shared = cuda.sharedArray('i32', 32);
      cuda.pipelineMemcpyAsync(shared.subarray(t), x.subarray(t), 1, mended || x[t]! < 0 ? 1 : 2); // <- WS3005
      cuda.pipelineCommit();
      cuda.pipelineWaitPrior(0);
      out[t] = shared[t]!;
    }),
  },
];
