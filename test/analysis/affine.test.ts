// What is known of integers that grow by a constant from thread to thread, base + c * threadIdx.x, is what the
// expression gives in each thread, whatever wraps and whatever literals stand in it.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { binaryOperation, convertOperation, type Value } from '#warpstage/compiler/arithmetic.js';
import type { Expression, Program } from '#warpstage/compiler/ir.js';
import { AffineForms } from '#warpstage/targets/analysis/affine.js';
import { anyOperand } from '#warpstage/targets/analysis/walk.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { binary, constant, convert, ProgramBuilder } from '../support/ir.ts';

const types = ['i32', 'u32', 'i64', 'u64'] as const;
type Type = (typeof types)[number];

const literals: readonly bigint[] = [
  ...[0n, 1n, 2n, 3n, 5n, 31n, 32n, 33n, 63n, 64n, 65n, 1n << 20n, (1n << 20n) + 1n, (1n << 31n) - 1n],
  ...[1n << 31n, (1n << 32n) + 1n, (1n << 53n) - 1n, (1n << 53n) + 1n, (1n << 53n) + 3n, (1n << 62n) + 5n],
];

const bits = (type: Type) => (type === 'i32' || type === 'u32' ? 32 : 64);

function wrapped(type: Type, value: bigint): bigint {
  return type === 'i32' || type === 'i64'
    ? BigInt.asIntN(bits(type), value)
    : BigInt.asUintN(bits(type), value);
}

const held = (type: Type, value: bigint): Value => (bits(type) === 64 ? value : Number(value));

/** A sum, product or shift of the thread's index and literals, now and then of another type. */
function expressionOf(tape: Tape, type: Type, depth: number): Expression {
  const of = () => expressionOf(tape, type, depth - 1);
  const choice = depth === 0 ? tape.below(2) : 2 + tape.below(5);
  if (choice === 0) return { ...constant(type, 0), kind: 'builtin', name: 'threadIdx.x' } as Expression;
  if (choice === 1) {
    const value = wrapped(type, tape.pick(literals) * (tape.below(2) === 0 ? 1n : -1n));
    return constant(type, held(type, value) as number | bigint);
  }
  if (choice === 2) {
    return convert(expressionOf(tape, tape.pick(types), depth - 1), type);
  }
  return binary((['add', 'subtract', 'multiply', 'shiftLeft'] as const)[choice - 3]!, of(), of());
}

function resultOf(expression: Expression, thread: number): Value {
  const type = expression.type as Type;
  switch (expression.kind) {
    case 'constant':
      return expression.value;
    case 'builtin':
      return held(type, BigInt(thread));
    case 'convert':
      return convertOperation(expression.operand.type, type)(resultOf(expression.operand, thread));
    case 'binary':
      return binaryOperation(expression.operator, type)(
        resultOf(expression.left, thread),
        resultOf(expression.right, thread),
      );
    default:
      throw new Error(expression.kind);
  }
}

const differs = (expression: Expression): boolean => anyOperand(expression, ({ kind }) => kind === 'builtin');

function formsOf(program: Program): AffineForms {
  return new AffineForms(program, (expression) => !differs(expression));
}

test('an affine form gives what the expression gives, in every thread', () => {
  const forms = formsOf(new ProgramBuilder('affine', 64).build([]));
  let [found, shifted] = [0, 0];
  fc.assert(
    fc.property(tapes(60), (tape) => {
      const type = tape.pick(types);
      const expression = expressionOf(tape, type, 1 + tape.below(3));
      const form = forms.of(expression);
      if (form === null) return;
      if (form.coefficient !== 0) found += 1;
      if (form.coefficient !== 0 && expression.kind === 'binary' && expression.operator === 'shiftLeft')
        shifted += 1;
      if (form.base !== null) expect(differs(form.base)).toBe(false);
      const base = form.base === null ? 0n : BigInt(resultOf(form.base, 0) as bigint);
      for (const thread of [0, 1, 2, 7, 63]) {
        const said = wrapped(type, base + BigInt(form.coefficient) * BigInt(thread));
        expect(BigInt(resultOf(expression, thread) as bigint)).toBe(said);
      }
    }),
    randomRuns(3000),
  );
  expect(found).toBeGreaterThan(100);
  expect(shifted).toBeGreaterThan(20);
});

test('a shift by a count of 64 bits that no number holds is taken as it is, or not at all', () => {
  const forms = formsOf(new ProgramBuilder('affine', 64).build([]));
  const thread: Expression = { ...constant('i64', 0), kind: 'builtin', name: 'threadIdx.x' } as never;
  for (const count of [(1n << 53n) + 1n, -((1n << 53n) + 1n), (1n << 62n) + 3n]) {
    const form = forms.of(binary('shiftLeft', thread, constant('i64', count)));
    if (form !== null) expect(form.coefficient).toBe(2 ** Number(count & 63n));
  }
});
