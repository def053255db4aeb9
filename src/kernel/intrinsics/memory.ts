// The intrinsics of arrays, pipelines and atomics.

import type { Form, Intrinsic } from './entry.ts';

export const memoryIntrinsics = {
  'cuda.sharedArray': {
    cuda: '__shared__ T array[count]',
    forms: [{ element: 'element type', count: 'index' }],
    result: 'array',
    doc: 'An array that the threads of a block share; its count is made of constants, scalar parameters and the extents of block and grid.',
  },
  'cuda.localArray': {
    cuda: 'T array[count]',
    forms: [{ element: 'element type', count: 'constant' }],
    result: 'array',
    doc: "An array of the thread's own, zero at first.",
  },
  'array.length': { cuda: 'std::span::size()', result: 'index', doc: 'The number of elements.' },
  'array.subarray': {
    cuda: 'array + begin',
    forms: [{ begin: 'index?', end: 'index?' }],
    result: 'array',
    doc: 'The part of the array from begin; accesses are checked against the whole array.',
  },
} as const satisfies Readonly<Record<string, Intrinsic>>;

export const pipelineIntrinsics = {
  'cuda.pipelineSharedState': {
    cuda: 'cuda::pipeline_shared_state<scope, stages>',
    forms: [{ scope: 'scope', stages: 'constant' }],
    result: 'pipeline state',
    doc: "What the threads of a pipeline share: the barriers of its stages, 1 to 255 of them; each group that makes a pipeline of it has its own. The scope is 'block', 'cluster', 'device' or 'system', which mean the same here.",
  },
  'cuda.makePipeline': {
    cuda: 'cuda::make_pipeline([group, &state [, role | producers]])',
    forms: [
      {},
      { group: 'block or tile', state: 'pipeline state' },
      { group: 'block or tile', state: 'pipeline state', role: 'role' },
      { group: 'block or tile', state: 'pipeline state', producers: 'index' },
    ],
    result: 'pipeline',
    synchronises: 'barrier',
    involves: 'group',
    doc: "Makes a pipeline: of the thread's own; of a group whose threads are all producers and consumers; or of a group parted by role or by the number of producers.",
  },
  'cuda.pipelineConsumerWaitPrior': {
    cuda: 'cuda::pipeline_consumer_wait_prior<n>(pipeline)',
    forms: [{ pipeline: 'pipeline', n: 'constant' }],
    result: 'nothing',
    synchronises: 'waits',
    doc: "Waits until at most the n youngest commits of a pipeline of the thread's own are under way; what is older counts as waited for.",
  },
  'pipeline.producerAcquire': {
    cuda: 'cuda::pipeline::producer_acquire()',
    forms: [{}],
    result: 'nothing',
    synchronises: 'waits',
    involves: 'pipeline',
    doc: 'Waits until the next stage is free: until all consumers have released its previous use.',
  },
  'pipeline.producerCommit': {
    cuda: 'cuda::pipeline::producer_commit()',
    forms: [{}],
    result: 'nothing',
    synchronises: 'signals',
    involves: 'pipeline',
    doc: 'Hands the copies issued since the last commit over to the stage, and goes on to the next.',
  },
  'pipeline.consumerWait': {
    cuda: 'cuda::pipeline::consumer_wait()',
    forms: [{}],
    result: 'nothing',
    synchronises: 'waits',
    involves: 'pipeline',
    doc: 'Waits until all producers have committed the oldest stage and its copies have arrived.',
  },
  'pipeline.consumerWaitFor': {
    cuda: 'cuda::pipeline::consumer_wait_for(duration)',
    forms: [{ duration: 'nanoseconds' }],
    result: 'bool',
    synchronises: 'waits',
    involves: 'pipeline',
    doc: 'Waits as consumerWait does, but no longer than so many nanoseconds; true if the stage is there. With 0 or less it looks once.',
  },
  'pipeline.consumerWaitUntil': {
    cuda: 'cuda::pipeline::consumer_wait_until(time)',
    forms: [{ time: 'nanoseconds' }],
    result: 'bool',
    synchronises: 'waits',
    involves: 'pipeline',
    doc: 'Waits as consumerWait does, but no longer than until cuda.globaltimer() gives that time; true if the stage is there. If the time is past it looks once.',
  },
  'pipeline.consumerRelease': {
    cuda: 'cuda::pipeline::consumer_release()',
    forms: [{}],
    result: 'nothing',
    synchronises: 'signals',
    involves: 'pipeline',
    doc: 'Gives the oldest stage back to the producers.',
  },
  'pipeline.quit': {
    cuda: 'cuda::pipeline::quit()',
    forms: [{}],
    result: 'bool',
    synchronises: 'signals',
    involves: 'pipeline',
    doc: 'Leaves the pipeline; true in the one thread that left last.',
  },
} as const satisfies Readonly<Record<string, Intrinsic>>;

const update = [
  { array: 'array', index: 'index', value: 'number, bigint or quotient' },
] as const satisfies readonly Form[];

export const atomicIntrinsics = {
  'cuda.atomicAdd': {
    cuda: 'atomicAdd(&array[index], value)',
    forms: update,
    result: 'number',
    doc: 'Adds to an element of an i32, u32, i64, u64, f32 or f64 array and gives what was there.',
  },
  'cuda.atomicSub': {
    cuda: 'atomicSub(&array[index], value)',
    forms: update,
    result: 'number',
    doc: 'Subtracts from an element of an array of integers of 32 or 64 bits and gives what was there.',
  },
  'cuda.atomicMin': {
    cuda: 'atomicMin(&array[index], value)',
    forms: update,
    result: 'number',
    doc: 'Stores the lesser of element and value and gives what was there.',
  },
  'cuda.atomicMax': {
    cuda: 'atomicMax(&array[index], value)',
    forms: update,
    result: 'number',
    doc: 'Stores the greater of element and value and gives what was there.',
  },
  'cuda.atomicAnd': {
    cuda: 'atomicAnd(&array[index], value)',
    forms: update,
    result: 'number',
    doc: 'Stores element & value and gives what was there.',
  },
  'cuda.atomicOr': {
    cuda: 'atomicOr(&array[index], value)',
    forms: update,
    result: 'number',
    doc: 'Stores element | value and gives what was there.',
  },
  'cuda.atomicXor': {
    cuda: 'atomicXor(&array[index], value)',
    forms: update,
    result: 'number',
    doc: 'Stores element ^ value and gives what was there.',
  },
  'cuda.atomicExch': {
    cuda: 'atomicExch(&array[index], value)',
    forms: update,
    result: 'number',
    doc: 'Stores value and gives what was there.',
  },
  'cuda.atomicCAS': {
    cuda: 'atomicCAS(&array[index], compare, value)',
    forms: [
      {
        array: 'array',
        index: 'index',
        compare: 'number, bigint or quotient',
        value: 'number, bigint or quotient',
      },
    ],
    result: 'number',
    doc: 'Stores value if the element equals compare, and gives what was there.',
  },
} as const satisfies Readonly<Record<string, Intrinsic>>;
