// The operators of JavaScript on numbers, by the number rules of docs/language.md.
//
// Literals among themselves are computed as JavaScript does, in doubles; everything else is
// brought to a common type first.

import type { Node, BinaryOperator as Token, UnaryOperator as UnaryToken } from 'acorn';
import { binary, compare, conditional, convert, numberConstant, unary } from './build.ts';
import type { CompareOperator, Expression } from './ir.ts';
import type { Lowering } from './lowering.ts';
import { fits, isFloat, isInteger, type NumberType } from './number-types.ts';
import { commonType, isLiteral, numeric, openOf, toBool, toType, typed, wrapped } from './numbers.ts';
import {
  describe,
  type EitherValue,
  type LiteralValue,
  literal,
  type Numeric,
  number,
  type OpenValue,
  type QuotientValue,
  type Value,
} from './values.ts';

const arithmetic = { '+': 'add', '-': 'subtract', '*': 'multiply', '%': 'remainder' } as const;
const bitwise = { '&': 'and', '|': 'or', '^': 'xor' } as const;
const shifts = { '<<': 'shiftLeft', '>>': 'shiftRight', '>>>': 'shiftRight' } as const;
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

type LiteralOperation = (a: number, b: number) => number | boolean;

const onLiterals: { readonly [operator: string]: LiteralOperation } = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '**': (a, b) => a ** b,
  '&': (a, b) => a & b,
  '|': (a, b) => a | b,
  '^': (a, b) => a ^ b,
  '<<': (a, b) => a << b,
  '>>': (a, b) => a >> b,
  '>>>': (a, b) => a >>> b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '==': (a, b) => a === b,
  '===': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '!==': (a, b) => a !== b,
};

/** `left operator right`. */
export function binaryOperation(
  lowering: Lowering,
  operator: Token,
  left: Value,
  right: Value,
  node: Node,
): Value {
  if (operator in comparisons && !(operator.startsWith('<') || operator.startsWith('>'))) {
    const equality = operator.startsWith('=') ? 'equal' : 'notEqual';
    const known = equalityOfOthers(lowering, equality, left, right, node);
    if (known !== null) return number('bool', known);
  }
  const literals = literalOperation(lowering, operator, left, right, node);
  if (literals !== null) return literals;
  const rounded = castByBits(lowering, operator, left, right, node);
  if (rounded !== null) return rounded;
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
  if (operator in arithmetic)
    return arithmeticOperation(lowering, operator as keyof typeof arithmetic, a, b, node);
  if (operator in bitwise)
    return bitwiseOperation(lowering, bitwise[operator as keyof typeof bitwise], a, b, node);
  if (operator in shifts) return shiftOperation(lowering, operator as keyof typeof shifts, a, b, node);
  if (operator in comparisons) {
    return comparison(lowering, comparisons[operator as keyof typeof comparisons], a, b, node, operator);
  }
  if (operator === '/') return division(lowering, a, b, node);
  return power(lowering, a, b, node);
}

/** Where an operand is written, if the operation is written as one. */
function sideOf(node: Node, side: 'left' | 'right'): Node {
  return side in node ? (node[side as keyof Node] as unknown as Node) : node;
}

/** Computes with literals as JavaScript does; a choice of literals is computed on both sides. */
function literalOperation(
  lowering: Lowering,
  operator: Token,
  left: Value,
  right: Value,
  node: Node,
): Value | null {
  const operation = onLiterals[operator];
  if (operation === undefined || !isLiteral(left) || !isLiteral(right)) return null;
  if (left.kind === 'literal' && right.kind === 'literal') {
    const result = operation(left.value, right.value);
    return typeof result === 'number' ? literal(result) : number('bool', lowering.boolConstant(result, node));
  }
  // Two choices would make four; they take types instead.
  if (left.kind === 'either' && right.kind === 'either') return null;
  const choice = (left.kind === 'either' ? left : right) as EitherValue;
  const side = (one: LiteralValue | EitherValue) =>
    left.kind === 'either'
      ? literalOperation(lowering, operator, one, right, node)!
      : literalOperation(lowering, operator, left, one, node)!;
  const [then, otherwise] = [side(choice.then), side(choice.otherwise)];
  if (isLiteral(then) && isLiteral(otherwise)) return { kind: 'either', test: choice.test, then, otherwise };
  const range = lowering.range(node);
  const [a, b] = [toBool(lowering, then, node), toBool(lowering, otherwise, node)];
  return number('bool', conditional(choice.test, a, b, range));
}

/** `x | 0` and `x >>> 0`, which cast; `a / b | 0` is an integer division. */
function castByBits(
  lowering: Lowering,
  operator: Token,
  left: Value,
  right: Value,
  node: Node,
): Value | null {
  if (right.kind === 'literal' && right.value === 0 && (operator === '|' || operator === '>>>')) {
    const type = operator === '|' ? 'i32' : 'u32';
    const value = left.kind === 'quotient' ? truncated(lowering, left) : numeric(lowering, left, node);
    if (isLiteral(value)) return null;
    return number(type, toType(lowering, value, type, node));
  }
  // Other bit operations take the integer that a quotient is cut to, too.
  if (left.kind === 'quotient' && (operator in bitwise || operator in shifts)) {
    return binaryOperation(lowering, operator, truncated(lowering, left), right, node);
  }
  if (right.kind === 'quotient' && (operator in bitwise || operator in shifts)) {
    return binaryOperation(lowering, operator, left, truncated(lowering, right), node);
  }
  return null;
}

/** The quotient of two integers, cut to an integer. */
export function truncated(lowering: Lowering, { type, left, right, node }: QuotientValue): Numeric {
  return number(type, binary('divide', left, right, lowering.range(node)));
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
  if (isFloat(type)) return number(type, binary('divide', a, b, lowering.range(node)));
  return { kind: 'quotient', type, left: a, right: b, node };
}

/** x ** y: of integers only small powers that are written out; everything else as Math.pow. */
export function power(lowering: Lowering, left: Numeric, right: Numeric, node: Node): Numeric {
  const exponent = right.kind === 'literal' ? right.value : null;
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
      `a power of two integers (${common}) need not be one`,
      'cast the base: cuda.f32(…) or cuda.f64(…)',
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
  const operands = [bits(lowering, left, node), bits(lowering, right, node)] as const;
  const type = integerType(lowering, operands, node);
  if (type === null) return openOf(operands, false);
  const [a, b] = operands.map((value) => bitPattern(lowering, value, type, node)) as [Expression, Expression];
  return number(type, binary(operator, a, b, range));
}

/** The integer type of a bit operation's operands; null while it is open. */
function integerType(
  lowering: Lowering,
  operands: readonly Numeric[],
  node: Node,
): 'i32' | 'u32' | 'index' | null {
  const whole = operands.map((value) => (isLiteral(value) ? literal(0) : value));
  const type = commonType(lowering, whole, node, 'a bit operation');
  if (type !== null) return isInteger(type) ? type : 'i32';
  for (const value of operands) lowering.inference.meets(value, 'i32');
  return null;
}

function bitPattern(
  lowering: Lowering,
  value: Numeric,
  type: 'i32' | 'u32' | 'index',
  node: Node,
): Expression {
  if (value.kind === 'literal') {
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
  const given = value.kind === 'number' && isInteger(value.type) ? value.type : 'i32';
  const shifted = bitPattern(lowering, value, given, node);
  if (operator !== '>>>') {
    const amount = bitPattern(lowering, count, given, node);
    return number(given, binary(shifts[operator], shifted, amount, range));
  }
  // Zeros come in from the left: shifted as unsigned. An index stays one.
  const unsigned = given === 'index' && lowering.indexType === 'i64' ? 'u64' : 'u32';
  const amount = convert(bitPattern(lowering, count, given, node), unsigned, range);
  const result = binary('shiftRight', convert(shifted, unsigned, range), amount, range);
  return given === 'index'
    ? number('index', convert(result, lowering.indexType, range))
    : number('u32', result);
}

/** Compares numbers exactly: i32, u32 and index among each other by way of i64 where they differ in sign. */
export function comparison(
  lowering: Lowering,
  operator: CompareOperator,
  left: Numeric,
  right: Numeric,
  node: Node,
  token: string,
): Value {
  const range = lowering.range(node);
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
      ? numberConstant('i64', value.value, range)
      : convert(typed(lowering, value, node).expression, 'i64', range);
  return [widen(left), widen(right)];
}

function integerTypeOf(value: Numeric): NumberType | null {
  return value.kind === 'number' && isInteger(value.type) ? value.type : null;
}

/** Whether a value is an integer literal that the type of the integer beside it does not hold. */
function isBeyond(lowering: Lowering, value: Numeric, beside: Numeric): boolean {
  if (value.kind !== 'literal' || !Number.isSafeInteger(value.value) || beside.kind !== 'number')
    return false;
  return isInteger(beside.type) && !fits(value.value, beside.type, lowering.indexType);
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
  if (isUndefined && left.kind !== 'broken' && right.kind !== 'broken') {
    return lowering.boolConstant((left.kind === right.kind) === (operator === 'equal'), node);
  }
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

/** `operator operand`. */
export function unaryOperation(lowering: Lowering, operator: UnaryToken, value: Value, node: Node): Value {
  const range = lowering.range(node);
  switch (operator) {
    case '!':
      return number('bool', unary('not', toBool(lowering, value, node), range));
    case '-':
    case '+':
      return signed(lowering, operator, numeric(lowering, value, node, `the operand of '${operator}'`), node);
    case '~': {
      const given = value.kind === 'quotient' ? truncated(lowering, value) : numeric(lowering, value, node);
      if (given.kind === 'literal') return literal(~given.value);
      lowering.inference.meets(given, 'i32');
      if (given.kind === 'open') return openOf([given], false);
      const { type, expression } = typed(lowering, bits(lowering, given, node), node);
      return number(type, unary('complement', expression, range));
    }
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
