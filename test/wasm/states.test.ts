// Whole programs as state machines: what the interpreter gives, the same arrays and the same faults.

import { describe, expect, test } from 'vitest';
import { counting, expectStates } from '../support/agreement.ts';
import {
  acquiresTooMany,
  collatz,
  divides,
  histogram,
  readsBeyond,
  reverse,
  roots,
  scale,
  stagingSpecialized,
  stagingThreadScope,
  stagingUnified,
} from '../support/programs.ts';
import { wasmWithout } from '../support/wasm.ts';

describe('programs that could do without state machines', () => {
  test.each(['i32', 'i64'] as const)('scale with indices of %s', (indexType) => {
    const y = Float32Array.from({ length: 100 }, (_, i) => i);
    expectStates(scale({ indexType }), { grid: 2, arguments: { y, a: 0.1 } });
  });

  test('reverse', () => {
    expectStates(reverse(), { grid: 2, arguments: { y: counting(128) } });
  });

  test('collatz', () => {
    expectStates(collatz(), { grid: 1, arguments: { y: Uint32Array.of(1, 2, 3, 27, 97, 871) } });
  });

  test('histogram', () => {
    const values = Uint32Array.from({ length: 200 }, (_, i) => i * i);
    expectStates(histogram(), { grid: 4, arguments: { counts: new Uint32Array(16), values } });
  });

  test.each(['f32', 'f64'] as const)('roots of %s', (element) => {
    const values = Array.from({ length: 64 }, (_, i) => i - 32);
    const y = element === 'f32' ? new Float32Array(values) : new Float64Array(values);
    expectStates(roots({ element }), { grid: 1, arguments: { y } });
  });

  test.each([
    [1, 1],
    [2, 7],
    [3, 64],
  ])('unified staging: %i stages, %i batches', (stages, batchCount) => {
    const n = 2 * 64 * batchCount;
    expectStates(stagingUnified({ stages }), {
      grid: 2,
      arguments: { globalOut: new Int32Array(n), globalIn: counting(n), batchCount },
    });
  });

  test('staging in thread scope', () => {
    expectStates(stagingThreadScope({ stages: 3 }), {
      grid: 2,
      arguments: { globalOut: new Int32Array(896), globalIn: counting(896), batchCount: 7 },
    });
  });

  test('a read beyond the end', () => {
    expectStates(readsBeyond(), { grid: 2, arguments: { y: new Float32Array(128) } });
  });

  test('a division by zero', () => {
    const y = Int32Array.from({ length: 128 }, (_, i) => i - 70);
    expectStates(divides(), { grid: 2, arguments: { y } });
  });

  test('one acquire too many', () => {
    const { fault } = expectStates(acquiresTooMany(), { grid: 2, arguments: {} });
    expect(fault).toMatchObject({ kind: 'deadlock' });
  });
});

describe('roles', () => {
  test.each([
    ['role', 1, 5],
    ['role', 4, 3],
    ['count', 2, 9],
  ] as const)('specialised staging by %s: %i stages, %i batches', (partition, stages, batchCount) => {
    const n = 2 * 32 * batchCount;
    const launch = {
      grid: 2,
      arguments: { globalOut: new Int32Array(n), globalIn: counting(n), batchCount },
    };
    const { arguments: arrays } = expectStates(
      stagingSpecialized({ partition, stages }),
      launch,
      wasmWithout('zip'),
    );
    expect(arrays.globalOut).toEqual(counting(n).map((x) => x * 3 + 1));
  });
});
