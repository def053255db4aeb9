// Who takes part: all forms of makePipeline, roles, tiles, several pipelines, and how they are left.

import { deviceFunction, kernel } from 'warpstage';
import { type Case, type Cases, counting, integers } from '../case.ts';
import { tileCases } from './tiles.ts';

/** What follows from the rank of a role's threads is computed as anything else is: rounded to 16 bits, too. */
const rounded = kernel({ out: 'f32[]', input: 'readonly f32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const half = Math.trunc(t / 32);
  const staged = cuda.sharedArray('f32', 32);
  const state = cuda.pipelineSharedState('block', 1);
  const pipeline = cuda.makePipeline(block, state, half === 0 ? 'producer' : 'consumer');
  if (half === 0) {
    pipeline.producerAcquire();
    cuda.memcpyAsync(staged.subarray(t), input.subarray(t), 1, pipeline);
    out[t] = cuda.f16(cuda.f32(half) + 0.1);
    pipeline.producerCommit();
  } else {
    pipeline.consumerWait();
    out[t] = staged[t - 32]! + cuda.bf16(cuda.f32(half) * 0.3);
    pipeline.consumerRelease();
  }
  pipeline.quit();
});

/**
 * First the odd ranks produce, by role; then, on the same shared state, the first half of the threads, by
 * their number. Each producer copies its own part of a batch, alone.
 */
const twice = kernel(
  {
    out: 'i32[]',
    input: 'readonly i32[]',
    quits: 'i32[]',
    stages: 'constant index',
    scope: 'constant index',
  },
  ({ out, input, quits, stages, scope }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const half = Math.trunc(block.size() / 2);
    const staged = cuda.sharedArray('i32', stages * half);
    const state = cuda.pipelineSharedState(scope === 0 ? 'block' : scope === 1 ? 'device' : 'system', stages);

    const odd = cuda.makePipeline(block, state, t % 2 === 1 ? 'producer' : 'consumer');
    const own = Math.trunc(t / 2);
    for (let batch = 0; batch < 3; batch++) {
      const slot = (batch % stages) * half + own;
      if (t % 2 === 1) {
        odd.producerAcquire();
        cuda.memcpyAsync(staged.subarray(slot), input.subarray(batch * half + own), 1, odd);
        odd.producerCommit();
      } else {
        odd.consumerWait();
        out[batch * half + own] = staged[slot]! + 1;
        odd.consumerRelease();
      }
    }
    if (odd.quit()) cuda.atomicAdd(quits, 0, 1);
    block.sync();

    const low = cuda.makePipeline(block, state, half);
    for (let batch = 0; batch < 3; batch++) {
      const slot = (batch % stages) * half + (t % half);
      if (t < half) {
        low.producerAcquire();
        cuda.memcpyAsync(staged.subarray(slot), input.subarray((3 + batch) * half + t), 1, low);
        low.producerCommit();
      } else {
        low.consumerWait();
        out[(3 + batch) * half + (t - half)] = staged[slot]! + 2;
        low.consumerRelease();
      }
    }
    if (low.quit()) cuda.atomicAdd(quits, 1, 1);
  },
);

const remade: Cases = [0, 1, 2].flatMap((scope) =>
  [1, 8].map((stages): Case => {
    const half = 32;
    return {
      name: `roles, then a count, on one state: ${stages} stages, ${['block', 'device', 'system'][scope]} scope`,
      kernel: twice,
      grid: 1,
      block: 2 * half,
      data: {
        out: new Int32Array(6 * half),
        input: counting(6 * half),
        quits: new Int32Array(2),
        stages,
        scope,
      },
      expected: {
        out: integers(6 * half, (i) => 100 + i + (i < 3 * half ? 1 : 2)),
        quits: Int32Array.of(1, 1),
      },
    };
  }),
);

/** One pipeline, made anew in every round with other roles; nobody quits in the odd rounds. */
const again = kernel({ out: 'i32[]', quits: 'i32[]', rounds: 'i32' }, ({ out, quits, rounds }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const staged = cuda.sharedArray('i32', 1);
  const state = cuda.pipelineSharedState('block', 2);
  for (let round = 0; round < rounds; round++) {
    const isProducer = t === round % block.size();
    const pipeline = cuda.makePipeline(block, state, isProducer ? 'producer' : 'consumer');
    if (isProducer) {
      pipeline.producerAcquire();
      staged[0] = 10 * round;
      pipeline.producerCommit();
    } else {
      pipeline.consumerWait();
      cuda.atomicAdd(out, round, staged[0]!);
      pipeline.consumerRelease();
    }
    if (pipeline.quit()) cuda.atomicAdd(quits, round, 1);
    block.sync();
  }
});

/** Lanes release at different times, and the stage is not refilled before the last of them has. */
const divergent = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const size = block.size();
  const batches = Math.trunc(input.length / size);
  const staged = cuda.sharedArray('i32', 2 * size);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
  for (let batch = 0, next = 0; batch < batches; batch++) {
    for (; next < batches && next < batch + 2; next++) {
      pipeline.producerAcquire();
      cuda.memcpyAsync(
        block,
        staged.subarray((next % 2) * size),
        input.subarray(next * size),
        size,
        pipeline,
      );
      pipeline.producerCommit();
    }
    pipeline.consumerWait();
    // Another thread's element, so that a copy that comes too early or too late shows.
    out[batch * size + t] = staged[(batch % 2) * size + (size - 1 - t)]!;
    cuda.nanosleep(t * 10);
    pipeline.consumerRelease();
  }
});

/** All four forms, with a plain count and a promised alignment of one byte. */
const forms = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const size = block.size();
  const staged = cuda.sharedArray('i32', 4 * size);
  const own = cuda.makePipeline();
  const unified = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
  const byRole = cuda.makePipeline(
    block,
    cuda.pipelineSharedState('block', 1),
    t === 0 ? 'producer' : 'consumer',
  );
  const byCount = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1), 1);

  cuda.memcpyAsync(staged.subarray(t), input.subarray(t), cuda.alignedSize(1, 1), own);
  own.producerCommit();
  own.consumerWait();
  out[t] = staged[t]!;

  unified.producerAcquire();
  cuda.memcpyAsync(block, staged.subarray(size), input, cuda.alignedSize(1, size), unified);
  unified.producerCommit();
  unified.consumerWait();
  out[size + t] = staged[2 * size - 1 - t]!;
  unified.consumerRelease();

  if (t === 0) {
    byRole.producerAcquire();
    cuda.memcpyAsync(staged.subarray(2 * size), input, size, byRole);
    byRole.producerCommit();
    byCount.producerAcquire();
    cuda.memcpyAsync(staged.subarray(3 * size), input, cuda.alignedSize(1, size), byCount);
    byCount.producerCommit();
  } else {
    byRole.consumerWait();
    out[2 * size + t] = staged[2 * size + t]!;
    byRole.consumerRelease();
    byCount.consumerWait();
    out[3 * size + t] = staged[3 * size + t]!;
    byCount.consumerRelease();
  }
});

/** A thread leaves the kernel early without having quit; its share of the quitting is done all the same. */
const early = kernel({ out: 'i32[]', quits: 'i32[]' }, ({ out, quits }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const pipeline = cuda.makePipeline(
    block,
    cuda.pipelineSharedState('block', 1),
    t === 0 ? 'producer' : 'consumer',
  );
  if (t === 0) {
    pipeline.producerAcquire();
    pipeline.producerCommit();
    return;
  }
  pipeline.consumerWait();
  out[t] = t;
  pipeline.consumerRelease();
  if (t === 1) return;
  pipeline.quit();
  cuda.atomicAdd(quits, 0, 1);
});

/** Device functions take the handle of a pipeline, and pass it on. */
const fill = deviceFunction(
  { pipeline: 'pipeline', to: 'i32[]', from: 'readonly i32[]' },
  ({ pipeline, to, from }, cuda) => {
    const block = cuda.thisThreadBlock();
    pipeline.producerAcquire();
    cuda.memcpyAsync(block, to, from, block.size(), pipeline);
    pipeline.producerCommit();
  },
);
const stage = deviceFunction(
  { pipeline: 'pipeline', out: 'i32[]', staged: 'i32[]', from: 'readonly i32[]', fill },
  ({ pipeline, out, staged, from, fill }, cuda) => {
    fill({ pipeline, to: staged, from });
    pipeline.consumerWait();
    const t = cuda.thisThreadBlock().threadRank();
    out[t] = staged[cuda.thisThreadBlock().size() - 1 - t]!;
    pipeline.consumerRelease();
    return pipeline.quit();
  },
);
const handed = kernel(
  { out: 'i32[]', input: 'readonly i32[]', quits: 'i32[]', stage },
  ({ out, input, quits, stage }, cuda) => {
    const block = cuda.thisThreadBlock();
    const staged = cuda.sharedArray('i32', block.size());
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    if (stage({ pipeline, out, staged, from: input })) cuda.atomicAdd(quits, 0, 1);
  },
);

export const roleCases: Cases = [
  ...remade,
  {
    name: 'made anew in a loop',
    kernel: again,
    grid: 2,
    block: 6,
    data: { out: new Int32Array(9), quits: new Int32Array(9), rounds: 9 },
    expected: { out: integers(9, (i) => 2 * 5 * 10 * i), quits: integers(9, () => 2) },
  },
  {
    name: 'lanes that release at different times',
    kernel: divergent,
    grid: 1,
    block: 256,
    data: { out: new Int32Array(2560), input: counting(2560) },
    expected: { out: integers(2560, (i) => 100 + (i - (i % 256)) + 255 - (i % 256)) },
  },
  {
    name: 'all four forms, with plain and aligned sizes',
    kernel: forms,
    grid: 1,
    block: 8,
    data: { out: new Int32Array(32), input: counting(8) },
    expected: {
      out: integers(32, (i) => {
        const t = i % 8;
        if (i < 8) return 100 + t;
        if (i < 16) return 107 - t;
        return t === 0 ? 0 : 100 + t;
      }),
    },
  },
  ...tileCases,
  {
    name: 'left without quit, by a producer and by a consumer',
    kernel: early,
    grid: 2,
    block: 4,
    data: { out: new Int32Array(4), quits: new Int32Array(1) },
    expected: { out: Int32Array.of(0, 1, 2, 3), quits: Int32Array.of(4) },
  },
  {
    name: 'roles, and floats of 16 bits that follow from the rank',
    kernel: rounded,
    grid: 1,
    block: 64,
    data: { out: new Float32Array(64), input: Float32Array.from({ length: 32 }, (_, i) => i) },
    expected: {
      out: Float32Array.from({ length: 64 }, (_, t) => (t < 32 ? 0.0999755859375 : t - 32 + 0.30078125)),
    },
  },
  {
    name: 'the handle in a device function',
    kernel: handed,
    grid: 3,
    block: 32,
    data: { out: new Int32Array(32), input: counting(32), quits: new Int32Array(1) },
    expected: { out: integers(32, (t) => 131 - t), quits: Int32Array.of(3) },
  },
];
