import { kernel } from 'warpstage';
import { compute } from './compute.ts';

/**
 * The next batch is copied while the current one is computed: a thread arrives when it has issued the copy,
 * does what does not depend on it, and waits only then. The barrier's phase is over when all threads
 * have arrived and the copy has.
 *
 * Launch it with `grid * block * batchCount` elements.
 *
 * Source: CUDA C++ Programming Guide, sections 10.26 (Asynchronous Barrier, "Temporal Splitting and Five
 * Stages of Synchronization") and 10.27.2 (`memcpy_async` with a `cuda::barrier`).
 */
export const splitArrive = kernel(
  { globalOut: 'i32[]', globalIn: 'readonly i32[]', batchCount: 'index', compute },
  ({ globalOut, globalIn, batchCount, compute }, cuda) => {
    const grid = cuda.thisGrid();
    const block = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', 2 * block.size());
    const copied = cuda.barrierArray(block, 2);
    const blockBatch = (batch: number) => block.groupIndex().x * block.size() + grid.size() * batch;
    const stageOf = (batch: number) => shared.subarray((batch % 2) * block.size());

    if (batchCount === 0) return;
    cuda.memcpyAsync(block, stageOf(0), globalIn.subarray(blockBatch(0)), block.size(), copied[0]!);
    let token = copied[0]!.arrive();
    for (let batch = 0; batch < batchCount; ++batch) {
      copied[batch % 2]!.wait(token);
      if (batch + 1 < batchCount) {
        const next = copied[(batch + 1) % 2]!;
        cuda.memcpyAsync(
          block,
          stageOf(batch + 1),
          globalIn.subarray(blockBatch(batch + 1)),
          block.size(),
          next,
        );
        token = next.arrive();
      }
      compute({ out: globalOut.subarray(blockBatch(batch)), staged: stageOf(batch) });
      // Nobody refills a stage that another thread still reads.
      block.sync();
    }
  },
);
