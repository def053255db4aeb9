// Tiles of a block that they do not divide: the last one has the threads that are left. Their members are those of a model in
// JavaScript, on every target, and so are their reductions, copies and pipelines.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { check } from 'warpstage/check';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { outputOf } from './support.ts';

sayWithoutGpu();

const rows = 12;
const members = kernel(
  { out: 'i32[]', x: 'readonly i32[]', size: 'constant index' },
  ({ out, x, size }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, n] = [block.threadRank(), block.size()];
    const tile = cuda.tiledPartition(block, size);
    const rank = tile.threadRank();
    out[t] = rank + 100 * tile.size() + 10000 * tile.metaGroupRank() + 1000000 * tile.metaGroupSize();
    out[n + t] = tile.shfl(x[t]!, tile.size() - 1);
    out[2 * n + t] = tile.shflUp(x[t]!, 1);
    out[3 * n + t] = tile.shflDown(x[t]!, 2);
    out[4 * n + t] = cuda.cg.reduce(tile, x[t]!, 'plus');
    out[5 * n + t] = cuda.cg.inclusiveScan(tile, x[t]!);
    out[6 * n + t] = tile.ballot(x[t]! % 3 === 0);
    out[7 * n + t] = (tile.any(x[t]! % 7 === 0) ? 1 : 0) + (tile.all(x[t]! % 2 === 0) ? 2 : 0);
    const odd = cuda.binaryPartition(tile, x[t]! % 2);
    out[8 * n + t] = odd.threadRank() + 100 * odd.size();
    const shared = cuda.sharedArray('i32', block.size());
    shared[t] = x[t]! * 3;
    tile.sync();
    out[9 * n + t] = shared[t - rank + tile.size() - 1 - rank]!;
    tile.sync();
    const staged = cuda.sharedArray('i32', block.size());
    cuda.cg.memcpyAsync(tile, staged.subarray(t - rank), x.subarray(t - rank), tile.size());
    cuda.cg.wait(tile);
    out[10 * n + t] = staged[t - rank + ((rank + 1) % tile.size())]!;
    // All pairs but one of a thread and nobody.
    const other = (rank ^ 1) < tile.size() ? 1 : 0;
    out[11 * n + t] = tile.shflXor(x[t]!, other);
  },
);

function modelOf(x: Int32Array, size: number): number[] {
  const n = x.length;
  const out = new Int32Array(rows * n);
  for (let t = 0; t < n; t += 1) {
    const first = t - (t % size);
    const tile = [...x.subarray(first, Math.min(n, first + size))];
    const rank = t - first;
    const odd = [...tile.keys()].filter((other) => tile[other]! % 2 === tile[rank]! % 2);
    const values = [
      rank + 100 * tile.length + 10000 * (first / size) + 1000000 * Math.ceil(n / size),
      tile.at(-1)!,
      tile[rank - 1] ?? tile[rank]!,
      tile[rank + 2] ?? tile[rank]!,
      tile.reduce((a, b) => a + b, 0),
      tile.slice(0, rank + 1).reduce((a, b) => a + b, 0),
      tile.reduce((mask, value, other) => mask | (value % 3 === 0 ? 1 << other : 0), 0),
      (tile.some((value) => value % 7 === 0) ? 1 : 0) + (tile.every((value) => value % 2 === 0) ? 2 : 0),
      odd.indexOf(rank) + 100 * odd.length,
      3 * tile[tile.length - 1 - rank]!,
      tile[(rank + 1) % tile.length]!,
      tile[rank ^ 1] ?? tile[rank]!,
    ];
    for (const [row, value] of values.entries()) out[row * n + t] = value;
  }
  return [...out];
}

test('are those of the model for any block and size', () => {
  fc.assert(
    fc.property(fc.constantFrom(2, 4, 8, 16, 32), fc.integer({ min: 1, max: 70 }), (size, n) => {
      fc.pre(n % size !== 0);
      const x = Int32Array.from({ length: n }, (_, t) => (t * 7919) % 101);
      const given = { grid: 1, block: n, arguments: { out: new Int32Array(rows * n), x, size } };
      expect(outputOf(members, given, 'states'), `${n} threads in tiles of ${size}`).toEqual(
        modelOf(x, size),
      );
    }),
    { numRuns: 5 },
  );
});

/** Each tile has a pipeline of two stages and a barrier; the last tile's counts are of the threads that there are. */
const staged = kernel(
  { out: 'i32[]', x: 'readonly i32[]', batches: 'index', size: 'constant index' },
  ({ out, x, batches, size }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, n] = [block.threadRank(), block.size()];
    const tile = cuda.tiledPartition(block, size);
    const [rank, first] = [tile.threadRank(), t - tile.threadRank()];
    const stages = cuda.sharedArray('i32', 2 * block.size());
    const pipeline = cuda.makePipeline(tile, cuda.pipelineSharedState('block', 2));
    const meeting = cuda.barrier(tile);
    let sum = 0;
    for (let batch = 0, fetched = 0; batch < batches; ++batch) {
      for (; fetched < batches && fetched < batch + 2; ++fetched) {
        const stage = stages.subarray((fetched % 2) * n + first);
        pipeline.producerAcquire();
        cuda.memcpyAsync(tile, stage, x.subarray(fetched * n + first), tile.size(), pipeline);
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      sum = sum * 3 + stages[(batch % 2) * n + first + ((rank + 1) % tile.size())]!;
      pipeline.consumerRelease();
      meeting.arriveAndWait();
    }
    out[t] = sum;
  },
);

describe.each([
  [40, 16],
  [33, 32],
  [21, 8],
])('%i threads in tiles of %i', (n, size) => {
  const batches = 4;
  const x = Int32Array.from({ length: batches * n }, (_, i) => (i * 31) % 977);
  const given = { grid: 1, block: n, arguments: { out: new Int32Array(n), x, batches, size } };

  test('have pipelines and barriers', () => {
    const right = Array.from({ length: n }, (_, t) => {
      const first = t - (t % size);
      const length = Math.min(size, n - first);
      const next = first + ((t - first + 1) % length);
      return [0, 1, 2, 3].reduce((sum, batch) => (sum * 3 + x[batch * n + next]!) | 0, 0);
    });
    expect(outputOf(staged, given, 'states')).toEqual(right);
  });

  test('which are clean', () => {
    expect(check(staged, given).findings).toEqual([]);
  });
});
