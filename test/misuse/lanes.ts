// Pipelines and barriers of any lanes of a warp: what goes wrong with them is found as with those of a block, and what only
// lanes can do wrong is found too.

import { kernel } from 'warpstage';
import { batched, type Misuse, schema } from './misuse.ts';

export const lanes: readonly Misuse[] = [
  {
    name: 'lanes that read a stage before they wait for it',
    row: 'UB-13',
    code: 'WS7002',
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const group = cuda.binaryPartition(cuda.tiledPartition(block, 32), t < 8);
      const staged = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(group, cuda.pipelineSharedState('block', 1));
      const mine = staged.subarray(t < 8 ? 0 : 8);
      let sum = 0;
      for (let b = 0; b < batches; b++) {
        pipe.producerAcquire();
        cuda.memcpyAsync(group, mine, x, group.size(), pipe); // <- other
        pipe.producerCommit();
        if (mended) pipe.consumerWait();
        sum += mine[group.threadRank()]! + b; // <- WS7002
        if (!mended) pipe.consumerWait();
        pipe.consumerRelease();
      }
      out[t] = sum;
    }),
  },
  {
    name: 'a copy of lanes that is never committed',
    row: 'UB-11',
    code: 'WS3002',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), t % 3);
      const staged = cuda.sharedArray('i32', 96);
      const pipe = cuda.makePipeline(group, cuda.pipelineSharedState('block', 2));
      const mine = staged.subarray((t % 3) * 32);
      pipe.producerAcquire();
      cuda.memcpyAsync(group, mine, x, group.size(), pipe);
      if (mended) pipe.producerCommit();
      pipe.consumerWait(); // <- WS3002
      out[t] = mine[group.threadRank()]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'lanes that go on with their pipeline after they quit',
    row: 'UB-1',
    code: 'WS7007',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const staged = cuda.sharedArray('i32', 32);
      const state = cuda.pipelineSharedState('block', 1);
      const group = cuda.binaryPartition(cuda.tiledPartition(block, 32), t < 8);
      out[t] = t;
      if (t < 8) {
        const pipe = cuda.makePipeline(group, state);
        pipe.producerAcquire();
        cuda.memcpyAsync(group, staged, x, group.size(), pipe);
        pipe.producerCommit();
        pipe.consumerWait();
        out[t] = staged[7 - t]!;
        pipe.consumerRelease();
        if (!mended) pipe.quit(); // <- other
        pipe.producerAcquire(); // <- WS7007
        pipe.producerCommit();
        pipe.consumerWait();
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'a stage of lanes that is released before all of its readers have read',
    row: 'race',
    code: 'WS7001',
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const group = cuda.binaryPartition(cuda.tiledPartition(block, 32), t % 2);
      const staged = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(group, cuda.pipelineSharedState('block', 1));
      const mine = staged.subarray((t % 2) * 32);
      const rank = group.threadRank();
      for (let b = 0; b < batches; b++) {
        pipe.producerAcquire();
        mine[rank] = x[t]! + b; // <- WS7001 <- other
        pipe.producerCommit();
        pipe.consumerWait();
        if (mended) out[t] = mine[group.size() - 1 - rank]!;
        pipe.consumerRelease();
        if (!mended) out[t] = mine[group.size() - 1 - rank]!; // <- WS7001
      }
    }),
  },
  {
    name: 'producers that use the verbs of consumers',
    row: 'UB-3',
    code: 'WS7008',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), t >> 4);
      const staged = cuda.sharedArray('i32', 32);
      const mine = staged.subarray((t >> 4) * 16);
      const produces = group.threadRank() < 4;
      const pipe = cuda.makePipeline(
        group,
        cuda.pipelineSharedState('block', 1),
        produces ? 'producer' : 'consumer',
      );
      out[t] = t;
      if (produces) {
        pipe.producerAcquire();
        mine[group.threadRank()] = x[t]!;
        pipe.producerCommit();
        if (!mended) pipe.consumerWait(); // <- WS7008
      } else {
        pipe.consumerWait();
        out[t] = mine[group.threadRank() & 3]!;
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'a lane that leaves before the others of its group wait at its barrier',
    row: 'deadlock',
    code: 'WS3002',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const group = cuda.binaryPartition(cuda.tiledPartition(block, 32), t < 5);
      const meeting = cuda.barrier(group);
      out[t] = x[t]!;
      if (group.threadRank() === 0) {
        if (mended) meeting.arriveAndDrop();
        return;
      }
      meeting.arriveAndWait(); // <- WS3002
      out[t] = x[31 - t]!;
    }),
  },
  {
    name: 'lanes that read what others of their group wrote, before they wait at its barrier',
    row: 'race',
    code: 'WS7001',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), x[t]! % 3);
      const shared = cuda.sharedArray('i32', 96);
      const mine = shared.subarray((x[t]! % 3) * 32);
      const meeting = cuda.barrier(group);
      mine[group.threadRank()] = x[t]!; // <- WS7001 <- other
      const token = meeting.arrive();
      if (mended) meeting.wait(token);
      out[t] = mine[group.size() - 1 - group.threadRank()]!; // <- WS7001
      if (!mended) meeting.wait(token);
    }),
  },
  {
    name: 'a consumer that is not there: lanes whose producers wait for a stage that nobody releases',
    row: 'deadlock',
    code: 'WS3002',
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const group = cuda.binaryPartition(cuda.tiledPartition(block, 32), t < 16);
      const staged = cuda.sharedArray('i32', 32);
      const mine = staged.subarray(t < 16 ? 0 : 16);
      const rank = group.threadRank();
      const half = 8;
      const pipe = cuda.makePipeline(group, cuda.pipelineSharedState('block', 1), half);
      let sum = 0;
      for (let b = 0; b < batches; b++) {
        if (rank < half) {
          pipe.producerAcquire(); // <- WS3002
          mine[rank] = x[t]! + b;
          pipe.producerCommit();
        } else {
          pipe.consumerWait();
          sum += mine[rank - half]!;
          if (mended || rank !== half) pipe.consumerRelease();
        }
      }
      out[t] = sum;
    }),
  },
];
