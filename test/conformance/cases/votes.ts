// Votes of a block: counts, and, or; in loops that go on while any thread wants it, among threads of which
// some have returned, and where threads of one warp come to them on different ways.

import { kernel } from 'warpstage';
import { type Case, type Cases, counting, integers } from '../case.ts';

const counts = kernel(
  { out: 'i32[]', input: 'readonly i32[]', rounds: 'constant index' },
  ({ out, input, rounds }, cuda) => {
    const block = cuda.thisThreadBlock();
    const i = cuda.thisGrid().threadRank();
    const n = block.size();
    let sum = 0;
    for (let limit = 0; limit < rounds; limit++) {
      const few = cuda.syncthreadsCount(input[i]! < limit);
      const all = cuda.syncthreadsAnd(input[i]! >= limit);
      const some = cuda.syncthreadsOr(input[i]! === limit);
      sum = sum * 3 + few + (all ? n : 0) + (some ? 2 * n : 0);
    }
    out[i] = sum;
  },
);

function counted(block: number, rounds: number): Case {
  const grid = 3;
  const input = integers(grid * block, (i) => (i * 7 + Math.trunc(i / block)) % 11);
  return {
    name: `counts of ${block} threads, ${rounds} times`,
    kernel: counts,
    grid,
    block,
    data: { out: new Int32Array(grid * block), input, rounds },
    expected: {
      out: integers(grid * block, (i) => {
        const first = i - (i % block);
        const own = input.subarray(first, first + block);
        let sum = 0;
        for (let limit = 0; limit < rounds; limit += 1) {
          const few = own.filter((x) => x < limit).length;
          const [all, some] = [own.every((x) => x >= limit), own.some((x) => x === limit)];
          sum = (sum * 3 + few + (all ? block : 0) + (some ? 2 * block : 0)) | 0;
        }
        return sum;
      }),
    },
  };
}

/** The least number walks through shared memory, one place in each round, until nothing changes any more. */
const relaxed = kernel(
  { out: 'i32[]', input: 'readonly i32[]', rounds: 'i32[]' },
  ({ out, input, rounds }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const i = cuda.thisGrid().threadRank();
    const least = cuda.sharedArray('i32', block.size());
    least[t] = input[i]!;
    block.sync();
    let turns = 0;
    let changed = true;
    while (cuda.syncthreadsOr(changed)) {
      const before: number = t > 0 ? least[t - 1]! : least[t]!;
      changed = before < least[t]!;
      block.sync();
      if (changed) least[t] = before;
      turns += 1;
    }
    out[i] = least[t]!;
    if (t === 0) rounds[cuda.blockIdx.x] = turns;
  },
);

/** Threads from `stay` on have returned; they neither vote nor are waited for. */
const without = kernel({ out: 'i32[]', stay: 'constant index' }, ({ out, stay }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  if (t >= stay) return;
  const own = cuda.sharedArray('i32', 64);
  own[t] = t;
  const odd = cuda.syncthreadsCount(t % 2 === 1);
  const next = own[(t + 1) % stay]!;
  out[t] = 1000 * odd + next + (cuda.syncthreadsAnd(t < stay) ? 100000 : 0);
});

/** A thread of a role counts with the others between the two halves of its work. */
const mixed = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const staged = cuda.sharedArray('i32', 32);
  const state = cuda.pipelineSharedState('block', 1);
  const pipeline = cuda.makePipeline(block, state, t < 32 ? 'producer' : 'consumer');
  let mine = 0;
  if (t < 32) {
    pipeline.producerAcquire();
    cuda.memcpyAsync(staged.subarray(t), input.subarray(t), 1, pipeline);
    pipeline.producerCommit();
  } else {
    pipeline.consumerWait();
    mine = staged[t - 32]!;
    pipeline.consumerRelease();
  }
  out[t] = mine + 1000 * cuda.syncthreadsCount(mine > 10);
  pipeline.quit();
});

export const voteCases: Cases = [
  counted(1, 3),
  counted(7, 5),
  counted(32, 4),
  counted(96, 12),
  {
    name: 'a loop that goes on while any thread wants it',
    kernel: relaxed,
    grid: 2,
    block: 64,
    data: {
      out: new Int32Array(128),
      input: integers(128, (i) => (i < 64 ? 64 - i : i === 64 ? 3 : 50)),
      rounds: new Int32Array(2),
    },
    // Of a falling row nothing moves; the least at the front goes all the way, and a last round finds nothing.
    expected: {
      out: integers(128, (i) => (i < 64 ? 64 - i : 3)),
      rounds: Int32Array.of(1, 64),
    },
  },
  ...[40, 33, 64].map(
    (stay): Case => ({
      name: `votes of the ${stay} threads that are left of 64`,
      kernel: without,
      grid: 1,
      block: 64,
      data: { out: new Int32Array(64), stay },
      expected: {
        out: integers(64, (t) => (t < stay ? 1000 * Math.trunc(stay / 2) + ((t + 1) % stay) + 100000 : 0)),
      },
    }),
  ),
  {
    name: 'votes of producers and consumers together',
    kernel: mixed,
    grid: 1,
    block: 64,
    data: { out: new Int32Array(64), input: integers(32, (i) => i) },
    expected: { out: integers(64, (t) => 21000 + (t < 32 ? 0 : t - 32)) },
  },
  {
    // Masks that differ within a warp, behind a meeting of the block, beside values that are the same for all.
    name: 'tiles of two lanes that meet on their own between meetings of the block',
    kernel: kernel(
      { y: 'i32[]', x: 'readonly i32[]', a: 'i32', b: 'f32', flag: 'bool' },
      ({ y, x, a, b, flag }, cuda) => {
        const block = cuda.thisThreadBlock();
        const tile = cuda.tiledPartition(block, 2);
        const rank = block.threadRank();
        const perTile = cuda.makePipeline(tile, cuda.pipelineSharedState('block', 2));
        const perBlock = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
        const barrier = cuda.barrier(tile);
        const shared = cuda.sharedArray('i32', 24);
        const own = cuda.thisGrid().threadRank();
        const votes = tile.ballot(!((cuda.threadIdx.x & 16) === 0));
        shared[rank] = x[own]! ^ 1000;
        const token = barrier.arrive();
        y[own + (a & 3) * 48] =
          cuda.i32(cuda.index(0) < x.length ? cuda.i32(b * 2) : flag ? a : 1) ^ (flag ? own : -1);
        const other = x[own]! - a;
        barrier.wait(token);
        const beside = shared[rank - (rank % 2) + ((rank + 1) % 2)]!;
        tile.sync();
        y[own] = beside + other + cuda.i32(votes);
        perTile.quit();
        perBlock.quit();
      },
    ),
    grid: 2,
    block: 24,
    data: { y: new Int32Array(96), x: counting(48), a: 5, b: 2.5, flag: true },
    expected: {
      y: integers(96, (i) =>
        i < 48 ? ((100 + (i ^ 1)) ^ 1000) + 95 + i + (i % 24 < 16 ? 0 : 3) : 5 ^ (i - 48),
      ),
    },
  },
  {
    // One sum for parts of a warp, whose size is an argument and another in each warp.
    name: 'shuffles whose width is known at run time only',
    kernel: kernel({ out: 'i32[]', least: 'i32' }, ({ out, least }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const width = least << Math.trunc(t / 32);
      let sum = t;
      for (let delta = 1; delta < width; delta *= 2) sum += cuda.shflXorSync(0xffffffff, sum, delta, width);
      out[t] = cuda.shflSync(0xffffffff, sum, width - 1, width);
    }),
    grid: 1,
    block: 96,
    data: { out: new Int32Array(96), least: 4 },
    expected: {
      out: integers(96, (t) => {
        const width = 4 << Math.trunc(t / 32);
        return width * (t - (t % width)) + (width * (width - 1)) / 2;
      }),
    },
  },
];
