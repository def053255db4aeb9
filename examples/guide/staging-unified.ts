import { kernel } from 'warpstage';
import { compute } from './compute.ts';

/**
 * Any number of stages, kept full: prologue and epilogue are merged into the loop. All threads produce
 * and consume.
 *
 * Launch it with `grid * block * batchCount` elements.
 *
 * Source: CUDA C++ Programming Guide, section 10.28.2, `with_staging_unified`.
 */
export const withStagingUnified = kernel(
  {
    globalOut: 'i32[]',
    globalIn: 'readonly i32[]',
    batchCount: 'index',
    stagesCount: 'constant index = 2',
    compute,
  },
  ({ globalOut, globalIn, batchCount, stagesCount, compute }, cuda) => {
    const grid = cuda.thisGrid();
    const block = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', stagesCount * block.size());
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', stagesCount));
    const blockBatch = (batch: number) => block.groupIndex().x * block.size() + grid.size() * batch;

    for (let computeBatch = 0, fetchBatch = 0; computeBatch < batchCount; ++computeBatch) {
      for (; fetchBatch < batchCount && fetchBatch < computeBatch + stagesCount; ++fetchBatch) {
        pipeline.producerAcquire();
        cuda.memcpyAsync(
          block,
          shared.subarray((fetchBatch % stagesCount) * block.size()),
          globalIn.subarray(blockBatch(fetchBatch)),
          block.size(),
          pipeline,
        );
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      compute({
        out: globalOut.subarray(blockBatch(computeBatch)),
        staged: shared.subarray((computeBatch % stagesCount) * block.size()),
      });
      pipeline.consumerRelease();
    }
  },
);
