// Programs whose threads wait for one another under varying conditions, as state machines: what the
// interpreter gives, the same arrays and the same faults to the word.

import { describe, expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { interpreter } from '../support/interpreter.ts';
import {
  acquiresTooMany,
  collatz,
  divides,
  histogram,
  leavesEarly,
  readsBeyond,
  reverse,
  roots,
  scale,
  stagingSpecialized,
  stagingThreadScope,
  stagingUnified,
} from '../support/programs.ts';
import { type ProgramLaunch, runProgram } from '../support/run-program.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

function run(target: typeof wasm, program: Program, launch: ProgramLaunch) {
  const arrays = Object.fromEntries(
    Object.entries(launch.arguments).map(([name, value]) => [
      name,
      typeof value === 'object' ? value.slice() : value,
    ]),
  );
  const { fault, printed, executable } = runProgram(target, program, { ...launch, arguments: arrays });
  return { fault, printed, arrays, executable };
}

/** Runs a program as state machines, and compares with the interpreter. */
function expectAgreement(program: Program, launch: ProgramLaunch, target = wasmStates) {
  const expected = run(interpreter('eager'), program, launch);
  const actual = run(target, program, launch);
  expect(actual.fault).toEqual(expected.fault);
  if (expected.fault === null) expect(actual.arrays).toEqual(expected.arrays);
  expect(actual.executable).toMatchObject({ target: 'wasm', mode: 'states' });
  return actual;
}

const counting = (length: number) => Int32Array.from({ length }, (_, i) => i * 7 - 5);

describe('programs that could do without state machines', () => {
  test.each(['i32', 'i64'] as const)('scale with indices of %s', (indexType) => {
    const y = Float32Array.from({ length: 100 }, (_, i) => i);
    expectAgreement(scale({ indexType }), { grid: 2, arguments: { y, a: 0.1 } });
  });

  test('reverse', () => {
    expectAgreement(reverse(), { grid: 2, arguments: { y: counting(128) } });
  });

  test('collatz', () => {
    expectAgreement(collatz(), { grid: 1, arguments: { y: Uint32Array.of(1, 2, 3, 27, 97, 871) } });
  });

  test('histogram', () => {
    const values = Uint32Array.from({ length: 200 }, (_, i) => i * i);
    expectAgreement(histogram(), { grid: 4, arguments: { counts: new Uint32Array(16), values } });
  });

  test.each(['f32', 'f64'] as const)('roots of %s', (element) => {
    const values = Array.from({ length: 64 }, (_, i) => i - 32);
    const y = element === 'f32' ? new Float32Array(values) : new Float64Array(values);
    expectAgreement(roots({ element }), { grid: 1, arguments: { y } });
  });

  test.each([
    [1, 1],
    [2, 7],
    [3, 64],
  ])('unified staging: %i stages, %i batches', (stages, batchCount) => {
    const n = 2 * 64 * batchCount;
    expectAgreement(stagingUnified({ stages }), {
      grid: 2,
      arguments: { globalOut: new Int32Array(n), globalIn: counting(n), batchCount },
    });
  });

  test('staging in thread scope', () => {
    expectAgreement(stagingThreadScope({ stages: 3 }), {
      grid: 2,
      arguments: { globalOut: new Int32Array(896), globalIn: counting(896), batchCount: 7 },
    });
  });

  test('a read beyond the end', () => {
    expectAgreement(readsBeyond(), { grid: 2, arguments: { y: new Float32Array(128) } });
  });

  test('a division by zero', () => {
    const y = Int32Array.from({ length: 128 }, (_, i) => i - 70);
    expectAgreement(divides(), { grid: 2, arguments: { y } });
  });

  test('one acquire too many', () => {
    const { fault } = expectAgreement(acquiresTooMany(), { grid: 2, arguments: {} });
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
    const { arrays } = expectAgreement(stagingSpecialized({ partition, stages }), launch, wasm);
    expect(arrays.globalOut).toEqual(counting(n).map((x) => x * 3 + 1));
  });
});

describe('deadlocks', () => {
  test('a thread that leaves early', () => {
    const { fault } = expectAgreement(leavesEarly(), { grid: 1, arguments: {} }, wasm);
    expect(fault).toMatchObject({ kind: 'deadlock' });
  });
});
