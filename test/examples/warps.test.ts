// The examples of warps, run on the interpreter and as WebAssembly, in the way that is meant.

import { expect, test } from 'vitest';
import { expectClean } from 'warpstage/check';
import { blockReduction } from '../../examples/warps/block-reduction.ts';
import { gridReduction } from '../../examples/warps/grid-reduction.ts';
import { warpReduction } from '../../examples/warps/warp-reduction.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { outputOf } from '../warps/support.ts';

sayWithoutGpu();

// Small integers: their sums are exact, in whichever order.
const x = Float32Array.from({ length: 1000 }, (_, i) => ((i * 37) % 101) - 40);
const sumsOf = (size: number) =>
  Array.from({ length: Math.ceil(1000 / size) }, (_, i) =>
    x.slice(i * size, (i + 1) * size).reduce((a, b) => a + b, 0),
  );

test('a warp adds up its elements', () => {
  const launch = { grid: 4, block: 256, arguments: { x, sums: new Float32Array(32) } };
  expect(outputOf(warpReduction, launch, 'regions', 'sums')).toEqual(sumsOf(32));
});

test('a block adds up what its warps found', () => {
  const launch = { grid: 5, block: 224, arguments: { x, sums: new Float32Array(5) } };
  expect(outputOf(blockReduction, launch, 'states', 'sums')).toEqual(sumsOf(224));
});

test('a grid adds up what its blocks found', () => {
  const arrays = { x, total: new Float32Array(1), partial: new Float32Array(3) };
  const launch = { grid: 3, block: 96, cooperative: true, arguments: arrays };
  expect(outputOf(gridReduction, launch, 'states', 'total')).toEqual(sumsOf(1000));
});

test('the checker finds nothing in them', () => {
  expectClean(warpReduction, { grid: 4, block: 256, arguments: { x, sums: { length: 32 } } });
  expectClean(blockReduction, { grid: 5, block: 224, arguments: { x, sums: { length: 5 } } });
  const arrays = { x, total: { length: 1 }, partial: { length: 3, unfilled: true } };
  expectClean(gridReduction, { grid: 3, block: 96, cooperative: true, arguments: arrays });
});
