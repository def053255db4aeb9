// Kernels in which subsets of a block, of threads of any warps, meet, exchange values, copy, and share pipelines and barriers.

import { kernel } from 'warpstage';

const schema = { out: 'i32[]', x: 'readonly i32[]', flags: 'readonly i32[]' } as const;
/** Batches of each subset. */
export const batches = 5;
/** The most threads of a block. */
export const most = 128;

/** Ranks, sizes, votes and sums; each thread notes its own. */
export const collectives = kernel({ ...schema, f: 'f32[]' }, ({ out, x, flags, f }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const own = cuda.binaryPartition(block, flags[t]! > 0);
  const v = x[t]!;
  let at = t * 8;
  out[at++] = own.threadRank();
  out[at++] = own.size();
  out[at++] = cuda.cg.reduce(own, v, 'plus');
  out[at++] = cuda.cg.reduce(own, v, 'less');
  out[at++] = cuda.cg.inclusiveScan(own, v, 'plus');
  out[at++] = cuda.cg.exclusiveScan(own, v, 'greater');
  out[at++] = own.any(v % 7 === 0) ? 1 : 0;
  out[at++] = own.all(v % 7 !== 1) ? 1 : 0;
  f[t] = cuda.cg.reduce(own, cuda.f32(v) / 3, 'plus');
});

/** Each tells the next of its subset what it has, through shared memory, after a sync. */
export const neighbours = kernel(schema, ({ out, x, flags }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 2 * 128);
  const flag = flags[t]! > 0;
  const own = cuda.binaryPartition(block, flag);
  const first = flag ? 0 : 128;
  let sum = 0;
  for (let batch = 0; batch < 5; ++batch) {
    shared[first + own.threadRank()] = x[128 * batch + t]!;
    own.sync();
    sum = sum * 3 + shared[first + ((own.threadRank() + 1) % own.size())]!;
    own.sync();
  }
  out[t] = sum;
});

/** Only one half goes on: the other has ended, or does something else. */
export const oneHalf = kernel(schema, ({ out, x, flags }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 128);
  const flag = flags[t]! > 0;
  const own = cuda.binaryPartition(block, flag);
  if (!flag) {
    out[t] = -1;
    return;
  }
  const pipe = cuda.makePipeline(own, cuda.pipelineSharedState('block', 1));
  pipe.producerAcquire();
  cuda.memcpyAsync(own, shared, x, own.size(), pipe);
  pipe.producerCommit();
  pipe.consumerWait();
  out[t] = shared[own.size() - 1 - own.threadRank()]!;
  pipe.consumerRelease();
});

/** Every thread fills and uses: what it reads another thread of its subset has copied. */
export const unified = kernel(schema, ({ out, x, flags }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 4 * 128);
  const flag = flags[t]! > 0;
  const own = cuda.binaryPartition(block, flag);
  const pipe = cuda.makePipeline(own, cuda.pipelineSharedState('block', 2));
  const mine = shared.subarray(flag ? 0 : 256);
  const next = (own.threadRank() + 1) % own.size();
  let sum = 0;
  let filled = 0;
  for (let batch = 0; batch < 5; ++batch) {
    for (; filled < 5 && filled < batch + 2; ++filled) {
      pipe.producerAcquire();
      cuda.memcpyAsync(
        mine.subarray((filled % 2) * 128 + own.threadRank()),
        x.subarray(128 * filled + t),
        1,
        pipe,
      );
      pipe.producerCommit();
    }
    pipe.consumerWait();
    sum = sum * 3 + mine[(batch % 2) * 128 + next]!;
    pipe.consumerRelease();
  }
  pipe.quit();
  out[t] = sum;
});

/** The lower half of each subset copies for its upper half, by roles or by their number; a thread alone does without. */
export const roles = kernel(
  { ...schema, byRole: 'constant bool = true' },
  ({ out, x, flags, byRole }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const shared = cuda.sharedArray('i32', 4 * 128);
    const flag = flags[t]! > 0;
    const own = cuda.binaryPartition(block, flag);
    const rank = own.threadRank();
    const half = Math.trunc(own.size() / 2);
    const state = cuda.pipelineSharedState('block', 2);
    const mine = shared.subarray(flag ? 0 : 256);
    let sum = -1;
    if (half > 0) {
      const pipe = byRole
        ? cuda.makePipeline(own, state, rank < half ? 'producer' : 'consumer')
        : cuda.makePipeline(own, state, half);
      for (let batch = 0; batch < 5; ++batch) {
        const stage = mine.subarray((batch % 2) * 128);
        if (rank < half) {
          pipe.producerAcquire();
          cuda.memcpyAsync(stage.subarray(rank), x.subarray(128 * batch + t), 1, pipe);
          pipe.producerCommit();
        } else {
          pipe.consumerWait();
          sum = sum * 3 + stage[rank % half]!;
          pipe.consumerRelease();
        }
      }
    }
    out[t] = sum;
  },
);

/** Other subsets each time over one state, with barriers of theirs; all quit, and the block meets, before the next. */
export const remade = kernel({ ...schema, last: 'i32[]' }, ({ out, x, flags, last }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 2 * 128);
  const state = cuda.pipelineSharedState('block', 1);
  let sum = 0;
  for (let turn = 0; turn < 3; ++turn) {
    const flag = ((flags[t]! >> turn) & 1) === 1;
    const own = cuda.binaryPartition(block, flag);
    const mine = shared.subarray(flag ? 0 : 128);
    const next = (own.threadRank() + 1) % own.size();
    const barrier = cuda.barrier(own);
    const pipe = cuda.makePipeline(own, state);
    pipe.producerAcquire();
    cuda.memcpyAsync(mine.subarray(own.threadRank()), x.subarray(128 * turn + t), 1, pipe);
    pipe.producerCommit();
    pipe.consumerWait();
    sum = sum * 3 + mine[next]!;
    pipe.consumerRelease();
    barrier.arriveAndWait();
    if (pipe.quit()) cuda.atomicAdd(last, 2 * turn + (flag ? 1 : 0), 1);
    block.sync();
  }
  out[t] = sum;
});

/** A copy that the subset waits for together, and two by its lowest thread, each to a barrier of an array. */
export const copies = kernel(schema, ({ out, x, flags }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 2 * 128);
  const flag = flags[t]! > 0;
  const own = cuda.binaryPartition(block, flag);
  const mine = shared.subarray(flag ? 0 : 128);
  const full = cuda.barrierArray(own, 2, 1);
  cuda.cg.memcpyAsync(own, mine, x.subarray(flag ? 3 : 128), own.size());
  cuda.cg.wait(own);
  let sum = mine[own.size() - 1 - own.threadRank()]!;
  own.sync();
  for (let turn = 0; turn < 2; ++turn) {
    if (own.threadRank() === 0) {
      cuda.memcpyAsync(mine, x.subarray((flag ? 256 : 300) + turn), own.size(), full[turn]!);
      full[turn]!.arrive();
    }
    full[turn]!.waitParity(0);
    sum = sum * 3 + mine[own.threadRank()]!;
    own.sync();
  }
  out[t] = sum;
});
