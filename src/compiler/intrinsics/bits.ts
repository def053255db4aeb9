// The bits of integers: of masks, which have 32, and of bigints, which have 64.
//
// An operation on 64 bits is made of that on its halves.

import { castAdvice } from '../advice.ts';
import { binary, compare, conditional, constant, convert, numberConstant, unary } from '../build.ts';
import type { Expression } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { isBigint, isSmallInteger } from '../number-types.ts';
import { toType } from '../numbers.ts';
import { describe, literal, type Numeric, number, type Value } from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';

type Call = Pick<IntrinsicCall, 'lowering' | 'node' | 'name' | 'at'> & {
  readonly args: { readonly x: Numeric };
};
type Place = ReturnType<Lowering['range']>;
type Apply = (x: Expression, range: Place, lowering: Lowering) => Expression;

/** An operation on the bits of an integer. */
interface BitOperation {
  /** As what 32 bits are given, and what it results in. */
  readonly type: 'i32' | 'u32';
  readonly apply: Apply;
  /** The same for the halves of 64 bits, of that type. */
  readonly applyToHalves: (low: Expression, high: Expression, range: Place, lowering: Lowering) => Expression;
  readonly wideType: 'i32' | 'u64';
}

const of = (x: Expression, value: number, range: Place) => numberConstant(x.type, value, range);
const isZero = (x: Expression, range: Place) => compare('equal', x, of(x, 0, range), range);

const countSet: BitOperation = {
  type: 'i32',
  apply: (x, range) => unary('popcount', x, range),
  applyToHalves: (low, high, range) =>
    binary('add', unary('popcount', low, range), unary('popcount', high, range), range),
  wideType: 'i32',
};

const countLeading: BitOperation = {
  type: 'i32',
  apply: (x, range) => unary('clz32', x, range),
  applyToHalves(low, high, range) {
    const below = binary('add', unary('clz32', low, range), of(low, 32, range), range);
    return conditional(isZero(high, range), below, unary('clz32', high, range), range);
  },
  wideType: 'i32',
};

const findFirst: BitOperation = {
  type: 'i32',
  apply: firstSet,
  applyToHalves(low, high, range, lowering) {
    const above = lowering.settleExpression(firstSet(high, range), 'above');
    const place = conditional(
      isZero(above, range),
      above,
      binary('add', above, of(above, 32, range), range),
      range,
    );
    return conditional(isZero(low, range), place, firstSet(low, range), range);
  },
  wideType: 'i32',
};

const reverse: BitOperation = {
  type: 'u32',
  apply: reversed,
  applyToHalves(low, high, range, lowering) {
    const wide = (half: Expression) => convert(reversed(half, range, lowering), 'u64', range);
    const upper = binary('shiftLeft', wide(low), constant('u64', 32n, range), range);
    return binary('or', upper, wide(high), range);
  },
  wideType: 'u64',
};

export const bitHandlers = {
  'cuda.popc': (call) => ofBits(call, countSet),
  'cuda.clz': (call) => ofBits(call, countLeading),
  'cuda.ffs': (call) => ofBits(call, findFirst),
  'cuda.brev': (call) => ofBits(call, reverse),
} satisfies SomeHandlers;

/** Applies an operation to the 64 bits of a bigint, or to the 32 of another integer. */
function ofBits(call: Call, operation: BitOperation): Value {
  const { lowering, node, args } = call;
  const { x } = args;
  if (x.kind === 'literal' && typeof x.value === 'bigint')
    return ofHalves(call, constant('u64', BigInt.asUintN(64, x.value), lowering.range(node)), operation);
  if (x.kind === 'number' && isBigint(x.type)) return ofHalves(call, x.expression, operation);
  const { type, apply } = operation;
  const range = lowering.range(node);
  if (x.kind === 'literal' && Number.isInteger(x.value)) {
    const bits = type === 'i32' ? Number(x.value) | 0 : Number(x.value) >>> 0;
    const result = apply(constant(type, bits, range), range, lowering);
    if (result.kind === 'constant') return literal(Number(result.value));
  }
  lowering.inference.meets(x, type);
  if (x.kind === 'number' && !isSmallInteger(x.type) && x.type !== 'bool') {
    lowering.fail(
      call.at('x'),
      'WS1004',
      `x of ${call.name} must be an integer, and is ${describe(x)}`,
      castAdvice(lowering, call.at('x'), 'u32', ' takes the low bits, and drops a fraction'),
    );
  }
  const operand = lowering.settleExpression(toType(lowering, x, type, call.at('x')), 'bits');
  return number(type, apply(operand, range, lowering));
}

function ofHalves(
  { lowering, node }: Call,
  x: Expression,
  { type, applyToHalves, wideType }: BitOperation,
): Value {
  const range = lowering.range(node);
  const bits = lowering.settleExpression(convert(x, 'u64', range), 'bits');
  const upper = binary('shiftRight', bits, constant('u64', 32n, range), range);
  const low = lowering.settleExpression(convert(bits, type, range), 'low');
  const high = lowering.settleExpression(convert(upper, type, range), 'high');
  const result = applyToHalves(low, high, range, lowering);
  return number(wideType, result);
}

/** By the lowest bit that is set, alone. */
function firstSet(x: Expression, range: Place): Expression {
  const lowest = binary('and', x, unary('negate', x, range), range);
  const place = binary('subtract', of(x, 32, range), unary('clz32', lowest, range), range);
  return conditional(isZero(x, range), of(x, 0, range), place, range);
}

/** Neighbouring bits, pairs, fours, bytes and halves change places. */
function reversed(x: Expression, range: Place, lowering: Lowering): Expression {
  const steps = [
    [1, 0x55555555],
    [2, 0x33333333],
    [4, 0x0f0f0f0f],
    [8, 0x00ff00ff],
    [16, 0x0000ffff],
  ] as const;
  return steps.reduce((bits, [places, mask]) => {
    const upper = binary(
      'shiftLeft',
      binary('and', bits, of(x, mask, range), range),
      of(x, places, range),
      range,
    );
    const lower = binary(
      'and',
      binary('shiftRight', bits, of(x, places, range), range),
      of(x, mask, range),
      range,
    );
    return lowering.settleExpression(binary('or', upper, lower, range), 'reversed');
  }, x);
}
