// Partitioned pipelines whose threads do what is for the other role, and counts of producers that do not hold.

import { kernel } from 'warpstage';
import { batched, type Misuse, schema } from './misuse.ts';

export const roles: readonly Misuse[] = [
  {
    name: 'a consumer that commits',
    row: 'UB-2',
    code: 'WS7008',
    says: 'producerCommit of `pipe` by a consumer',
    launch: { block: 64 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const produces = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 32);
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer'); // <- other
      if (produces) {
        pipe.producerAcquire();
        cuda.memcpyAsync(shared.subarray(lane), x.subarray(lane), 1, pipe);
      }
      if (produces || !mended) pipe.producerCommit(); // <- WS7008
      if (produces) return;
      pipe.consumerWait();
      out[lane] = shared[lane]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a consumer that acquires',
    row: 'UB-2',
    code: 'WS7008',
    says: 'producerAcquire of `pipe` by a consumer',
    launch: { block: 64 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const produces = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 32);
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer'); // <- other
      if (produces || !mended) pipe.producerAcquire(); // <- WS7008
      if (produces) {
        cuda.memcpyAsync(shared.subarray(lane), x.subarray(lane), 1, pipe);
        pipe.producerCommit();
        return;
      }
      pipe.consumerWait();
      out[lane] = shared[lane]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a consumer that copies',
    row: 'UB-2',
    code: 'WS7008',
    says: 'memcpyAsync of `pipe` by a consumer',
    launch: { block: 64, elements: 32 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const produces = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 64);
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer'); // <- other
      if (produces) pipe.producerAcquire();
      if (produces || !mended) {
        cuda.memcpyAsync(shared.subarray(block.threadRank()), x.subarray(lane), 1, pipe); // <- WS7008
      }
      if (produces) {
        pipe.producerCommit();
        return;
      }
      pipe.consumerWait();
      out[lane] = shared[lane]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a producer that waits',
    row: 'UB-3',
    code: 'WS7008',
    says: 'consumerWait of `pipe` by a producer',
    launch: { block: 64 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const produces = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 32);
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer'); // <- other
      if (produces) {
        pipe.producerAcquire();
        cuda.memcpyAsync(shared.subarray(lane), x.subarray(lane), 1, pipe);
        pipe.producerCommit();
      }
      if (!produces || !mended) pipe.consumerWait(); // <- WS7008
      if (produces) return;
      out[lane] = shared[lane]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a producer that releases',
    row: 'UB-3',
    code: 'WS7008',
    says: 'consumerRelease of `pipe` by a producer',
    launch: { block: 64 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const produces = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 32);
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer'); // <- other
      if (produces) {
        pipe.producerAcquire();
        cuda.memcpyAsync(shared.subarray(lane), x.subarray(lane), 1, pipe);
        pipe.producerCommit();
      } else {
        pipe.consumerWait();
        out[lane] = shared[lane]!;
      }
      if (!produces || !mended) pipe.consumerRelease(); // <- WS7008
    }),
  },
  {
    name: 'a thread that consumed, and then produces',
    row: 'UB-2',
    code: 'WS7008',
    says: '`pipe` by a',
    launch: { block: 64, elements: 64 },
    kernel: kernel({ ...schema, half: 'constant index = 32' }, ({ out, x, half, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const first = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2), half);
      for (let batch = 0; batch < 2; batch++) {
        // The roles change from batch to batch.
        if (first === (mended || batch === 0)) {
          pipe.producerAcquire(); // <- WS7008 <- other
          cuda.memcpyAsync(shared.subarray(batch * 32 + lane), x.subarray(batch * 32 + lane), 1, pipe);
          pipe.producerCommit();
        } else {
          pipe.consumerWait(); // <- WS7008 <- other
          out[batch * 32 + lane] = shared[batch * 32 + lane]!;
          pipe.consumerRelease();
        }
      }
    }),
  },
  {
    name: 'a thread that produced, and then consumes',
    row: 'UB-3',
    code: 'WS7008',
    says: 'by a producer',
    launch: { block: 64 },
    kernel: kernel({ ...schema, half: 'constant index = 32' }, ({ out, x, half, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = block.threadRank() % 32;
      const produces = block.threadRank() < 32;
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2), half);
      if (produces) {
        pipe.producerAcquire(); // <- other
        cuda.memcpyAsync(shared.subarray(lane), x.subarray(lane), 1, pipe);
        pipe.producerCommit();
      }
      if (!produces || !mended) pipe.consumerWait(); // <- WS7008
      if (produces) return;
      out[lane] = shared[lane]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'more producers than were declared',
    row: 'UB-2',
    code: 'WS7008',
    says: '33 threads produce',
    launch: { block: 64, elements: 64 },
    kernel: kernel({ ...batched, half: 'constant index = 32' }, ({ out, x, half, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2), half); // <- other
      if (t < (mended ? 32 : 33)) {
        pipe.producerAcquire(); // <- WS7008
        cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe);
        pipe.producerCommit();
        out[t] = 0;
        return;
      }
      pipe.consumerWait();
      out[t] = shared[t - 32]!;
      pipe.consumerRelease();
    }),
  },
  {
    name: 'a pipeline that all threads make as producers',
    row: 'UB-6',
    code: 'WS3006',
    says: '64 producers among 64 threads',
    launch: { block: 64, elements: 64 },
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const produces = block.threadRank() < 32 || !mended;
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer'); // <- WS3006
      out[block.threadRank()] = 1;
      pipe.quit();
    }),
  },
  {
    name: 'as many producers as threads',
    row: 'UB-6',
    code: 'WS3006',
    says: '64 producers among 64 threads',
    launch: { block: 64, elements: 64, arguments: { few: 32, many: 64 } },
    kernel: kernel({ ...schema, few: 'index', many: 'index' }, ({ out, few, many, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, mended ? few : many); // <- WS3006
      out[block.threadRank()] = 1;
      pipe.quit();
    }),
  },
];
