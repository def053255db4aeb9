// Comparisons: exact among integers of any types, and of strings too.

import type { Node, BinaryOperator as Token } from 'acorn';
import { bigintComparison } from './bigint-comparisons.ts';
import { compare, constant, convert, numberConstant } from './build.ts';
import { commonType } from './common-type.ts';
import type { CompareOperator, Expression } from './ir.ts';
import { literalOperation } from './literals.ts';
import type { Lowering } from './lowering.ts';
import { refuseComparedValue } from './missing.ts';
import { fits, isSmallInteger, type NumberType } from './number-types.ts';
import { numeric, sideOf, toType, typed } from './numbers.ts';
import { describe, type Numeric, number, type Value } from './values.ts';

const comparisons = {
  '<': 'less',
  '<=': 'lessEqual',
  '>': 'greater',
  '>=': 'greaterEqual',
  '==': 'equal',
  '===': 'equal',
  '!=': 'notEqual',
  '!==': 'notEqual',
} as const satisfies { readonly [operator: string]: CompareOperator };

/** A comparison, or null where the operator is another. */
export function comparisonOperation(
  lowering: Lowering,
  token: Token,
  left: Value,
  right: Value,
  node: Node,
): Value | null {
  if (!(token in comparisons)) return null;
  const operator = comparisons[token as keyof typeof comparisons];
  if (operator === 'equal' || operator === 'notEqual') {
    const known = equalityOfOthers(lowering, operator, left, right, node);
    if (known !== null) return number('bool', known);
  }
  const literals = literalOperation(lowering, token, left, right, node);
  if (literals !== null) return literals;
  const what = `an operand of '${token}'`;
  const a = numeric(lowering, left, sideOf(node, 'left'), what);
  const b = numeric(lowering, right, sideOf(node, 'right'), what);
  return comparison(lowering, operator, a, b, node, token);
}

/** Compares numbers exactly: i32, u32 and index among each other by way of i64 where they differ in sign. */
function comparison(
  lowering: Lowering,
  operator: CompareOperator,
  left: Numeric,
  right: Numeric,
  node: Node,
  token: string,
): Value {
  const range = lowering.range(node);
  const bigints = bigintComparison(lowering, operator, left, right, node, token);
  if (bigints !== null) return number('bool', bigints);
  if (token.length === 3 && isBool(left) !== isBool(right) && left.kind !== 'open' && right.kind !== 'open') {
    lowering.fail(
      node,
      'WS1004',
      `'${token}' compares ${describe(left)} with ${describe(right)}, which are never equal`,
      'a bool is a condition by itself: if (flag)',
    );
  }
  const wide = wideOperands(lowering, left, right, node);
  if (wide !== null) return number('bool', compare(operator, wide[0], wide[1], range));
  const common = commonType(lowering, [left, right], node, `'${token}'`);
  // Open on both sides: any type will do in a pass whose program is thrown away.
  const isOrder = operator !== 'equal' && operator !== 'notEqual';
  const mixed = common === 'bool' && !(isBool(left) && isBool(right));
  const type = common === null || mixed || (common === 'bool' && isOrder) ? 'i32' : common;
  return number(
    'bool',
    compare(operator, toType(lowering, left, type, node), toType(lowering, right, type, node), range),
  );
}

function isBool(value: Numeric): boolean {
  return value.kind === 'number' && value.type === 'bool';
}

/** Both sides as i64, where they are integers that no common type of 32 bits holds. */
function wideOperands(
  lowering: Lowering,
  left: Numeric,
  right: Numeric,
  node: Node,
): readonly [Expression, Expression] | null {
  const types = [left, right].map((value) => integerTypeOf(value));
  const signed = types.includes('i32') || types.includes('index');
  const isMixed = types.includes('u32') && signed;
  if (!isMixed && !isBeyond(lowering, left, right) && !isBeyond(lowering, right, left)) return null;
  const range = lowering.range(node);
  const widen = (value: Numeric) =>
    value.kind === 'literal'
      ? constant('i64', BigInt(value.value), range)
      : convert(typed(lowering, value, node).expression, 'i64', range);
  return [widen(left), widen(right)];
}

function integerTypeOf(value: Numeric): NumberType | null {
  return value.kind === 'number' && isSmallInteger(value.type) ? value.type : null;
}

/** Whether a value is an integer literal that the type of the integer beside it does not hold. */
function isBeyond(lowering: Lowering, value: Numeric, beside: Numeric): boolean {
  if (value.kind !== 'literal' || !Number.isSafeInteger(value.value) || beside.kind !== 'number')
    return false;
  return isSmallInteger(beside.type) && !fits(value.value, beside.type, lowering.indexType);
}

/** == and != where one side is no number: strings compare, and everything else is as it is in the text. */
function equalityOfOthers(
  lowering: Lowering,
  operator: 'equal' | 'notEqual',
  left: Value,
  right: Value,
  node: Node,
): Expression | null {
  const range = lowering.range(node);
  const isText = (value: Value) => value.kind === 'text' || value.kind === 'choice';
  if (isText(left) && isText(right)) {
    return compare(operator, textCode(lowering, left, node), textCode(lowering, right, node), range);
  }
  const isUndefined = left.kind === 'undefined' || right.kind === 'undefined';
  if (isUndefined && left.kind !== 'broken' && right.kind !== 'broken') refuseComparedValue(lowering, node);
  if (isText(left) || isText(right)) {
    const message = `${describe(left)} and ${describe(right)} are never equal`;
    lowering.fail(node, 'WS1004', message, 'compare a string with a string, and a number with a number');
  }
  return null;
}

/** The number that stands for a string. */
export function textCode(lowering: Lowering, value: Value, node: Node): Expression {
  if (value.kind === 'choice') return value.code;
  if (value.kind !== 'text') return lowering.broken();
  return numberConstant('i32', lowering.textCode(value.text), lowering.range(node));
}
