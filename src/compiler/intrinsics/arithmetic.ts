// Casts, vectors, Math.* and Number.*.

import type { Node } from 'acorn';
import { type FormTable, type IntrinsicName, membersOf } from '../../kernel/intrinsics.ts';
import type { ScalarType } from '../../kernel/types.ts';
import { castAdvice } from '../advice.ts';
import { binary, compare, conditional, constant, convert, math, numberConstant, unary } from '../build.ts';
import { commonType, openOf } from '../common-type.ts';
import { type MathFunction, mathFunctions } from '../functions.ts';
import type { BinaryOperator, Expression, UnaryOperator } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { narrowed } from '../narrow.ts';
import { computedType, isFloat, isInteger, type NumberType } from '../number-types.ts';
import { isBigintValue, numeric, toType, typed } from '../numbers.ts';
import { binaryOperation, power } from '../operators.ts';
import { divided, dividedFor, dividedTogether, truncated } from '../quotients.ts';
import { describe, literal, type Numeric, number, type QuotientValue, type Value } from '../values.ts';
import type { Handlers, IntrinsicCall, SomeHandlers } from './handler.ts';
import { isNeverNegative } from './sign.ts';

/** A place in the text. */
type Place = Pick<IntrinsicCall, 'lowering' | 'node'>;
type OfOne = Place & { readonly args: { readonly x: Numeric } };
/** A number, or `a / b` of two integers. */
export type Operand = Numeric | QuotientValue;
type OfOperand = Place & { readonly args: { readonly x: Operand } };
type OfFloats = Place & { readonly args: Readonly<Record<string, Operand | readonly Operand[]>> };
type OfMany = Place & { readonly args: { readonly numbers: readonly Operand[] } };

/** Those of Math that are functions of floats, by their own names. */
const functionsOfMath = Object.fromEntries<unknown>(
  membersOf('Math').flatMap((name) =>
    Object.hasOwn(mathFunctions, name)
      ? [
          [
            `Math.${name}`,
            (call: OfFloats) => onFloat(call, name as MathFunction, Object.values(call.args).flat()),
          ],
        ]
      : [],
  ),
) as Pick<Handlers, Extract<IntrinsicName, `Math.${MathFunction}`>>;

type NumberName = {
  [N in IntrinsicName]: FormTable[N] extends null ? Extract<N, `${'Math' | 'Number'}.${string}`> : never;
}[IntrinsicName];

/** Numbers of Math and Number. */
const constants = Object.fromEntries<unknown>(
  Object.entries({ Math, Number }).flatMap(([receiver, all]) =>
    membersOf(receiver)
      .map((name) => [`${receiver}.${name}`, Reflect.get(all, name) as unknown] as const)
      .flatMap(([name, value]) => (typeof value === 'number' ? [[name, () => literal(value)]] : [])),
  ),
) as Pick<Handlers, NumberName>;

export const arithmeticHandlers = {
  ...functionsOfMath,
  ...constants,
  'cuda.i8': (call) => cast(call, 'i8'),
  'cuda.u8': (call) => cast(call, 'u8'),
  'cuda.i16': (call) => cast(call, 'i16'),
  'cuda.u16': (call) => cast(call, 'u16'),
  'cuda.i32': (call) => cast(call, 'i32'),
  'cuda.u32': (call) => cast(call, 'u32'),
  'cuda.i64': (call) => cast(call, 'i64'),
  'cuda.u64': (call) => cast(call, 'u64'),
  'cuda.index': (call) => cast(call, 'index'),
  'cuda.f16': (call) => cast(call, 'f16'),
  'cuda.bf16': (call) => cast(call, 'bf16'),
  'cuda.f32': (call) => cast(call, 'f32'),
  'cuda.f64': (call) => cast(call, 'f64'),
  'cuda.bool': (call) => cast(call, 'bool'),
  'BigInt.asIntN': (call) => lowBits(call, 'i64'),
  'BigInt.asUintN': (call) => lowBits(call, 'u64'),

  'cuda.mulhi': (call) => upperHalf(call, 'i32', 'i64'),
  'cuda.umulhi': (call) => upperHalf(call, 'u32', 'u64'),
  'cuda.rsqrt': (call) => onFloat(call, 'rsqrt', [call.args.x]),
  'cuda.saturate': ({ lowering, node, args: { x } }) => {
    const given = floats(lowering, [x], node);
    if (given === null) return openOf(settledOf([x]), true);
    const range = lowering.range(node);
    const value = lowering.settleExpression(given.operands[0]!, 'x');
    const of = (end: 0 | 1) => numberConstant(given.type, end, range);
    const inside = binary('min', value, of(1), range);
    return number(given.type, conditional(compare('greater', value, of(0), range), inside, of(0), range));
  },

  'Math.abs': ({ lowering, node, args: { x } }) => {
    if (x.kind === 'literal') return literal(Math.abs(Number(x.value)));
    return ofType(lowering, x, node, (value) => unary('abs', value, lowering.range(node)));
  },
  'Math.ceil': (call) => rounded(call, 'ceil'),
  'Math.clz32': ({ lowering, node, args: { x } }) => {
    if (x.kind === 'literal') return literal(Math.clz32(Number(x.value)));
    lowering.inference.meets(x, 'i32');
    return number('i32', unary('clz32', bitsOf(lowering, x, node), lowering.range(node)));
  },
  'Math.floor': (call) => rounded(call, 'floor'),
  'Math.fround': (call) => cast(call, 'f32'),
  'Math.imul': ({ lowering, node, args: { x, y } }) => {
    const [a, b] = [bitsOf(lowering, x, node), bitsOf(lowering, y, node)];
    return number('i32', binary('multiply', a, b, lowering.range(node)));
  },
  'Math.max': (call) => extreme(call, 'max'),
  'Math.min': (call) => extreme(call, 'min'),
  'Math.pow': ({ lowering, node, args: { x, y } }) => {
    if (x.kind === 'literal' && y.kind === 'literal') return literal(Number(x.value) ** Number(y.value));
    return power(lowering, x, y, node);
  },
  'Math.round': ({ lowering, node, args: { x } }) => roundedNumber(lowering, x, node, 'round'),
  'Math.sign': sign,
  'Math.sqrt': ({ lowering, node, args: { x } }) => {
    if (x.kind === 'literal') return literal(Math.sqrt(Number(x.value)));
    const value = floats(lowering, [x], node);
    if (value === null) return openOf(settledOf([x]), true);
    return number(value.type, unary('sqrt', value.operands[0]!, lowering.range(node)));
  },
  'Math.trunc': (call) => rounded(call, 'trunc'),

  'Number.isFinite': (call) =>
    test(call, true, (x, range) => {
      const infinity = numberConstant(x.type, Number.POSITIVE_INFINITY, range);
      return compare('less', unary('abs', x, range), infinity, range);
    }),
  'Number.isInteger': (call) =>
    test(call, true, (x, range) => {
      // Infinity is its own integer part: the difference to it is not a number.
      const fraction = binary('subtract', x, unary('trunc', x, range), range);
      return compare('equal', fraction, numberConstant(x.type, 0, range), range);
    }),
  'Number.isNaN': (call) => test(call, false, (x, range) => compare('notEqual', x, x, range)),
} satisfies SomeHandlers;

function cast({ lowering, node, args: { x: operand } }: OfOperand, to: ScalarType): Value {
  const type = computedType(to);
  const x = castOperand(lowering, operand, type, node);
  const given = uncutLiteral(lowering, x, type, node);
  // An open bigint may turn out to be one when its type is settled; either way the cast is the same.
  return number(type, narrowed(lowering, toType(lowering, given, type, node), to, node));
}

/** Of two integers' quotient a cast to an integer drops the fraction, and one to a float keeps it. */
function castOperand(lowering: Lowering, x: Operand, type: NumberType, node: Node): Numeric {
  if (x.kind === 'quotient' && isInteger(type)) return truncated(lowering, x);
  return numeric(lowering, dividedFor(lowering, x, type), node);
}

/** A literal is cut and wrapped as any other number. */
function uncutLiteral(lowering: Lowering, x: Numeric, type: NumberType, node: Node): Numeric {
  if (x.kind !== 'literal' || !isInteger(type)) return x;
  const range = lowering.range(node);
  return typeof x.value === 'bigint'
    ? number('i64', constant('i64', BigInt.asIntN(64, x.value), range))
    : number('f64', numberConstant('f64', x.value, range));
}

/** The low bits of a bigint: moved up to the top of 64, and down again as the type shifts. */
function lowBits(
  {
    lowering,
    node,
    at,
    args: { bits, x },
  }: Pick<IntrinsicCall<'BigInt.asIntN'>, 'lowering' | 'node' | 'at' | 'args'>,
  type: 'i64' | 'u64',
): Value {
  if (bits < 1 || bits > 64) {
    const message = `a bigint of a kernel has 1 to 64 bits, and this asks for ${bits}`;
    lowering.fail(at('bits'), 'WS1009', message, 'write 64 for all of them');
  }
  if (x.kind !== 'open' && !isBigintValue(x)) {
    const message = `${type === 'i64' ? 'BigInt.asIntN' : 'BigInt.asUintN'} takes a bigint, and is given ${describe(x)}`;
    lowering.fail(at('x'), 'WS1004', message, castAdvice(lowering, at('x'), type));
  }
  const range = lowering.range(node);
  const whole = toType(lowering, uncutLiteral(lowering, x, type, node), type, node);
  const places = constant(type, BigInt(64 - bits), range);
  return number(type, binary('shiftRight', binary('shiftLeft', whole, places, range), places, range));
}

/** The value of a literal, or null of anything else. The bigints are out already. */
function literalNumber(x: Value): number | null {
  return x.kind === 'literal' ? Number(x.value) : null;
}

/** Applied in the number's own type; a choice of literals takes one. */
function ofType(lowering: Lowering, x: Numeric, node: Node, apply: (value: Expression) => Expression): Value {
  if (x.kind === 'open') return x;
  const { type, expression } = typed(lowering, x, node);
  const given = type === 'bool' ? 'i32' : type;
  return number(given, apply(toType(lowering, number(type, expression), given, node)));
}

/** Numbers as floats of one type: f64 if one is, else f32. Null while that is open. */
export function floats(
  lowering: Lowering,
  values: readonly Operand[],
  node: Node,
): { type: 'f32' | 'f64'; operands: Expression[] } | null {
  const common = commonType(lowering, settledOf(values), node, 'this function');
  if (common === null) return null;
  const type = isFloat(common) ? common : 'f32';
  const operands = values.map((value) =>
    value.kind === 'quotient' ? divided(lowering, value, type) : value,
  );
  return { type, operands: operands.map((value) => toType(lowering, value, type, node)) };
}

/** Those that have a type, or will: a quotient takes that of the others. */
export function settledOf(values: readonly Operand[]): Numeric[] {
  return values.filter((value) => value.kind !== 'quotient');
}

export function onFloat(
  { lowering, node }: Place,
  name: MathFunction,
  values: readonly Operand[],
  how: { readonly fast?: true } = {},
): Value {
  const literals = values.map(literalNumber);
  if (literals.every((value) => value !== null)) {
    const apply: (...numbers: number[]) => number = mathFunctions[name];
    return literal(apply(...literals));
  }
  const given = floats(lowering, values, node);
  if (given === null) return openOf(settledOf(values), true);
  return number(given.type, math(name, given.type, given.operands, lowering.range(node), how));
}

/** An operand as the 32 bits that JavaScript takes of it. */
function bitsOf(lowering: Lowering, x: Numeric, node: Node): Expression {
  if (x.kind === 'literal') return numberConstant('i32', Number(x.value) | 0, lowering.range(node));
  return toType(lowering, x, 'i32', node);
}

/** The upper 32 bits of a product: that of 64, shifted down. */
function upperHalf(
  { lowering, node, args }: Place & { readonly args: { readonly x: Numeric; readonly y: Numeric } },
  type: 'i32' | 'u32',
  wide: 'i64' | 'u64',
): Value {
  const range = lowering.range(node);
  const [a, b] = [args.x, args.y].map((x) =>
    convert(
      x.kind === 'literal' ? numberConstant(type, Number(x.value), range) : toType(lowering, x, type, node),
      wide,
      range,
    ),
  );
  const upper = binary('shiftRight', binary('multiply', a!, b!, range), constant(wide, 32n, range), range);
  return number(type, convert(upper, type, range));
}

function extreme({ lowering, node, args }: OfMany, operator: 'min' | 'max'): Value {
  const numbers = dividedTogether(lowering, args.numbers).map((value) => numeric(lowering, value, node));
  const literals = numbers.map(literalNumber);
  if (literals.every((value) => value !== null)) return literal(Math[operator](...literals));
  const common = commonType(lowering, numbers, node, `Math.${operator}`);
  if (common === null) return openOf(numbers);
  const type = common === 'bool' ? 'i32' : common;
  const range = lowering.range(node);
  const [first, ...rest] = numbers.map((value) => toType(lowering, value, type, node));
  const pick = (a: Expression, b: Expression) => binary(operator satisfies BinaryOperator, a, b, range);
  return number(type, rest.reduce(pick, first!));
}

function sign({ lowering, node, args: { x } }: OfOne): Value {
  if (x.kind === 'literal') return literal(Math.sign(Number(x.value)));
  if (x.kind === 'open') return x;
  const { type, expression } = typed(lowering, x, node);
  const range = lowering.range(node);
  if (isFloat(type)) return number(type, math('sign', type, [expression], range));
  const given = type === 'bool' ? 'i32' : type;
  const value = lowering.settleExpression(toType(lowering, number(type, expression), given, node), 'x');
  const of = (n: number) => numberConstant(value.type, n, range);
  const isPositive = compare('greater', value, of(0), range);
  if (given === 'u32') return number(given, conditional(isPositive, of(1), of(0), range));
  const isNegative = compare('less', value, of(0), range);
  return number(given, conditional(isPositive, of(1), conditional(isNegative, of(-1), of(0), range), range));
}

/** A question about a float, to which integers have a known answer. */
function test(
  { lowering, node, args: { x } }: OfOne,
  ofIntegers: boolean,
  ask: (x: Expression, range: ReturnType<Lowering['range']>) => Expression,
): Value {
  if (x.kind === 'open') return number('bool', toType(lowering, x, 'bool', node));
  const { type, expression } = typed(lowering, x, node);
  if (!isFloat(type)) return number('bool', lowering.boolConstant(ofIntegers, node));
  return number('bool', ask(lowering.settleExpression(expression, 'x'), lowering.range(node)));
}

type Rounding = 'floor' | 'ceil' | 'trunc';

function rounded({ lowering, node, args: { x } }: OfOperand, how: Rounding): Value {
  return x.kind === 'quotient' ? roundedQuotient(lowering, x, how) : roundedNumber(lowering, x, node, how);
}

function roundedNumber(lowering: Lowering, x: Numeric, node: Node, how: Rounding | 'round'): Value {
  if (x.kind === 'literal') return literal(Math[how](Number(x.value)));
  if (x.kind === 'open') return x;
  const { type, expression } = typed(lowering, x, node);
  if (!isFloat(type)) return x;
  const range = lowering.range(node);
  if (how === 'round') return number(type, math('round', type, [expression], range));
  return number(type, unary(how satisfies UnaryOperator, expression, range));
}

/**
 * The quotient of two integers, rounded. The division truncates; where the signs differ, rounding
 * down takes one off a quotient that left a rest, and where they agree, rounding up adds one.
 */
function roundedQuotient(lowering: Lowering, quotient: QuotientValue, how: Rounding): Value {
  const range = lowering.range(quotient.node);
  const { type } = quotient;
  const right = quotient.right;
  const areNatural = isNeverNegative(lowering, quotient.left) && isNeverNegative(lowering, right);
  if (how === 'trunc' || (how === 'floor' && (type === 'u32' || areNatural))) {
    return number(type, binary('divide', quotient.left, right, range));
  }
  if (how === 'floor' && right.kind === 'constant' && Number.isInteger(Math.log2(Number(right.value)))) {
    const places = numberConstant(right.type, Math.log2(Number(right.value)), range);
    return number(type, binary('shiftRight', quotient.left, places, range));
  }
  const a = lowering.settleExpression(quotient.left, 'dividend');
  const b = lowering.settleExpression(right, 'divisor');
  const zero = numberConstant(a.type, 0, range);
  const whole = lowering.settleExpression(binary('divide', a, b, range), 'quotient');
  const rest = binary('subtract', a, binary('multiply', whole, b, range), range);
  const hasRest = compare('notEqual', rest, zero, range);
  const signs = binary('xor', a, b, range);
  const goesOn =
    type === 'u32' || areNatural
      ? hasRest
      : conditional(
          hasRest,
          compare(how === 'floor' ? 'less' : 'greaterEqual', signs, zero, range),
          lowering.boolConstant(false, quotient.node),
          range,
        );
  const one = number('bool', goesOn);
  return binaryOperation(lowering, how === 'floor' ? '-' : '+', number(type, whole), one, quotient.node);
}
