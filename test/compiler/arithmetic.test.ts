import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  atomicOperation,
  binaryOperation,
  compareOperation,
  convertOperation,
  DivisionByZero,
  mathOperation,
  unaryOperation,
} from '#warpstage/compiler/arithmetic.js';

const low = -(2 ** 31);

describe('integers', () => {
  test('wrap at their width', () => {
    expect(binaryOperation('add', 'i32')(2 ** 31 - 1, 1)).toBe(low);
    expect(binaryOperation('subtract', 'u32')(0, 1)).toBe(2 ** 32 - 1);
    expect(binaryOperation('multiply', 'u32')(0xffffffff, 0xffffffff)).toBe(1);
    expect(binaryOperation('add', 'i64')(2n ** 63n - 1n, 1n)).toBe(-(2n ** 63n));
    expect(binaryOperation('multiply', 'u64')(2n ** 63n, 2n)).toBe(0n);
    expect(unaryOperation('negate', 'i32')(low)).toBe(low);
    expect(unaryOperation('negate', 'u32')(1)).toBe(2 ** 32 - 1);
    expect(unaryOperation('abs', 'i64')(-(2n ** 63n))).toBe(-(2n ** 63n));
    expect(unaryOperation('complement', 'u32')(0)).toBe(2 ** 32 - 1);
  });

  test('divide towards zero, and the smallest by -1 wraps', () => {
    expect(binaryOperation('divide', 'i32')(-7, 2)).toBe(-3);
    expect(binaryOperation('divide', 'i32')(low, -1)).toBe(low);
    expect(binaryOperation('divide', 'i64')(-(2n ** 63n), -1n)).toBe(-(2n ** 63n));
    expect(binaryOperation('divide', 'u32')(2 ** 32 - 1, 2)).toBe(2 ** 31 - 1);
    expect(binaryOperation('remainder', 'i32')(-7, 2)).toBe(-1);
    expect(Object.is(binaryOperation('remainder', 'i32')(-4, 2), 0)).toBe(true);
    expect(Object.is(binaryOperation('remainder', 'i32')(low, -1), 0)).toBe(true);
  });

  test.each(['i32', 'u32'] as const)('signal a division of %s by zero', (type) => {
    expect(() => binaryOperation('divide', type)(1, 0)).toThrow(DivisionByZero);
    expect(() => binaryOperation('remainder', type)(1, 0)).toThrow(DivisionByZero);
  });

  test.each(['i64', 'u64'] as const)('signal a division of %s by zero', (type) => {
    expect(() => binaryOperation('divide', type)(1n, 0n)).toThrow(DivisionByZero);
    expect(() => binaryOperation('remainder', type)(1n, 0n)).toThrow(DivisionByZero);
  });

  test('shift by the right operand modulo the width', () => {
    expect(binaryOperation('shiftLeft', 'i32')(1, 33)).toBe(2);
    expect(binaryOperation('shiftRight', 'i32')(-8, 1)).toBe(-4);
    expect(binaryOperation('shiftRight', 'u32')(0xfffffff8, 1)).toBe(0x7ffffffc);
    expect(binaryOperation('shiftLeft', 'i64')(1n, 65n)).toBe(2n);
    expect(binaryOperation('shiftRight', 'i64')(-8n, -63n)).toBe(-4n);
    expect(binaryOperation('shiftRight', 'u64')(2n ** 63n, 63n)).toBe(1n);
  });
});

describe('floats', () => {
  test('f32 rounds after every operation, as a Float32Array does', () => {
    const cell = new Float32Array(1);
    const rounded = (x: number) => {
      cell[0] = x;
      return cell[0];
    };
    const f32 = fc.float();
    fc.assert(
      fc.property(f32, f32, (a, b) => {
        expect(binaryOperation('add', 'f32')(a, b)).toBe(rounded(a + b));
        expect(binaryOperation('multiply', 'f32')(a, b)).toBe(rounded(a * b));
        expect(binaryOperation('divide', 'f32')(a, b)).toBe(rounded(a / b));
        expect(binaryOperation('remainder', 'f32')(a, b)).toBe(rounded(a % b));
        expect(unaryOperation('sqrt', 'f32')(a)).toBe(rounded(Math.sqrt(a)));
        expect(mathOperation('sin', 'f32')(a)).toBe(rounded(Math.sin(a)));
      }),
      { seed: 1 },
    );
  });

  test('min and max are JavaScript’s', () => {
    expect(binaryOperation('min', 'f32')(Number.NaN, 1)).toBeNaN();
    expect(binaryOperation('max', 'f64')(1, Number.NaN)).toBeNaN();
    expect(Object.is(binaryOperation('min', 'f64')(0, -0), -0)).toBe(true);
    expect(Object.is(binaryOperation('max', 'f64')(-0, 0), 0)).toBe(true);
  });

  test('every comparison with NaN is false, but notEqual', () => {
    for (const operator of ['equal', 'less', 'lessEqual', 'greater', 'greaterEqual'] as const) {
      expect(compareOperation(operator)(Number.NaN, Number.NaN)).toBe(false);
    }
    expect(compareOperation('notEqual')(Number.NaN, Number.NaN)).toBe(true);
  });
});

describe('conversions', () => {
  test('float to integer truncates and goes on modulo the width', () => {
    expect(convertOperation('f64', 'i32')(2 ** 32 + 5.9)).toBe(5);
    expect(convertOperation('f64', 'u32')(-1.5)).toBe(2 ** 32 - 1);
    expect(convertOperation('f32', 'i32')(Number.NaN)).toBe(0);
    expect(convertOperation('f64', 'i64')(-1.5)).toBe(-1n);
    expect(convertOperation('f64', 'i64')(2 ** 63)).toBe(-(2n ** 63n));
    expect(convertOperation('f64', 'u64')(2 ** 64 + 4096)).toBe(4096n);
    expect(convertOperation('f64', 'u64')(Number.POSITIVE_INFINITY)).toBe(0n);
  });

  test('between integers: modulo the width', () => {
    expect(convertOperation('i32', 'u32')(-1)).toBe(2 ** 32 - 1);
    expect(convertOperation('u32', 'i32')(2 ** 32 - 1)).toBe(-1);
    expect(convertOperation('i32', 'u64')(-1)).toBe(2n ** 64n - 1n);
    expect(convertOperation('u32', 'i64')(2 ** 32 - 1)).toBe(2n ** 32n - 1n);
    expect(convertOperation('u64', 'i64')(2n ** 64n - 1n)).toBe(-1n);
    expect(convertOperation('i64', 'u32')(-1n)).toBe(2 ** 32 - 1);
  });

  test('a 64-bit integer rounds to f32 once', () => {
    // Through f64 this would round to a tie first, and then down to even.
    const a = 2n ** 60n + 2n ** 36n + 1n;
    expect(convertOperation('i64', 'f32')(a)).toBe(2 ** 60 + 2 ** 37);
    expect(convertOperation('i64', 'f32')(-a)).toBe(-(2 ** 60 + 2 ** 37));
    expect(convertOperation('u64', 'f32')(2n ** 64n - 1n)).toBe(2 ** 64);
    expect(convertOperation('i64', 'f64')(2n ** 53n + 1n)).toBe(2 ** 53);
    expect(convertOperation('i32', 'f32')(16777217)).toBe(16777216);
  });

  test('to and from bool', () => {
    expect(convertOperation('bool', 'i64')(true)).toBe(1n);
    expect(convertOperation('bool', 'f32')(false)).toBe(0);
    expect(convertOperation('f64', 'bool')(Number.NaN)).toBe(false);
    expect(convertOperation('f64', 'bool')(-0)).toBe(false);
    expect(convertOperation('u64', 'bool')(2n)).toBe(true);
  });
});

test('atomics keep or replace the old value', () => {
  expect(atomicOperation('sub', 'u32')(0, 1, 0)).toBe(2 ** 32 - 1);
  // What is compared with is `cas`'s alone.
  expect(atomicOperation('min', 'u32')(3000, 4000, 0)).toBe(3000);
  expect(atomicOperation('exch', 'f32')(1, 2, 0)).toBe(2);
  expect(atomicOperation('cas', 'i32')(1, 2, 1)).toBe(2);
  expect(atomicOperation('cas', 'i32')(3, 2, 1)).toBe(3);
});

test('an operator that a type does not have is a broken invariant', () => {
  expect(() => binaryOperation('shiftLeft', 'f32')).toThrow('shiftLeft is not defined on f32');
});
