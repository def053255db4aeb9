// The estimate of what a launch has to do, against what one counts by hand.

import { describe, expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { workOfLaunch } from '#warpstage/targets/analysis/work.js';
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
  const sum = kernel({ y: 'f32[]', n: 'index' }, ({ y, n }) => {
    let s = y[0]!;
    for (let k = 0; k < n; ++k) s = s * 2 + 1;
    y[0] = s;
  }) as unknown as Kernel;
  const ofLoop = (rounds: number) => workOf(sum, 1, [undefined, rounds], [1]);

  test('of a loop whose count the launch knows: its own, and little for its test and step', () => {
    const each = (ofLoop(20).operations - ofLoop(10).operations) / (64 * 10);
    expect(each).toBeGreaterThan(2);
    expect(each).toBeLessThan(2.5);
  });

  test('of a loop of any length: what the first rounds do, each other one does', () => {
    const [few, many] = [ofLoop(1000), ofLoop(100_000)];
    const rounds = 64 * 99_000;
    expect((many.operations - few.operations) / rounds).toBeCloseTo((few.operations / (64 * 1000)) * 1, 1);
    // A product and a sum, one after the other.
    expect((many.cycles - few.cycles) / 99_000).toBeCloseTo(2 * 4.25, 6);
  });

  test('of functions of Math: more than of a sum', () => {
    const body = (f: 'sin' | 'add') =>
      (f === 'sin'
        ? kernel({ y: 'f32[]' }, ({ y }) => {
            y[0] = Math.sin(y[0]!);
          })
        : kernel({ y: 'f32[]' }, ({ y }) => {
            y[0] = y[0]! + 1;
          })) as unknown as Kernel;
    expect(workOf(body('sin'), 1, [], [1]).operations).toBeGreaterThan(
      workOf(body('add'), 1, [], [1]).operations + 64 * 20,
    );
  });
});

describe('chains', () => {
  const cyclesOf = (
    what: Kernel,
    scalars: readonly (number | undefined)[],
    lengths: readonly number[],
    latency = 0,
  ) => {
    const { program } = specialise(what, {
      block: [64, 1, 1],
      indexType: 'i32',
      constants: {},
      functions: {} as never,
    });
    return workOfLaunch(program, [1, 1, 1], scalars, lengths, latency).cycles;
  };

  test('of sums that do not depend on each other are as long as one of them', () => {
    const one = kernel({ y: 'f32[]', n: 'index' }, ({ y, n }) => {
      let a = y[0]!;
      for (let k = 0; k < n; ++k) a = a * 2 + 1;
      y[0] = a;
    }) as unknown as Kernel;
    const two = kernel({ y: 'f32[]', n: 'index' }, ({ y, n }) => {
      let a = y[0]!;
      let b = y[1]!;
      for (let k = 0; k < n; ++k) {
        a = a * 2 + 1;
        b = b * 3 + 1;
      }
      y[0] = a + b;
    }) as unknown as Kernel;
    const [single, double] = [one, two].map((what) => cyclesOf(what, [undefined, 500], [2]));
    expect(double! / single!).toBeCloseTo(1, 1);
  });

  test('wait for memory: once for loads that are all known, each time for those that hang on one another', () => {
    const known = kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }) => {
      y[0] = x[0]! + x[1]! + x[2]!;
    }) as unknown as Kernel;
    const chased = kernel({ y: 'f32[]', x: 'readonly i32[]' }, ({ y, x }) => {
      y[0] = x[x[x[0]!]!]!;
    }) as unknown as Kernel;
    const waits = (what: Kernel) => (cyclesOf(what, [], [8, 8], 1000) - cyclesOf(what, [], [8, 8], 0)) / 1000;
    expect(waits(known)).toBeCloseTo(1, 1);
    expect(waits(chased)).toBeCloseTo(3, 1);
  });

  test('of a store and the load behind it are one chain, as one may read what the other wrote', () => {
    const through = kernel({ y: 'f32[]', n: 'index' }, ({ y, n }) => {
      for (let k = 0; k < n; ++k) y[k] = y[k]! + 1;
    }) as unknown as Kernel;
    const reduced = kernel({ y: 'f32[]', n: 'index' }, ({ y, n }) => {
      let sum = 0.0;
      for (let k = 0; k < n; ++k) sum += y[k]!;
      y[0] = sum;
    }) as unknown as Kernel;
    const waits = (what: Kernel) => cyclesOf(what, [undefined, 400], [400], 1000) / 1000;
    expect(waits(through)).toBeGreaterThan(390);
    // Four rounds of loads are under way at a time.
    expect(waits(reduced)).toBeLessThan(110);
    expect(waits(reduced)).toBeGreaterThan(90);
  });
});
