// Philox4_32_10: random numbers by a counter, of integers alone, so that every target gives the same.
//
// The counter is (n, subsequence), 64 bits each, and the key is the seed, as in cuRAND: what a call number gives
// follows from its number.

import type { Node } from 'acorn';
import { binary, constant, convert } from '../build.ts';
import type { Expression } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { isFloat } from '../number-types.ts';
import { typed } from '../numbers.ts';
import { describe, hasFraction, type Numeric, number } from '../values.ts';
import type { SomeHandlers } from './handler.ts';

type Place = ReturnType<Lowering['range']>;

const rounds = 10;
/** The factors of a round, and what the halves of the key grow by after it. */
const factors = [0xd2511f53, 0xcd9e8d57] as const;
const steps = [0x9e3779b9, 0xbb67ae85] as const;

export const randomHandlers = {
  'cuda.philox': ({ lowering, node, args, at }) => {
    const range = lowering.range(node);
    const [key, subsequence, n] = (['seed', 'subsequence', 'n'] as const).map((name) =>
      halves(lowering, args[name], at(name), `${name} of cuda.philox`),
    );
    let counter: readonly Expression[] = [...n!, ...subsequence!];
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
        const current = binary('add', key![half]!, grown, range);
        return binary('xor', binary('xor', high, of, range), current, range);
      };
      counter = [
        mixed(second!.high, counter[1]!, 0),
        second!.low,
        mixed(first!.high, counter[3]!, 1),
        first!.low,
      ].map((each) => lowering.settleExpression(each, 'counter'));
    }
    return { kind: 'vector', type: 'u32x4', components: counter };
  },
  'cuda.curandUniform': ({ lowering, node, args, at }) => {
    const range = lowering.range(node);
    const bits = halves(lowering, args.bits, at('bits'), 'bits of cuda.curandUniform')[0]!;
    const of = (value: number) => constant('f32', value, range);
    // The product is exact.
    const scaled = binary('multiply', convert(bits, 'f32', range), of(2 ** -32), range);
    return number('f32', binary('add', scaled, of(2 ** -33), range));
  },
} satisfies SomeHandlers;

const upper = (wide: Expression, range: Place) =>
  convert(binary('shiftRight', wide, constant('u64', 32n, range), range), 'u32', range);

/** The low and the high 32 of an integer's 64 bits. */
function halves(lowering: Lowering, value: Numeric, node: Node, what: string): [Expression, Expression] {
  const range = lowering.range(node);
  const fractional = value.kind === 'number' ? isFloat(value.type) : hasFraction(value);
  if (fractional) {
    const hint = 'cast it: cuda.u64(…) drops a fraction';
    lowering.fail(node, 'WS1004', `${what} must be an integer, and is ${describe(value)}`, hint);
  }
  const wide =
    value.kind === 'literal'
      ? constant('u64', BigInt.asUintN(64, BigInt(value.value)), range)
      : lowering.settleExpression(convert(typed(lowering, value, node).expression, 'u64', range), 'wide');
  const half = (each: Expression) => lowering.settleExpression(convert(each, 'u32', range), 'half');
  return [half(wide), lowering.settleExpression(upper(wide, range), 'half')];
}
