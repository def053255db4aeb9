// Numbers as expressions of a type: conversions, and the type in which numbers are combined.

import type { Node } from 'acorn';
import type { ScalarType } from '../kernel/types.ts';
import { castAdvice, comparisonAdvice, replacementAdvice } from './advice.ts';
import { convertOperation } from './arithmetic.ts';
import { compare, conditional, constant, convert, numberConstant } from './build.ts';
import type { Expression } from './ir.ts';
import type { Lowering } from './lowering.ts';
import {
  type BigintType,
  fits,
  type IntegerType,
  isBigint,
  isFloat,
  isInteger,
  type NumberType,
} from './number-types.ts';
import { dividedFor, refuseQuotient, wholeQuotient } from './quotients.ts';
import {
  describe,
  type EitherValue,
  hasFraction,
  isNumeric,
  type LiteralValue,
  type NumberValue,
  type Numeric,
  type QuotientValue,
  type Value,
} from './values.ts';

/**
 * The value as a number, or the error that it is none; `what` names it in the message, and `wanted` says what
 * its place takes.
 */
export function numeric(
  lowering: Lowering,
  value: Value,
  node: Node,
  what = 'this',
  wanted: 'integer' | 'any' = 'any',
): Numeric {
  if (isNumeric(value)) return value;
  if (value.kind === 'quotient')
    return wholeQuotient(lowering, value) ?? refuseQuotient(lowering, value, wanted);
  if (value.kind === 'broken') return lowering.broken();
  return lowering.fail(
    node,
    'WS1004',
    `${what} must be a number, and is ${describe(value)}`,
    numberHint(value),
  );
}

/** The value, or the error that it is a division that must be rounded and was not: no such thing is kept. */
export function rounded<T extends Value>(lowering: Lowering, value: T): Exclude<T, QuotientValue> {
  const taken =
    value.kind === 'quotient' ? (wholeQuotient(lowering, value) ?? refuseQuotient(lowering, value)) : value;
  return taken as Exclude<T, QuotientValue>;
}

/** How to come to a number from what is none. */
export function numberHint(value: Value): string {
  switch (value.kind) {
    case 'view':
      return `take one of its elements: ${value.name}[0]`;
    case 'vector':
      return 'compute with its components: .x, .y';
    case 'object':
      return `take one of its members: ${[...value.members.keys()].join(', ')}`;
    case 'intrinsic':
    case 'closure':
    case 'deviceFunction':
      return 'call it: write () after its name';
    case 'group':
      return 'ask for its size() or threadRank()';
    case 'undefined':
      return 'give it a value; a function gives what it returns';
    default:
      return 'use a number here';
  }
}

/** The number as an expression of a type, converted whatever it loses; a literal must fit. */
export function toType(lowering: Lowering, value: Numeric, type: NumberType, node: Node): Expression {
  const valueType = lowering.valueType(type);
  switch (value.kind) {
    case 'number':
      return convert(value.expression, valueType, lowering.range(node));
    case 'open':
      return openExpression(lowering, type, node);
    case 'either':
      return conditional(
        value.test,
        toType(lowering, value.then, type, node),
        toType(lowering, value.otherwise, type, node),
        lowering.range(node),
      );
    case 'literal':
      return literalConstant(lowering, value.value, type, node);
  }
}

function literalConstant(
  lowering: Lowering,
  value: number | bigint,
  type: NumberType,
  node: Node,
): Expression {
  const range = lowering.range(node);
  const valueType = lowering.valueType(type);
  if (typeof value === 'bigint' && !isBigint(type)) {
    return constant(valueType, convertOperation('i64', valueType)(BigInt.asIntN(64, value)), range);
  }
  if (typeof value === 'number' && isBigint(type) && Number.isInteger(value)) {
    return constant(type, wrappedBigint(BigInt(value), type), range);
  }
  if (isInteger(type) && !fits(value, type, lowering.indexType)) {
    lowering.fail(
      node,
      'WS1004',
      `${literalText(value)} is not of type ${type}`,
      typeof value === 'bigint' || Number.isInteger(value)
        ? `${type} holds ${limits(type, lowering.indexType)}${isBigint(type) ? '' : '; compute in a wider type, f64'}`
        : `give a whole number, such as ${Math.trunc(value)}`,
    );
  }
  return typeof value === 'bigint'
    ? constant(valueType, value, range)
    : numberConstant(valueType, value, range);
}

/** A literal as it is written. */
export function literalText(value: number | bigint): string {
  return typeof value === 'bigint' ? `${value}n` : String(value);
}

function wrappedBigint(value: bigint, type: BigintType): bigint {
  return type === 'i64' ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value);
}

function limits(type: IntegerType, indexType: 'i32' | 'i64'): string {
  if (type === 'i64') return '-2n ** 63n to 2n ** 63n - 1n';
  if (type === 'u64') return '0n to 2n ** 64n - 1n';
  if (type === 'u32') return '0 to 4294967295';
  return type === 'index' && indexType === 'i64' ? 'integers up to 2^53' : '-2147483648 to 2147483647';
}

/** Whether a number is a bigint of JavaScript; an open one may yet become one. */
export function isBigintValue(value: Value): boolean {
  switch (value.kind) {
    case 'number':
      return isBigint(value.type);
    case 'literal':
      return typeof value.value === 'bigint';
    case 'either':
      return isBigintValue(value.then);
    default:
      return false;
  }
}

/** Stands for an open value in a pass whose program is thrown away. */
function openExpression(lowering: Lowering, type: NumberType, node: Node): Expression {
  return { kind: 'variable', id: -1, type: lowering.valueType(type), range: lowering.range(node) };
}

/** As an index. */
export function toIndex(lowering: Lowering, value: Value, node: Node, what: string): Expression {
  const index = numeric(lowering, value, node, what, 'integer');
  lowering.inference.meets(index, 'index');
  if (isBigintValue(index)) {
    lowering.fail(
      node,
      'WS1004',
      `${what} must be a number, and is ${describe(index)}`,
      castAdvice(lowering, node, 'index'),
    );
  }
  if (index.kind === 'number' && !isInteger(index.type)) refuseIndex(lowering, describe(index), node, what);
  if (hasFraction(index)) refuseIndex(lowering, describe(index), node, what);
  return toType(lowering, index, 'index', node);
}

function refuseIndex(lowering: Lowering, given: string, node: Node, what: string): never {
  return lowering.fail(
    node,
    'WS1004',
    `${what} must be an integer, and is ${given}`,
    castAdvice(lowering, node, 'index', ' drops a fraction'),
  );
}

/** Whether a condition holds: not zero and not NaN. What is no number is true, as in JavaScript. */
export function toBool(lowering: Lowering, value: Value, node: Node): Expression {
  switch (value.kind) {
    case 'undefined':
      return lowering.boolConstant(false, node);
    case 'text':
      return lowering.boolConstant(value.text !== '', node);
    case 'choice': {
      const empty = numberConstant('i32', lowering.textCode(''), lowering.range(node));
      return compare('notEqual', value.code, empty, lowering.range(node));
    }
    case 'number':
    case 'literal':
    case 'either':
    case 'open':
    case 'quotient':
    case 'broken':
      return toType(lowering, numeric(lowering, value, node), 'bool', node);
    case 'intrinsic':
    case 'closure':
    case 'deviceFunction':
      return lowering.fail(
        node,
        'WS1004',
        `a condition is ${describe(value)}, which always holds`,
        numberHint(value),
      );
    default:
      return lowering.boolConstant(true, node);
  }
}

/** The value that literals alone can be, or null. */
export function isLiteral(value: Value): value is LiteralValue | EitherValue {
  return value.kind === 'literal' || value.kind === 'either';
}

/** The type of a literal that is combined with nothing. */
export function ownType(value: LiteralValue | EitherValue): 'i32' | 'i64' | 'f32' {
  if (isBigintValue(value)) return 'i64';
  return hasFraction(value) ? 'f32' : 'i32';
}

/**
 * As it is stored: integers keep the low bits and floats are rounded, as in typed arrays; but a
 * float becomes an integer only by a cast. `declared` is the type in the user's words, where a value of it is
 * computed with in another.
 */
export function toStored(
  lowering: Lowering,
  value: Value,
  type: NumberType,
  node: Node,
  what: string,
  declared: ScalarType = type,
): Expression {
  const divided = dividedFor(lowering, value, type);
  const given = numeric(lowering, divided, node, what, isInteger(type) ? 'integer' : 'any');
  lowering.inference.meets(given, type);
  if (given.kind !== 'open' && isBigintValue(given) !== isBigint(type)) {
    lowering.fail(
      node,
      'WS1004',
      `${what} is ${declared}, and is given ${describe(given)}`,
      given.kind === 'literal' && typeof given.value === 'number' && Number.isInteger(given.value)
        ? replacementAdvice(lowering, node, `${given.value}n`)
        : castAdvice(lowering, node, declared),
    );
  }
  const isFractional = given.kind === 'number' ? isFloat(given.type) : hasFraction(given);
  if (isInteger(type) && isFractional) {
    lowering.fail(
      node,
      'WS1004',
      `${what} is ${declared}, and is given ${describe(given)}`,
      castAdvice(lowering, node, declared, ' drops a fraction'),
    );
  }
  if (type === 'bool' && given.kind === 'number' && given.type !== 'bool') {
    lowering.fail(
      node,
      'WS1004',
      `${what} is bool, and is given ${describe(given)}`,
      comparisonAdvice(lowering, node, '!== 0'),
    );
  }
  // Typed arrays keep the low bits of a literal too.
  if (isInteger(type) && isLiteral(given)) return wrapped(lowering, given, type, node);
  return toType(lowering, given, type, node);
}

/** An integer literal, modulo the width of the type. */
export function wrapped(
  lowering: Lowering,
  value: LiteralValue | EitherValue,
  type: IntegerType,
  node: Node,
): Expression {
  if (value.kind === 'either') {
    const [then, otherwise] = [value.then, value.otherwise].map((one) => wrapped(lowering, one, type, node));
    return conditional(value.test, then!, otherwise!, lowering.range(node));
  }
  const { value: given } = value;
  const range = lowering.range(node);
  if (isBigint(type)) return constant(type, wrappedBigint(BigInt(given), type), range);
  const inWidth = type === 'index' && lowering.indexType === 'i64';
  if (inWidth || typeof given === 'bigint' || !Number.isInteger(given) || Math.abs(given) >= 2 ** 32) {
    return toType(lowering, value, type, node);
  }
  return constant(type === 'u32' ? 'u32' : 'i32', type === 'u32' ? given >>> 0 : given | 0, range);
}

/** The number with a type: a literal that nothing was combined with takes its own. */
export function typed(lowering: Lowering, value: Numeric, node: Node): NumberValue {
  if (value.kind === 'number') return value;
  const type = value.kind === 'open' ? 'i32' : ownType(value);
  return { kind: 'number', type, expression: toType(lowering, value, type, node) };
}

/** The number of a constant expression, or null where it is not known when the kernel is compiled. */
export function knownNumber(lowering: Lowering, value: Value): number | null {
  const known = knownValue(lowering, value);
  return typeof known === 'bigint' ? null : known;
}

/** The number or bigint of a constant expression, or null where it is not known when the kernel is compiled. */
export function knownValue(lowering: Lowering, value: Value): number | bigint | null {
  if (value.kind === 'literal') return value.value;
  if (value.kind !== 'number') return null;
  const expression = lowering.definition(value.expression);
  if (expression.kind !== 'constant') return null;
  return isBigint(value.type) ? BigInt(expression.value) : Number(expression.value);
}

/** Where an operand is written, if the operation is written as one. */
export function sideOf(node: Node, side: 'left' | 'right'): Node {
  return side in node ? (node[side as keyof Node] as unknown as Node) : node;
}
