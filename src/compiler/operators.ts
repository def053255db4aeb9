// The operators of JavaScript on numbers, by the number rules of docs/language.md.
//
// Comparisons and bit operations have files of their own; this one has arithmetic, and is where
// an operator is looked up.

import type { Node, BinaryOperator as Token, UnaryExpression, UnaryOperator as UnaryToken } from 'acorn';
import { type Advice, castAdvice, replacementAdvice } from './advice.ts';
import { bitOperation, complement } from './bits.ts';
import { binary, unary } from './build.ts';
import { commonType, openOf, refuseBigintMix } from './common-type.ts';
import { comparisonOperation } from './comparisons.ts';
import { literalOperation } from './literals.ts';
import type { Lowering } from './lowering.ts';
import { isBigint, isFloat, isInteger } from './number-types.ts';
import { isBigintValue, isLiteral, numeric, sideOf, toBool, toType, typed, wrapped } from './numbers.ts';
import { dividedTogether } from './quotients.ts';
import {
  type EitherValue,
  type LiteralValue,
  literal,
  type Numeric,
  number,
  type OpenValue,
  type QuotientValue,
  type Value,
} from './values.ts';
import { written, writtenOperand } from './written.ts';

const arithmetic = { '+': 'add', '-': 'subtract', '*': 'multiply', '%': 'remainder' } as const;

/** `left operator right`. */
export function binaryOperation(
  lowering: Lowering,
  operator: Token,
  first: Value,
  second: Value,
  node: Node,
): Value {
  const [left, right] = dividedTogether(lowering, [first, second]);
  const other =
    comparisonOperation(lowering, operator, left, right, node) ??
    bitOperation(lowering, operator, left, right, node) ??
    literalOperation(lowering, operator, left, right, node);
  if (other !== null) return other;
  if (operator === 'in' || operator === 'instanceof') {
    const hint = 'kernels compute with numbers and arrays; objects and classes stay on the host';
    return lowering.fail(node, 'WS1006', `kernels do not have the operator '${operator}'`, hint);
  }
  if (operator === '+' && (left.kind === 'text' || right.kind === 'text')) {
    const hint = "print the parts one by one: console.log('sum', sum)";
    return lowering.fail(node, 'WS1004', 'kernels do not join strings', hint);
  }
  const what = `an operand of '${operator}'`;
  const a = numeric(lowering, left, sideOf(node, 'left'), what);
  const b = numeric(lowering, right, sideOf(node, 'right'), what);
  if (operator === '/') return division(lowering, a, b, node);
  if (operator === '**') return power(lowering, a, b, node);
  return arithmeticOperation(lowering, operator as keyof typeof arithmetic, a, b, node);
}

function arithmeticOperation(
  lowering: Lowering,
  operator: keyof typeof arithmetic,
  left: Numeric,
  right: Numeric,
  node: Node,
): Numeric {
  const common = commonType(lowering, [left, right], node, `'${operator}'`);
  if (common === null) return openOf([left, right]);
  const type = common === 'bool' ? 'i32' : common;
  // These three come out right modulo the width, whatever literal is written.
  const wraps = operator !== '%' && isInteger(type);
  const convertOperand = (value: Numeric) =>
    wraps && isLiteral(value) ? wrapped(lowering, value, type, node) : toType(lowering, value, type, node);
  const range = lowering.range(node);
  return number(type, binary(arithmetic[operator], convertOperand(left), convertOperand(right), range));
}

function division(lowering: Lowering, left: Numeric, right: Numeric, node: Node): Numeric | QuotientValue {
  const common = commonType(lowering, [left, right], node, "'/'");
  if (common === null) return openOf([left, right]);
  const type = common === 'bool' ? 'i32' : common;
  const [a, b] = [toType(lowering, left, type, node), toType(lowering, right, type, node)];
  // Bigints divide as integers do in C: towards zero.
  if (isFloat(type) || isBigint(type)) return number(type, binary('divide', a, b, lowering.range(node)));
  return { kind: 'quotient', type, left: a, right: b, node };
}

/** A power of bigints as a product of those that there are, or as a shift where it is one of two. */
function bigintPower(lowering: Lowering, node: Node, exponent: number | null): Advice | string {
  const [left, right] = [
    writtenOperand(lowering, sideOf(node, 'left')),
    writtenOperand(lowering, sideOf(node, 'right')),
  ];
  if (left === '2n') return replacementAdvice(lowering, node, `(1n << ${right})`);
  if (exponent === null || exponent < 1 || exponent > 64)
    return 'multiply as often as the exponent says, in a loop';
  const powers = Array.from({ length: Math.ceil(exponent / 4) }, (_, at) => Math.min(4, exponent - 4 * at));
  return replacementAdvice(lowering, node, `(${powers.map((one) => `${left} ** ${one}n`).join(' * ')})`);
}

/** x ** y: of integers only small powers that are written out; everything else as Math.pow. */
export function power(lowering: Lowering, left: Numeric, right: Numeric, node: Node): Numeric {
  refuseBigintMix(lowering, [left, right], node, "'**'");
  const exponent = right.kind === 'literal' ? Number(right.value) : null;
  const isSmall = exponent !== null && Number.isInteger(exponent) && exponent >= 1 && exponent <= 4;
  if (left.kind === 'open') return openOf([left, right]);
  const base = typed(lowering, left, node);
  // The product of two f32 is exact in f64, so squaring is what Math.pow gives.
  if (isSmall && (isInteger(base.type) || (base.type === 'f32' && exponent === 2))) {
    const value = lowering.settleExpression(base.expression, 'base');
    let product = value;
    for (let count = 1; count < exponent; count++) {
      product = binary('multiply', product, value, lowering.range(node));
    }
    return number(base.type, product);
  }
  const common = commonType(lowering, [left, right], node, "'**'");
  if (common === null) return openOf([left, right]);
  if (!isFloat(common)) {
    return lowering.fail(
      node,
      'WS1004',
      isBigint(common)
        ? `a power of bigints (${common}) has one of the exponents 1n to 4n, written out`
        : `a power of two integers (${common}) need not be one`,
      isBigint(common)
        ? bigintPower(lowering, node, exponent)
        : castAdvice(lowering, sideOf(node, 'left'), 'f32', '', 'cast the base'),
    );
  }
  const operands = [toType(lowering, left, common, node), toType(lowering, right, common, node)];
  return number(common, {
    kind: 'math',
    function: 'pow',
    type: common,
    operands,
    range: lowering.range(node),
  });
}

/** `operator operand`. */
export function unaryOperation(lowering: Lowering, operator: UnaryToken, value: Value, node: Node): Value {
  const range = lowering.range(node);
  switch (operator) {
    case '!':
      return number('bool', unary('not', toBool(lowering, value, node), range));
    case '-':
    case '+':
      return signed(lowering, operator, numeric(lowering, value, node, `the operand of '${operator}'`), node);
    case '~':
      return complement(lowering, value, node);
    default:
      return lowering.fail(
        node,
        'WS1006',
        `kernels do not have '${operator}'`,
        operator === 'delete'
          ? 'the elements of an array stay; write 0'
          : 'the types in a kernel are known when it is compiled',
      );
  }
}

function signed(lowering: Lowering, operator: '-' | '+', value: Numeric, node: Node): Numeric | OpenValue {
  if (value.kind === 'open') return value;
  if (operator === '+' && isBigintValue(value)) {
    lowering.fail(node, 'WS1004', "'+' makes numbers, and takes no bigints", numberAdvice(lowering, node));
  }
  if (isLiteral(value)) return operator === '+' ? value : negated(value);
  const { type, expression } = value;
  const whole = type === 'bool' ? toType(lowering, value, 'i32', node) : expression;
  const result = operator === '-' ? unary('negate', whole, lowering.range(node)) : whole;
  return number(type === 'bool' ? 'i32' : type, result);
}

function negated(value: LiteralValue | EitherValue): LiteralValue | EitherValue {
  if (value.kind === 'literal') return literal(-value.value);
  return { ...value, then: negated(value.then), otherwise: negated(value.otherwise) };
}

/** `+x` as a call. */
function numberAdvice(lowering: Lowering, node: Node): Advice | string {
  const { type, argument } = node as UnaryExpression;
  if (type !== 'UnaryExpression') return 'cast it to f64';
  return replacementAdvice(lowering, node, `Number(${written(lowering, argument)})`);
}
