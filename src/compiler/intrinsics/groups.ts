// Groups of threads, and the place of a thread in block and grid.

import type { Node } from 'acorn';
import { binary, builtin, compare, conditional, convert, numberConstant, unary, variable } from '../build.ts';
import type { BuiltIn, Expression } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { toType } from '../numbers.ts';
import {
  describe,
  type GroupValue,
  type LanesValue,
  number,
  type ObjectValue,
  undefinedValue,
  type Value,
} from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';
import { countOfLanes, laneOfRank, lanesBelow } from './lane-masks.ts';
import { warpSize } from './warps.ts';

type Axis = 'x' | 'y' | 'z';
const axes = ['x', 'y', 'z'] as const;

type Place = Pick<IntrinsicCall, 'lowering' | 'node'>;

export const groupHandlers = {
  'cuda.thisGrid': () => groupOf('grid'),
  'cuda.thisThreadBlock': () => groupOf('block'),
  'cuda.thisThread': () => groupOf('thread'),
  'cuda.tiledPartition': tiledPartition,
  'cuda.threadIdx': threadIdx,
  'cuda.blockIdx': blockIdx,
  'cuda.blockDim': blockDim,
  'cuda.gridDim': gridDim,
  'cuda.syncthreads': (call) => sync(call, { kind: 'block' }),
  'cuda.syncthreadsCount': (call) => number('i32', count(call, votes(call))),
  // All hold where there is none that does not.
  'cuda.syncthreadsAnd': (call) => {
    const range = call.lowering.range(call.node);
    const against = count(call, unary('not', votes(call), range));
    return number('bool', compare('equal', against, numberConstant('i32', 0, range), range));
  },
  'cuda.syncthreadsOr': (call) => {
    const range = call.lowering.range(call.node);
    return number(
      'bool',
      compare('notEqual', count(call, votes(call)), numberConstant('i32', 0, range), range),
    );
  },

  'grid.sync': (call) => {
    const { lowering, node } = call;
    if (!lowering.cooperative) {
      lowering.fail(
        node,
        'WS2006',
        'grid.sync() needs a cooperative launch, and this one is not',
        'launch it with { grid, block, cooperative: true }; where grid.isValid() is false, do without',
      );
    }
    return sync(call, { kind: 'grid' });
  },
  'grid.isValid': ({ lowering, node }) => number('bool', lowering.boolConstant(lowering.cooperative, node)),
  'grid.size': gridSize,
  'grid.numThreads': gridSize,
  'grid.threadRank': ({ lowering, node }) => {
    const before = times(
      lowering,
      blockRank(lowering, node),
      constant(lowering, blockSize(lowering), node),
      node,
    );
    return index(plus(lowering, before, threadRank(lowering, node), node));
  },
  'grid.numBlocks': ({ lowering, node }) => index(numBlocks(lowering, node)),
  'grid.blockRank': ({ lowering, node }) => index(blockRank(lowering, node)),
  'grid.blockIndex': blockIdx,
  'grid.dimBlocks': gridDim,
  'grid.groupDim': gridDim,

  'block.size': (call) => known(call, blockSize(call.lowering)),
  'block.numThreads': (call) => known(call, blockSize(call.lowering)),
  'block.threadRank': ({ lowering, node }) => index(threadRank(lowering, node)),
  'block.groupIndex': blockIdx,
  'block.threadIndex': threadIdx,
  'block.groupDim': blockDim,
  'block.dimThreads': blockDim,
  'block.sync': (call) => sync(call, call.receiver.group),

  'tile.size': (call) => known(call, tileSize(call.receiver)),
  'tile.numThreads': (call) => known(call, tileSize(call.receiver)),
  'tile.threadRank': ({ lowering, node, receiver }) => {
    const mask = constant(lowering, tileSize(receiver) - 1, node);
    return index(binary('and', threadRank(lowering, node), mask, lowering.range(node)));
  },
  'tile.metaGroupSize': (call) => {
    const { partitioned, metaGroupSize } = call.receiver;
    return partitioned === undefined ? known(call, metaGroupSize) : index(tilesOf(call, partitioned));
  },
  'tile.metaGroupRank': ({ lowering, node, receiver }) => {
    const range = lowering.range(node);
    const shift = constant(lowering, Math.log2(tileSize(receiver)), node);
    const rank = binary('shiftRight', threadRank(lowering, node), shift, range);
    // A tile of a tile is counted within that one; sizes are powers of two, unless it is the block.
    const count = receiver.metaGroupSize;
    if (count * tileSize(receiver) >= blockSize(lowering)) return index(rank);
    return index(binary('and', rank, constant(lowering, count - 1, node), range));
  },
  'tile.sync': (call) => sync(call, call.receiver.group),

  'thread.size': (call) => known(call, 1),
  'thread.numThreads': (call) => known(call, 1),
  'thread.threadRank': (call) => known(call, 0),
  'thread.sync': () => undefinedValue,
} satisfies SomeHandlers;

function groupOf(kind: 'grid' | 'block' | 'thread'): GroupValue {
  return { kind: 'group', group: { kind }, metaGroupSize: 1 };
}

function tiledPartition(call: IntrinsicCall<'cuda.tiledPartition'>): Value {
  const { lowering, args, at } = call;
  const { group, size } = args;
  const isPower = size >= 1 && Number.isInteger(Math.log2(size));
  if (group.kind === 'lanes') {
    if (group.tile !== undefined && isPower && size <= group.tile.size) return lanesOfTile(call, group);
    if (group.tile === undefined && isPower && size <= warpSize) return partOfLanes(call, group);
    return lowering.fail(
      at('size'),
      'WS1009',
      `${describe(group)} cannot be cut into tiles of ${size}`,
      `the size of a tile is a power of two up to ${group.tile?.size ?? warpSize}`,
    );
  }
  const whole = group.group.kind === 'tile' ? group.group.size : blockSize(lowering);
  const isFilled = whole % size === 0;
  if (isPower && !isFilled && group.group.kind === 'block' && size <= warpSize) return lanesOfTile(call);
  if (!isPower || !isFilled) {
    lowering.fail(
      at('size'),
      'WS1009',
      `a group of ${whole} threads cannot be cut into tiles of ${size}`,
      'the size of a tile is a power of two that divides the group, or for a block is at most 32',
    );
  }
  return { kind: 'group', group: { kind: 'tile', size }, metaGroupSize: whole / size };
}

/**
 * The lanes of a tile of a block that does not fill its last one, which has what is left; or of a tile that is cut again, whose
 * parts are as they would be of the block.
 */
function lanesOfTile(call: IntrinsicCall<'cuda.tiledPartition'>, cut?: LanesValue): Value {
  const { lowering, node } = call;
  const { size } = call.args;
  const whole = blockSize(lowering);
  const range = lowering.range(node);
  const word = (value: number) => numberConstant('u32', value >>> 0, range);
  const rank = threadRank(lowering, node);
  const lane = binary('and', convert(rank, 'u32', range), word(warpSize - 1), range);
  const first = binary('and', lane, word(~(size - 1)), range);
  const left = whole % size;
  const isLast = compare('greaterEqual', rank, constant(lowering, whole - left, node), range);
  const all = word(2 ** size - 1);
  const lanes = left === 0 ? all : conditional(isLast, word(2 ** left - 1), all, range);
  const mask = lowering.settleExpression(binary('shiftLeft', lanes, first, range), 'lanes');
  if (cut === undefined)
    return { kind: 'lanes', mask, tile: { size, metaGroupSize: Math.ceil(whole / size) } };
  return { kind: 'lanes', mask, tile: { size, metaGroupSize: cut.tile!.size / size, partitioned: cut.mask } };
}

/** Of any lanes, by their ranks, so many after one another. */
function partOfLanes(call: IntrinsicCall<'cuda.tiledPartition'>, { mask }: LanesValue): Value {
  const { lowering, node } = call;
  const { size } = call.args;
  const range = lowering.range(node);
  const number32 = (value: number) => numberConstant('i32', value, range);
  const own = countOfLanes(call, lanesBelow(call, mask));
  const first = lowering.settleExpression(binary('and', own, number32(-size), range), 'first');
  const next = lowering.settleExpression(binary('add', first, number32(size), range), 'next');
  /** The lanes below that of a rank. */
  const below = (rank: Expression) => {
    const lane = convert(laneOfRank(lowering, mask, rank), 'u32', range);
    const one = numberConstant('u32', 1, range);
    return binary('subtract', binary('shiftLeft', one, lane, range), one, range);
  };
  const isLast = compare('greaterEqual', next, countOfLanes(call, mask), range);
  const all = numberConstant('u32', 0xffffffff, range);
  const until = conditional(isLast, all, below(next), range);
  const from = unary('complement', below(first), range);
  const part = binary('and', mask, binary('and', from, until, range), range);
  return { kind: 'lanes', mask: lowering.settleExpression(part, 'lanes') };
}

/** How many tiles lanes were cut into, as an index. */
function tilesOf(
  call: Pick<IntrinsicCall<'tile.metaGroupSize'>, 'lowering' | 'node' | 'receiver'>,
  lanes: Expression,
): Expression {
  const { lowering, node, receiver } = call;
  const range = lowering.range(node);
  const size = tileSize(receiver);
  const count = convert(countOfLanes(call, lanes), lowering.indexType, range);
  const more = binary('add', count, constant(lowering, size - 1, node), range);
  return binary('shiftRight', more, constant(lowering, Math.log2(size), node), range);
}

function sync({ lowering, node }: Place, group: GroupValue['group']): Value {
  lowering.emit({ kind: 'call', intrinsic: 'sync', group, range: lowering.range(node) });
  return undefinedValue;
}

type Vote = IntrinsicCall<'cuda.syncthreadsCount' | 'cuda.syncthreadsAnd' | 'cuda.syncthreadsOr'>;

function votes({ lowering, args, at }: Vote): Expression {
  return toType(lowering, args.predicate, 'bool', at('predicate'));
}

/** The block meets; for how many of its threads the value is true. */
function count({ lowering, node, name }: Vote, value: Expression): Expression {
  const range = lowering.range(node);
  const result = lowering.newFixedVariable('count', 'i32');
  const operation = {
    kind: 'groupCount',
    group: { kind: 'block' },
    value: lowering.settleExpression(value, 'vote'),
    waiting: { verb: name },
  } as const;
  lowering.emit({ kind: 'call', intrinsic: 'core', operation, result, range });
  return variable(result, 'i32', range);
}

function index(expression: Expression): Value {
  return number('index', expression);
}

function constant(lowering: Lowering, value: number, node: Node): Expression {
  return numberConstant(lowering.indexType, value, lowering.range(node));
}

function known({ lowering, node }: Place, value: number): Value {
  return index(constant(lowering, value, node));
}

function tileSize({ group }: GroupValue): number {
  return group.kind === 'tile' ? group.size : 1;
}

function blockSize({ block: [x, y, z] }: Lowering): number {
  return x * y * z;
}

function plus(lowering: Lowering, a: Expression, b: Expression, node: Node): Expression {
  return binary('add', a, b, lowering.range(node));
}

function times(lowering: Lowering, a: Expression, b: Expression, node: Node): Expression {
  return binary('multiply', a, b, lowering.range(node));
}

function builtIn(lowering: Lowering, name: BuiltIn, node: Node): Expression {
  return builtin(name, lowering.indexType, lowering.range(node));
}

function threadRank(lowering: Lowering, node: Node): Expression {
  return builtIn(lowering, 'threadRank', node);
}

/** x fastest. In the index type: a grid may have more than 2^31 blocks times threads. */
function blockRank(lowering: Lowering, node: Node): Expression {
  if (lowering.flatGrid) return builtIn(lowering, 'blockIdx.x', node);
  const at = (name: BuiltIn) => builtIn(lowering, name, node);
  const rows = plus(
    lowering,
    times(lowering, at('blockIdx.z'), at('gridDim.y'), node),
    at('blockIdx.y'),
    node,
  );
  return plus(lowering, times(lowering, rows, at('gridDim.x'), node), at('blockIdx.x'), node);
}

function numBlocks(lowering: Lowering, node: Node): Expression {
  if (lowering.flatGrid) return builtIn(lowering, 'gridDim.x', node);
  const at = (name: BuiltIn) => builtIn(lowering, name, node);
  return times(lowering, times(lowering, at('gridDim.z'), at('gridDim.y'), node), at('gridDim.x'), node);
}

function gridSize({ lowering, node }: Place): Value {
  return index(
    times(lowering, numBlocks(lowering, node), constant(lowering, blockSize(lowering), node), node),
  );
}

function extent(name: string, of: (axis: Axis) => Expression): ObjectValue {
  return { kind: 'object', name: `'${name}'`, members: new Map(axes.map((axis) => [axis, index(of(axis))])) };
}

function threadIdx({ lowering, node }: Place): Value {
  const [, y, z] = lowering.block;
  // In a block of one dimension the rank says it all, and is the simpler for the targets.
  const isFlat = y === 1 && z === 1;
  return extent('threadIdx', (axis) => {
    if (isFlat) return axis === 'x' ? threadRank(lowering, node) : constant(lowering, 0, node);
    return builtIn(lowering, `threadIdx.${axis}`, node);
  });
}

function blockIdx({ lowering, node }: Place): Value {
  return extent('blockIdx', (axis) => ofGrid(lowering, `blockIdx.${axis}`, node, 0));
}

function gridDim({ lowering, node }: Place): Value {
  return extent('gridDim', (axis) => ofGrid(lowering, `gridDim.${axis}`, node, 1));
}

/** A number of the grid; `flat` is what it is along the axes that a grid of one dimension does not have. */
function ofGrid(
  lowering: Lowering,
  name: `${'blockIdx' | 'gridDim'}.${Axis}`,
  node: Node,
  flat: number,
): Expression {
  const isKnown = lowering.flatGrid && !name.endsWith('.x');
  return isKnown ? constant(lowering, flat, node) : builtIn(lowering, name, node);
}

function blockDim({ lowering, node }: Place): Value {
  return extent('blockDim', (axis) => constant(lowering, lowering.block[axes.indexOf(axis)]!, node));
}
