// Functions of numbers by CUDA's names. Those of floats that are exact, and all those of integers, are made of
// operators: every target has them, to the bit.

import type { Node } from 'acorn';
import { castAdvice } from '../advice.ts';
import { binary, compare, conditional, constant, convert, numberConstant, unary } from '../build.ts';
import { openOf } from '../common-type.ts';
import type { MathFunction } from '../functions.ts';
import type { Expression } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { isFloat } from '../number-types.ts';
import { toType } from '../numbers.ts';
import { describe, hasFraction, literal, type Numeric, number, type Value } from '../values.ts';
import { floats, type Operand, onFloat, settledOf } from './arithmetic.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';

type Place = ReturnType<Lowering['range']>;
type OfFloats = Pick<IntrinsicCall, 'lowering' | 'node'> & {
  readonly args: Readonly<Record<string, Operand>>;
};
type OfIntegers = Pick<IntrinsicCall, 'lowering' | 'node' | 'name' | 'at'> & {
  readonly args: Readonly<Record<string, Numeric>>;
};
type Integer = 'i32' | 'u32';

const named = (name: MathFunction) => (call: OfFloats) => onFloat(call, name, Object.values(call.args));
/** The same function, which a target may compute less exactly. */
const fast = (name: MathFunction) => (call: OfFloats) =>
  onFloat(call, name, Object.values(call.args), { fast: true });

export const numberHandlers = {
  'cuda.fma': (call) => {
    const values = Object.values<Operand>(call.args);
    const common = floats(call.lowering, values, call.node);
    return onFloat(call, common?.type === 'f32' ? 'fmaf' : 'fma', values);
  },
  'cuda.rint': named('rint'),
  'cuda.round': named('roundAway'),
  'cuda.exp2': named('exp2'),
  'cuda.exp10': named('exp10'),
  'cuda.sinpi': named('sinpi'),
  'cuda.cospi': named('cospi'),
  'cuda.fastSin': fast('sin'),
  'cuda.fastCos': fast('cos'),
  'cuda.fastTan': fast('tan'),
  'cuda.fastExp': fast('exp'),
  'cuda.fastExp10': fast('exp10'),
  'cuda.fastLog': fast('log'),
  'cuda.fastLog2': fast('log2'),
  'cuda.fastLog10': fast('log10'),
  'cuda.fastPow': fast('pow'),
  'cuda.fastDivide': ({ lowering, node, args: { x, y } }) => {
    const [a, b] = [x, y].map((each) => (each.kind === 'literal' ? Number(each.value) : null));
    if (a != null && b != null) return literal(a / b);
    const given = floats(lowering, [x, y], node);
    if (given === null) return openOf(settledOf([x, y]), true);
    const [left, right] = given.operands;
    return number(given.type, binary('divide', left!, right!, lowering.range(node), { fast: true }));
  },
  'cuda.erf': named('erf'),
  'cuda.erfc': named('erfc'),
  'cuda.lgamma': named('lgamma'),
  'cuda.copysign': (call) =>
    ofPair(call, (x, y, zero, range) => {
      const one = numberConstant(y.type, 1, range);
      // Of -0 it is the quotient that is negative.
      const below = compare(
        'less',
        conditional(compare('equal', y, zero, range), binary('divide', one, y, range), y, range),
        zero,
        range,
      );
      const size = unary('abs', x, range);
      return conditional(below, unary('negate', size, range), size, range);
    }),
  'cuda.fdim': (call) =>
    ofPair(call, (x, y, zero, range) =>
      conditional(compare('lessEqual', x, y, range), zero, binary('subtract', x, y, range), range),
    ),
  'cuda.sad': (call) => distance(call, 'i32'),
  'cuda.usad': (call) => distance(call, 'u32'),
  'cuda.dp4a': (call) => productOfBytes(call, 'i32'),
  'cuda.udp4a': (call) => productOfBytes(call, 'u32'),
  'cuda.bytePerm': (call) => {
    const { lowering } = call;
    const range = lowering.range(call.node);
    const [x, y, selector] = integers(call, 'u32');
    const all = lowering.settleExpression(beside(y!, x!, range), 'bytes');
    const chosen = [0, 1, 2, 3].map((place) => {
      const which = binary('and', shifted('shiftRight', selector!, 4 * place, range), u32(7, range), range);
      const bits = convert(binary('multiply', which, u32(8, range), range), 'u64', range);
      const byte = convert(binary('shiftRight', all, bits, range), 'u32', range);
      return shifted('shiftLeft', binary('and', byte, u32(255, range), range), 8 * place, range);
    });
    return number(
      'u32',
      chosen.reduce((a, b) => binary('or', a, b, range)),
    );
  },
  'cuda.funnelshiftL': (call) => {
    const range = call.lowering.range(call.node);
    const [low, high, shift] = integers(call, 'u32');
    const places = convert(binary('and', shift!, u32(31, range), range), 'u64', range);
    const moved = binary('shiftLeft', beside(high!, low!, range), places, range);
    return number('u32', convert(shifted('shiftRight', moved, 32, range), 'u32', range));
  },
  'cuda.funnelshiftR': (call) => {
    const range = call.lowering.range(call.node);
    const [low, high, shift] = integers(call, 'u32');
    const places = convert(binary('and', shift!, u32(31, range), range), 'u64', range);
    return number(
      'u32',
      convert(binary('shiftRight', beside(high!, low!, range), places, range), 'u32', range),
    );
  },
} satisfies SomeHandlers;

function ofPair(
  { lowering, node, args }: OfFloats,
  make: (x: Expression, y: Expression, zero: Expression, range: Place) => Expression,
): Value {
  const values = Object.values(args);
  const given = floats(lowering, values, node);
  if (given === null) return openOf(settledOf(values), true);
  const [x, y] = given.operands.map((each) => lowering.settleExpression(each, 'given'));
  const range = lowering.range(node);
  return number(given.type, make(x!, y!, numberConstant(given.type, 0, range), range));
}

/** The arguments as 32 bits of a type, each evaluated once. */
function integers(call: OfIntegers, type: Integer): Expression[] {
  const { lowering, node, args } = call;
  return Object.entries(args).map(([name, value]) =>
    integer(lowering, value, type, call.at(name), `${name} of ${call.name}`, node),
  );
}

function integer(
  lowering: Lowering,
  value: Numeric,
  type: Integer,
  at: Node,
  what: string,
  node: Node,
): Expression {
  const range = lowering.range(node);
  const fractional = value.kind === 'number' ? isFloat(value.type) : hasFraction(value);
  if (fractional) {
    const hint = castAdvice(lowering, at, 'u32', ' takes the low bits, and drops a fraction');
    lowering.fail(at, 'WS1004', `${what} must be an integer, and is ${describe(value)}`, hint);
  }
  if (value.kind === 'literal') {
    const low = Number(BigInt.asIntN(32, BigInt(value.value)));
    return constant(type, type === 'i32' ? low : low >>> 0, range);
  }
  lowering.inference.meets(value, type);
  return lowering.settleExpression(toType(lowering, value, type, at), 'given');
}

const u32 = (value: number, range: Place) => constant('u32', value, range);

function shifted(how: 'shiftLeft' | 'shiftRight', x: Expression, places: number, range: Place): Expression {
  return binary(how, x, numberConstant(x.type, places, range), range);
}

/** Two u32 as one u64. */
function beside(high: Expression, low: Expression, range: Place): Expression {
  const upper = shifted('shiftLeft', convert(high, 'u64', range), 32, range);
  return binary('or', upper, convert(low, 'u64', range), range);
}

function distance(call: OfIntegers, type: Integer): Value {
  const range = call.lowering.range(call.node);
  const { x, y, z } = call.args;
  const [a, b] = integers({ ...call, args: { x: x!, y: y! } }, type);
  const [sum] = integers({ ...call, args: { z: z! } }, 'u32');
  const [up, down] = [binary('subtract', a!, b!, range), binary('subtract', b!, a!, range)];
  const apart = convert(conditional(compare('greater', a!, b!, range), up, down, range), 'u32', range);
  return number('u32', binary('add', apart, sum!, range));
}

function productOfBytes(call: OfIntegers, type: Integer): Value {
  const range = call.lowering.range(call.node);
  const [x, y, z] = integers(call, type);
  const byte = (of: Expression, place: number) =>
    shifted('shiftRight', shifted('shiftLeft', of, 24 - 8 * place, range), 24, range);
  const sum = [0, 1, 2, 3].reduce(
    (total, place) =>
      binary('add', total, binary('multiply', byte(x!, place), byte(y!, place), range), range),
    z!,
  );
  return number(type, sum);
}
