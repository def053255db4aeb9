// Ports of kernels that people know from CUDA's samples and books, each small enough to be looked at whole.

import { kernel, struct } from 'warpstage';
import { type Cases, integers } from '../case.ts';

/** Keeps what is positive, in its order, and counts keys: each warp by one vote, each group of a key by one addition. */
export const filter = kernel(
  { out: 'i32[]', kept: 'i32[]', buckets: 'i32[]', input: 'readonly i32[]' },
  ({ out, kept, buckets, input }, cuda) => {
    const t = cuda.threadIdx.x;
    const lane = t & 31;
    const found = cuda.sharedArray('i32', 2);
    const value = input[t]!;
    const those = cuda.ballotSync(0xffffffff, value > 0);
    if (lane === 0) found[t >> 5] = cuda.popc(those);
    cuda.syncthreads();
    const begin = t < 32 ? 0 : found[0]!;
    if (value > 0) out[begin + cuda.popc(those & ((1 << lane) - 1))] = value;
    if (t === 0) kept[0] = found[0]! + found[1]!;
    const key = value & 3;
    const same = cuda.matchAnySync(0xffffffff, key);
    if (cuda.ffs(same) - 1 === lane) cuda.atomicAdd(buckets, key, cuda.popc(same));
  },
);

const numbers = integers(64, (i) => ((i * 37) % 23) - 9);
const positive = [...numbers].filter((each) => each > 0);

/** Odd and even numbers of a warp go to its two ends, each group on its own, and are read back from there the other way round. */
export const partition = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const tile = cuda.tiledPartition(block, 32);
  const places = cuda.sharedArray('i32', block.size());
  const value = input[t]!;
  const odd = (value & 1) === 1;
  const group = cuda.binaryPartition(tile, odd);
  const begin = t - (t % 32) + (odd ? 0 : 32 - group.size());
  places[begin + group.threadRank()] = value;
  group.sync();
  out[t] = places[begin + group.size() - 1 - group.threadRank()]!;
});

/** What `partition` gives. */
const partitioned = integers(64, (t) => {
  const group = Array.from({ length: 32 }, (_, i) => t - (t % 32) + i).filter(
    (other) => (numbers[other]! & 1) === (numbers[t]! & 1),
  );
  return numbers[group[group.length - 1 - group.indexOf(t)]!]!;
});

/** Counts how often each key is there, by a table with open addressing. */
export const hashed = kernel({ out: 'i32[]', keys: 'readonly i32[]' }, ({ out, keys }, cuda) => {
  const t = cuda.threadIdx.x;
  const table = cuda.sharedArray('i32', 128);
  const counts = cuda.sharedArray('i32', 128);
  for (let i = t; i < 128; i += cuda.blockDim.x) {
    table[i] = -1;
    counts[i] = 0;
  }
  cuda.syncthreads();
  const key = keys[t]!;
  let slot = (key * 5) & 127;
  while (true) {
    const old = cuda.atomicCAS(table, slot, -1, key);
    if (old === -1 || old === key) break;
    slot = (slot + 1) & 127;
  }
  cuda.atomicAdd(counts, slot, 1);
  cuda.syncthreads();
  out[t] = counts[slot]!;
});

const keys = integers(64, (i) => (i * i) % 41);

/**
 * One digit of a radix sort in a single pass: blocks look back for what those before them have of each digit. Only every other
 * block says its sums, so that both are read however blocks take turns.
 */
export const sorted = kernel(
  {
    out: 'u32[]',
    keys: 'readonly u32[]',
    bases: 'readonly i32[]',
    counts: 'i32[]',
    sums: 'i32[]',
    state: 'u32[]',
    tickets: 'u32[]',
  },
  ({ out, keys, bases, counts, sums, state, tickets }, cuda) => {
    const t = cuda.threadIdx.x;
    const turn = cuda.sharedArray('i32', 1);
    const begins = cuda.sharedArray('i32', 4);
    if (t === 0) turn[0] = cuda.i32(cuda.atomicAdd(tickets, 0, 1));
    cuda.syncthreads();
    const own = turn[0]!;
    const key = keys[own * 32 + t]!;
    const digit = cuda.i32(key & 3);
    const rank = cuda.popc(cuda.matchAnySync(0xffffffff, digit) & ((1 << t) - 1));
    let count = 0;
    for (let each = 0; each < 4; each++) {
      const votes = cuda.popc(cuda.ballotSync(0xffffffff, digit === each));
      if (t === each) count = votes;
    }
    if (t < 4) {
      counts[own * 4 + t] = count;
      cuda.atomicStore(state, own * 4 + t, 1, 'release', 'device');
      let before = 0;
      for (let back = own - 1; back >= 0; back--) {
        const at = back * 4 + t;
        let known = cuda.u32(0);
        while (known === 0) known = cuda.atomicLoad(state, at, 'acquire', 'device');
        before += known === 2 ? sums[at]! : counts[at]!;
        if (known === 2) break;
      }
      if (own % 2 === 1) {
        sums[own * 4 + t] = before + count;
        cuda.atomicStore(state, own * 4 + t, 2, 'release', 'device');
      }
      begins[t] = bases[t]! + before;
    }
    cuda.syncthreads();
    out[begins[digit]! + rank] = key;
  },
);

const blocks = 4;
const unsorted = Uint32Array.from({ length: 32 * blocks }, (_, i) => (i * 2_654_435_761) >>> 9);
const ofDigit = (digit: number) => [...unsorted].filter((key) => (key & 3) === digit);

const place = struct({ x: 'i32', y: 'i32' });

/** Each point to the nearest centre; blocks add up the points of each in shared memory, and then all blocks. */
export const means = kernel(
  { sums: 'i32[]', counts: 'i32[]', points: place.readonlyArray, centres: place.readonlyArray },
  ({ sums, counts, points, centres }, cuda) => {
    const t = cuda.threadIdx.x;
    const own = cuda.sharedArray('i32', [4, 3]);
    if (t < 12) own[Math.trunc(t / 3)]![t % 3] = 0;
    cuda.syncthreads();
    const { x, y } = points[cuda.thisGrid().threadRank()]!;
    const nearest = { at: 0, far: 0x7fffffff };
    for (let k = 0; k < centres.length; k++) {
      const [dx, dy] = [x - centres[k]!.x, y - centres[k]!.y];
      const far = dx * dx + dy * dy;
      if (far < nearest.far) {
        nearest.far = far;
        nearest.at = k;
      }
    }
    const of = own[nearest.at]!;
    cuda.atomicAdd(of, 0, x);
    cuda.atomicAdd(of, 1, y);
    cuda.atomicAdd(of, 2, 1);
    cuda.syncthreads();
    if (t >= 4) return;
    cuda.atomicAdd(sums, 2 * t, own[t]![0]!);
    cuda.atomicAdd(sums, 2 * t + 1, own[t]![1]!);
    cuda.atomicAdd(counts, t, own[t]![2]!);
  },
);

const points = Array.from({ length: 128 }, (_, i) => ({ x: (i * 29) % 101, y: (i * 53) % 89 }));
const centres = [
  { x: 20, y: 20 },
  { x: 80, y: 15 },
  { x: 30, y: 70 },
  { x: 75, y: 75 },
];
const nearestTo = ({ x, y }: (typeof points)[number]) => {
  const far = centres.map((centre) => (x - centre.x) ** 2 + (y - centre.y) ** 2);
  return far.indexOf(Math.min(...far));
};
const those = (k: number) => points.filter((point) => nearestTo(point) === k);
const sumOf = (all: readonly number[]) => all.reduce((sum, each) => sum + each, 0);

export const portCases: Cases = [
  {
    name: 'a filter and a count of keys, aggregated by warps',
    kernel: filter,
    grid: 1,
    block: 64,
    data: { out: new Int32Array(64), kept: new Int32Array(1), buckets: new Int32Array(4), input: numbers },
    expected: {
      out: integers(64, (i) => positive[i] ?? 0),
      kept: Int32Array.of(positive.length),
      buckets: integers(4, (key) => [...numbers].filter((each) => (each & 3) === key).length),
    },
  },
  {
    name: 'a binary partition of each warp',
    kernel: partition,
    grid: 1,
    block: 64,
    data: { out: new Int32Array(64), input: numbers },
    expected: { out: partitioned },
  },
  {
    name: 'a hash table with open addressing',
    kernel: hashed,
    grid: 1,
    block: 64,
    data: { out: new Int32Array(64), keys },
    expected: { out: keys.map((key) => [...keys].filter((each) => each === key).length) },
  },
  {
    name: 'a digit of a radix sort, with look-back',
    kernel: sorted,
    grid: blocks,
    block: 32,
    data: {
      out: new Uint32Array(unsorted.length),
      keys: unsorted,
      bases: integers(4, (digit) => [...unsorted].filter((key) => (key & 3) < digit).length),
      counts: new Int32Array(4 * blocks),
      sums: new Int32Array(4 * blocks),
      state: new Uint32Array(4 * blocks),
      tickets: new Uint32Array(1),
    },
    expected: { out: Uint32Array.from([0, 1, 2, 3].flatMap(ofDigit)) },
  },
  {
    name: 'a step of k-means over records of points',
    kernel: means,
    grid: 2,
    block: 64,
    data: {
      sums: new Int32Array(8),
      counts: new Int32Array(4),
      points: place.pack(points),
      centres: place.pack(centres),
    },
    expected: {
      sums: integers(8, (i) => sumOf(those(i >> 1).map(({ x, y }) => (i % 2 === 0 ? x : y)))),
      counts: integers(4, (k) => those(k).length),
    },
  },
];
