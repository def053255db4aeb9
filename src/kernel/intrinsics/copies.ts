// The intrinsics of asynchronous copies, as a pipeline's, as a group's, and as a thread's own.

import type { Form, Intrinsic } from './entry.ts';

const copy = { destination: 'array', source: 'readonly array', count: 'count' } as const satisfies Form;

export const copyIntrinsics = {
  'cuda.alignedSize': {
    cuda: 'cuda::aligned_size_t<align>(bytes)',
    forms: [{ align: 'constant', count: 'index' }],
    result: 'count',
    doc: 'A count of elements with the promise that the size in bytes and both addresses are multiples of align.',
  },
  'cuda.memcpyAsync': {
    cuda: 'cuda::memcpy_async([group,] destination, source, size, pipeline | barrier)',
    forms: [
      { group: 'group', ...copy, sync: 'pipeline or barrier' },
      { ...copy, sync: 'pipeline or barrier' },
    ],
    result: 'nothing',
    involves: 'group',
    doc: 'Begins to copy count elements; the threads of the group copy together, without a group each calling thread copies all of it. The copy belongs to the next commit of the pipeline, or to the current phase of the barrier.',
  },
  'cuda.cg': {
    cuda: 'namespace cooperative_groups',
    result: 'cg',
    doc: "A group's copies that need no pipeline, and the reductions and scans of a tile.",
  },
  'cg.memcpyAsync': {
    cuda: 'cooperative_groups::memcpy_async(group, destination, [count,] source, count)',
    forms: [
      { group: 'group', ...copy },
      {
        group: 'group',
        destination: 'array',
        destinationCount: 'count',
        source: 'readonly array',
        sourceCount: 'count',
      },
    ],
    result: 'nothing',
    involves: 'group',
    doc: 'Begins to copy count elements, or the lesser of two counts; the threads of the group copy together. Each call is a commit of its own.',
  },
  'cg.wait': {
    cuda: 'cooperative_groups::wait(group)',
    forms: [{ group: 'group' }],
    result: 'nothing',
    synchronises: 'barrier',
    involves: 'group',
    doc: 'Waits until all copies that the threads of the group have committed are done, and all of them are here.',
  },
  'cg.waitPrior': {
    cuda: 'cooperative_groups::wait_prior<n>(group)',
    forms: [{ group: 'group', n: 'constant' }],
    result: 'nothing',
    synchronises: 'barrier',
    involves: 'group',
    doc: 'The same for all copies but those of the n youngest commits of each thread.',
  },
  'cuda.pipelineMemcpyAsync': {
    cuda: '__pipeline_memcpy_async(destination, source, size, zfill)',
    forms: [{ destination: 'array', source: 'readonly array', count: 'constant', zeroFill: 'index?' }],
    result: 'nothing',
    doc: 'Begins to copy 4, 8 or 16 bytes from global to shared memory, by the calling thread alone; the last zeroFill elements are not read but set to zero.',
  },
  'cuda.pipelineCommit': {
    cuda: '__pipeline_commit()',
    forms: [{}],
    result: 'nothing',
    doc: 'Makes the copies that this thread began since its last commit a batch.',
  },
  'cuda.pipelineWaitPrior': {
    cuda: '__pipeline_wait_prior(n)',
    forms: [{ n: 'constant' }],
    result: 'nothing',
    synchronises: 'waits',
    doc: "Waits until at most the n youngest of this thread's batches are under way.",
  },
} as const satisfies Readonly<Record<string, Intrinsic>>;
