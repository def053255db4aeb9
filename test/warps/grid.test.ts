// Grids whose blocks wait for each other.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { outcomeOf, outputOf } from './support.ts';

sayWithoutGpu();

/** A sum in two phases: each block's, and then those of all blocks. */
const sum = kernel({ out: 'i32[]', x: 'readonly i32[]', partial: 'i32[]' }, ({ out, x, partial }, cuda) => {
  const grid = cuda.thisGrid();
  const block = cuda.thisThreadBlock();
  const warp = cuda.tiledPartition(block, 32);
  const warps = cuda.sharedArray('i32', 32);
  let own = 0;
  for (let i = grid.threadRank(); i < x.length; i += grid.size()) own += x[i]!;
  own = cuda.cg.reduce(warp, own, 'plus');
  if (warp.threadRank() === 0) warps[warp.metaGroupRank()] = own;
  block.sync();
  if (block.threadRank() === 0) {
    let all = 0;
    for (let i = 0; i < warp.metaGroupSize(); i++) all += warps[i]!;
    partial[grid.blockRank()] = all;
  }
  grid.sync();
  let total = 0;
  for (let i = 0; i < grid.numBlocks(); i++) total += partial[i]!;
  out[grid.threadRank()] = total;
});

describe('grid.sync()', () => {
  test('all blocks see what all blocks wrote', () => {
    const x = Int32Array.from({ length: 1000 }, (_, i) => i - 77);
    const args = { out: new Int32Array(320), x, partial: new Int32Array(5) };
    const total = x.reduce((a, b) => a + b);
    const launch = { grid: 5, block: 64, cooperative: true, arguments: args };
    expect(outputOf(sum, launch, 'states')).toEqual(Array.from({ length: 320 }, () => total));
  });

  test('in a loop, with shared memory and variables that each block keeps', () => {
    const k = kernel({ out: 'i32[]', next: 'i32[]', rounds: 'index' }, ({ out, next, rounds }, cuda) => {
      const grid = cuda.thisGrid();
      const rank = grid.threadRank();
      const t = cuda.threadIdx.x;
      const shared = cuda.sharedArray('i32', 32);
      shared[t] = rank;
      let sum = 0;
      for (let round = 0; round < rounds; round++) {
        const left = rank === 0 ? grid.size() - 1 : rank - 1;
        next[rank] = out[left]! + 1;
        grid.sync();
        out[rank] = next[rank]!;
        sum += shared[t ^ 1]!;
        grid.sync();
      }
      out[rank] = out[rank]! * 1000 + sum;
    });
    const length = 96;
    const args = { out: Int32Array.from({ length }, (_, i) => i), next: new Int32Array(length), rounds: 7 };
    const launch = { grid: [3, 1, 1] as const, block: 32, cooperative: true, arguments: args };
    const expected = Array.from({ length }, (_, i) => (((i + length - 7) % length) + 7) * 1000 + 7 * (i ^ 1));
    expect(outputOf(k, launch, 'states')).toEqual(expected);
  });

  test('a grid of one block', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      out[t] = t;
      cuda.thisGrid().sync();
      const other = out[31 - t]!;
      cuda.thisGrid().sync();
      out[t] = other;
    });
    const launch = { grid: 1, block: 32, cooperative: true, arguments: { out: new Int32Array(32) } };
    expect(outputOf(k, launch, 'states')).toEqual(Array.from({ length: 32 }, (_, i) => 31 - i));
  });

  test('isValid() says whether the launch is cooperative, and what it rules out is not compiled', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const grid = cuda.thisGrid();
      if (grid.isValid()) grid.sync();
      out[grid.threadRank()] = grid.isValid() ? 1 : 2;
    });
    const launch = { grid: 2, block: 1, arguments: { out: new Int32Array(2) } };
    expect(outputOf(k, launch, 'regions')).toEqual([2, 2]);
    expect(outputOf(k, { ...launch, cooperative: true }, 'states')).toEqual([1, 1]);
  });

  test('without a cooperative launch it is an error', () => {
    const args = { out: new Int32Array(64), x: new Int32Array(1), partial: new Int32Array(1) };
    expect(() => outcomeOf(sum, { grid: 1, block: 64, arguments: args })).toThrow(
      'WS2006: grid.sync() needs a cooperative launch, and this one is not',
    );
  });
});

describe('grids that wait in vain', () => {
  const faultOf = (k: Parameters<typeof outcomeOf>[0]) =>
    outcomeOf(k, { grid: 3, block: 32, cooperative: true, arguments: { out: new Int32Array(96) } }).fault;

  test('for threads of a block that went another way', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const grid = cuda.thisGrid();
      const t = cuda.threadIdx.x;
      if (grid.blockRank() !== 1 || t < 30) grid.sync();
      else cuda.syncthreads();
      out[grid.threadRank()] = 1;
    });
    expect(faultOf(k)).toMatchObject({
      kind: 'deadlock',
      block: [1, 0, 0],
      waiting: [
        { what: 'sync of the grid: 30 of 32 threads of the block have arrived' },
        { what: 'sync of the block: 2 of 32 threads have arrived', threads: [30, 31] },
      ],
    });
  });

  test('for threads that returned', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const grid = cuda.thisGrid();
      if (grid.threadRank() === 40) return;
      grid.sync();
      out[grid.threadRank()] = 1;
    });
    expect(faultOf(k)).toMatchObject({
      block: [1, 0, 0],
      waiting: [
        { what: 'sync of the grid: 31 of 32 threads of the block have arrived; 1 thread has returned' },
      ],
    });
  });

  test('for blocks that returned', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const grid = cuda.thisGrid();
      if (grid.blockRank() === 1) return;
      grid.sync();
      out[grid.threadRank()] = 1;
    });
    expect(faultOf(k)).toMatchObject({
      block: [0, 0, 0],
      waiting: [
        {
          what: 'sync of the grid: 32 of 32 threads of the block have arrived; not all of other blocks have',
        },
      ],
    });
  });
});
