import { kernel } from 'warpstage';
import { compute } from './compute.ts';

/**
 * Two stages: while a batch is computed, the next one is on its way. A prologue fetches the first batch,
 * an epilogue computes the last.
 *
 * Launch it with `grid * block * batchCount` elements.
 *
 * Source: CUDA C++ Programming Guide, section 10.28.2, `with_staging`, with one correction. The guide uses
 * the index of the batch that is fetched for the output of the batch that is computed, so that every
 * result lands one batch too late and the first is never written.
 */
export const withStaging = kernel(
  { globalOut: 'i32[]', globalIn: 'readonly i32[]', batchCount: 'index', compute },
  ({ globalOut, globalIn, batchCount, compute }, cuda) => {
    const grid = cuda.thisGrid();
    const block = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', 2 * block.size());
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
    const blockBatch = (batch: number) => block.groupIndex().x * block.size() + grid.size() * batch;
    const stage = (batch: number) => shared.subarray((batch % 2) * block.size());

    if (batchCount === 0) return;
    pipeline.producerAcquire();
    cuda.memcpyAsync(block, stage(0), globalIn.subarray(blockBatch(0)), block.size(), pipeline);
    pipeline.producerCommit();

    for (let batch = 1; batch < batchCount; ++batch) {
      pipeline.producerAcquire();
      cuda.memcpyAsync(block, stage(batch), globalIn.subarray(blockBatch(batch)), block.size(), pipeline);
      pipeline.producerCommit();

      pipeline.consumerWait();
      compute({ out: globalOut.subarray(blockBatch(batch - 1)), staged: stage(batch - 1) });
      pipeline.consumerRelease();
    }

    pipeline.consumerWait();
    compute({ out: globalOut.subarray(blockBatch(batchCount - 1)), staged: stage(batchCount - 1) });
    pipeline.consumerRelease();
  },
);
