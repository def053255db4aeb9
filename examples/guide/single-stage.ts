import { kernel } from 'warpstage';
import { compute } from './compute.ts';

/**
 * One stage: every batch is copied to shared memory, waited for and computed, one after the other.
 * The copy passes registers by, but nothing overlaps: with a single stage, the next copy can only begin
 * when the stage was released.
 *
 * Launch it with `grid * block * batchCount` elements.
 *
 * Source: CUDA C++ Programming Guide, section 10.28.1, `with_single_stage`. (The guide's comments there
 * promise an overlap; the text beside them is right.)
 */
export const withSingleStage = kernel(
  { globalOut: 'i32[]', globalIn: 'readonly i32[]', batchCount: 'index', compute },
  ({ globalOut, globalIn, batchCount, compute }, cuda) => {
    const grid = cuda.thisGrid();
    const block = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', block.size());
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    const blockBatch = (batch: number) => block.groupIndex().x * block.size() + grid.size() * batch;

    for (let batch = 0; batch < batchCount; ++batch) {
      const begin = blockBatch(batch);
      pipeline.producerAcquire();
      cuda.memcpyAsync(block, shared, globalIn.subarray(begin), block.size(), pipeline);
      pipeline.producerCommit();

      pipeline.consumerWait();
      compute({ out: globalOut.subarray(begin), staged: shared });
      pipeline.consumerRelease();
    }
  },
);
