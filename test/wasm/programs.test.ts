// The hand-written programs on WebAssembly: what the interpreter gives, the same arrays and the
// same faults, and by the mode that is expected.

import { describe, expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { expectAgreement } from '../support/agreement.ts';
import {
  acquiresTooMany,
  collatz,
  divides,
  histogram,
  readsBeyond,
  reverse,
  roots,
  scale,
  stagingThreadScope,
  stagingUnified,
} from '../support/programs.ts';
import type { ProgramLaunch } from '../support/run-program.ts';

/** Agreement of programs that are run region by region. */
function expectRegions(program: Program, launch: ProgramLaunch) {
  const agreement = expectAgreement(program, launch);
  expect(agreement.executable.mode).toBe('regions');
  return agreement;
}

const counting = (length: number) => Int32Array.from({ length }, (_, i) => i * 7 - 5);

describe('programs that end well', () => {
  test.each(['i32', 'i64'] as const)('scale with indices of %s', (indexType) => {
    const y = Float32Array.from({ length: 100 }, (_, i) => i);
    const { fault } = expectRegions(scale({ indexType }), { grid: 2, arguments: { y, a: 0.1 } });
    expect(fault).toBeNull();
  });

  test('reverse', () => {
    expectRegions(reverse(), { grid: 2, arguments: { y: counting(128) } });
  });

  test('collatz', () => {
    const y = Uint32Array.of(1, 2, 3, 27, 97, 871);
    expectRegions(collatz(), { grid: 1, arguments: { y } });
  });

  test('histogram', () => {
    const values = Uint32Array.from({ length: 200 }, (_, i) => i * i);
    expectRegions(histogram(), { grid: 4, arguments: { counts: new Uint32Array(16), values } });
  });

  test.each(['f32', 'f64'] as const)('roots of %s', (element) => {
    const values = Array.from({ length: 64 }, (_, i) => i - 32);
    const y = element === 'f32' ? new Float32Array(values) : new Float64Array(values);
    expectRegions(roots({ element }), { grid: 1, arguments: { y } });
  });

  test.each([
    [1, 1],
    [2, 1],
    [2, 7],
    [4, 3],
    [3, 64],
  ])('unified staging: %i stages, %i batches', (stages, batchCount) => {
    const n = 2 * 64 * batchCount;
    expectRegions(stagingUnified({ stages }), {
      grid: 2,
      arguments: { globalOut: new Int32Array(n), globalIn: counting(n), batchCount },
    });
  });

  test('staging in thread scope', () => {
    expectRegions(stagingThreadScope({ stages: 3 }), {
      grid: 2,
      arguments: { globalOut: new Int32Array(896), globalIn: counting(896), batchCount: 7 },
    });
  });
});

describe('programs that fail', () => {
  test('a read beyond the end', () => {
    const { fault } = expectRegions(readsBeyond(), { grid: 2, arguments: { y: new Float32Array(128) } });
    expect(fault).toMatchObject({ kind: 'out-of-range', index: 128, thread: [63, 0, 0], block: [1, 0, 0] });
  });

  test('a division by zero', () => {
    const y = Int32Array.from({ length: 128 }, (_, i) => i - 70);
    const { fault } = expectRegions(divides(), { grid: 2, arguments: { y } });
    expect(fault).toMatchObject({ kind: 'division-by-zero', thread: [6, 0, 0], block: [1, 0, 0] });
  });

  test('one acquire too many', () => {
    const { fault } = expectRegions(acquiresTooMany(), { grid: 2, arguments: {} });
    expect(fault).toMatchObject({ kind: 'deadlock' });
  });
});
