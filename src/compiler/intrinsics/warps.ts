// What the lanes of a warp do together.
//
// An intrinsic with a mask and the same of a tile are one call of the IR: the tile says which
// lanes come, and a mask that names all 32 lanes is none. Results that name lanes are those of
// the warp in the IR; a tile's intrinsics count them from the tile's first.

import type { Node } from 'acorn';
import { replacementAdvice } from '../advice.ts';
import { binary, builtin, compare, conditional, convert, numberConstant, variable } from '../build.ts';
import { openOf } from '../common-type.ts';
import type { Expression, Group, ValueType } from '../ir.ts';
import type { Shuffle, WarpOperator } from '../ir-warps.ts';
import type { Lowering } from '../lowering.ts';
import { isInteger, type NumberType } from '../number-types.ts';
import { knownNumber, toType, typed } from '../numbers.ts';
import { describe, type GroupValue, type Numeric, number, undefinedValue, type Value } from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';
import { countOfLanes, laneOfRank, lanesBelow, ranksOf } from './lane-masks.ts';
import { laneWithin } from './shuffle-widths.ts';

type OfTile = IntrinsicCall<Extract<IntrinsicCall['name'], `tile.${string}`>>;
type Call = Pick<IntrinsicCall, 'lowering' | 'node' | 'name' | 'at'>;
export type Tile = Extract<Group, { kind: 'tile' }>;

export const warpSize = 32;
const warp: Tile = { kind: 'tile', size: warpSize };
const allLanes = 0xffffffff;

export const warpHandlers = {
  'cuda.warpSize': ({ lowering, node }) => number('index', lowering.indexConstant(warpSize, node)),
  'cuda.laneId': ({ lowering, node }) => number('index', laneId(lowering, node)),
  'cuda.syncwarp': ({ lowering, node, args }) => {
    const range = lowering.range(node);
    lowering.emit({ kind: 'call', intrinsic: 'sync', group: warp, ...named(lowering, args.mask), range });
    return undefinedValue;
  },
  'cuda.activemask': (call) =>
    exchange(call, 'activemask', { value: call.lowering.boolConstant(true, call.node), result: 'u32' }),
  'cuda.shflSync': (call) => shuffleLanes(call, 'shfl', call.args, call.args.lane),
  'cuda.shflUpSync': (call) => shuffleLanes(call, 'shflUp', call.args, call.args.delta),
  'cuda.shflDownSync': (call) => shuffleLanes(call, 'shflDown', call.args, call.args.delta),
  'cuda.shflXorSync': (call) => shuffleLanes(call, 'shflXor', call.args, call.args.laneMask),
  'cuda.ballotSync': (call) => vote(call, 'ballot', call.args),
  'cuda.anySync': (call) => vote(call, 'any', call.args),
  'cuda.allSync': (call) => vote(call, 'all', call.args),
  'cuda.matchAnySync': (call) => match(call, 'matchAny', call.args),
  'cuda.matchAllSync': (call) => match(call, 'matchAll', call.args),
  'cuda.reduceAddSync': (call) => reduceLanes(call, 'reduceAdd', call.args),
  'cuda.reduceMinSync': (call) => reduceLanes(call, 'reduceMin', call.args),
  'cuda.reduceMaxSync': (call) => reduceLanes(call, 'reduceMax', call.args),
  'cuda.reduceAndSync': (call) => reduceLanes(call, 'reduceAnd', call.args),
  'cuda.reduceOrSync': (call) => reduceLanes(call, 'reduceOr', call.args),
  'cuda.reduceXorSync': (call) => reduceLanes(call, 'reduceXor', call.args),

  'tile.shfl': (call) => shuffleTile(call, 'shfl', call.args.value, call.args.rank),
  'tile.shflUp': (call) => shuffleTile(call, 'shflUp', call.args.value, call.args.delta),
  'tile.shflDown': (call) => shuffleTile(call, 'shflDown', call.args.value, call.args.delta),
  'tile.shflXor': (call) =>
    call.receiver.mask === undefined
      ? shuffleTile(call, 'shflXor', call.args.value, call.args.laneMask)
      : shuffleXorOf(call, call.receiver.mask),
  'tile.any': (call) => vote(call, 'any', { ...call.args, group: tileOf(call) }),
  'tile.all': (call) => vote(call, 'all', { ...call.args, group: tileOf(call) }),
  'tile.ballot': (call) => fromFirst(call, vote(call, 'ballot', { ...call.args, group: tileOf(call) })),
  'tile.matchAny': (call) => fromFirst(call, match(call, 'matchAny', { ...call.args, group: tileOf(call) })),
  'tile.matchAll': (call) => fromFirst(call, match(call, 'matchAll', { ...call.args, group: tileOf(call) })),

  'coalesced.shfl': (call) => {
    const { mask } = call.receiver;
    const lane = laneOfRank(call.lowering, mask, call.args.rank);
    return shuffle(call, 'shfl', call.args.value, { mask, lane });
  },
  'coalesced.shflUp': (call) => shuffleLanesOf(call, 'subtract'),
  'coalesced.shflDown': (call) => shuffleLanesOf(call, 'add'),
  'coalesced.any': (call) => vote(call, 'any', { ...call.args, mask: call.receiver.mask }),
  'coalesced.all': (call) => vote(call, 'all', { ...call.args, mask: call.receiver.mask }),
  'coalesced.ballot': (call) =>
    inRanks(call, vote(call, 'ballot', { ...call.args, mask: call.receiver.mask })),
  'coalesced.matchAny': (call) =>
    inRanks(call, match(call, 'matchAny', { ...call.args, mask: call.receiver.mask })),
  'coalesced.matchAll': (call) =>
    inRanks(call, match(call, 'matchAll', { ...call.args, mask: call.receiver.mask })),
} satisfies SomeHandlers;

/** The mask of a call of the IR: none where all lanes are named. */
function named(lowering: Lowering, mask: Expression | undefined): { readonly mask?: Expression } {
  if (mask === undefined) return {};
  const known = lowering.definition(mask);
  return known.kind === 'constant' && known.value === allLanes ? {} : { mask };
}

interface Exchanged {
  readonly group?: Tile;
  readonly mask?: Expression;
  readonly value: Expression;
  readonly lane?: Expression;
  readonly width?: number;
  readonly result: NumberType;
}

interface ShuffledLanes {
  readonly mask: Expression;
  readonly value: Numeric;
  readonly width?: Expression | undefined;
}

/** Emits the call; the value that it gives. */
export function exchange(
  { lowering, node }: Pick<Call, 'lowering' | 'node'>,
  operator: WarpOperator,
  given: Exchanged,
): Value {
  const { group = warp, value, lane, width = group.size } = given;
  const range = lowering.range(node);
  const type: ValueType = lowering.valueType(given.result);
  const result = lowering.isUnused(node) ? null : lowering.newFixedVariable(operator, type);
  lowering.emit({
    kind: 'call',
    intrinsic: 'warp',
    operator,
    group,
    ...named(lowering, given.mask),
    value,
    lane: lane === undefined ? null : convert(lane, 'i32', range),
    width,
    result,
    range,
  });
  return result === null ? undefinedValue : number(given.result, variable(result, type, range));
}

function shuffleLanes(
  call: Call,
  operator: Shuffle,
  { mask, value, width }: ShuffledLanes,
  operand: Expression,
): Value {
  const { lowering, node, name } = call;
  if (width === undefined) return shuffle(call, operator, value, { mask, lane: operand });
  const known = knownNumber(lowering, number('index', width));
  if (known === null) {
    const lane = laneWithin(lowering, node, name, { operator, own: laneId(lowering, node), operand, width });
    return shuffle(call, 'shfl', value, { mask, lane });
  }
  if (known < 1 || known > warpSize || !Number.isInteger(Math.log2(known))) {
    lowering.fail(
      call.at('width'),
      'WS1009',
      `width of ${name} must be a power of two up to ${warpSize}, and is ${known}`,
      replacementAdvice(
        lowering,
        call.at('width'),
        String(known < 1 ? 2 : Math.min(warpSize, 2 ** Math.ceil(Math.log2(known)))),
      ),
    );
  }
  return shuffle(call, operator, value, { mask, lane: operand, width: known });
}

function shuffleTile(call: OfTile, operator: WarpOperator, value: Numeric, lane: Expression): Value {
  return shuffle(call, operator, value, { group: tileOf(call), lane });
}

/** A shuffle among the lanes of a mask, with the rank so far away, or the own where there is none. */
function shuffleLanesOf(
  call: IntrinsicCall<'coalesced.shflUp' | 'coalesced.shflDown'>,
  operator: 'add' | 'subtract',
): Value {
  const { lowering, node, args } = call;
  const { mask } = call.receiver;
  const range = lowering.range(node);
  const count = (lanes: Expression, name: string) =>
    lowering.settleExpression(convert(countOfLanes(call, lanes), lowering.indexType, range), name);
  const rank = count(lanesBelow(call, mask), 'rank');
  const other = lowering.settleExpression(binary(operator, rank, args.delta, range), 'other');
  const zero = numberConstant(lowering.indexType, 0, range);
  const isThere =
    operator === 'subtract'
      ? compare('greaterEqual', other, zero, range)
      : compare('less', other, count(mask, 'size'), range);
  const lane = laneOfRank(lowering, mask, conditional(isThere, other, rank, range));
  return shuffle(call, 'shfl', args.value, { mask, lane });
}

/** A shuffle among the lanes of a tile that its block does not fill. */
function shuffleXorOf(call: IntrinsicCall<'tile.shflXor'>, mask: Expression): Value {
  const { lowering, node, args } = call;
  const range = lowering.range(node);
  const type = lowering.indexType;
  const rank = builtin('threadRank', type, range);
  const own = binary('and', rank, numberConstant(type, warpSize - 1, range), range);
  const lane = convert(binary('xor', own, args.laneMask, range), 'i32', range);
  return shuffle(call, 'shfl', args.value, { mask, lane });
}

/** The lanes of the own warp for which a bool is true, as a u32; `mask` names who comes, else all that have not returned. */
export function ballotOf(
  { lowering, node }: Pick<Call, 'lowering' | 'node'>,
  value: Expression,
  mask?: Expression,
): Expression {
  const range = lowering.range(node);
  const result = lowering.newFixedVariable('votes', 'u32');
  const call = { kind: 'call', intrinsic: 'warp', operator: 'ballot', group: warp, width: warpSize } as const;
  lowering.emit({ ...call, ...named(lowering, mask), value, lane: null, result, range });
  return variable(result, 'u32', range);
}

/** The value of the lane with a rank among those of a mask. */
export function ofRank(
  lowering: Lowering,
  mask: Expression,
  value: Expression,
  rank: Expression,
  range: Expression['range'],
): Expression {
  const operator = 'shfl';
  const lane = laneOfRank(lowering, mask, rank);
  const result = lowering.newFixedVariable(operator, value.type);
  const call = { kind: 'call', intrinsic: 'warp', operator, group: warp, width: warpSize } as const;
  lowering.emit({ ...call, ...named(lowering, mask), value, lane, result, range });
  return { kind: 'variable', id: result, type: value.type, range };
}

/** A shuffle of a value of any type; a bool counts as an i32. */
export function shuffle(
  call: Pick<Call, 'lowering' | 'node'>,
  operator: WarpOperator,
  value: Numeric,
  how: Omit<Exchanged, 'value' | 'result'>,
): Value {
  if (value.kind === 'open') return openOf([value]);
  const { type, expression } = numberOf(call, value);
  return exchange(call, operator, { ...how, value: expression, result: type });
}

/** The number with a type that is none of bool. */
export function numberOf({ lowering, node }: Pick<Call, 'lowering' | 'node'>, value: Numeric) {
  const own = typed(lowering, value, node);
  const type = own.type === 'bool' ? 'i32' : own.type;
  return { type, expression: toType(lowering, own, type, node) };
}

/** The tile of a call. */
function tileOf(call: OfTile): Tile {
  return tileIn(call, call.receiver);
}

/** The tile whose lanes exchange values: at most a warp. */
export function tileIn({ lowering, node, name }: Omit<Call, 'at'>, { group }: GroupValue): Tile {
  if (group.kind === 'tile' && group.size <= warpSize) return group;
  return lowering.fail(
    node,
    'WS1009',
    `${name} needs a tile of at most ${warpSize} threads, and this is ${describe({ kind: 'group', group, metaGroupSize: 1 })}`,
    `threads of one warp exchange values: cuda.tiledPartition(block, ${warpSize})`,
  );
}

interface Voted {
  readonly mask?: Expression;
  readonly group?: Tile;
  readonly predicate: Numeric;
}

function vote(call: Call, operator: 'ballot' | 'any' | 'all', { predicate, ...whom }: Voted): Value {
  const { lowering, at } = call;
  const value = toType(lowering, predicate, 'bool', at('predicate'));
  return exchange(call, operator, { ...whom, value, result: operator === 'ballot' ? 'u32' : 'bool' });
}

interface Matched {
  readonly mask?: Expression;
  readonly group?: Tile;
  readonly value: Numeric;
}

function match(call: Call, operator: 'matchAny' | 'matchAll', { value, ...whom }: Matched): Value {
  return exchange(call, operator, { ...whom, value: numberOf(call, value).expression, result: 'u32' });
}

function reduceLanes(
  call: Call,
  operator: WarpOperator,
  { mask, value }: { readonly mask: Expression; readonly value: Numeric },
): Value {
  if (value.kind === 'open') return openOf([value]);
  const { type, expression } = numberOf(call, value);
  if (!isInteger(type)) {
    call.lowering.fail(
      call.at('value'),
      'WS1004',
      `${call.name} takes integers, and is given ${describe(value)}`,
      'cuda.cg.reduce(tile, value, …) takes floats too',
    );
  }
  return exchange(call, operator, { mask, value: expression, result: type });
}

/** Lanes of the warp as ranks of the tile. */
function fromFirst({ lowering, node, receiver }: OfTile, lanes: Value): Value {
  const size = receiver.group.kind === 'tile' ? receiver.group.size : warpSize;
  if (lanes.kind !== 'number' || size === warpSize) return lanes;
  const range = lowering.range(node);
  const places = numberConstant(lowering.indexType, warpSize - size, range);
  const first = convert(binary('and', laneId(lowering, node), places, range), 'u32', range);
  return number('u32', binary('shiftRight', lanes.expression, first, range));
}

/** Lanes of the warp as ranks of a group of any lanes. */
function inRanks(
  call: IntrinsicCall<'coalesced.ballot' | 'coalesced.matchAny' | 'coalesced.matchAll'>,
  lanes: Value,
): Value {
  if (lanes.kind !== 'number') return lanes;
  return number('u32', ranksOf(call, call.receiver.mask, lanes.expression));
}

function laneId(lowering: Lowering, node: Node): Expression {
  const range = lowering.range(node);
  const rank = builtin('threadRank', lowering.indexType, range);
  return binary('and', rank, numberConstant(lowering.indexType, warpSize - 1, range), range);
}
