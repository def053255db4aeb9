import { kernel } from 'warpstage';
import { compute } from './compute.ts';

/**
 * Thread scope: each thread has a pipeline of its own and copies its own element; block syncs do what the
 * shared barriers did. Where all threads of a block take part, that is the cheaper way on a GPU.
 *
 * Launch it with `grid * block * batchCount` elements.
 *
 * Source: CUDA C++ Programming Guide, section 10.28.2, `with_staging_scope_thread`, with one correction:
 * the second block sync. Acquire and release do nothing in thread scope, so without it a thread refills
 * a stage that others may still be reading.
 */
export const withStagingScopeThread = kernel(
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
    const thread = cuda.thisThread();
    const shared = cuda.sharedArray('i32', stagesCount * block.size());
    const pipeline = cuda.makePipeline();
    const blockBatch = (batch: number) => block.groupIndex().x * block.size() + grid.size() * batch;

    for (let computeBatch = 0, fetchBatch = 0; computeBatch < batchCount; ++computeBatch) {
      for (; fetchBatch < batchCount && fetchBatch < computeBatch + stagesCount; ++fetchBatch) {
        pipeline.producerAcquire();
        cuda.memcpyAsync(
          thread,
          shared.subarray((fetchBatch % stagesCount) * block.size() + cuda.threadIdx.x),
          globalIn.subarray(blockBatch(fetchBatch) + cuda.threadIdx.x),
          1,
          pipeline,
        );
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      block.sync(); // The copies of all threads for this stage have arrived.
      compute({
        out: globalOut.subarray(blockBatch(computeBatch)),
        staged: shared.subarray((computeBatch % stagesCount) * block.size()),
      });
      pipeline.consumerRelease();
      block.sync(); // All threads have read the stage; it may be filled again.
    }
  },
);
