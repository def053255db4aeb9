// Barriers, timed waits, and the copies of groups that no pipeline names.

import { kernel } from 'warpstage';
import { type Misuse, schema } from './misuse.ts';

export const barriers: readonly Misuse[] = [
  {
    name: 'threads that expect different numbers of arrivals',
    row: 'UB-27',
    code: 'WS7019',
    says: '16, 32',
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const bar = cuda.barrier(block, mended || t > 0 ? 32 : 16); // <- WS7019
      out[t] = t;
      bar.arriveAndWait();
    }),
  },
  {
    name: 'more arrivals than a phase awaits',
    row: 'UB-27',
    code: 'WS7019',
    says: '64 arrivals at `bar`',
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const bar = cuda.barrier(block, 32);
      out[t] = t;
      const token = bar.arrive(mended || t > 0 ? 1 : 64); // <- WS7019
      bar.wait(token);
    }),
  },
  {
    name: 'a barrier at which one thread never arrives',
    row: 'UB-11',
    code: 'WS3002',
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const bar = cuda.barrier(block, 32);
      out[t] = t;
      if (!mended && t === 3) return;
      bar.arriveAndWait(); // <- WS3002
    }),
  },
  {
    name: 'a read of what a barrier’s copy brings, before the wait',
    row: 'UB-13',
    code: 'WS7002',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const bar = cuda.barrier(block, 32);
      cuda.memcpyAsync(block, shared, x, 32, bar); // <- WS7002 <- other
      const token = bar.arrive();
      if (mended) bar.wait(token);
      out[t] = shared[31 - t]!; // <- WS7002
      if (!mended) bar.wait(token);
    }),
  },
  {
    name: 'a barrier’s copy that nobody waits for',
    row: 'UB-17',
    code: 'WS7013',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const bar = cuda.barrier(block, 32);
      cuda.memcpyAsync(block, shared, x, 32, bar); // <- WS7013
      const token = bar.arrive();
      if (mended) bar.wait(token);
      out[t] = t;
    }),
  },
  {
    name: 'a timed wait of zero nanoseconds',
    row: 'UB-25',
    code: 'WS7017',
    says: 'waits for ever',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit();
      while (!pipe.consumerWaitFor(mended ? 1 : 0)) cuda.nanosleep(100); // <- WS7017
      out[t] = shared[31 - t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a timed wait of a negative duration',
    row: 'UB-25',
    code: 'WS7017',
    says: 'gives up',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit();
      if (!mended) pipe.consumerWaitFor(-5); // <- WS7017
      pipe.consumerWait();
      out[t] = shared[31 - t]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a release after a wait that timed out',
    row: 'UB-12',
    code: 'WS7011',
    launch: { block: 64 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const produces = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 32);
      const state = cuda.pipelineSharedState('block', 1);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer');
      if (produces) {
        pipe.producerAcquire();
        cuda.nanosleep(100_000);
        cuda.memcpyAsync(shared.subarray(lane), x.subarray(lane), 1, pipe);
        pipe.producerCommit();
      } else {
        const ready = pipe.consumerWaitFor(10);
        if (mended && !ready) pipe.consumerWait();
        out[lane] = mended ? shared[lane]! : 0;
        pipe.consumerRelease(); // <- WS7011
      }
    }),
  },
  {
    name: 'a group’s copy that nobody waits for',
    row: 'UB-17',
    code: 'WS7013',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      cuda.cg.memcpyAsync(block, shared, x, 32); // <- WS7013
      if (mended) cuda.cg.wait(block);
      out[t] = t;
    }),
  },
  {
    name: 'a block’s copy that is waited for with a tile',
    row: 'UB-15',
    code: 'WS7002',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const tile = cuda.tiledPartition(block, 8);
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      cuda.cg.memcpyAsync(block, shared, x, 32); // <- WS7002 <- other
      if (mended) cuda.cg.wait(block);
      else cuda.cg.wait(tile);
      out[t] = shared[31 - t]!; // <- WS7002
    }),
  },
  {
    name: 'a pipeline of device scope',
    row: 'PERF-2',
    code: 'WS7102',
    says: 'device scope',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const state = mended ? cuda.pipelineSharedState('block', 1) : cuda.pipelineSharedState('device', 1);
      const pipe = cuda.makePipeline(block, state); // <- WS7102
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = shared[31 - t]!;
      pipe.consumerRelease();
    }),
  },
];
