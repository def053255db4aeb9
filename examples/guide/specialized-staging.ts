import { kernel } from 'warpstage';
import { computeElement } from './compute.ts';

/**
 * Roles: threads of even rank only copy, threads of odd rank only compute. A producer and the consumer
 * beside it share an element, so a batch has half a block's size; the block's size must be even.
 *
 * Launch it with `grid * block / 2 * batchCount` elements.
 *
 * Source: CUDA C++ Programming Guide, section 10.28.2, `with_specialized_staging_unified`. (A pipeline with
 * roles is a partitioned one, whatever that name says. Roles that alternate within a warp are good to see
 * how it works; a fast kernel gives whole warps one role.)
 */
export const withSpecializedStaging = kernel(
  {
    globalOut: 'i32[]',
    globalIn: 'readonly i32[]',
    batchCount: 'index',
    stagesCount: 'constant index = 2',
    compute: computeElement,
  },
  ({ globalOut, globalIn, batchCount, stagesCount, compute }, cuda) => {
    const block = cuda.thisThreadBlock();
    const role = block.threadRank() % 2 === 0 ? 'producer' : 'consumer';
    const elementsPerBatchPerBlock = Math.trunc(block.size() / 2);
    const elementsPerBatch = elementsPerBatchPerBlock * cuda.gridDim.x;
    const threadIdx = Math.trunc(block.threadRank() / 2);
    const shared = cuda.sharedArray('i32', stagesCount * elementsPerBatchPerBlock);
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', stagesCount), role);
    const blockBatch = (batch: number) =>
      elementsPerBatch * batch + elementsPerBatchPerBlock * cuda.blockIdx.x;
    const stage = (batch: number) => (batch % stagesCount) * elementsPerBatchPerBlock;

    for (let computeBatch = 0, fetchBatch = 0; computeBatch < batchCount; ++computeBatch) {
      for (; fetchBatch < batchCount && fetchBatch < computeBatch + stagesCount; ++fetchBatch) {
        if (role === 'producer') {
          pipeline.producerAcquire();
          cuda.memcpyAsync(
            shared.subarray(stage(fetchBatch) + threadIdx),
            globalIn.subarray(blockBatch(fetchBatch) + threadIdx),
            1,
            pipeline,
          );
          pipeline.producerCommit();
        }
      }
      if (role === 'consumer') {
        pipeline.consumerWait();
        compute({
          out: globalOut.subarray(blockBatch(computeBatch) + threadIdx),
          staged: shared[stage(computeBatch) + threadIdx]!,
        });
        pipeline.consumerRelease();
      }
    }
  },
);
