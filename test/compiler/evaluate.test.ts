// The one evaluator of expressions: at a launch, for ranks, and in folding.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DivisionByZero } from '#warpstage/compiler/arithmetic.js';
import { mapOperands } from '#warpstage/compiler/build.js';
import { evaluateAtLaunch } from '#warpstage/compiler/evaluate.js';
import type { Expression, ValueType } from '#warpstage/compiler/ir.js';
import { factsOf } from '#warpstage/targets/analysis/facts.js';
import { randomExpression, valueTypes } from '../differential/random-expression.ts';
import { randomLimit, randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
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
  recode,
  store,
  unary,
} from '../support/ir.ts';
import { bitsOf, type HostArray, runProgram } from '../support/run-program.ts';

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

/** An expression with everything folded that can be. */
const folded = (expression: Expression): Expression => mapOperands(expression, folded);

const threads = 4;
const arrays = {
  i32: Int32Array,
  u32: Uint32Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
  f32: Float32Array,
  f64: Float64Array,
};

test(
  'a random expression has the same bits in a thread that runs, folded, and known by rank',
  () => {
    fc.assert(
      fc.property(tapes(60), (tape) => {
        const program = new ProgramBuilder('evaluated', threads);
        const type = tape.pick(Object.keys(arrays) as (keyof typeof arrays)[]);
        const out = program.array('out', type);
        const rank = () => program.builtin('threadRank');
        const half = () => recode(recode(convert(rank(), 'f32'), 'u32', 'bf16'), 'f32', 'f16');
        const leaves = (of: ValueType) =>
          of === 'f32' ? [half] : [() => (of === 'i32' ? rank() : convert(rank(), of))];
        const expression = randomExpression(
          tape,
          {
            types: valueTypes,
            exact: false,
            leaves,
          },
          type,
          4,
        );
        const facts = factsOf(program.build([]));
        const run = (value: Expression): string => {
          const result: HostArray = new arrays[type](threads);
          const launch = { grid: 1, arguments: { out: result } };
          expect(
            runProgram(interpreter(), program.build([store(out, rank(), value)]), launch).fault,
          ).toBeNull();
          return bitsOf(result);
        };
        const bits = run(expression);
        expect(run(folded(expression))).toBe(bits);
        const known: HostArray = new arrays[type](threads);
        for (let at = 0; at < threads; at += 1) known[at] = facts.inThread(at)(expression).value as never;
        expect(bitsOf(known)).toBe(bits);
      }),
      randomRuns(500),
    );
  },
  randomLimit(500),
);
