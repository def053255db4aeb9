// The estimate of what a launch has to do, against what one counts by hand.

import { describe, expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { mathOperations, workOfLaunch } from '#warpstage/targets/analysis/work.js';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';

function workOf(
  what: Kernel,
  grid: number,
  scalars: readonly (number | undefined)[],
  lengths: readonly number[],
  constants: Record<string, number> = {},
) {
  const { program } = specialise(what, {
    block: [64, 1, 1],
    indexType: 'i32',
    constants,
    functions: Object.fromEntries(
      Object.entries(what.schema).flatMap(([name, value]) =>
        typeof value === 'string' ? [] : [[name, value]],
      ),
    ) as never,
  });
  return workOfLaunch(program, [grid, 1, 1], scalars, lengths);
}

describe('bytes', () => {
  test('of loads and stores, where the bound lets the thread', () => {
    const scale = kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = 2 * x[i]!;
    }) as unknown as Kernel;
    expect(workOf(scale, 4, [], [256, 256]).bytes).toBe(256 * 8);
    // Half of the blocks have nothing to do.
    expect(workOf(scale, 4, [], [128, 128]).bytes).toBe(128 * 8);
  });

  test('of copies of a block, batch by batch', () => {
    const batches = 5;
    const { bytes } = workOf(
      withStagingUnified as unknown as Kernel,
      2,
      [undefined, undefined, batches],
      [2 * 64 * batches, 2 * 64 * batches],
      { stagesCount: 2 },
    );
    expect(bytes).toBe(2 * 64 * batches * 8);
  });

  test('of a branch that hangs on data: the way with more', () => {
    const branch = kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
      const i = cuda.threadIdx.x;
      if (x[i]! > 0) {
        y[i] = 1;
        y[i + 64] = 2;
      } else y[i] = 3;
    }) as unknown as Kernel;
    expect(workOf(branch, 1, [], [128, 64]).bytes).toBe(64 * 12);
  });
});

describe('operations', () => {
  test('of a loop whose count the launch knows', () => {
    const sum = kernel({ y: 'f32[]', n: 'index' }, ({ y, n }) => {
      let s = y[0]!;
      for (let k = 0; k < n; ++k) s = s * 2 + 1;
      y[0] = s;
    }) as unknown as Kernel;
    const few = workOf(sum, 1, [undefined, 10], [1]).operations;
    expect(workOf(sum, 1, [undefined, 20], [1]).operations - few).toBe(64 * 10 * 4);
  });

  test('of functions of Math', () => {
    const wave = kernel({ y: 'f32[]' }, ({ y }) => {
      y[0] = Math.sin(y[0]!);
    }) as unknown as Kernel;
    expect(workOf(wave, 1, [], [1]).operations).toBe(64 * mathOperations);
  });
});
