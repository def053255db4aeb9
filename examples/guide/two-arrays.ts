import { deviceFunction, kernel } from 'warpstage';

/** Adds the two halves of a stage, each thread one element of either. */
export const computePair = deviceFunction(
  { out: 'i32[]', staged: 'readonly i32[]' },
  ({ out, staged }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    out[t] = staged[t]! + 2 * staged[block.size() + t]!;
  },
);

/**
 * Two arrays staged together: a stage takes two copies, and one commit covers both.
 *
 * Launch it with one block and `block * subsetCount` elements in each array.
 *
 * Source: the example of the class page of `cuda::pipeline` (CUDA C++ Core Libraries), corrected. There the
 * parameters are `global0` and `global1`, but the body uses a `global2` too; and what is computed stays in
 * shared memory, where nobody can see it, so here it goes to `globalOut`.
 */
export const twoArrays = kernel(
  {
    globalOut: 'i32[]',
    global0: 'readonly i32[]',
    global1: 'readonly i32[]',
    subsetCount: 'index',
    compute: computePair,
  },
  ({ globalOut, global0, global1, subsetCount, compute }, cuda) => {
    const group = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', 4 * group.size());
    const pipeline = cuda.makePipeline(group, cuda.pipelineSharedState('block', 2));
    const stage = (subset: number) => shared.subarray((subset % 2) * 2 * group.size());
    const fetch = (subset: number) => {
      const begin = subset * group.size();
      pipeline.producerAcquire();
      cuda.memcpyAsync(group, stage(subset), global0.subarray(begin), group.size(), pipeline);
      cuda.memcpyAsync(
        group,
        stage(subset).subarray(group.size()),
        global1.subarray(begin),
        group.size(),
        pipeline,
      );
      pipeline.producerCommit();
    };
    const consume = (subset: number) => {
      pipeline.consumerWait();
      compute({ out: globalOut.subarray(subset * group.size()), staged: stage(subset) });
      pipeline.consumerRelease();
    };

    if (subsetCount === 0) return;
    fetch(0);
    for (let subset = 1; subset < subsetCount; ++subset) {
      fetch(subset);
      consume(subset - 1);
    }
    consume(subsetCount - 1);
  },
);
