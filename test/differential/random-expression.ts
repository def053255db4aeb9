// Random expressions of a type, over everything that is in scope.

import { hasBinaryOperation, hasUnaryOperation } from '#warpstage/compiler/arithmetic.js';
import type {
  BinaryOperator,
  CompareOperator,
  Expression,
  MathFunction,
  UnaryOperator,
  ValueType,
} from '#warpstage/compiler/ir.js';
import { binary, compare, conditional, constant, convert, math, recode, unary } from '../support/ir.ts';
import type { Tape } from './tape.ts';

export const valueTypes: readonly ValueType[] = ['i32', 'f32', 'bool', 'u32', 'f64', 'i64', 'u64'];

/** What a random expression may use. Each leaf is made anew where it is used. */
export interface Scope {
  readonly types: readonly ValueType[];
  /** Only what has the same bits on every machine: no sines. */
  readonly exact: boolean;
  leaves(type: ValueType): readonly (() => Expression)[];
}

const unaryOperators: readonly UnaryOperator[] = [
  'negate',
  'abs',
  'complement',
  'not',
  'sqrt',
  'floor',
  'ceil',
  'trunc',
  'clz32',
];

const binaryOperators: readonly BinaryOperator[] = [
  'add',
  'subtract',
  'multiply',
  'and',
  'or',
  'xor',
  'min',
  'max',
  'shiftLeft',
  'shiftRight',
  'divide',
  'remainder',
];

const compareOperators: readonly CompareOperator[] = [
  'less',
  'equal',
  'notEqual',
  'lessEqual',
  'greater',
  'greaterEqual',
];

type MathForm = readonly [MathFunction, operands: number];
const exactFunctions: readonly MathForm[] = [
  ['round', 1],
  ['sign', 1],
];
const mathFunctions: readonly MathForm[] = [
  ...exactFunctions,
  ['sin', 1],
  ['exp', 1],
  ['log', 1],
  ['atan2', 2],
  ['pow', 2],
  ['hypot', 3],
  ['cbrt', 1],
  ['tanh', 1],
];

/** Values at which arithmetic goes wrong, if it does. */
const constants: { readonly [T in ValueType]: readonly (number | bigint | boolean)[] } = {
  bool: [false, true],
  i32: [0, 1, -1, 2, 3, 7, 31, 33, 255, -128, 65535, 0x5555_5555, 2 ** 31 - 1, -(2 ** 31)],
  u32: [0, 1, 2, 3, 31, 255, 2 ** 31, 2 ** 32 - 1],
  i64: [0n, 1n, -1n, 2n, 63n, 2n ** 32n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)],
  u64: [0n, 1n, 2n, 63n, 2n ** 32n - 1n, 2n ** 63n, 2n ** 64n - 1n],
  f32: [
    0,
    1,
    -1,
    0.5,
    -0,
    1.5,
    2.5,
    -2.5,
    16777216,
    2147483648,
    1e10,
    3.4e38,
    1e-40,
    1 / 3,
    -Infinity,
    NaN,
  ].map(Math.fround),
  f64: [
    0,
    1,
    -1,
    0.5,
    -0,
    1.5,
    -2.5,
    2 ** 31,
    2 ** 32,
    2 ** 53,
    1e300,
    5e-324,
    0.1,
    Infinity,
    -Infinity,
    NaN,
  ],
};

/** An expression of a type, at most `depth` operators deep. It never fails. */
export function randomExpression(tape: Tape, scope: Scope, type: ValueType, depth: number): Expression {
  const inner = (of: ValueType) => randomExpression(tape, scope, of, depth - 1);
  if (depth <= 0 || tape.chance(1, 4)) return randomLeaf(tape, scope, type);
  switch (tape.below(12)) {
    case 0:
      return randomLeaf(tape, scope, type);
    case 1:
    case 2: {
      const operator = tape.pick(unaryOperators.filter((each) => hasUnaryOperation(each, type)));
      return unary(operator, inner(type));
    }
    case 3: {
      const from = tape.pick(scope.types.filter((each) => each !== type));
      if (type === 'f32' && from === 'u32' && tape.chance(1, 2)) return randomHalf(tape, inner);
      return convert(inner(from), type);
    }
    case 4:
      return conditional(inner('bool'), inner(type), inner(type));
    case 5:
      if (scope.types.includes('f64') && (type === 'f32' || type === 'f64')) {
        const [name, operands] = tape.pick(scope.exact ? exactFunctions : mathFunctions);
        return math(name, ...Array.from({ length: operands }, () => inner(type)));
      }
      if (type !== 'bool') return randomBinary(tape, type, inner);
      return randomCompare(tape, scope, inner);
    default:
      return type === 'bool' && tape.chance(3, 4)
        ? randomCompare(tape, scope, inner)
        : randomBinary(tape, type, inner);
  }
}

function randomLeaf(tape: Tape, scope: Scope, type: ValueType): Expression {
  const leaves = scope.leaves(type);
  if (leaves.length === 0 || tape.chance(1, 4)) return constant(type, tape.pick(constants[type]));
  return tape.pick(leaves)();
}

function randomCompare(tape: Tape, scope: Scope, inner: (type: ValueType) => Expression): Expression {
  const type = tape.pick(scope.types);
  // bool has equality alone in the kernel language.
  const operator = tape.pick(type === 'bool' ? compareOperators.slice(1, 3) : compareOperators);
  return compare(operator, inner(type), inner(type));
}

function randomBinary(tape: Tape, type: ValueType, inner: (type: ValueType) => Expression): Expression {
  const operator = tape.pick(binaryOperators.filter((each) => hasBinaryOperation(each, type)));
  const left = inner(type);
  const right = inner(type);
  const divides = (operator === 'divide' || operator === 'remainder') && type !== 'f32' && type !== 'f64';
  // An odd divisor is not zero.
  return binary(operator, left, divides ? binary('or', right, constant(type, odd(type))) : right);
}

function odd(type: ValueType): number | bigint {
  return type === 'i64' || type === 'u64' ? 1n : 1;
}

/** A float of 16 bits: any bits, or those of the value nearest to another. */
function randomHalf(tape: Tape, inner: (type: ValueType) => Expression): Expression {
  const format = tape.pick(['f16', 'bf16'] as const);
  const bits = tape.chance(1, 2) ? inner('u32') : recode(inner('f32'), 'u32', format);
  return recode(bits, 'f32', format);
}
