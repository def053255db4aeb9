// Fences around atomic operations: what one block has written, another may read.

import { kernel } from 'warpstage';
import { type Cases, counting, integers } from '../case.ts';

/** The last block to finish adds up what all have left. CUDA's sample threadFenceReduction. */
export const lastBlock = kernel(
  { total: 'i32[]', partial: 'i32[]', finished: 'u32[]', input: 'readonly i32[]' },
  ({ total, partial, finished, input }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const sums = cuda.sharedArray('i32', block.size());
    const last = cuda.sharedArray('i32', 1);
    sums[t] = input[cuda.thisGrid().threadRank()]!;
    block.sync();
    for (let half = block.size() >> 1; half > 0; half >>= 1) {
      if (t < half) sums[t]! += sums[t + half]!;
      block.sync();
    }
    if (t === 0) {
      partial[cuda.blockIdx.x] = sums[0]!;
      cuda.threadFence();
      last[0] = cuda.i32(cuda.atomicAdd(finished, 0, 1) === cuda.gridDim.x - 1);
      cuda.threadFence();
    }
    block.sync();
    if (last[0]! && t === 0) {
      let sum = 0;
      for (let i = 0; i < cuda.gridDim.x; i++) sum += partial[i]!;
      total[0] = sum;
    }
  },
);

/** Blocks take a lock for an update that no atomic operation makes. */
export const locked = kernel(
  { lock: 'i32[]', list: 'i32[]', length: 'i32[]' },
  ({ lock, list, length }, cuda) => {
    if (cuda.threadIdx.x === 0) {
      while (cuda.atomicCAS(lock, 0, 0, 1) !== 0);
      cuda.threadFence();
      list[length[0]!] = 1;
      length[0]! += 1;
      cuda.threadFence();
      cuda.atomicExch(lock, 0, 0);
    }
  },
);

/** Each block waits for the sum of those before it: a scan in one pass. */
export const lookBack = kernel(
  { out: 'i32[]', sums: 'i32[]', ready: 'i32[]', tickets: 'i32[]', input: 'readonly i32[]' },
  ({ out, sums, ready, tickets, input }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const size = block.size();
    const shared = cuda.sharedArray('i32', size);
    const own = cuda.sharedArray('i32', 2);
    // A block counts by when it began: those before it run.
    if (t === 0) own[0] = cuda.atomicAdd(tickets, 0, 1);
    block.sync();
    const rank = own[0]!;
    shared[t] = input[rank * size + t]!;
    block.sync();
    for (let distance = 1; distance < size; distance <<= 1) {
      const before = t >= distance ? shared[t - distance]! : 0;
      block.sync();
      shared[t]! += before;
      block.sync();
    }
    if (t === 0) {
      let before = 0;
      if (rank > 0) {
        while (cuda.atomicAdd(ready, rank - 1, 0) === 0);
        cuda.threadFence();
        before = sums[rank - 1]!;
      }
      sums[rank] = before + shared[size - 1]!;
      cuda.threadFence();
      cuda.atomicExch(ready, rank, 1);
      own[1] = before;
    }
    block.sync();
    out[rank * size + t] = own[1]! + shared[t]!;
  },
);

/** Threads of a block hand a value on through shared memory. */
const within = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  const value = cuda.sharedArray('i32', 1);
  const turn = cuda.sharedArray('i32', 1);
  if (t === 0) turn[0] = 0;
  cuda.syncthreads();
  if (t === 0) {
    value[0] = 77;
    cuda.threadFenceBlock();
    cuda.atomicExch(turn, 0, 1);
  }
  cuda.syncthreads();
  if (t === 32 && cuda.atomicAdd(turn, 0, 0) === 1) {
    cuda.threadFenceBlock();
    out[0] = value[0]!;
    cuda.threadFenceSystem();
  }
});

/** Floats are exchanged, and compared, by their bits. */
const floats = kernel({ out: 'f32[]', wide: 'f64[]', global: 'f32[]' }, ({ out, wide, global }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  const shared = cuda.sharedArray('f32', cuda.thisThreadBlock().size());
  shared[t] = t;
  cuda.syncthreads();
  out[4 * t] = cuda.atomicExch(global, t, 0.5 + t);
  out[4 * t + 1] = cuda.atomicCAS(shared, t, t % 2, -0);
  out[4 * t + 2] = cuda.atomicCAS(shared, t, 0, 9);
  out[4 * t + 3] = 1 / shared[t]!;
  cuda.atomicExch(wide, t, cuda.atomicCAS(wide, t, 0.1, 3) * 2);
});

const [grid, block] = [6, 32];
const sum = (values: Int32Array) => values.reduce((a, b) => a + b, 0);

export const fenceCases: Cases = [
  {
    name: 'the last block adds up what all have left',
    kernel: lastBlock,
    grid,
    block,
    data: {
      total: new Int32Array(1),
      partial: new Int32Array(grid),
      finished: new Uint32Array(1),
      input: counting(grid * block),
    },
    expected: { total: Int32Array.of(sum(counting(grid * block))) },
  },
  {
    name: 'a lock',
    kernel: locked,
    grid,
    block,
    data: { lock: new Int32Array(1), list: new Int32Array(grid), length: new Int32Array(1) },
    expected: { list: integers(grid, () => 1), length: Int32Array.of(grid) },
  },
  {
    name: 'a scan in one pass',
    kernel: lookBack,
    grid,
    block,
    data: {
      out: new Int32Array(grid * block),
      sums: new Int32Array(grid),
      ready: new Int32Array(grid),
      tickets: new Int32Array(1),
      input: counting(grid * block),
    },
    expected: {
      out: integers(grid * block, (i) => sum(counting(grid * block).slice(0, i + 1))),
    },
  },
  {
    name: 'floats are exchanged by their bits',
    kernel: floats,
    grid: 1,
    block: 4,
    data: {
      out: new Float32Array(16),
      wide: Float64Array.of(0.1, 0.2, 0.1, -0.1),
      global: Float32Array.of(1.5, -0, 7, 1e30),
    },
    expected: {
      // Thread 0 finds 0, stores -0, which is not 0; thread 1 finds 1 and stores -0; the others leave theirs.
      out: Float32Array.of(1.5, 0, -0, -Infinity, -0, 1, -0, -Infinity, 7, 2, 2, 0.5, 1e30, 3, 3, 1 / 3),
      wide: Float64Array.of(0.2, 0.4, 0.2, -0.2),
      global: Float32Array.of(0.5, 1.5, 2.5, 3.5),
    },
  },
  {
    name: 'threads of a block hand a value on',
    kernel: within,
    grid: 1,
    block: 64,
    data: { out: new Int32Array(1) },
    expected: { out: Int32Array.of(77) },
  },
];
