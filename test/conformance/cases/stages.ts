// Stages and their order: many of them, empty ones, and how often a wait may be repeated.

import { kernel } from 'warpstage';
import { type Case, type Cases, counting, integers } from '../case.ts';

/** A pipeline that is kept full; the last batch may have fewer elements, and threads without one take part all the same. */
const staging = kernel(
  { out: 'i32[]', input: 'readonly i32[]', stages: 'constant index' },
  ({ out, input, stages }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const size = block.size();
    const staged = cuda.sharedArray('i32', stages * size);
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', stages));
    const batches = Math.ceil(input.length / size);
    for (let batch = 0, next = 0; batch < batches; batch++) {
      for (; next < batches && next < batch + stages; next++) {
        const count = Math.min(size, input.length - next * size);
        pipeline.producerAcquire();
        cuda.memcpyAsync(
          block,
          staged.subarray((next % stages) * size),
          input.subarray(next * size),
          count,
          pipeline,
        );
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      const i = batch * size + t;
      if (i < input.length) {
        const last = Math.min(size, input.length - batch * size) - 1;
        out[i] = staged[(batch % stages) * size + last - t]! * 2;
      }
      pipeline.consumerRelease();
    }
  },
);

const ofStages = (stages: number, length: number): Case => {
  const block = 8;
  return {
    name: `${stages} stages, ${length} elements in batches of ${block}`,
    kernel: staging,
    grid: 1,
    block,
    data: { out: new Int32Array(length), input: counting(length), stages },
    expected: {
      out: integers(length, (i) => {
        const begin = i - (i % block);
        const last = Math.min(block, length - begin) - 1;
        return 2 * (100 + begin + last - (i % block));
      }),
    },
  };
};

/** Commits of nothing count like any other: only every third batch copies anything. */
const empty = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'i32' },
  ({ out, input, batches }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const size = block.size();
    const staged = cuda.sharedArray('i32', size);
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
    staged[t] = -1;
    block.sync();
    for (let batch = 0; batch < batches; batch++) {
      pipeline.producerAcquire();
      if (batch % 3 === 2) cuda.memcpyAsync(block, staged, input.subarray(batch * size), size, pipeline);
      else if (batch % 3 === 1) cuda.memcpyAsync(block, staged, input, 0, pipeline);
      pipeline.producerCommit();
      pipeline.consumerWait();
      out[batch * size + t] = staged[size - 1 - t]!;
      pipeline.consumerRelease();
      block.sync();
    }
  },
);

/** With block scope a second wait is for the same stage, however often it is asked. */
const peeks = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const size = block.size();
  const staged = cuda.sharedArray('i32', 2 * size);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
  for (let batch = 0; batch < 2; batch++) {
    pipeline.producerAcquire();
    pipeline.producerAcquire();
    cuda.memcpyAsync(block, staged.subarray(batch * size), input.subarray(batch * size), size, pipeline);
    pipeline.producerCommit();
  }
  for (let batch = 0; batch < 2; batch++) {
    pipeline.consumerWait();
    pipeline.consumerWait();
    const ready = pipeline.consumerWaitFor(0);
    out[batch * size + t] = ready ? staged[batch * size + (size - 1 - t)]! : -1;
    pipeline.consumerRelease();
  }
  // Nothing is committed any more.
  if (pipeline.consumerWaitFor(0)) out[t] = -2;
});

/** With thread scope a second wait is for the next commit, and one without a commit does nothing. */
const pops = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  const staged = cuda.sharedArray('i32', 3 * cuda.thisThreadBlock().size());
  const own = staged.subarray(3 * t);
  const pipeline = cuda.makePipeline();
  pipeline.consumerWait();
  for (let batch = 0; batch < 3; batch++) {
    cuda.memcpyAsync(own.subarray(batch), input.subarray(3 * t + batch), 1, pipeline);
    pipeline.producerCommit();
  }
  pipeline.consumerWait();
  out[3 * t] = own[0]!;
  pipeline.consumerWait();
  out[3 * t + 1] = own[1]!;
  const ready = pipeline.consumerWaitFor(1);
  out[3 * t + 2] = ready ? own[2]! : -1;
  pipeline.consumerWait();
  pipeline.consumerWait();
});

/** The youngest commits need not be done; asking for more than there are waits for nothing. */
const prior = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  const staged = cuda.sharedArray('i32', 4 * cuda.thisThreadBlock().size());
  const own = staged.subarray(4 * t);
  const pipeline = cuda.makePipeline();
  cuda.pipelineConsumerWaitPrior(pipeline, 3);
  for (let batch = 0; batch < 4; batch++) {
    cuda.memcpyAsync(own.subarray(batch), input.subarray(4 * t + batch), 1, pipeline);
    pipeline.producerCommit();
    cuda.pipelineConsumerWaitPrior(pipeline, 2);
    if (batch >= 2) out[4 * t + batch - 2] = own[batch - 2]!;
  }
  // Two are left; what was asked for too much above has moved nothing back.
  pipeline.consumerWait();
  out[4 * t + 2] = own[2]!;
  pipeline.consumerWait();
  out[4 * t + 3] = own[3]!;
  cuda.pipelineConsumerWaitPrior(pipeline, 0);
});

/** More commits under way than the hardware counts. */
const many = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  const each = 20;
  const staged = cuda.sharedArray('i32', each * cuda.thisThreadBlock().size());
  const own = staged.subarray(each * t);
  const pipeline = cuda.makePipeline();
  for (let batch = 0; batch < each; batch++) {
    cuda.memcpyAsync(own.subarray(batch), input.subarray(each * t + batch), 1, pipeline);
    pipeline.producerCommit();
  }
  for (let batch = 0; batch < each; batch++) {
    pipeline.consumerWait();
    out[each * t + batch] = own[batch]!;
  }
});

export const stageCases: Cases = [
  ofStages(1, 24),
  ofStages(2, 29),
  ofStages(3, 8 * 40 + 1),
  ofStages(5, 7),
  ofStages(255, 8 * 600 + 3),
  {
    name: 'empty commits',
    kernel: empty,
    grid: 1,
    block: 4,
    data: { out: new Int32Array(24), input: counting(24), batches: 6 },
    expected: {
      out: integers(24, (i) => {
        const batch = Math.floor(i / 4);
        const copied = batch < 2 ? -1 : batch < 5 ? 2 : 5;
        return copied < 0 ? -1 : 100 + 4 * copied + 3 - (i % 4);
      }),
    },
  },
  {
    name: 'block scope: a wait looks at the stage, and leaves it',
    kernel: peeks,
    grid: 1,
    block: 8,
    data: { out: new Int32Array(16), input: counting(16) },
    expected: { out: integers(16, (i) => 100 + (i - (i % 8)) + 7 - (i % 8)) },
    findings: ['WS7017'],
  },
  {
    name: 'thread scope: a wait takes the batch',
    kernel: pops,
    grid: 1,
    block: 8,
    data: { out: new Int32Array(24), input: counting(24) },
    expected: { out: counting(24) },
  },
  {
    name: 'thread scope: all but the youngest commits',
    kernel: prior,
    grid: 1,
    block: 8,
    data: { out: new Int32Array(32), input: counting(32) },
    expected: { out: counting(32) },
  },
  {
    name: 'thread scope: more commits than the hardware counts',
    kernel: many,
    grid: 1,
    block: 4,
    data: { out: new Int32Array(80), input: counting(80) },
    expected: { out: counting(80) },
  },
];
