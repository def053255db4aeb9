// The end of a pipeline: use after quit, copies that are still on their way, quitting too early, a state
// that is made anew while somebody owns it.

import { kernel } from 'warpstage';
import { batched, type Misuse, schema } from './misuse.ts';

export const quitting: readonly Misuse[] = [
  {
    name: 'a wait after quit',
    row: 'UB-1',
    code: 'WS7007',
    says: 'consumerWait',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit();
      if (!mended) pipe.quit(); // <- other
      pipe.consumerWait(); // <- WS7007
      out[block.threadRank()] = shared[31 - block.threadRank()]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a release after quit',
    row: 'UB-1',
    code: 'WS7007',
    says: 'consumerRelease',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit();
      pipe.consumerWait();
      out[block.threadRank()] = shared[31 - block.threadRank()]!;
      if (mended) pipe.consumerRelease();
      pipe.quit(); // <- other
      if (!mended) pipe.consumerRelease(); // <- WS7007
    }),
  },
  {
    name: 'a copy into a pipeline after quit',
    row: 'UB-1',
    code: 'WS7007',
    says: 'memcpyAsync',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      pipe.quit(); // <- other
      if (!mended) cuda.memcpyAsync(block, shared, x, 32, pipe); // <- WS7007
      out[block.threadRank()] = x[block.threadRank()]!;
    }),
  },
  {
    name: 'a pipeline that is used in the next round of a loop that quits it',
    row: 'UB-1',
    code: 'WS7007',
    says: 'producerAcquire',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      for (let batch = 0; batch < batches; batch++) {
        pipe.producerAcquire(); // <- WS7007
        cuda.memcpyAsync(block, shared, x.subarray(batch * 32), 32, pipe);
        pipe.producerCommit();
        pipe.consumerWait();
        out[batch * 32 + block.threadRank()] = shared[31 - block.threadRank()]!;
        pipe.consumerRelease();
        if (!mended || batch === batches - 1) pipe.quit(); // <- other
      }
    }),
  },
  {
    name: 'quitting twice',
    row: 'UB-1',
    code: 'WS7007',
    says: 'quit',
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      out[block.threadRank()] = 1;
      pipe.quit(); // <- other
      if (!mended) pipe.quit(); // <- WS7007
    }),
  },
  {
    name: 'a batch that is fetched and never waited for',
    row: 'UB-17',
    code: 'WS7013',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      const last = mended ? batches : batches + 1;
      for (let batch = 0, fetch = 0; batch < batches; batch++) {
        for (; fetch < last && fetch < batch + 2; fetch++) {
          pipe.producerAcquire();
          const from = x.subarray((fetch % batches) * 32);
          cuda.memcpyAsync(block, shared.subarray((fetch % 2) * 32), from, 32, pipe); // <- WS7013
          pipe.producerCommit();
        }
        pipe.consumerWait();
        out[batch * 32 + block.threadRank()] = shared[(batch % 2) * 32 + 31 - block.threadRank()]!;
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'a thread-scoped copy that nobody waits for',
    row: 'UB-17',
    code: 'WS7013',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline();
      cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe); // <- WS7013
      pipe.producerCommit();
      if (mended) pipe.consumerWait();
      out[t] = t;
    }),
  },
  {
    name: 'quitting while a copy is on its way',
    row: 'UB-17',
    code: 'WS7013',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe); // <- WS7013
      pipe.producerCommit();
      if (mended) pipe.consumerWait();
      pipe.quit(); // <- other
      out[block.threadRank()] = 1;
    }),
  },
  {
    name: 'one thread that quits while the others go on',
    row: 'UB-18',
    code: 'WS7014',
    says: 'thread 7',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      for (let batch = 0; batch < batches; batch++) {
        if (!mended && t === 7 && batch === 2) {
          pipe.quit(); // <- WS7014
          break;
        }
        pipe.producerAcquire();
        cuda.memcpyAsync(shared.subarray(t), x.subarray(batch * 32 + t), 1, pipe);
        pipe.producerCommit();
        pipe.consumerWait(); // <- other
        out[batch * 32 + t] = shared[31 - t]!;
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'producers that quit before the last batch',
    row: 'UB-18',
    code: 'WS7014',
    launch: { block: 64, elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const produces = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 64);
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer');
      if (produces) {
        for (let batch = 0; batch < (mended ? batches : batches - 1); batch++) {
          pipe.producerAcquire();
          const to = shared.subarray((batch % 2) * 32 + lane);
          cuda.memcpyAsync(to, x.subarray(batch * 32 + lane), 1, pipe);
          pipe.producerCommit();
        }
        pipe.quit(); // <- WS7014
      } else {
        for (let batch = 0; batch < batches; batch++) {
          pipe.consumerWait(); // <- other
          out[batch * 32 + lane] = shared[(batch % 2) * 32 + lane]!;
          pipe.consumerRelease();
        }
        pipe.quit();
      }
    }),
  },
  {
    name: 'consumers that quit while producers wait for a free stage',
    row: 'UB-18',
    code: 'WS7014',
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
          pipe.producerAcquire(); // <- other
          cuda.memcpyAsync(shared.subarray(lane), x.subarray(batch * 32 + lane), 1, pipe);
          pipe.producerCommit();
        } else {
          pipe.consumerWait();
          out[batch * 32 + lane] = shared[lane]!;
          if (!mended && batch === 1) {
            pipe.quit(); // <- WS7014
            return;
          }
          pipe.consumerRelease();
        }
      }
    }),
  },
  {
    name: 'a pipeline that a loop makes anew without quitting it',
    row: 'UB-8',
    code: 'WS7015',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const state = cuda.pipelineSharedState('block', 1);
      for (let batch = 0; batch < batches; batch++) {
        const pipe = cuda.makePipeline(block, state); // <- WS7015
        pipe.producerAcquire();
        cuda.memcpyAsync(block, shared, x.subarray(batch * 32), 32, pipe);
        pipe.producerCommit();
        pipe.consumerWait();
        out[batch * 32 + block.threadRank()] = shared[31 - block.threadRank()]!;
        pipe.consumerRelease();
        if (mended) pipe.quit();
        block.sync();
      }
    }),
  },
  {
    name: 'a pipeline that is made anew without a sync after quit',
    row: 'UB-8',
    code: 'WS7015',
    launch: { elements: 128 },
    timed: true,
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 64);
      const state = cuda.pipelineSharedState('block', 1);
      for (let batch = 0; batch < batches; batch++) {
        const stage = shared.subarray((batch % 2) * 32);
        const pipe = cuda.makePipeline(block, state); // <- WS7015
        pipe.producerAcquire();
        cuda.memcpyAsync(block, stage, x.subarray(batch * 32), 32, pipe);
        pipe.producerCommit();
        pipe.consumerWait();
        out[batch * 32 + block.threadRank()] = stage[31 - block.threadRank()]!;
        pipe.consumerRelease();
        pipe.quit();
        if (mended) block.sync();
      }
    }),
  },
  {
    name: 'two live pipelines over one state',
    row: 'UB-8',
    code: 'WS7015',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const state = cuda.pipelineSharedState('block', 2);
      const first = cuda.makePipeline(block, state); // <- other
      const other = mended ? cuda.pipelineSharedState('block', 2) : state;
      const second = cuda.makePipeline(block, other); // <- WS7015
      second.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, second);
      second.producerCommit();
      second.consumerWait();
      out[block.threadRank()] = shared[31 - block.threadRank()]!;
      second.consumerRelease();
      first.quit();
    }),
  },
];
