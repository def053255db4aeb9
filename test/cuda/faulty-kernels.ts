// Kernels that fail in every way that a checked kernel tells of, and some that print, wait or never end.

import { type Kernel, kernel } from 'warpstage';

export const schema = { y: 'i32[]', x: 'readonly i32[]', n: 'index' } as const;
export const grid = 3;
export const block = 64;

/** Kernels that assert what does not hold. */
export const asserting = {
  'an assertion': kernel(schema, ({ y, x, n }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    cuda.assert(i * 2 < 100 + n, `${cuda.f32(x[0]! + 1) / 4} and ${n === 0}`);
    y[i] = 1;
  }),
  'an assertion before others wait': kernel(schema, ({ y, x }, cuda) => {
    const group = cuda.thisThreadBlock();
    const t = group.threadRank();
    const shared = cuda.sharedArray('i32', 64);
    const pipeline = cuda.makePipeline(
      group,
      cuda.pipelineSharedState('block', 2),
      t < 32 ? 'producer' : 'consumer',
    );
    for (let batch = 0; batch < 6; batch++) {
      const stage = (batch % 2) * 32;
      if (t < 32) {
        cuda.assert(t !== 7 || batch < 4, 'the seventh gives up');
        pipeline.producerAcquire();
        cuda.memcpyAsync(shared.subarray(stage + t), x.subarray(t), 1, pipeline);
        pipeline.producerCommit();
      } else {
        pipeline.consumerWait();
        y[t] = shared[stage + t - 32]!;
        pipeline.consumerRelease();
      }
    }
  }),
} as const;

/** Each fails for some thread; y has 192 elements, x 100, n is 0. */
export const faulty = {
  ...asserting,
  read: kernel(schema, ({ y, x }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    y[i] = x[i]!;
  }),
  'write below the beginning': kernel(schema, ({ y, n }, cuda) => {
    y[n - 1 - cuda.threadIdx.x] = 1;
  }),
  'read and write': kernel(schema, ({ y }, cuda) => {
    y[cuda.thisGrid().threadRank() * 3]! += 1;
  }),
  'an index that wraps': kernel(schema, ({ y }, cuda) => {
    y[(cuda.thisGrid().threadRank() + 1) * 1073741824] = 1;
  }),
  atomic: kernel(schema, ({ y, x }, cuda) => {
    cuda.atomicAdd(y, x[0]! + cuda.thisGrid().threadRank() + 150, 1);
  }),
  'a copy by one of many producers': kernel(schema, ({ y, x }, cuda) => {
    const group = cuda.thisThreadBlock();
    const t = group.threadRank();
    const own = Math.trunc(t / 2);
    const shared = cuda.sharedArray('i32', 64);
    const role = t % 2 === 0 ? 'producer' : 'consumer';
    const pipeline = cuda.makePipeline(group, cuda.pipelineSharedState('block', 2), role);
    for (let batch = 0; batch < 4; batch++) {
      const stage = (batch % 2) * 32;
      if (t % 2 === 0) {
        pipeline.producerAcquire();
        cuda.memcpyAsync(shared.subarray(stage + own), x.subarray(batch * 32 + own), 1, pipeline);
        pipeline.producerCommit();
      } else {
        pipeline.consumerWait();
        y[own] = shared[stage + own]!;
        pipeline.consumerRelease();
      }
    }
  }),
  'a store by one of many consumers': kernel(schema, ({ y, x }, cuda) => {
    const group = cuda.thisThreadBlock();
    const t = group.threadRank();
    const own = Math.trunc(t / 2);
    const shared = cuda.sharedArray('i32', 64);
    const role = t % 2 === 0 ? 'producer' : 'consumer';
    const pipeline = cuda.makePipeline(group, cuda.pipelineSharedState('block', 2), role);
    for (let batch = 0; batch < 3; batch++) {
      const stage = (batch % 2) * 32;
      if (t % 2 === 0) {
        pipeline.producerAcquire();
        cuda.memcpyAsync(shared.subarray(stage + own), x.subarray(batch * 32 + own), 1, pipeline);
        pipeline.producerCommit();
      } else {
        pipeline.consumerWait();
        y[own + (batch === 2 ? 180 : 0)] = shared[stage + own]!;
        pipeline.consumerRelease();
      }
    }
  }),
  'shared array': kernel(schema, ({ y }, cuda) => {
    const shared = cuda.sharedArray('i32', 32);
    shared[cuda.threadIdx.x] = 1;
    cuda.syncthreads();
    y[cuda.threadIdx.x] = shared[0]!;
  }),
  'local array': kernel(schema, ({ y }, cuda) => {
    const own = cuda.localArray('i32', 8);
    own[cuda.threadIdx.x] = 1;
    y[cuda.threadIdx.x] = own[0]!;
  }),
  'integer division': kernel(schema, ({ y, x, n }, cuda) => {
    const i = cuda.threadIdx.x;
    y[i] = Math.trunc(7 / (x[n]! + i - 2));
  }),
  remainder: kernel(schema, ({ y, n }, cuda) => {
    y[cuda.threadIdx.x] = cuda.i32(7 % n);
  }),
  'behind a branch': kernel(schema, ({ y, x }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i % 70 === 69 && x[i + 40]! === 0) y[i] = 1;
  }),
  'in a loop': kernel(schema, ({ y, x }, cuda) => {
    let sum = 0;
    for (let i = 0; i <= x.length; i++) sum += x[i]!;
    y[cuda.threadIdx.x] = sum;
  }),
  'before others wait for the block': kernel(schema, ({ y, x }, cuda) => {
    const t = cuda.threadIdx.x;
    if (t === 40) y[t] = x[t + 100]!;
    for (let round = 0; round < 20; round++) cuda.syncthreads();
  }),
  'before others wait for the tile': kernel(schema, ({ y, x }, cuda) => {
    const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 32);
    const t = cuda.threadIdx.x;
    if (t === 40) y[t] = x[t + 100]!;
    for (let round = 0; round < 20; round++) tile.sync();
  }),
  'before others wait at a barrier': kernel(schema, ({ y, x }, cuda) => {
    const barrier = cuda.barrier(cuda.thisThreadBlock());
    const t = cuda.threadIdx.x;
    if (t === 40) y[t] = x[t + 100]!;
    for (let round = 0; round < 20; round++) barrier.arriveAndWait();
  }),
  'before others wait for values': kernel(schema, ({ y, x }, cuda) => {
    const t = cuda.threadIdx.x;
    if (t === 40) y[t] = x[t + 100]!;
    for (let round = 0; round < 20; round++) y[t] = cuda.shflXorSync(0xffffffff, t, 1);
  }),
  'a producer': kernel(schema, ({ y, x }, cuda) => {
    const group = cuda.thisThreadBlock();
    const t = group.threadRank();
    const shared = cuda.sharedArray('i32', 64);
    const pipeline = cuda.makePipeline(
      group,
      cuda.pipelineSharedState('block', 2),
      t < 32 ? 'producer' : 'consumer',
    );
    for (let batch = 0; batch < 6; batch++) {
      const stage = (batch % 2) * 32;
      if (t < 32) {
        pipeline.producerAcquire();
        cuda.memcpyAsync(shared.subarray(stage + t), x.subarray(t === 4 ? batch * 34 : t), 1, pipeline);
        pipeline.producerCommit();
      } else {
        pipeline.consumerWait();
        y[t] = shared[stage + t - 32]!;
        pipeline.consumerRelease();
      }
    }
  }),
  'a consumer': kernel(schema, ({ y, x }, cuda) => {
    const group = cuda.thisThreadBlock();
    const t = group.threadRank();
    const shared = cuda.sharedArray('i32', 64);
    const pipeline = cuda.makePipeline(
      group,
      cuda.pipelineSharedState('block', 2),
      t < 32 ? 'producer' : 'consumer',
    );
    for (let batch = 0; batch < 6; batch++) {
      const stage = (batch % 2) * 32;
      if (t < 32) {
        pipeline.producerAcquire();
        cuda.memcpyAsync(shared.subarray(stage + t), x.subarray(t), 1, pipeline);
        pipeline.producerCommit();
      } else {
        pipeline.consumerWait();
        y[t === 40 ? batch * 60 : t] = shared[stage + t - 32]!;
        pipeline.consumerRelease();
      }
    }
  }),
  'a copy of the block': kernel(schema, ({ y, x }, cuda) => {
    const group = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', 128);
    const pipeline = cuda.makePipeline(group, cuda.pipelineSharedState('block', 2));
    for (let batch = 0; batch < 4; batch++) {
      pipeline.producerAcquire();
      const stage = (batch % 2) * 64;
      cuda.memcpyAsync(group, shared.subarray(stage), x.subarray(batch * 64), 64, pipeline);
      pipeline.producerCommit();
      pipeline.consumerWait();
      y[group.threadRank()] = shared[stage + group.threadRank()]!;
      pipeline.consumerRelease();
    }
  }),
  'a copy to beyond the end': kernel(schema, ({ y, x }, cuda) => {
    const group = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', 66);
    const pipeline = cuda.makePipeline(group, cuda.pipelineSharedState('block', 1));
    pipeline.producerAcquire();
    cuda.memcpyAsync(group, shared.subarray(3), x, 64, pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    y[group.threadRank()] = shared[group.threadRank()]!;
    pipeline.consumerRelease();
  }),
  'a copy of a negative count': kernel(schema, ({ y, x, n }, cuda) => {
    const group = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', 64);
    const pipeline = cuda.makePipeline(group, cuda.pipelineSharedState('block', 1));
    pipeline.producerAcquire();
    cuda.memcpyAsync(group, shared, x, n - 4, pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    y[group.threadRank()] = shared[0]!;
    pipeline.consumerRelease();
  }),
  'a copy less aligned than promised': kernel(schema, ({ y, x, n }, cuda) => {
    const group = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', 64);
    const pipeline = cuda.makePipeline(group, cuda.pipelineSharedState('block', 1));
    pipeline.producerAcquire();
    cuda.memcpyAsync(group, shared, x.subarray(n + 2), cuda.alignedSize(16, 32), pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    y[group.threadRank()] = shared[0]!;
    pipeline.consumerRelease();
  }),
  'a copy to a barrier': kernel(schema, ({ y, x }, cuda) => {
    const group = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('i32', 64);
    const barrier = cuda.barrier(group);
    cuda.memcpyAsync(group, shared, x.subarray(group.groupIndex().x * 64), 64, barrier);
    barrier.wait(barrier.arrive());
    y[group.threadRank()] = shared[group.threadRank()]!;
  }),
  'a copy of each thread': kernel(schema, ({ y, x }, cuda) => {
    const shared = cuda.sharedArray('i32', 64);
    const pipeline = cuda.makePipeline();
    const t = cuda.threadIdx.x;
    cuda.memcpyAsync(shared.subarray(t), x.subarray(t + 50), 1, pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    y[t] = shared[t]!;
  }),
  'one of an array of barriers': kernel(schema, ({ y, n }, cuda) => {
    const barriers = cuda.barrierArray(cuda.thisThreadBlock(), 3);
    barriers[n + 3]!.arriveAndWait();
    y[0] = 1;
  }),
} as const satisfies Record<string, Kernel<typeof schema>>;

export const sumOfGrid = kernel(schema, ({ y, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  for (let round = 0; round < 20; round++) {
    if (round === 10 && i === 130) y[i] = x[i]!;
    cuda.thisGrid().sync();
  }
  y[i] = 1;
});

export const print = kernel(
  { y: 'f64[]', wide: 'i64', wider: 'u64', half: 'readonly f16[]' },
  ({ y, wide, wider, half }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i === 0) {
      console.log('100 %', y[0], y[1], y[2], cuda.f32(y[3]!), i > 0, wide, wider, half[0]);
      console.log();
      console.log('ünï', -7, cuda.u32(4294967295), cuda.f32(0.1), cuda.f64(1e21));
    }
  },
);

export const bursts = kernel({ y: 'i32[]', rounds: 'i32' }, ({ y, rounds }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  for (let round = 0; round < rounds; round++) console.log(i, round, y[0]);
});

export const endless = kernel({ y: 'i32[]' }, ({ y }) => {
  while (y[0] === 0) y[1] = 1;
});

export const stuck = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
  const group = cuda.thisThreadBlock();
  const shared = cuda.sharedArray('i32', group.size());
  const pipeline = cuda.makePipeline(group, cuda.pipelineSharedState('block', 1));
  const t = group.threadRank();
  pipeline.producerAcquire();
  if (t > 0) pipeline.producerCommit();
  pipeline.consumerWait();
  y[t] = shared[t]!;
  pipeline.consumerRelease();
});
