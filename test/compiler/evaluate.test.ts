// Expressions whose value is known at the launch.

import { expect, test } from 'vitest';
import { DivisionByZero } from '#warpstage/compiler/arithmetic.js';
import { evaluateAtLaunch } from '#warpstage/compiler/evaluate.js';
import {
  add,
  binary,
  compare,
  conditional,
  constant,
  convert,
  load,
  math,
  multiply,
  ProgramBuilder,
  unary,
} from '../support/ir.ts';

const p = new ProgramBuilder('launch', 64, { indexType: 'i64' });
const a = p.array('a', 'f32');
const n = p.scalar('n', 'i64');
const x = p.scalar('x', 'f32');
const launch = { scalars: [undefined, 10n, 2.5], grid: [4, 3, 2] as const };

test('constants, scalars, extents of the grid and operators', () => {
  const blocks = multiply(p.builtin('gridDim.x'), multiply(p.builtin('gridDim.y'), p.builtin('gridDim.z')));
  expect(evaluateAtLaunch(blocks, launch)).toBe(24n);
  expect(evaluateAtLaunch(add(n, p.index(1)), launch)).toBe(11n);
  expect(evaluateAtLaunch(convert(math('round', x), 'i32'), launch)).toBe(3);
  expect(evaluateAtLaunch(unary('negate', x), launch)).toBe(-2.5);
});

test('only the branch that is taken', () => {
  const zero = p.index(0);
  const safe = conditional(compare('equal', n, zero), binary('divide', n, zero), p.index(7));
  expect(evaluateAtLaunch(safe, launch)).toBe(7n);
});

test('a division by zero is signalled', () => {
  expect(() => evaluateAtLaunch(binary('remainder', n, p.index(0)), launch)).toThrow(DivisionByZero);
});

test('what only a thread knows is a broken invariant', () => {
  expect(() => evaluateAtLaunch(p.builtin('threadRank'), launch)).toThrow(
    'the value of threadRank is not known at the launch',
  );
  expect(() => evaluateAtLaunch(load(a, p.index(0)), launch)).toThrow('the value of a load is not known');
  expect(() => evaluateAtLaunch(constant('i32', 1), launch)).not.toThrow();
});
