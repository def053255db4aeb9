// Reductions and scans of a tile: `cuda.cg.reduce`, `inclusiveScan`, `exclusiveScan`.
//
// They are made of shuffles, in one order on every target, so that sums of floats agree to the
// bit: a reduction exchanges with the rank that differs in one bit, the highest first (all
// threads get the same); a scan adds what lies 1, 2, 4 … ranks below. A reduction of integers is an
// operation of its own, as their order does not matter.

import type { Combination } from '../../kernel/intrinsics.ts';
import { binary, builtin, compare, conditional, constant, numberConstant } from '../build.ts';
import { openOf } from '../common-type.ts';
import type { BinaryOperator, Expression } from '../ir.ts';
import type { WarpOperator } from '../ir-warps.ts';
import type { Lowering } from '../lowering.ts';
import { isFloat } from '../number-types.ts';
import { type Numeric, number, type Value } from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';
import { exchange, numberOf, type Tile, tileIn } from './warps.ts';

type Combining = 'cg.reduce' | 'cg.inclusiveScan' | 'cg.exclusiveScan';

const operators: Readonly<Record<Combination, { reduce: WarpOperator; of: BinaryOperator }>> = {
  plus: { reduce: 'reduceAdd', of: 'add' },
  less: { reduce: 'reduceMin', of: 'min' },
  greater: { reduce: 'reduceMax', of: 'max' },
  bitAnd: { reduce: 'reduceAnd', of: 'and' },
  bitOr: { reduce: 'reduceOr', of: 'or' },
  bitXor: { reduce: 'reduceXor', of: 'xor' },
};

export const combiningHandlers = {
  'cg.reduce': (call) => {
    const { operation, value } = call.args;
    if (value.kind === 'open') return openOf([value]);
    const own = operandOf(call, value, operation);
    const group = tileIn(call, call.args.tile);
    const { reduce, of } = operators[operation];
    const { type } = own;
    if (!isFloat(type)) return exchange(call, reduce, { group, value: own.expression, result: type });
    const all = new Exchange(call, group);
    let sum = own.expression;
    for (let bit = group.size / 2; bit >= 1; bit /= 2)
      sum = all.combine(of, sum, all.of('shflXor', sum, bit));
    return number(type, sum);
  },
  'cg.inclusiveScan': (call) => scan(call, (_, inclusive) => inclusive),
  'cg.exclusiveScan': (call) =>
    scan(call, (all, inclusive, operation) => {
      const below = all.of('shflUp', inclusive, 1);
      return all.ifBelow(1, neutralTo(operation, inclusive, call), below);
    }),
} satisfies SomeHandlers;

function scan(
  call: IntrinsicCall<'cg.inclusiveScan' | 'cg.exclusiveScan'>,
  finish: (all: Exchange, inclusive: Expression, operation: Combination) => Expression,
): Value {
  const { value, operation = 'plus' } = call.args;
  if (value.kind === 'open') return openOf([value]);
  const own = operandOf(call, value, operation);
  const group = tileIn(call, call.args.tile);
  const all = new Exchange(call, group);
  let sum = own.expression;
  for (let distance = 1; distance < group.size; distance *= 2) {
    const below = all.of('shflUp', sum, distance);
    const more = binary(operators[operation].of, below, sum, all.range);
    sum = call.lowering.settleExpression(all.ifBelow(distance, sum, more), 'scanned');
  }
  return number(own.type, finish(all, sum, operation));
}

/** Exchanges among the threads of a tile. */
class Exchange {
  readonly range: ReturnType<Lowering['range']>;
  readonly #lowering: Lowering;
  readonly #group: Tile;

  constructor({ lowering, node }: Pick<IntrinsicCall, 'lowering' | 'node'>, group: Tile) {
    this.range = lowering.range(node);
    this.#lowering = lowering;
    this.#group = group;
  }

  /** The value of another thread. */
  of(operator: WarpOperator, value: Expression, distance: number): Expression {
    const { range } = this;
    const result = this.#lowering.newFixedVariable(operator, value.type);
    const lane = numberConstant('i32', distance, range);
    const { size: width } = this.#group;
    const group = this.#group;
    const intrinsic = 'warp';
    this.#lowering.emit({ kind: 'call', intrinsic, operator, group, value, lane, width, result, range });
    return { kind: 'variable', id: result, type: value.type, range };
  }

  combine(operator: BinaryOperator, a: Expression, b: Expression): Expression {
    return this.#lowering.settleExpression(binary(operator, a, b, this.range), 'combined');
  }

  /** One of two values, by whether the rank in the tile is below a number. */
  ifBelow(rank: number, then: Expression, otherwise: Expression): Expression {
    const { indexType } = this.#lowering;
    const of = (value: number) => numberConstant(indexType, value, this.range);
    const own = binary(
      'and',
      builtin('threadRank', indexType, this.range),
      of(this.#group.size - 1),
      this.range,
    );
    return conditional(compare('less', own, of(rank), this.range), then, otherwise, this.range);
  }
}

function operandOf(call: IntrinsicCall<Combining>, value: Numeric, operation: Combination) {
  const own = numberOf(call, value);
  if (isFloat(own.type) && operation.startsWith('bit')) {
    call.lowering.fail(
      call.at('value'),
      'WS1004',
      `'${operation}' combines the bits of integers, and is given a number of type ${own.type}`,
      "floats have 'plus', 'less' and 'greater'",
    );
  }
  return { ...own, expression: call.lowering.settleExpression(own.expression, 'own') };
}

/** The value that changes nothing it is combined with. */
function neutralTo(
  operation: Combination,
  { type }: Expression,
  { lowering, node }: IntrinsicCall<Combining>,
) {
  const range = lowering.range(node);
  const of = (value: number) => numberConstant(type, value, range);
  if (operation === 'bitAnd') return of(-1);
  if (operation !== 'less' && operation !== 'greater') return of(0);
  const sign = operation === 'less' ? 1 : -1;
  if (isFloat(type)) return of(sign * Number.POSITIVE_INFINITY);
  if (type === 'u32' || type === 'u64') return sign === 1 ? of(-1) : of(0);
  const bits = type === 'i64' ? 63n : 31n;
  const limit = sign === 1 ? 2n ** bits - 1n : -(2n ** bits);
  return constant(type, type === 'i64' ? limit : Number(limit), range);
}
