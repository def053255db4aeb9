// Kernels in which groups of any lanes copy together: to a part of shared memory that is the group's own.

import { kernel } from 'warpstage';

export const schema = { out: 'i32[]', x: 'readonly i32[]', labels: 'readonly i32[]', per: 'index' } as const;

export const copied = kernel(schema, ({ out, x, labels, per }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 64 * 64);
  const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), labels[t]!);
  const first = group.shfl(t, 0);
  const count = group.size() * per;
  const own = shared.subarray(64 * first);
  cuda.cg.memcpyAsync(group, own, x.subarray(8 * first), count);
  cuda.cg.wait(group);
  out[t] = count === 0 ? -1 : own[(group.threadRank() * 5 + 1) % count]!;
});

export const promised = kernel(schema, ({ out, x, labels, per }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 64 * 64);
  const pipe = cuda.makePipeline();
  const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), labels[t]!);
  const first = group.shfl(t, 0);
  const count = group.size() * per;
  const own = shared.subarray(64 * first);
  cuda.memcpyAsync(group, own, x.subarray(8 * first), cuda.alignedSize(16, Math.ceil(count / 4) * 4), pipe);
  pipe.producerCommit();
  pipe.consumerWait();
  group.sync();
  out[t] = count === 0 ? -1 : own[(group.threadRank() * 5 + 1) % count]!;
});

export const staged = kernel(schema, ({ out, x, labels, per }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 64 * 64);
  const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
  const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), labels[t]!);
  const first = group.shfl(t, 0);
  const count = group.size() * per;
  const own = shared.subarray(64 * first);
  pipe.producerAcquire();
  cuda.memcpyAsync(group, own, x.subarray(8 * first), count, pipe);
  pipe.producerCommit();
  pipe.consumerWait();
  out[t] = count === 0 ? -1 : own[(group.threadRank() * 5 + 1) % count]!;
  pipe.consumerRelease();
});

export const awaited = kernel(schema, ({ out, x, labels, per }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 64 * 64);
  const barrier = cuda.barrier(block);
  const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), labels[t]!);
  const first = group.shfl(t, 0);
  const count = group.size() * per;
  const own = shared.subarray(64 * first);
  cuda.memcpyAsync(group, own, x.subarray(8 * first), count, barrier);
  barrier.arriveAndWait();
  out[t] = count === 0 ? -1 : own[(group.threadRank() * 5 + 1) % count]!;
});

export const branches = kernel(schema, ({ out, x, labels, per }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 64);
  const group = cuda.binaryPartition(cuda.tiledPartition(block, 32), labels[t]! > 1);
  if (labels[t]! > 1) {
    // Two commits of each lane: of the older one nothing is under way any more.
    const own = shared.subarray(t - cuda.laneId);
    cuda.cg.memcpyAsync(group, own, x, group.size());
    cuda.cg.memcpyAsync(group, own.subarray(group.size()), 4 * per, x.subarray(256), 32 - group.size());
    cuda.cg.waitPrior(group, 1);
    out[t] = own[group.size() - 1 - group.threadRank()]!;
    cuda.cg.wait(group);
  } else {
    out[t] = -group.size();
  }
});

export const coalesced = kernel({ out: 'i32[]', x: 'readonly i32[]' }, ({ out, x }, cuda) => {
  const t = cuda.threadIdx.x;
  const shared = cuda.sharedArray('i32', 40 * 40);
  if (t % 3 > 0) {
    // Which lanes are here is not known: whoever they are, they copy all to a place of theirs.
    const group = cuda.coalescedThreads();
    const own = shared.subarray(40 * group.shfl(t, 0));
    cuda.cg.memcpyAsync(group, own, x, 40);
    cuda.cg.wait(group);
    out[t] = own[39 - t]!;
  }
});

/** Two stages of each lane's own pipeline, which the group fills together; `mended` false forgets one of its syncs. */
export const batches = kernel(
  { out: 'i32[]', x: 'readonly i32[]', labels: 'readonly i32[]', mended: 'constant bool = true' },
  ({ out, x, labels, mended }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const shared = cuda.sharedArray('i32', 2 * 64);
    const pipe = cuda.makePipeline();
    const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), labels[t]!);
    const rank = group.threadRank();
    // Where lanes of a group are not neighbours, their elements are: each finds its own by the ranks of all.
    const begin = cuda.cg.exclusiveScan(
      cuda.tiledPartition(block, 32),
      rank === 0 ? group.size() : 0,
      'plus',
    );
    const first = t - cuda.laneId + group.shfl(begin, 0);
    let sum = 0;
    let filled = 0;
    for (let batch = 0; batch < 5; ++batch) {
      for (; filled < 5 && filled < batch + 2; ++filled) {
        if (mended) group.sync();
        const own = shared.subarray((filled % 2) * 64 + first);
        cuda.memcpyAsync(group, own, x.subarray(16 * filled), group.size(), pipe);
        pipe.producerCommit();
      }
      pipe.consumerWait();
      group.sync();
      sum = sum * 3 + shared[(batch % 2) * 64 + first + ((rank + 1) % group.size())]!;
      pipe.consumerRelease();
    }
    out[t] = sum;
  },
);
