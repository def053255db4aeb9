// Bit operations. They keep the integer type of their operands; a float becomes the i32 that
// JavaScript takes it for, and a quotient of integers is cut to an integer.

import type { BinaryExpression, Node, BinaryOperator as Token } from 'acorn';
import { type Advice, intrinsic, replacement } from './advice.ts';
import { binary, convert, unary } from './build.ts';
import { commonType, openOf, refuseBigintMix } from './common-type.ts';
import type { Expression } from './ir.ts';
import { literalOperation } from './literals.ts';
import type { Lowering } from './lowering.ts';
import { type IntegerType, isInteger, type NumberType } from './number-types.ts';
import { isBigintValue, isLiteral, literalText, numeric, sideOf, toType, typed, wrapped } from './numbers.ts';
import { truncated } from './quotients.ts';
import { literal, type Numeric, number, type Value } from './values.ts';
import { written, writtenOperand } from './written.ts';

const bitwise = { '&': 'and', '|': 'or', '^': 'xor' } as const;
const shifts = { '<<': 'shiftLeft', '>>': 'shiftRight', '>>>': 'shiftRight' } as const;
/** A bit operation, or null where the operator is another. */
export function bitOperation(
  lowering: Lowering,
  operator: Token,
  left: Value,
  right: Value,
  node: Node,
): Value | null {
  if (!(operator in bitwise || operator in shifts)) return null;
  const a = whole(lowering, left, sideOf(node, 'left'), `an operand of '${operator}'`);
  const b = whole(lowering, right, sideOf(node, 'right'), `an operand of '${operator}'`);
  const literals = literalOperation(lowering, operator, a, b, node);
  if (literals !== null) return literals;
  refuseBigintMix(lowering, [a, b], node, `'${operator}'`);
  // `x | 0` and `x >>> 0` are casts.
  if (b.kind === 'literal' && b.value === 0 && (operator === '|' || operator === '>>>')) {
    const type = operator === '|' ? 'i32' : 'u32';
    return number(type, toType(lowering, a, type, node));
  }
  if (operator in shifts) return shiftOperation(lowering, operator as keyof typeof shifts, a, b, node);
  return bitwiseOperation(lowering, bitwise[operator as keyof typeof bitwise], a, b, node);
}

/** `~value`. */
export function complement(lowering: Lowering, value: Value, node: Node): Numeric {
  const given = whole(lowering, value, node, "the operand of '~'");
  if (given.kind === 'literal') return literal(~(given.value as number));
  lowering.inference.meets(given, 'i32');
  if (given.kind === 'open') return openOf([given], false);
  const { type, expression } = typed(lowering, bits(lowering, given, node), node);
  return number(type, unary('complement', expression, lowering.range(node)));
}

function whole(lowering: Lowering, value: Value, node: Node, what: string): Numeric {
  return value.kind === 'quotient' ? truncated(lowering, value) : numeric(lowering, value, node, what);
}

/** An operand of a bit operation: a float becomes the i32 that JavaScript takes it for. */
function bits(lowering: Lowering, value: Numeric, node: Node): Numeric {
  if (value.kind !== 'number' || isInteger(value.type)) return value;
  return number('i32', toType(lowering, value, 'i32', node));
}

function bitwiseOperation(
  lowering: Lowering,
  operator: 'and' | 'or' | 'xor',
  left: Numeric,
  right: Numeric,
  node: Node,
): Numeric {
  const range = lowering.range(node);
  if (left.kind === 'number' && right.kind === 'number' && left.type === 'bool' && right.type === 'bool') {
    return number('bool', binary(operator, left.expression, right.expression, range));
  }
  const operands = sameSign(lowering, [bits(lowering, left, node), bits(lowering, right, node)], node);
  const type = integerType(lowering, operands, node);
  if (type === null) return openOf(operands, false);
  const [a, b] = operands.map((value) => bitPattern(lowering, value, type, node)) as [Expression, Expression];
  return number(type, binary(operator, a, b, range));
}

/** Of an i32 and a u32 the bits are what counts: both are taken as u32. */
function sameSign(lowering: Lowering, operands: readonly Numeric[], node: Node): readonly Numeric[] {
  const isOf = (type: NumberType) => operands.some((value) => value.kind === 'number' && value.type === type);
  if (!isOf('i32') || !isOf('u32')) return operands;
  return operands.map((value) => number('u32', toType(lowering, value, 'u32', node)));
}

/** The integer type of a bit operation's operands; null while it is open. */
function integerType(lowering: Lowering, operands: readonly Numeric[], node: Node): IntegerType | null {
  const whole = operands.map((value) => (isLiteral(value) ? literal(isBigintValue(value) ? 0n : 0) : value));
  const type = commonType(lowering, whole, node, 'a bit operation');
  if (type !== null) return isInteger(type) ? type : 'i32';
  for (const value of operands) lowering.inference.meets(value, 'i32');
  return null;
}

function bitPattern(lowering: Lowering, value: Numeric, type: IntegerType, node: Node): Expression {
  if (value.kind === 'literal' && typeof value.value === 'number') {
    const whole =
      Number.isInteger(value.value) && Math.abs(value.value) < 2 ** 32 ? value.value : value.value | 0;
    return wrapped(lowering, literal(whole), type, node);
  }
  return isLiteral(value) ? wrapped(lowering, value, type, node) : toType(lowering, value, type, node);
}

function shiftOperation(
  lowering: Lowering,
  operator: keyof typeof shifts,
  left: Numeric,
  right: Numeric,
  node: Node,
): Numeric {
  const range = lowering.range(node);
  const [value, count] = [bits(lowering, left, node), bits(lowering, right, node)];
  lowering.inference.meets(value, 'i32');
  lowering.inference.meets(count, 'i32');
  if (value.kind === 'open' && operator !== '>>>') return openOf([value], false);
  const isWide = isBigintValue(value) || isBigintValue(count);
  if (isWide) refuseShift(lowering, operator, count, node);
  const given = value.kind === 'number' && isInteger(value.type) ? value.type : isWide ? 'i64' : 'i32';
  const shifted = bitPattern(lowering, value, given, node);
  if (operator !== '>>>') {
    const amount = bitPattern(lowering, count, given, node);
    return number(given, binary(shifts[operator], shifted, amount, range));
  }
  // Zeros come in from the left, of i32, u32 and index: shifted as unsigned. An index stays one.
  const unsigned = given === 'index' && lowering.indexType === 'i64' ? 'u64' : 'u32';
  const amount = convert(bitPattern(lowering, count, given, node), unsigned, range);
  const result = binary('shiftRight', convert(shifted, unsigned, range), amount, range);
  return given === 'index'
    ? number('index', convert(result, lowering.indexType, range))
    : number('u32', result);
}

/** `x >>> n` of bigints as a shift of unsigned ones. */
function zerosShiftedIn(lowering: Lowering, node: Node): Advice | string {
  const { type, left, right } = node as BinaryExpression;
  if (type !== 'BinaryExpression') return 'shift a u64 by >>, which shifts zeros in';
  const code = `${intrinsic(lowering, 'u64')}(${written(lowering, left)}) >> ${writtenOperand(lowering, right)}`;
  return { hint: `write ${code}, which shifts zeros in`, fixes: [replacement(lowering, node, code)] };
}

/** Shifts of bigints have 64 bits; JavaScript's have as many as there is memory for. */
function refuseShift(lowering: Lowering, operator: keyof typeof shifts, count: Numeric, node: Node): void {
  if (operator === '>>>') {
    lowering.fail(
      node,
      'WS1004',
      "bigints have no '>>>', for they have no leftmost bit",
      zerosShiftedIn(lowering, node),
    );
  }
  if (count.kind === 'literal' && (count.value < 0 || count.value > 63)) {
    const message = `a bigint of 64 bits is shifted by 0n to 63n, and this by ${literalText(count.value)}`;
    lowering.fail(sideOf(node, 'right'), 'WS1004', message, 'write a count within 64 bits');
  }
}
