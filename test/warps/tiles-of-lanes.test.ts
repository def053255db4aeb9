// Tiles of what is no whole tile: of the last tile of a block that tiles do not fill, and of any lanes of a warp, by their
// ranks. Their members are those of a model in JavaScript, on every target.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kernel, WarpstageError } from 'warpstage';
import { check } from 'warpstage/check';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { outcomeOf, outputOf } from './support.ts';

sayWithoutGpu();

const rows = 5;

const ofTiles = kernel(
  { out: 'i32[]', x: 'readonly i32[]', outer: 'constant index', inner: 'constant index' },
  ({ out, x, outer, inner }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, n] = [block.threadRank(), block.size()];
    const part = cuda.tiledPartition(cuda.tiledPartition(block, outer), inner);
    out[t] = part.threadRank() + 100 * part.size();
    out[n + t] = part.metaGroupRank() + 100 * part.metaGroupSize();
    out[2 * n + t] = part.shfl(x[t]!, part.size() - 1);
    out[3 * n + t] = cuda.cg.inclusiveScan(part, x[t]!);
    out[4 * n + t] = part.ballot(x[t]! % 3 === 0);
  },
);

const ofLanes = kernel(
  { out: 'i32[]', x: 'readonly i32[]', labels: 'readonly i32[]', inner: 'constant index' },
  ({ out, x, labels, inner }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, n] = [block.threadRank(), block.size()];
    const same = cuda.labeledPartition(cuda.tiledPartition(block, 32), labels[t]!);
    const part = cuda.tiledPartition(same, inner);
    out[t] = part.threadRank() + 100 * part.size();
    out[n + t] = 0;
    out[2 * n + t] = part.shfl(x[t]!, part.size() - 1);
    out[3 * n + t] = cuda.cg.inclusiveScan(part, x[t]!);
    out[4 * n + t] = part.ballot(x[t]! % 3 === 0);
  },
);

/** What each thread of a part has; `meta`: what it says of the part among the others. */
function modelOf(x: Int32Array, partOf: (t: number) => readonly number[], meta: (t: number) => number) {
  const out = new Int32Array(rows * x.length);
  for (const t of x.keys()) {
    const part = partOf(t);
    const rank = part.indexOf(t);
    const values = [
      rank + 100 * part.length,
      meta(t),
      x[part.at(-1)!]!,
      part.slice(0, rank + 1).reduce((sum, other) => sum + x[other]!, 0),
      part.reduce((mask, other, bit) => mask | (x[other]! % 3 === 0 ? 1 << bit : 0), 0),
    ];
    for (const [row, value] of values.entries()) out[row * x.length + t] = value;
  }
  return [...out];
}

const numbers = (n: number) => Int32Array.from({ length: n }, (_, t) => (t * 7919) % 101);
const ranks = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
const sizes = fc.constantFrom(1, 2, 4, 8, 16, 32);

test('a tile that its block does not fill is cut as the block would be', () => {
  fc.assert(
    fc.property(sizes, sizes, fc.integer({ min: 1, max: 70 }), (a, b, n) => {
      const [inner, outer] = [Math.min(a, b), Math.max(a, b)];
      fc.pre(n % outer !== 0);
      const x = numbers(n);
      const given = { grid: 1, block: n, arguments: { out: new Int32Array(rows * n), x, outer, inner } };
      const first = (t: number, size: number) => t - (t % size);
      const right = modelOf(
        x,
        (t) => ranks(first(t, inner), Math.min(n, first(t, inner) + inner)),
        (t) => {
          const threads = Math.min(n, first(t, outer) + outer) - first(t, outer);
          return Math.floor((t - first(t, outer)) / inner) + 100 * Math.ceil(threads / inner);
        },
      );
      expect(outputOf(ofTiles, given, 'states'), `${n} in ${outer} in ${inner}`).toEqual(right);
    }),
    { numRuns: 4 },
  );
});

test('any lanes are cut by their ranks', () => {
  const labels = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 70 });
  fc.assert(
    fc.property(sizes, labels, (inner, given) => {
      const n = given.length;
      const x = numbers(n);
      const right = modelOf(
        x,
        (t) => {
          const same = ranks(t & ~31, Math.min(n, (t & ~31) + 32)).filter(
            (other) => given[other] === given[t],
          );
          const first = Math.floor(same.indexOf(t) / inner) * inner;
          return same.slice(first, first + inner);
        },
        () => 0,
      );
      const launch = {
        grid: 1,
        block: n,
        arguments: { out: new Int32Array(rows * n), x, labels: Int32Array.from(given), inner },
      };
      expect(outputOf(ofLanes, launch, 'states'), `${n} in ${inner}`).toEqual(right);
    }),
    { numRuns: 4 },
  );
});

test('both are clean', () => {
  const x = numbers(44);
  const out = new Int32Array(rows * 44);
  const tiles = { out, x, outer: 32, inner: 4 };
  const lanes = { out, x, labels: x.map((value) => value % 3), inner: 2 };
  expect(check(ofTiles, { grid: 1, block: 44, arguments: tiles }).findings).toEqual([]);
  expect(check(ofLanes, { grid: 1, block: 44, arguments: lanes }).findings).toEqual([]);
});

test.each([
  [
    16,
    32,
    'a tile of at most 16 threads cannot be cut into tiles of 32',
    'the size of a tile is a power of two up to 16',
  ],
  [
    16,
    3,
    'a tile of at most 16 threads cannot be cut into tiles of 3',
    'the size of a tile is a power of two up to 16',
  ],
])('of %i there are none of %i', (outer, inner, message, hint) => {
  const given = { out: new Int32Array(rows * 20), x: numbers(20), outer, inner };
  const attempt = () => outcomeOf(ofTiles, { grid: 1, block: 20, arguments: given });
  expect(attempt).toThrow(WarpstageError);
  expect(attempt).toThrow(message);
  expect(attempt).toThrow(hint);
});
