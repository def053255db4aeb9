// Philox4_32_10: random numbers by a counter, of integers alone, so that every target gives the same.
//
// The counter is (n, subsequence), 64 bits each, and the key is the seed, as in cuRAND: what a call number gives
// follows from its number. Uniforms are one sum of random bits, exact before it is rounded. Normals are a pair by
// Box and Muller's method: a radius of one uniform, the sine and the cosine of an angle that is another.

import type { Node } from 'acorn';
import { castAdvice } from '../advice.ts';
import { binary, constant, convert, math, unary } from '../build.ts';
import type { Expression } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { isFloat } from '../number-types.ts';
import { typed } from '../numbers.ts';
import { describe, hasFraction, type Numeric, number, type Value } from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';

type Place = ReturnType<Lowering['range']>;

const rounds = 10;
/** The factors of a round, and what the halves of the key grow by after it. */
const factors = [0xd2511f53, 0xcd9e8d57] as const;
const steps = [0x9e3779b9, 0xbb67ae85] as const;

export const randomHandlers = {
  'cuda.philox': ({ lowering, node, args, at }) => {
    const [key, subsequence, n] = (['seed', 'subsequence', 'n'] as const).map((name) =>
      halves(lowering, args[name], at(name), `${name} of cuda.philox`),
    );
    const components = philox(lowering, key!, [...n!, ...subsequence!], lowering.range(node));
    return { kind: 'vector', type: 'u32x4', components };
  },
  'cuda.curandUniform': (call) => number('f32', uniform(wordOf(call, 'bits'))),
  'cuda.curandUniformDouble': (call) => number('f64', uniform(pairOf(call, 'low', 'high'))),
  'cuda.curandNormal2': (call) => normals(call.lowering, wordOf(call, 'x'), wordOf(call, 'y')),
  'cuda.curandNormal2Double': (call) =>
    normals(call.lowering, pairOf(call, 'xLow', 'xHigh'), pairOf(call, 'yLow', 'yHigh')),
} satisfies SomeHandlers;

/** The four words of a counter. */
export function philox(
  lowering: Lowering,
  key: readonly [Expression, Expression],
  start: readonly Expression[],
  range: Place,
): readonly Expression[] {
  let counter = start;
  for (let round = 0; round < rounds; round += 1) {
    const [first, second] = factors.map((factor, which) => {
      const product = binary(
        'multiply',
        constant('u64', BigInt(factor), range),
        convert(counter[2 * which]!, 'u64', range),
        range,
      );
      const whole = lowering.settleExpression(product, 'product');
      return { low: convert(whole, 'u32', range), high: upper(whole, range) };
    });
    const mixed = (high: Expression, of: Expression, half: 0 | 1) => {
      const grown = constant('u32', Math.imul(steps[half], round) >>> 0, range);
      const current = binary('add', key[half], grown, range);
      return binary('xor', binary('xor', high, of, range), current, range);
    };
    counter = [
      mixed(second!.high, counter[1]!, 0),
      second!.low,
      mixed(first!.high, counter[3]!, 1),
      first!.low,
    ].map((each) => lowering.settleExpression(each, 'counter'));
  }
  return counter;
}

type WithBits = Pick<IntrinsicCall, 'lowering' | 'node' | 'name' | 'at'> & {
  readonly args: Readonly<Record<string, Numeric>>;
};

/** Random bits: 32 for an f32, 53 for an f64. */
interface Bits {
  readonly type: 'f32' | 'f64';
  readonly bits: Expression;
}

function wordOf({ lowering, name, args, at }: WithBits, parameter: string): Bits {
  const [bits] = halves(lowering, args[parameter]!, at(parameter), `${parameter} of ${name}`);
  return { type: 'f32', bits };
}

/** Of two words as cuRAND joins them: the upper one is shifted by 21. */
function pairOf(call: WithBits, low: string, high: string): Bits {
  const range = call.lowering.range(call.node);
  const [a, b] = [low, high].map((parameter) => convert(wordOf(call, parameter).bits, 'u64', range));
  const shifted = binary('shiftLeft', b!, constant('u64', 21n, range), range);
  return { type: 'f64', bits: call.lowering.settleExpression(binary('xor', a!, shifted, range), 'bits') };
}

/** Above 0 and up to `most`, a power of two: half a step of the bits is added to them. */
function uniform({ type, bits }: Bits, most = 1): Expression {
  const { range } = bits;
  const step = most * 2 ** (type === 'f32' ? -32 : -53);
  // The product is exact.
  const scaled = binary('multiply', convert(bits, type, range), constant(type, step, range), range);
  return binary('add', scaled, constant(type, step / 2, range), range);
}

function normals(lowering: Lowering, x: Bits, y: Bits): Value {
  const { type } = x;
  const { range } = x.bits;
  const logarithm = math('log', type, [uniform(x)], range);
  const square = binary('multiply', constant(type, -2, range), logarithm, range);
  const radius = lowering.settleExpression(unary('sqrt', square, range), 'radius');
  // In halves of a turn, so that what stands at a quarter is exact.
  const angle = lowering.settleExpression(uniform(y, 2), 'angle');
  const components = (['sinpi', 'cospi'] as const).map((name) =>
    lowering.settleExpression(binary('multiply', radius, math(name, type, [angle], range), range), 'normal'),
  );
  return { kind: 'vector', type: `${type}x2`, components };
}

export const upper = (wide: Expression, range: Place) =>
  convert(binary('shiftRight', wide, constant('u64', 32n, range), range), 'u32', range);

/** The low and the high 32 of an integer's 64 bits. */
export function halves(
  lowering: Lowering,
  value: Numeric,
  node: Node,
  what: string,
): [Expression, Expression] {
  const range = lowering.range(node);
  const fractional = value.kind === 'number' ? isFloat(value.type) : hasFraction(value);
  if (fractional) {
    const hint = castAdvice(lowering, node, 'u64', ' drops a fraction');
    lowering.fail(node, 'WS1004', `${what} must be an integer, and is ${describe(value)}`, hint);
  }
  const wide =
    value.kind === 'literal'
      ? constant('u64', BigInt.asUintN(64, BigInt(value.value)), range)
      : lowering.settleExpression(convert(typed(lowering, value, node).expression, 'u64', range), 'wide');
  const half = (each: Expression) => lowering.settleExpression(convert(each, 'u32', range), 'half');
  return [half(wide), lowering.settleExpression(upper(wide, range), 'half')];
}
