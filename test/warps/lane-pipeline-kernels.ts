// Kernels in which groups of any lanes share a pipeline or a barrier.

import { kernel } from 'warpstage';

const schema = { out: 'i32[]', x: 'readonly i32[]', labels: 'readonly i32[]' } as const;
/** Batches of each group. */
export const batches = 5;

/** Every lane fills and uses: what it reads another lane of its group has copied. */
export const unified = kernel(schema, ({ out, x, labels }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  const shared = cuda.sharedArray('i32', 2 * 64);
  const group = cuda.labeledPartition(cuda.tiledPartition(cuda.thisThreadBlock(), 32), labels[t]!);
  const pipe = cuda.makePipeline(group, cuda.pipelineSharedState('block', 2));
  const next = group.shfl(t, (group.threadRank() + 1) % group.size());
  let sum = 0;
  let filled = 0;
  for (let batch = 0; batch < 5; ++batch) {
    for (; filled < 5 && filled < batch + 2; ++filled) {
      pipe.producerAcquire();
      cuda.memcpyAsync(shared.subarray((filled % 2) * 64 + t), x.subarray(64 * filled + t), 1, pipe);
      pipe.producerCommit();
    }
    pipe.consumerWait();
    sum = sum * 3 + shared[(batch % 2) * 64 + next]!;
    pipe.consumerRelease();
  }
  pipe.quit();
  out[t] = sum;
});

/** The lower half of each group copies for its upper half, by roles or by their number; a lane alone does without. */
export const roles = kernel(
  { ...schema, byRole: 'constant bool = true' },
  ({ out, x, labels, byRole }, cuda) => {
    const t = cuda.thisThreadBlock().threadRank();
    const shared = cuda.sharedArray('i32', 3 * 64);
    const group = cuda.labeledPartition(cuda.tiledPartition(cuda.thisThreadBlock(), 32), labels[t]!);
    const rank = group.threadRank();
    const half = Math.trunc(group.size() / 2);
    const state = cuda.pipelineSharedState('block', 3);
    let sum = -1;
    if (half > 0) {
      const from = group.shfl(t, rank % half);
      const pipe = byRole
        ? cuda.makePipeline(group, state, rank < half ? 'producer' : 'consumer')
        : cuda.makePipeline(group, state, half);
      for (let batch = 0; batch < 5; ++batch) {
        const stage = shared.subarray((batch % 3) * 64);
        if (rank < half) {
          pipe.producerAcquire();
          cuda.memcpyAsync(stage.subarray(t), x.subarray(64 * batch + t), 1, pipe);
          pipe.producerCommit();
        } else {
          pipe.consumerWait();
          sum = sum * 3 + stage[from]!;
          pipe.consumerRelease();
        }
      }
    }
    out[t] = sum;
  },
);

/** Phases of a barrier of each group, by tokens; lanes arrive in the order of other groups' work. */
export const barriers = kernel(schema, ({ out, x, labels }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  const shared = cuda.sharedArray('i32', 64);
  const group = cuda.labeledPartition(cuda.tiledPartition(cuda.thisThreadBlock(), 32), labels[t]!);
  const barrier = cuda.barrier(group);
  const next = group.shfl(t, (group.threadRank() + 1) % group.size());
  let sum = 0;
  for (let batch = 0; batch < 5; ++batch) {
    shared[t] = x[64 * batch + t]!;
    const token = barrier.arrive();
    barrier.wait(token);
    sum = sum * 3 + shared[next]!;
    barrier.arriveAndWait();
  }
  out[t] = sum;
});

/** An array of barriers for which the lowest lane copies: full and empty, with numbers of arrivals. */
export const barrierArrays = kernel(schema, ({ out, x, labels }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  const shared = cuda.sharedArray('i32', 2 * 64);
  const group = cuda.labeledPartition(cuda.tiledPartition(cuda.thisThreadBlock(), 32), labels[t]!);
  const leader = group.shfl(t, 0);
  const full = cuda.barrierArray(group, 2, 1);
  const empty = cuda.barrierArray(group, 2, group.size());
  let sum = 0;
  for (let batch = 0; batch < 5; ++batch) {
    const stage = batch % 2;
    if (group.threadRank() === 0) {
      if (batch > 1) empty[stage]!.waitParity((Math.trunc(batch / 2) + 1) % 2);
      cuda.memcpyAsync(shared.subarray(stage * 64 + t), x.subarray(64 * batch + t), 1, full[stage]!);
      full[stage]!.arrive();
    }
    full[stage]!.waitParity(Math.trunc(batch / 2) % 2);
    sum = sum * 3 + shared[stage * 64 + leader]!;
    empty[stage]!.arrive();
  }
  out[t] = sum;
});

/** Other groups each time over one state, and one barrier: all quit, and meet, before the next are made. */
export const remade = kernel({ ...schema, last: 'i32[]' }, ({ out, x, labels, last }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const warp = cuda.tiledPartition(block, 32);
  const shared = cuda.sharedArray('i32', 64);
  const state = cuda.pipelineSharedState('block', 1);
  let sum = 0;
  for (let turn = 0; turn < 3; ++turn) {
    const group = cuda.binaryPartition(warp, ((labels[t]! >> turn) & 1) === 1);
    const next = group.shfl(t, (group.threadRank() + 1) % group.size());
    const barrier = cuda.barrier(group);
    const pipe = cuda.makePipeline(group, state);
    pipe.producerAcquire();
    cuda.memcpyAsync(shared.subarray(t), x.subarray(64 * turn + t), 1, pipe);
    pipe.producerCommit();
    pipe.consumerWait();
    sum = sum * 3 + shared[next]!;
    pipe.consumerRelease();
    barrier.arriveAndWait();
    const leader = group.shfl(t, 0);
    if (pipe.quit()) cuda.atomicAdd(last, 3 * leader + turn, 1);
    warp.sync();
  }
  out[t] = sum;
});

/** The same groups each time, which need no more between two turns than that all make the next one together. */
export const again = kernel(schema, ({ out, x, labels }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  const shared = cuda.sharedArray('i32', 64);
  const group = cuda.labeledPartition(cuda.tiledPartition(cuda.thisThreadBlock(), 32), labels[t]!);
  const next = group.shfl(t, (group.threadRank() + 1) % group.size());
  const state = cuda.pipelineSharedState('block', 1);
  let sum = 0;
  for (let batch = 0; batch < 5; ++batch) {
    const pipe = cuda.makePipeline(group, state);
    pipe.producerAcquire();
    cuda.memcpyAsync(shared.subarray(t), x.subarray(64 * batch + t), 1, pipe);
    pipe.producerCommit();
    pipe.consumerWait();
    sum = sum * 3 + shared[next]!;
    pipe.consumerRelease();
    pipe.quit();
  }
  out[t] = sum;
});

/** Of the lanes that happen to be there: whoever they are, they fill a place of theirs. */
export const coalesced = kernel({ out: 'i32[]', x: 'readonly i32[]' }, ({ out, x }, cuda) => {
  const t = cuda.threadIdx.x;
  const shared = cuda.sharedArray('i32', 40);
  if (t % 3 > 0) {
    const group = cuda.coalescedThreads();
    const pipe = cuda.makePipeline(group, cuda.pipelineSharedState('block', 1));
    const next = group.shfl(t, (group.threadRank() + 1) % group.size());
    pipe.producerAcquire();
    shared[t] = x[t]!;
    pipe.producerCommit();
    pipe.consumerWait();
    out[t] = shared[next]! - x[next]!;
    pipe.consumerRelease();
  }
});

/** Groups by label, others in each block: those with a label below 0 make nothing, and end at once. */
export const ofSomeLanes = kernel(schema, ({ out, x, labels }, cuda) => {
  const t = cuda.threadIdx.x;
  const own = labels[cuda.blockIdx.x * 64 + t]!;
  const shared = cuda.sharedArray('i32', 2 * 64);
  const group = cuda.labeledPartition(cuda.tiledPartition(cuda.thisThreadBlock(), 32), own);
  if (own >= 0) {
    const pipe = cuda.makePipeline(group, cuda.pipelineSharedState('block', 2));
    const next = group.shfl(t, (group.threadRank() + 1) % group.size());
    let sum = 0;
    for (let batch = 0; batch < 5; ++batch) {
      pipe.producerAcquire();
      shared[(batch % 2) * 64 + t] = x[64 * batch + t]!;
      pipe.producerCommit();
      pipe.consumerWait();
      sum = sum * 3 + shared[(batch % 2) * 64 + next]!;
      pipe.consumerRelease();
    }
    out[cuda.blockIdx.x * 64 + t] = sum;
  }
});

/** The last lane of each group returns, before the others make a barrier or after all have. */
export const withoutLast = kernel({ out: 'i32[]', makes: 'constant bool' }, ({ out, makes }, cuda) => {
  const t = cuda.threadIdx.x;
  const group = cuda.binaryPartition(cuda.tiledPartition(cuda.thisThreadBlock(), 32), t % 2 === 0);
  const shared = cuda.sharedArray('i32', 64);
  const others = group.size() - 1;
  const isLast = group.threadRank() === others;
  const next = group.shfl(t, (group.threadRank() + 1) % others);
  if (!makes && isLast) return;
  const barrier = cuda.barrier(group, others);
  if (isLast) return;
  shared[t] = 7 * t;
  barrier.wait(barrier.arrive());
  out[t] = shared[next]!;
});

/** The last lane of each group returns between two barriers that the others make. */
export const againWithoutLast = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
  const t = cuda.threadIdx.x;
  const group = cuda.binaryPartition(cuda.tiledPartition(cuda.thisThreadBlock(), 32), t % 2 === 0);
  const shared = cuda.sharedArray('i32', 64);
  const others = group.size() - 1;
  const next = group.shfl(t, (group.threadRank() + 1) % others);
  let sum = 0;
  for (let turn = 0; turn < 2; ++turn) {
    const isLast = group.threadRank() === others;
    if (turn === 1 && isLast) return;
    const barrier = cuda.barrier(group, turn === 0 ? others + 1 : others);
    shared[t] = 7 * t + turn;
    barrier.wait(barrier.arrive());
    sum = 3 * sum + shared[next]!;
    barrier.wait(barrier.arrive());
  }
  out[t] = sum;
});

/** Each lane says how many of its group are producers. */
export const counted = kernel({ out: 'i32[]', producers: 'readonly i32[]' }, ({ out, producers }, cuda) => {
  const t = cuda.threadIdx.x;
  const group = cuda.binaryPartition(cuda.tiledPartition(cuda.thisThreadBlock(), 32), t % 2 === 0);
  const shared = cuda.sharedArray('i32', 64);
  const own = producers[t]!;
  const pipe = cuda.makePipeline(group, cuda.pipelineSharedState('block', 1), own);
  if (group.threadRank() < own) {
    pipe.producerAcquire();
    shared[t] = t;
    pipe.producerCommit();
  } else {
    pipe.consumerWait();
    out[t] = 1 + shared[t % 8]!;
    pipe.consumerRelease();
  }
});
