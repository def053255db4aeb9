// Reductions and scans of a tile: `cuda.cg.reduce`, `inclusiveScan` and `exclusiveScan`.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { outcomeOf, outputOf } from './support.ts';

sayWithoutGpu();

const data = Int32Array.from({ length: 64 }, (_, i) => ((i * 37) % 23) - 9);
const values = (of: (i: number) => number) => Array.from({ length: 64 }, (_, i) => of(i));
const launch = (args: object) => ({
  grid: 1,
  block: 64,
  arguments: { out: new Int32Array(64), x: data, ...args },
});

/** By name: what combines two i32, and the value that changes nothing. */
const combinations = {
  plus: [(a: number, b: number) => (a + b) | 0, 0],
  less: [Math.min, 2 ** 31 - 1],
  greater: [Math.max, -(2 ** 31)],
  bitAnd: [(a: number, b: number) => a & b, -1],
  bitOr: [(a: number, b: number) => a | b, 0],
  bitXor: [(a: number, b: number) => a ^ b, 0],
} as const;

const all = kernel(
  {
    out: 'i32[]',
    x: 'readonly i32[]',
    size: 'constant index',
    which: 'constant index',
    verb: 'constant index',
  },
  ({ out, x, size, which, verb }, cuda) => {
    const t = cuda.threadIdx.x;
    const tile = cuda.tiledPartition(cuda.thisThreadBlock(), size);
    const v = x[t]!;
    const { cg } = cuda;
    if (verb === 0) {
      if (which === 0) out[t] = cg.reduce(tile, v, 'plus');
      if (which === 1) out[t] = cg.reduce(tile, v, 'less');
      if (which === 2) out[t] = cg.reduce(tile, v, 'greater');
      if (which === 3) out[t] = cg.reduce(tile, v, 'bitAnd');
      if (which === 4) out[t] = cg.reduce(tile, v, 'bitOr');
      if (which === 5) out[t] = cg.reduce(tile, v, 'bitXor');
    } else if (verb === 1) {
      if (which === 0) out[t] = cg.inclusiveScan(tile, v);
      if (which === 1) out[t] = cg.inclusiveScan(tile, v, 'less');
      if (which === 2) out[t] = cg.inclusiveScan(tile, v, 'greater');
      if (which === 3) out[t] = cg.inclusiveScan(tile, v, 'bitAnd');
      if (which === 4) out[t] = cg.inclusiveScan(tile, v, 'bitOr');
      if (which === 5) out[t] = cg.inclusiveScan(tile, v, 'bitXor');
    } else {
      if (which === 0) out[t] = cg.exclusiveScan(tile, v);
      if (which === 1) out[t] = cg.exclusiveScan(tile, v, 'less');
      if (which === 2) out[t] = cg.exclusiveScan(tile, v, 'greater');
      if (which === 3) out[t] = cg.exclusiveScan(tile, v, 'bitAnd');
      if (which === 4) out[t] = cg.exclusiveScan(tile, v, 'bitOr');
      if (which === 5) out[t] = cg.exclusiveScan(tile, v, 'bitXor');
    }
  },
);

describe.each(Object.keys(combinations) as (keyof typeof combinations)[])('%s', (name) => {
  const [combine, neutral] = combinations[name];
  const which = Object.keys(combinations).indexOf(name);
  const over = (first: number, end: number) =>
    data.slice(first, end).reduce((a, b) => combine(a, b), neutral);

  test.each([1, 4, 32])('in tiles of %i', (size) => {
    const first = (i: number) => i & ~(size - 1);
    const expected = [
      values((i) => over(first(i), first(i) + size)),
      values((i) => over(first(i), i + 1)),
      values((i) => over(first(i), i)),
    ];
    for (const [verb, results] of expected.entries()) {
      expect(outputOf(all, launch({ size, which, verb }), 'regions')).toEqual(results);
    }
  });
});

test('floats are combined in one order', () => {
  const k = kernel({ out: 'f32[]', x: 'readonly f32[]' }, ({ out, x }, cuda) => {
    const t = cuda.threadIdx.x;
    const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 4);
    out[t] = cuda.cg.reduce(tile, x[t]!, 'plus');
    out[64 + t] = cuda.cg.exclusiveScan(tile, x[t]!, 'greater');
  });
  const { fround } = Math;
  const x = Float32Array.from({ length: 64 }, (_, i) => 1 / (i + 1));
  const result = outcomeOf(k, launch({ out: new Float32Array(128), x }));
  expect(result.fault).toBe(null);
  const sums = values((i) => {
    const [a, b, c, d] = x.slice(i & ~3, (i & ~3) + 4) as unknown as [number, number, number, number];
    return fround(fround(a + c) + fround(b + d));
  });
  const greatest = values((i) => (i % 4 === 0 ? Number.NEGATIVE_INFINITY : x[i & ~3]!));
  expect(Array.from(result.arguments.out as Float32Array)).toEqual([...sums, ...greatest]);
});

test('what cannot be combined is an error', () => {
  const floats = kernel({ out: 'f32[]' }, ({ out }, cuda) => {
    const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 4);
    out[0] = cuda.cg.reduce(tile, out[0]!, 'bitOr');
  });
  expect(() => outcomeOf(floats, launch({ out: new Float32Array(64) }))).toThrow(
    "WS1004: 'bitOr' combines the bits of integers, and is given a number of type f32",
  );
  const block = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
    // @ts-expect-error: a block is no tile
    out[0] = cuda.cg.reduce(cuda.thisThreadBlock(), 1, 'plus');
  });
  expect(() => outcomeOf(block, launch({}))).toThrow(
    'WS1009: group of cuda.cg.reduce must be a tile, a coalesced group or a subset of a block, and is the block group',
  );
});
