// The faulty examples of the programming guide and of the library's pages, as they were published, each with
// what it takes to mend it.

import { deviceFunction, kernel } from 'warpstage';
import { type Misuse, schema } from './misuse.ts';

const compute = deviceFunction({ out: 'i32[]', staged: 'readonly i32[]' }, ({ out, staged }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  out[t] = staged[t]! * 3 + 1; // <- WS7004 <- WS7005
});

const reversed = deviceFunction({ out: 'i32[]', staged: 'readonly i32[]' }, ({ out, staged }, cuda) => {
  const block = cuda.thisThreadBlock();
  out[block.threadRank()] = staged[block.size() - 1 - block.threadRank()]!; // <- WS7002
});

const published = { ...schema, batchCount: 'index' } as const;

export const guide: readonly Misuse[] = (['WS7004', 'WS7005'] as const).map((code) => ({
  name: `two-stage staging that stores each result one batch too late: ${code}`,
  row: 'published 1',
  code,
  launch: { elements: 96, arguments: { batchCount: 3 } },
  kernel: kernel({ ...published, compute }, ({ out, x, batchCount, compute, mended }, cuda) => {
    const grid = cuda.thisGrid();
    const block = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', 2 * block.size());
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
    const blockBatch = (batch: number) => block.groupIndex().x * block.size() + grid.size() * batch;
    pipeline.producerAcquire();
    cuda.memcpyAsync(block, shared, x.subarray(blockBatch(0)), block.size(), pipeline);
    pipeline.producerCommit();
    for (let batch = 1; batch < batchCount; ++batch) {
      const computeStage = (batch - 1) % 2;
      const copyStage = batch % 2;
      const globalIdx = blockBatch(batch);
      const stage = shared.subarray(copyStage * block.size());
      pipeline.producerAcquire();
      cuda.memcpyAsync(block, stage, x.subarray(globalIdx), block.size(), pipeline);
      pipeline.producerCommit();
      pipeline.consumerWait();
      const target = mended ? blockBatch(batch - 1) : globalIdx;
      compute({ out: out.subarray(target), staged: shared.subarray(computeStage * block.size()) });
      pipeline.consumerRelease();
    }
    pipeline.consumerWait();
    const staged = shared.subarray(((batchCount - 1) % 2) * block.size());
    compute({ out: out.subarray(blockBatch(batchCount - 1)), staged });
    pipeline.consumerRelease();
  }),
}));

export const pages: readonly Misuse[] = [
  {
    name: 'thread-scoped staging without a sync after the computation',
    row: 'published 2',
    code: 'WS7002',
    timed: true,
    launch: { elements: 128, arguments: { batchCount: 4 } },
    kernel: kernel({ ...published, reversed }, ({ out, x, batchCount, reversed, mended }, cuda) => {
      const grid = cuda.thisGrid();
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 2 * block.size());
      const pipeline = cuda.makePipeline();
      const blockBatch = (batch: number) => block.groupIndex().x * block.size() + grid.size() * batch;
      for (let computeBatch = 0, fetchBatch = 0; computeBatch < batchCount; ++computeBatch) {
        for (; fetchBatch < batchCount && fetchBatch < computeBatch + 2; ++fetchBatch) {
          const to = shared.subarray((fetchBatch % 2) * block.size() + t);
          pipeline.producerAcquire();
          cuda.memcpyAsync(to, x.subarray(blockBatch(fetchBatch) + t), 1, pipeline); // <- WS7002
          pipeline.producerCommit();
        }
        pipeline.consumerWait();
        block.sync();
        const staged = shared.subarray((computeBatch % 2) * block.size());
        reversed({ out: out.subarray(blockBatch(computeBatch)), staged });
        pipeline.consumerRelease();
        if (mended) block.sync();
      }
    }),
  },
  {
    name: 'specialised staging whose producers do not commit',
    row: 'published 3',
    code: 'WS3002',
    says: '0 of 16 producers have committed',
    launch: { arguments: { batchCount: 2 } },
    kernel: kernel(published, ({ out, x, batchCount, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const role = block.threadRank() % 2 === 0 ? 'producer' : 'consumer';
      const shared = cuda.sharedArray('i32', 16);
      const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1), role);
      const own = Math.trunc(block.threadRank() / 2);
      for (let batch = 0; batch < batchCount; ++batch) {
        if (role === 'producer') {
          pipeline.producerAcquire();
          cuda.memcpyAsync(shared.subarray(own), x.subarray(16 * batch + own), 1, pipeline);
          if (mended) pipeline.producerCommit();
        } else {
          pipeline.consumerWait(); // <- WS3002
          out[16 * batch + own] = shared[own]!;
          pipeline.consumerRelease();
        }
      }
    }),
  },
  {
    name: 'an index of a batch that uses .x alone, on a grid of two dimensions',
    row: 'published 4',
    code: 'WS7004',
    launch: { grid: [2, 2], elements: 128 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const { x: column, y: row } = block.groupIndex();
      const begin = (mended ? row * cuda.gridDim.x + column : column) * block.size();
      out[begin + t] = x[begin + t]!; // <- WS7004
    }),
  },
];
