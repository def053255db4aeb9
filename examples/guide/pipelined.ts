// The guide's kernels with staging once more, one level up: cuda.pipelined says what is copied of a batch and what is
// done with it, and stands for the verbs that the files beside this one write out. They are launched as those are.

import { kernel } from 'warpstage';
import { compute, computeElement } from './compute.ts';

/** Any number of stages, and all threads copy and compute: `withSingleStage`, `withStaging`, `withStagingUnified`. */
export const pipelinedStaging = kernel(
  {
    globalOut: 'i32[]',
    globalIn: 'readonly i32[]',
    batchCount: 'index',
    stagesCount: 'constant index = 2',
    compute,
  },
  ({ globalOut, globalIn, batchCount, stagesCount, compute }, cuda) => {
    const block = cuda.thisThreadBlock();
    const begin = (batch: number) => block.groupIndex().x * block.size() + cuda.thisGrid().size() * batch;
    cuda.pipelined({
      group: block,
      stages: stagesCount,
      batches: batchCount,
      copy: (batch) => ({ source: globalIn.subarray(begin(batch)), count: block.size() }),
      use: (staged, batch) => compute({ out: globalOut.subarray(begin(batch)), staged }),
    });
  },
);

/** Each thread copies the elements that it computes, through stages of its own: `withStagingScopeThread`. */
export const pipelinedThreads = kernel(
  {
    globalOut: 'i32[]',
    globalIn: 'readonly i32[]',
    batchCount: 'index',
    stagesCount: 'constant index = 2',
    compute: computeElement,
  },
  ({ globalOut, globalIn, batchCount, stagesCount, compute }, cuda) => {
    const grid = cuda.thisGrid();
    const place = (batch: number) => grid.threadRank() + grid.size() * batch;
    cuda.pipelined({
      group: cuda.thisThread(),
      stages: stagesCount,
      batches: batchCount,
      copy: (batch) => ({ source: globalIn.subarray(place(batch)), count: 1 }),
      use: (staged, batch) => compute({ out: globalOut.subarray(place(batch)), staged: staged[0]! }),
    });
  },
);

/** Threads of even rank copy, threads of odd rank compute: `withSpecializedStaging`. */
export const pipelinedRoles = kernel(
  {
    globalOut: 'i32[]',
    globalIn: 'readonly i32[]',
    batchCount: 'index',
    stagesCount: 'constant index = 2',
    compute: computeElement,
  },
  ({ globalOut, globalIn, batchCount, stagesCount, compute }, cuda) => {
    const block = cuda.thisThreadBlock();
    const elements = Math.trunc(block.size() / 2);
    const at = Math.trunc(block.threadRank() / 2);
    const begin = (batch: number) => elements * (cuda.gridDim.x * batch + cuda.blockIdx.x);
    cuda.pipelined({
      group: block,
      role: block.threadRank() % 2 === 0 ? 'producer' : 'consumer',
      stages: stagesCount,
      batches: batchCount,
      copy: (batch) => ({
        source: globalIn.subarray(begin(batch) + at),
        count: 1,
        room: elements,
        at,
        by: cuda.thisThread(),
      }),
      use: (staged, batch) => compute({ out: globalOut.subarray(begin(batch) + at), staged: staged[at]! }),
    });
  },
);

/** Two arrays in each stage: `twoArrays`. */
export const pipelinedPair = kernel(
  { globalOut: 'i32[]', global0: 'readonly i32[]', global1: 'readonly i32[]', subsetCount: 'index' },
  ({ globalOut, global0, global1, subsetCount }, cuda) => {
    const group = cuda.thisThreadBlock();
    const count = group.size();
    const t = group.threadRank();
    cuda.pipelined({
      group,
      stages: 2,
      batches: subsetCount,
      copy: (subset) => ({
        first: { source: global0.subarray(subset * count), count },
        second: { source: global1.subarray(subset * count), count },
      }),
      use: ({ first, second }, subset) => {
        globalOut[subset * count + t] = first[t]! + 2 * second[t]!;
      },
    });
  },
);
