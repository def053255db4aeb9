// Reductions and scans of a group of lanes: `cuda.cg.reduce`, `inclusiveScan`, `exclusiveScan`.
//
// They are made of shuffles, in one order on every target, so that sums of floats agree to the bit: a reduction of
// a tile exchanges with the rank that differs in one bit, the highest first (all threads get the same), one of any
// lanes, or of a subset of a block, takes what lies 16, 8, 4 … ranks above, and all get that of rank 0; a scan adds what lies 1, 2, 4 … ranks
// below. A reduction of integers is an operation of its own, as their order does not matter.

import type { Combination } from '../../kernel/intrinsics.ts';
import {
  binary,
  builtin,
  compare,
  conditional,
  constant,
  convert,
  numberConstant,
  variable,
} from '../build.ts';
import { openOf } from '../common-type.ts';
import type { BinaryOperator, Expression } from '../ir.ts';
import type { WarpOperator } from '../ir-warps.ts';
import type { Lowering } from '../lowering.ts';
import { isFloat } from '../number-types.ts';
import { toType } from '../numbers.ts';
import { type Numeric, number, type SubsetValue, type Value } from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';
import { countOfLanes, lanesBelow } from './lane-masks.ts';
import { ofRankInSubset } from './subsets.ts';
import { exchange, numberOf, ofRank, type Tile, tileIn, warpSize } from './warps.ts';

type Place = Pick<IntrinsicCall, 'lowering' | 'node'>;
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
    const { operation, value, group } = call.args;
    if (value.kind === 'open') return openOf([value]);
    const { type, expression } = operandOf(call, value, operation);
    const { reduce, of } = operators[operation];
    if (!isFloat(type) && group.kind !== 'subset') {
      const whom = group.kind === 'lanes' ? { mask: group.mask } : { group: tileIn(call, group) };
      return exchange(call, reduce, { ...whom, value: expression, result: type });
    }
    const threads = threadsOf(call);
    return number(
      type,
      threads.all(expression, (a, b) => binary(of, a, b, threads.range)),
    );
  },
  'cg.inclusiveScan': (call) => scan(call, (_, inclusive) => inclusive),
  'cg.exclusiveScan': (call) =>
    scan(call, (threads, inclusive, operation) =>
      threads.ifBelow(1, neutralTo(operation, inclusive, call), threads.below(inclusive, 1)),
    ),
  'subset.any': (call) => voteOfSubset(call, 'or'),
  'subset.all': (call) => voteOfSubset(call, 'and'),
} satisfies SomeHandlers;

function scan(
  call: IntrinsicCall<'cg.inclusiveScan' | 'cg.exclusiveScan'>,
  finish: (threads: Threads, inclusive: Expression, operation: Combination) => Expression,
): Value {
  const { value, operation = 'plus' } = call.args;
  if (value.kind === 'open') return openOf([value]);
  const own = operandOf(call, value, operation);
  const threads = threadsOf(call);
  const { of } = operators[operation];
  const sum = threads.scanned(own.expression, (a, b) => binary(of, a, b, threads.range));
  return number(own.type, finish(threads, sum, operation));
}

/** The sum of i32 that the threads of a subset bring. */
export function sumOfSubset(call: Place, subset: SubsetValue, value: Expression): Expression {
  const threads = new ThreadsOfSubset(call, subset);
  return threads.all(value, (a, b) => binary('add', a, b, threads.range));
}

/** Whether a truth that the threads of a subset bring holds for any of them, or for all. */
function voteOfSubset(call: IntrinsicCall<'subset.any' | 'subset.all'>, of: 'or' | 'and'): Value {
  const { lowering, receiver, args, at, node } = call;
  const range = lowering.range(node);
  const threads = new ThreadsOfSubset(call, receiver);
  const own = convert(toType(lowering, args.predicate, 'bool', at('predicate')), 'i32', range);
  const found = threads.all(lowering.settleExpression(own, 'vote'), (a, b) => binary(of, a, b, range));
  return number('bool', compare('notEqual', found, numberConstant('i32', 0, range), range));
}

function threadsOf(call: IntrinsicCall<Combining>): Threads {
  const { group } = call.args;
  if (group.kind === 'subset') return new ThreadsOfSubset(call, group);
  if (group.kind === 'lanes') return new ThreadsOfMask(call, group.mask);
  return new ThreadsOfTile(call, tileIn(call, group));
}

/** Threads that combine their values, and have ranks among themselves. */
abstract class Threads {
  readonly range: ReturnType<Lowering['range']>;
  protected readonly lowering: Lowering;
  /** Of the thread, of the program's indexType. */
  protected abstract readonly rank: Expression;
  /** How many they are at most. */
  abstract readonly most: number;

  constructor({ lowering, node }: Pick<IntrinsicCall, 'lowering' | 'node'>) {
    this.lowering = lowering;
    this.range = lowering.range(node);
  }

  /** The value of the thread so many ranks below; some other where there is none. */
  abstract below(value: Expression, distance: number): Expression;

  /** All values combined, the same for each. */
  abstract all(value: Expression, combine: Combine): Expression;

  /** The values up to the own combined. */
  scanned(value: Expression, combine: Combine): Expression {
    let sum = value;
    for (let distance = 1; distance < this.most; distance *= 2) {
      const more = combine(this.below(sum, distance), sum);
      sum = this.lowering.settleExpression(this.ifBelow(distance, sum, more), 'scanned');
    }
    return sum;
  }

  /** One of two values, by whether the rank is below a number. */
  ifBelow(rank: number, then: Expression, otherwise: Expression): Expression {
    return conditional(compare('less', this.rank, this.index(rank), this.range), then, otherwise, this.range);
  }

  protected index(value: number): Expression {
    return numberConstant(this.lowering.indexType, value, this.range);
  }
}

type Combine = (a: Expression, b: Expression) => Expression;

class ThreadsOfTile extends Threads {
  readonly most: number;
  protected readonly rank: Expression;
  readonly #group: Tile;

  constructor(call: Pick<IntrinsicCall, 'lowering' | 'node'>, group: Tile) {
    super(call);
    this.#group = group;
    this.most = group.size;
    const rank = builtin('threadRank', this.lowering.indexType, this.range);
    this.rank = binary('and', rank, this.index(group.size - 1), this.range);
  }

  below(value: Expression, distance: number): Expression {
    return this.#other('shflUp', value, distance);
  }

  all(value: Expression, combine: Combine): Expression {
    let sum = value;
    for (let bit = this.most / 2; bit >= 1; bit /= 2)
      sum = this.lowering.settleExpression(combine(sum, this.#other('shflXor', sum, bit)), 'combined');
    return sum;
  }

  #other(operator: WarpOperator, value: Expression, distance: number): Expression {
    const { range } = this;
    const group = this.#group;
    const result = this.lowering.newFixedVariable(operator, value.type);
    const lane = numberConstant('i32', distance, range);
    const call = { kind: 'call', intrinsic: 'warp', operator, group, width: group.size } as const;
    this.lowering.emit({ ...call, value, lane, result, range });
    return { kind: 'variable', id: result, type: value.type, range };
  }
}

class ThreadsOfMask extends Threads {
  readonly most = warpSize;
  protected readonly rank: Expression;
  readonly #mask: Expression;
  readonly #size: Expression;

  constructor(call: Place, mask: Expression) {
    super(call);
    this.#mask = mask;
    const settled = (lanes: Expression, name: string) =>
      this.lowering.settleExpression(
        convert(countOfLanes(call, lanes), this.lowering.indexType, this.range),
        name,
      );
    this.rank = settled(lanesBelow(call, mask), 'rank');
    this.#size = settled(mask, 'size');
  }

  below(value: Expression, distance: number): Expression {
    const isThere = compare('greaterEqual', this.rank, this.index(distance), this.range);
    return this.#of(value, this.#rankOr(isThere, 'subtract', distance));
  }

  all(value: Expression, combine: Combine): Expression {
    let sum = value;
    for (let distance = this.most / 2; distance >= 1; distance /= 2) {
      const above = binary('add', this.rank, this.index(distance), this.range);
      const isThere = this.lowering.settleExpression(
        compare('less', above, this.#size, this.range),
        'isThere',
      );
      const other = this.#of(sum, this.#rankOr(isThere, 'add', distance));
      sum = this.lowering.settleExpression(
        conditional(isThere, combine(sum, other), sum, this.range),
        'combined',
      );
    }
    return this.#of(sum, this.index(0));
  }

  /** A rank so far away, or the own where there is none. */
  #rankOr(isThere: Expression, operator: 'add' | 'subtract', distance: number): Expression {
    const other = binary(operator, this.rank, this.index(distance), this.range);
    return conditional(isThere, other, this.rank, this.range);
  }

  #of(value: Expression, rank: Expression): Expression {
    return ofRank(this.lowering, this.#mask, value, rank, this.range);
  }
}

/** Threads of any warps. The distances are those of one loop: it has a meeting of the subset, which is no small thing to repeat. */
class ThreadsOfSubset extends Threads {
  readonly most: number;
  protected readonly rank: Expression;
  readonly #call: Place;
  readonly #subset: SubsetValue;

  constructor(call: Place, subset: SubsetValue) {
    super(call);
    this.#call = call;
    this.#subset = subset;
    this.most = 2 ** Math.ceil(Math.log2(subset.most));
    this.rank = subset.rank;
  }

  below(value: Expression, distance: number): Expression {
    return this.#other(value, 'subtract', this.index(distance)).value;
  }

  all(value: Expression, combine: Combine): Expression {
    const sum = this.#combined(value, combine, 'add', {
      first: this.most / 2,
      goesOn: (distance) => compare('greater', distance, this.index(0), this.range),
      next: (distance) => binary('shiftRight', distance, this.index(1), this.range),
    });
    return ofRankInSubset(this.#call, this.#subset, sum, this.index(0));
  }

  override scanned(value: Expression, combine: Combine): Expression {
    return this.#combined(value, (own, other) => combine(other, own), 'subtract', {
      first: 1,
      goesOn: (distance) => compare('less', distance, this.#subset.size, this.range),
      next: (distance) => binary('shiftLeft', distance, this.index(1), this.range),
    });
  }

  /** A value combined with those at distances, one after the other. */
  #combined(
    value: Expression,
    combine: Combine,
    way: 'add' | 'subtract',
    distances: {
      readonly first: number;
      readonly goesOn: (distance: Expression) => Expression;
      readonly next: (distance: Expression) => Expression;
    },
  ): Expression {
    const { lowering, range } = this;
    const assign = (id: number, to: Expression) =>
      ({ kind: 'assign', variable: id, value: to, range }) as const;
    const sumId = lowering.newVariable('combined', value.type);
    const distanceId = lowering.newVariable('distance', lowering.indexType);
    const sum = variable(sumId, value.type, range);
    const distance = variable(distanceId, lowering.indexType, range);
    lowering.emit(assign(sumId, value));
    lowering.emit(assign(distanceId, this.index(distances.first)));
    const body = lowering.collect(() => {
      const { isThere, value: other } = this.#other(sum, way, distance);
      lowering.emit(assign(sumId, conditional(isThere, combine(sum, other), sum, range)));
    });
    lowering.emit({
      kind: 'loop',
      label: lowering.newLabel(),
      testFirst: true,
      test: distances.goesOn(distance),
      body,
      update: [assign(distanceId, distances.next(distance))],
      range,
    });
    return lowering.settleExpression(sum, 'combined');
  }

  /** What the thread so far away brings, if it is there. */
  #other(
    value: Expression,
    way: 'add' | 'subtract',
    distance: Expression,
  ): { readonly isThere: Expression; readonly value: Expression } {
    const { lowering, range } = this;
    const place = lowering.settleExpression(binary(way, this.rank, distance, range), 'place');
    const isThere = lowering.settleExpression(
      way === 'add'
        ? compare('less', place, this.#subset.size, range)
        : compare('greaterEqual', place, this.index(0), range),
      'isThere',
    );
    const rank = conditional(isThere, place, this.rank, range);
    return { isThere, value: ofRankInSubset(this.#call, this.#subset, value, rank) };
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
