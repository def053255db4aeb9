import { kernel } from 'warpstage';
import { computeElement } from './compute.ts';

/**
 * One warp fills stages, the others read them. Of each stage one barrier says that it may be filled, and one
 * that it is. Who only has to say so arrives; who has to know waits as well.
 *
 * The block has `block - 32` consumers, each of which computes an element of every batch. Launch it with
 * `grid * (block - 32) * batchCount` elements.
 *
 * Source: CUDA C++ Programming Guide, section 10.26.5 (Asynchronous Barrier, "Spatial Partitioning"),
 * `producer` and `consumer`.
 */
export const producerConsumer = kernel(
  {
    globalOut: 'i32[]',
    globalIn: 'readonly i32[]',
    batchCount: 'index',
    stagesCount: 'constant index = 2',
    compute: computeElement,
  },
  ({ globalOut, globalIn, batchCount, stagesCount, compute }, cuda) => {
    const block = cuda.thisThreadBlock();
    const warp = cuda.tiledPartition(block, 32);
    const consumers = block.size() - warp.size();
    const shared = cuda.sharedArray('i32', stagesCount * consumers);
    const ready = cuda.barrierArray(block, stagesCount);
    const filled = cuda.barrierArray(block, stagesCount);
    const blockBatch = (batch: number) => consumers * (block.groupIndex().x + cuda.gridDim.x * batch);

    if (block.threadRank() < warp.size()) {
      for (let batch = 0; batch < batchCount; ++batch) {
        const stage = batch % stagesCount;
        ready[stage]!.arriveAndWait();
        cuda.memcpyAsync(
          warp,
          shared.subarray(stage * consumers),
          globalIn.subarray(blockBatch(batch)),
          consumers,
          filled[stage]!,
        );
        filled[stage]!.arrive();
      }
    } else {
      const consumer = block.threadRank() - warp.size();
      // All stages are empty at first.
      for (let stage = 0; stage < stagesCount; ++stage) ready[stage]!.arrive();
      for (let batch = 0; batch < batchCount; ++batch) {
        const stage = batch % stagesCount;
        filled[stage]!.arriveAndWait();
        compute({
          out: globalOut.subarray(blockBatch(batch) + consumer),
          staged: shared[stage * consumers + consumer]!,
        });
        ready[stage]!.arrive();
      }
    }
  },
);
