// Atomic operations with an order: what one thread has released, another that acquires may read.

import { kernel } from 'warpstage';
import { type Cases, counting, integers } from '../case.ts';

/** The last block to finish adds up what all have left. */
const lastBlock = kernel(
  { total: 'i32[]', partial: 'i32[]', finished: 'u32[]', input: 'readonly i32[]' },
  ({ total, partial, finished, input }, cuda) => {
    const t = cuda.thisThreadBlock().threadRank();
    if (t > 0) return;
    const { x: block } = cuda.blockIdx;
    partial[block] = input[2 * block]! + input[2 * block + 1]!;
    // Counts around to 0, so that the next launch finds it as this one did.
    if (cuda.atomicInc(finished, 0, cuda.gridDim.x - 1, 'acq_rel') < cuda.gridDim.x - 1) return;
    let sum = 0;
    for (let i = 0; i < cuda.gridDim.x; i++) sum += partial[i]!;
    total[0] = sum;
  },
);

/** Blocks take a lock for an update that no atomic operation makes. */
const locked = kernel({ lock: 'i32[]', list: 'i32[]', length: 'i32[]' }, ({ lock, list, length }, cuda) => {
  if (cuda.threadIdx.x > 0) return;
  while (cuda.atomicCAS(lock, 0, 0, 1, 'acquire', 'device') !== 0);
  list[length[0]!] = 1;
  length[0]! += 1;
  cuda.atomicStore(lock, 0, 0, 'release', 'device');
});

/** Each block waits for the sum of those before it. */
const lookBack = kernel(
  { out: 'i32[]', sums: 'i32[]', ready: 'i32[]', tickets: 'u32[]', input: 'readonly i32[]' },
  ({ out, sums, ready, tickets, input }, cuda) => {
    if (cuda.threadIdx.x > 0) return;
    // A block counts by when it began: those before it run.
    const rank = cuda.atomicAdd(tickets, 0, 1);
    let before = 0;
    if (rank > 0) {
      while (cuda.atomicLoad(ready, rank - 1, 'acquire', 'device') === 0);
      before = sums[rank - 1]!;
    }
    sums[rank] = before + input[rank]!;
    cuda.atomicStore(ready, rank, 1, 'release', 'device');
    out[rank] = before;
  },
);

/** Blocks put items into a queue, and the one that came last takes them out. */
const queue = kernel(
  { out: 'i32[]', slots: 'i32[]', full: 'u32[]', tickets: 'u32[]', items: 'readonly i32[]' },
  ({ out, slots, full, tickets, items }, cuda) => {
    if (cuda.threadIdx.x > 0) return;
    // A block counts by when it began: those before it run.
    const place = cuda.atomicAdd(tickets, 0, 1);
    if (place < cuda.gridDim.x - 1) {
      slots[place] = items[place]!;
      cuda.atomicStore(full, place, 1, 'release', 'device');
      return;
    }
    let sum = 0;
    for (let i = 0; i < place; i++) {
      while (cuda.atomicLoad(full, i, 'acquire', 'device') === 0);
      sum += slots[i]!;
    }
    out[0] = sum;
  },
);

/** Warps hand items to one of them through a ring of slots, each of which is full or free. */
const ring = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  const slots = cuda.sharedArray('i32', 2);
  const full = cuda.sharedArray('u32', 2);
  if (t < 2) full[t] = 0;
  cuda.syncthreads();
  if (t % 32 > 0) return;
  const warps = (cuda.blockDim.x >> 5) - 1;
  if (t > 0) {
    const place = (t >> 5) - 1;
    const slot = place % 2;
    while (cuda.atomicLoad(full, slot, 'acquire', 'block') !== place - slot) cuda.nanosleep(20);
    slots[slot] = 10 + place;
    cuda.atomicStore(full, slot, place - slot + 1, 'release', 'block');
    return;
  }
  let sum = 0;
  for (let i = 0; i < warps; i++) {
    const slot = i % 2;
    while (cuda.atomicLoad(full, slot, 'acquire', 'block') !== i - slot + 1) cuda.nanosleep(20);
    sum = 3 * sum + slots[slot]!;
    cuda.atomicStore(full, slot, i - slot + 2, 'release', 'block');
  }
  out[0] = sum;
});

/** What is released goes through an operation of another thread, which has no order itself. */
const handedOn = kernel({ out: 'i32[]', value: 'i32[]', flag: 'u32[]' }, ({ out, value, flag }, cuda) => {
  if (cuda.threadIdx.x > 0) return;
  const block = cuda.atomicAdd(flag, 1, 1);
  if (block === 0) {
    value[0] = 7;
    cuda.atomicAdd(flag, 0, 1, 'release', 'device');
  } else if (block === 1) {
    while (cuda.atomicLoad(flag, 0) !== 1);
    cuda.atomicAdd(flag, 0, 1);
  } else {
    while (cuda.atomicLoad(flag, 0, 'acquire', 'device') !== 2);
    out[0] = value[0]!;
  }
});

/** Counters that go around, and operations of 32 and 64 bits in each order and scope. */
const counters = kernel(
  { up: 'u32[]', down: 'u32[]', seen: 'u32[]', wide: 'i64[]', floats: 'f32[]', out: 'f64[]' },
  ({ up, down, seen, wide, floats, out }, cuda) => {
    const t = cuda.thisGrid().threadRank();
    const shared = cuda.sharedArray('u32', 2);
    if (cuda.threadIdx.x === 0) {
      shared[0] = 4000000000;
      cuda.atomicStore(shared, 1, 2);
    }
    cuda.syncthreads();
    cuda.atomicInc(up, 0, 4);
    cuda.atomicDec(down, 0, 4);
    cuda.atomicDec(down, 1, 4, 'relaxed', 'system');
    cuda.atomicOr(seen, 0, 1 << cuda.atomicInc(shared, 1, 6));
    cuda.atomicInc(shared, 0, 4294967295);
    cuda.syncthreads();
    if (cuda.threadIdx.x === 0) seen[1 + cuda.blockIdx.x] = cuda.atomicLoad(shared, 0, 'seq_cst', 'block');
    cuda.atomicExch(wide, t, cuda.atomicLoad(wide, t, 'seq_cst', 'system') - 1n, 'seq_cst');
    cuda.atomicStore(floats, t, cuda.atomicLoad(floats, t) / 2, 'release', 'block');
    cuda.atomicStore(out, t, cuda.atomicExch(out, t, -0, 'acq_rel', 'block') + 0.25, 'seq_cst');
    cuda.atomicCAS(wide, t, 9n, 2n ** 60n, 'acq_rel', 'system');
  },
);

const blocks = 6;

export const orderCases: Cases = [
  {
    name: 'the last block, by one operation that acquires and releases',
    kernel: lastBlock,
    grid: blocks,
    block: 32,
    data: {
      total: new Int32Array(1),
      partial: new Int32Array(blocks),
      finished: new Uint32Array(1),
      input: counting(2 * blocks),
    },
    expected: { total: Int32Array.of(12 * 100 + 66), finished: Uint32Array.of(0) },
  },
  {
    name: 'a lock that is acquired and released',
    kernel: locked,
    grid: blocks,
    block: 32,
    data: { lock: new Int32Array(1), list: new Int32Array(blocks), length: new Int32Array(1) },
    expected: { list: integers(blocks, () => 1), length: Int32Array.of(blocks) },
  },
  {
    name: 'a look-back by loads and stores',
    kernel: lookBack,
    grid: blocks,
    block: 32,
    data: {
      out: new Int32Array(blocks),
      sums: new Int32Array(blocks),
      ready: new Int32Array(blocks),
      tickets: new Uint32Array(1),
      input: counting(blocks),
    },
    expected: { out: integers(blocks, (i) => 100 * i + (i * (i - 1)) / 2) },
  },
  {
    name: 'a queue',
    kernel: queue,
    grid: blocks,
    block: 32,
    data: {
      out: new Int32Array(1),
      slots: new Int32Array(blocks),
      full: new Uint32Array(blocks),
      tickets: new Uint32Array(1),
      items: counting(blocks),
    },
    expected: { out: Int32Array.of(5 * 100 + 10) },
  },
  {
    name: 'a ring of two slots within a block',
    kernel: ring,
    grid: 1,
    block: 160,
    data: { out: new Int32Array(1) },
    expected: { out: Int32Array.of(27 * 10 + 9 * 11 + 3 * 12 + 13) },
  },
  {
    name: 'a release goes through operations of others',
    kernel: handedOn,
    grid: 3,
    block: 32,
    data: { out: new Int32Array(1), value: new Int32Array(1), flag: new Uint32Array(2) },
    expected: { out: Int32Array.of(7) },
  },
  {
    name: 'counters that go around, and every width',
    kernel: counters,
    grid: 2,
    block: 4,
    data: {
      up: Uint32Array.of(3),
      down: Uint32Array.of(1, 77),
      seen: new Uint32Array(3),
      wide: BigInt64Array.from({ length: 8 }, (_, i) => BigInt(i + 3)),
      floats: Float32Array.from({ length: 8 }, (_, i) => i),
      out: new Float64Array(8),
    },
    expected: {
      up: Uint32Array.of(1),
      down: Uint32Array.of(3, 2),
      seen: Uint32Array.of(0b111100, 4000000004, 4000000004),
      wide: BigInt64Array.from({ length: 8 }, (_, i) => (i === 7 ? 2n ** 60n : BigInt(i + 2))),
      floats: Float32Array.from({ length: 8 }, (_, i) => i / 2),
      out: Float64Array.from({ length: 8 }, () => 0.25),
    },
  },
];
