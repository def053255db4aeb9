// Barriers, timed waits, and the copies of groups that no pipeline names.

import { kernel } from 'warpstage';
import { batched, type Misuse, schema } from './misuse.ts';

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
    name: 'a barrier’s group copy that one thread does not take part in',
    row: 'UB-22',
    code: 'WS7009',
    says: '31 of 32 threads',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const bar = cuda.barrier(block);
      if (mended || t !== 9) cuda.memcpyAsync(block, shared, x, 32, bar); // <- WS7009
      bar.arriveAndWait();
      out[t] = shared[31 - t]!;
    }),
  },
  {
    name: 'a barrier’s group copy of each thread’s own element',
    row: 'UB-22',
    code: 'WS7009',
    says: 'different arguments',
    launch: { arguments: { x: new Int32Array(64) } },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 64);
      const bar = cuda.barrier(block);
      const own = mended ? 0 : t;
      cuda.memcpyAsync(block, shared.subarray(own), x.subarray(own), 32, bar); // <- WS7009
      bar.arriveAndWait();
      out[t] = shared[t]!;
    }),
  },
  {
    name: 'a tile’s copy for a barrier that one of its threads skips in one batch',
    row: 'UB-22',
    code: 'WS7009',
    says: '7 of 8 threads',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const tile = cuda.tiledPartition(block, 8);
      const t = block.threadRank();
      const first = tile.metaGroupRank() * 8;
      const shared = cuda.sharedArray('i32', 32);
      const bar = cuda.barrier(block);
      for (let batch = 0; batch < batches; batch++) {
        if (mended || t !== 13 || batch !== 3) {
          cuda.memcpyAsync(tile, shared.subarray(first), x.subarray(batch * 32 + first), 8, bar); // <- WS7009
        }
        bar.arriveAndWait();
        out[batch * 32 + t] = shared[t]!;
        block.sync();
      }
    }),
  },
  {
    name: 'a barrier’s copy that every thread makes by itself',
    row: 'UB-23',
    code: 'WS7016',
    says: '32 threads',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const bar = cuda.barrier(block);
      if (!mended || t === 0) cuda.memcpyAsync(shared, x, 32, bar); // <- WS7016
      bar.arriveAndWait();
      out[t] = shared[31 - t]!;
    }),
  },
  {
    name: 'a barrier that an array does not have',
    row: 'UB-27',
    code: 'WS7019',
    says: 'there are 2 barriers',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const bars = cuda.barrierArray(block, 2);
      for (let batch = 0; batch < batches; batch++) {
        bars[mended ? batch % 2 : batch]!.arriveAndWait(); // <- WS7019
        out[batch * 32 + t] = x[batch * 32 + t]!;
      }
    }),
  },
  {
    name: 'a barrier that expects nobody',
    row: 'UB-27',
    code: 'WS7019',
    says: 'expect 0 arrivals',
    launch: { arguments: { expected: 0 } },
    kernel: kernel({ ...schema, expected: 'index' }, ({ out, expected, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const bar = cuda.barrier(block, mended ? 32 : expected); // <- WS7019
      out[block.threadRank()] = 1;
      bar.arriveAndWait();
    }),
  },
  {
    name: 'a wait with the token of another barrier',
    row: 'UB-27',
    code: 'WS7019',
    says: 'token of `bars[0]`',
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const bars = cuda.barrierArray(block, 2);
      const first = bars[0]!.arrive();
      const second = bars[1]!.arrive();
      out[block.threadRank()] = 1;
      bars[0]!.wait(first);
      bars[1]!.wait(mended ? second : first); // <- WS7019
    }),
  },
  {
    name: 'a wait with the token of a phase that is long past',
    row: 'UB-27',
    code: 'WS7019',
    says: 'phase 0',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const bar = cuda.barrier(block);
      const first = bar.arrive();
      bar.wait(first);
      for (let batch = 0; batch < batches; batch++) {
        bar.arriveAndWait();
        out[batch * 32 + t] = x[batch * 32 + t]!;
      }
      if (!mended) bar.wait(first); // <- WS7019
    }),
  },
  {
    name: 'an arrival that counts for none',
    row: 'UB-27',
    code: 'WS7019',
    says: '0 arrivals at `bar`',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const bar = cuda.barrier(block);
      const token = bar.arrive(mended ? 1 : x[t]! - x[0]!); // <- WS7019
      out[t] = t;
      bar.wait(token);
    }),
  },
  {
    name: 'a thread that arrives twice, for one that then comes too late',
    row: 'UB-27',
    code: 'WS7001',
    timed: true,
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const bar = cuda.barrier(block);
      shared[t] = x[t]!; // <- WS7001
      const token = bar.arrive();
      if (!mended && t === 0) bar.arrive();
      bar.wait(token);
      out[t] = shared[31 - t]!; // <- WS7001
    }),
  },
  {
    name: 'a thread that arrives once more after it has dropped out',
    row: 'UB-27',
    code: 'WS3002',
    says: 'phase',
    launch: { elements: 64 },
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const bar = cuda.barrier(block);
      if (t === 0) bar.arriveAndDrop();
      else bar.arriveAndWait();
      out[t] = 1;
      if (mended ? t > 0 : t !== 1) bar.arriveAndWait();
      out[32 + t] = 1;
      if (t > 0) bar.arriveAndWait(); // <- WS3002
    }),
  },
  {
    name: 'a wait for the other parity',
    row: 'UB-27',
    code: 'WS3002',
    says: 'phase 1',
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const bar = cuda.barrier(block);
      bar.arrive();
      bar.waitParity(false);
      out[block.threadRank()] = 1;
      if (mended) bar.arrive();
      bar.waitParity(true); // <- WS3002
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
