// The hand-written programs on the interpreter, under every delivery of copies.

import { describe, expect, test } from 'vitest';
import { deliveries, interpreter } from '../support/interpreter.ts';
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
import { runProgram } from '../support/run-program.ts';

const counting = (length: number) => Int32Array.from({ length }, (_, i) => i * 7 - 5);

describe.each(deliveries)('delivery %s', (delivery) => {
  const target = interpreter(delivery);

  test.each(['i32', 'i64'] as const)('scale with indices of %s', (indexType) => {
    const y = Float32Array.from({ length: 100 }, (_, i) => i);
    const { fault } = runProgram(target, scale({ indexType }), { grid: 2, arguments: { y, a: 0.1 } });
    expect(fault).toBeNull();
    expect(y).toEqual(Float32Array.from({ length: 100 }, (_, i) => Math.fround(0.1) * i));
  });

  test('reverse', () => {
    const y = Int32Array.from({ length: 128 }, (_, i) => i);
    expect(runProgram(target, reverse(), { grid: 2, arguments: { y } }).fault).toBeNull();
    expect([...y.subarray(0, 3), ...y.subarray(64, 66)]).toEqual([63, 62, 61, 127, 126]);
  });

  test('collatz', () => {
    const y = Uint32Array.of(1, 2, 3, 27, 97, 871);
    expect(runProgram(target, collatz(), { grid: 1, arguments: { y } }).fault).toBeNull();
    expect([...y]).toEqual([0, 1, 7, 111, 118, 178]);
  });

  test('histogram', () => {
    const values = Uint32Array.from({ length: 200 }, (_, i) => i * i);
    const counts = new Uint32Array(16);
    expect(runProgram(target, histogram(), { grid: 4, arguments: { counts, values } }).fault).toBeNull();
    const expected = new Uint32Array(16);
    for (const value of values) expected[value % 16]! += 1;
    expect(counts).toEqual(expected);
  });

  test('roots', () => {
    const y = Float64Array.from({ length: 64 }, (_, i) => i - 32);
    expect(runProgram(target, roots({ element: 'f64' }), { grid: 1, arguments: { y } }).fault).toBeNull();
    expect(y[0]).toBe(32);
    expect(y[48]).toBe(4);
  });

  test.each([
    [1, 1],
    [2, 1],
    [2, 7],
    [4, 3],
    [3, 64],
  ])('unified staging: %i stages, %i batches', (stages, batchCount) => {
    const n = 2 * 64 * batchCount;
    const globalIn = counting(n);
    const globalOut = new Int32Array(n);
    const { fault } = runProgram(target, stagingUnified({ stages }), {
      grid: 2,
      arguments: { globalOut, globalIn, batchCount },
    });
    expect(fault).toBeNull();
    expect(globalOut).toEqual(globalIn.map((x) => x * 3 + 1));
  });

  test.each([
    ['role', 1, 5],
    ['role', 4, 3],
    ['count', 2, 9],
  ] as const)('specialised staging by %s: %i stages, %i batches', (partition, stages, batchCount) => {
    const n = 2 * 32 * batchCount;
    const globalIn = counting(n);
    const globalOut = new Int32Array(n);
    const { fault } = runProgram(target, stagingSpecialized({ partition, stages }), {
      grid: 2,
      arguments: { globalOut, globalIn, batchCount },
    });
    expect(fault).toBeNull();
    expect(globalOut).toEqual(globalIn.map((x) => x * 3 + 1));
  });

  test.each([
    [1, 3],
    [3, 8],
  ])('thread-scope staging: %i stages, %i batches', (stages, batchCount) => {
    const n = 64 * batchCount;
    const globalIn = counting(n);
    const globalOut = new Int32Array(n);
    const { fault } = runProgram(target, stagingThreadScope({ stages }), {
      grid: 1,
      arguments: { globalOut, globalIn, batchCount },
    });
    expect(fault).toBeNull();
    const neighbour = (i: number) => i - (i % 64) + ((i + 1) % 64);
    expect(globalOut).toEqual(globalIn.map((_, i) => globalIn[neighbour(i)]! * 3 + 1));
  });

  test('a read beyond the end names the array, the index and the thread', () => {
    const program = readsBeyond();
    const { fault } = runProgram(target, program, { grid: 2, arguments: { y: new Float32Array(128) } });
    expect(fault).toMatchObject({
      kind: 'out-of-range',
      array: 'y',
      access: 'read',
      index: 128,
      count: 1,
      length: 128,
      thread: [63, 0, 0],
      block: [1, 0, 0],
    });
  });

  test('an integer division by zero names the thread', () => {
    const y = new Int32Array(64).fill(3);
    y[17] = 0;
    const { fault } = runProgram(target, divides(), { grid: 1, arguments: { y } });
    expect(fault).toMatchObject({ kind: 'division-by-zero', thread: [17, 0, 0], block: [0, 0, 0] });
  });

  test('more stages in flight than there are is a deadlock', () => {
    const { fault } = runProgram(target, acquiresTooMany(), { grid: 1, arguments: {} });
    expect(fault).toMatchObject({
      kind: 'deadlock',
      block: [0, 0, 0],
      waiting: [{ what: 'producerAcquire on stage 0 of `pipeline`: 0 of 64 threads have released it' }],
    });
  });

  test('a thread that returns before its commit leaves the others waiting', () => {
    const { fault } = runProgram(target, leavesEarly(), { grid: 1, arguments: {} });
    expect(fault).toMatchObject({
      kind: 'deadlock',
      waiting: [
        {
          what: 'consumerWait on stage 0 of `pipeline`: 63 of 64 threads have committed; 1 thread has returned',
          threads: Array.from({ length: 63 }, (_, i) => i + 1),
        },
      ],
    });
  });
});
