// Subsets of a block: its threads that bring the same truth, of any warps (`cuda.binaryPartition(block, predicate)`).
//
// The warps vote, the votes lie in shared memory while the block meets twice, and each thread takes those of its half: one
// mask for each warp, so that pipelines and barriers have groups of lanes as they know them. A half meets at a barrier that
// is made with it, and exchanges values through an array with a place for each thread. So targets and the checker know
// nothing else of subsets.

import type { Element } from '../../kernel/types.ts';
import {
  binary,
  builtin,
  compare,
  conditional,
  convert,
  load,
  numberConstant,
  unary,
  variable,
} from '../build.ts';
import type { Expression } from '../ir.ts';
import { toType } from '../numbers.ts';
import { number, type SubsetValue, undefinedValue, type Value, type ViewValue } from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';
import { lanesUnderOwn } from './lane-masks.ts';
import { newSharedArray } from './memory.ts';
import { ballotOf, warpSize } from './warps.ts';

type Place = Pick<IntrinsicCall, 'lowering' | 'node'>;

export const subsetHandlers = {
  'subset.size': ({ receiver }) => number('index', receiver.size),
  'subset.numThreads': ({ receiver }) => number('index', receiver.size),
  'subset.threadRank': ({ receiver }) => number('index', receiver.rank),
  'subset.sync': (call) => syncOfSubset(call, call.receiver),
} satisfies SomeHandlers;

/** The threads of a subset wait for each other. */
export function syncOfSubset({ lowering, node }: Place, { barrier }: SubsetValue): Value {
  const range = lowering.range(node);
  const result = lowering.newFixedVariable('token', 'i64');
  const at = { kind: 'call', barrier, index: lowering.indexConstant(0, node), range } as const;
  lowering.emit({ ...at, intrinsic: 'barrierArrive', count: null, drop: false, result });
  const by = { by: 'token', phase: variable(result, 'i64', range) } as const;
  lowering.emit({ ...at, intrinsic: 'barrierWait', ...by, limit: null, until: false, result: null });
  return undefinedValue;
}

/** The threads of the block for which the predicate is what it is for this one. All of the block must come. */
export function halfOfBlock(call: IntrinsicCall<'cuda.binaryPartition'>): SubsetValue {
  const { lowering, node, args, at, name } = call;
  const { indexType } = lowering;
  const range = lowering.range(node);
  const settled = (value: Expression, what: string) => lowering.settleExpression(value, what);
  const index = (value: number) => numberConstant(indexType, value, range);
  const word = (value: number) => numberConstant('u32', value, range);
  const [x, y, z] = lowering.block;
  const threads = x * y * z;
  const warps = Math.ceil(threads / warpSize);
  const own = lowering.nameOf(node, 'subset');
  const isFirst = settled(toType(lowering, args.predicate, 'bool', at('predicate')), 'predicate');
  const half = settled(conditional(isFirst, word(0), word(1), range), 'half');

  const rank = settled(builtin('threadRank', indexType, range), 'rank');
  const warp = settled(binary('shiftRight', rank, index(5), range), 'warp');
  const votes = exchangeArray(call, `${own}.votes`, 'u32', 2 * warps);
  const yes = ballotOf(call, isFirst);
  const no = ballotOf(call, unary('not', isFirst, range));
  const store = (position: number, value: Expression) =>
    ({
      kind: 'store',
      array: votes.array,
      index: binary('add', binary('multiply', warp, index(2), range), index(position), range),
      value,
      range,
    }) as const;
  const lane = binary('and', rank, index(warpSize - 1), range);
  lowering.emit({
    kind: 'if',
    test: compare('equal', lane, index(0), range),
    then: [store(0, yes), store(1, no)],
    otherwise: [],
    range,
  });
  refuseMissing(call, threads, name);

  const masks = Array.from({ length: warps }, (_, each) => {
    const position = binary('add', convert(half, indexType, range), index(2 * each), range);
    return settled(load(votes.array, position, 'u32', range), 'lanes');
  });
  const count = (lanes: readonly Expression[]) =>
    lanes
      .map((mask) => convert(unary('popcount', mask, range), indexType, range))
      .reduce((sum, one) => binary('add', sum, one, range));
  const below = settled(lanesUnderOwn(call), 'below');
  const before = masks.map((mask, each) => {
    const ofOwn = conditional(compare('equal', warp, index(each), range), below, word(0), range);
    const named = conditional(compare('greater', warp, index(each), range), word(0xffffffff), ofOwn, range);
    return binary('and', mask, named, range);
  });
  const size = settled(count(masks), 'size');
  const base = conditional(isFirst, index(0), binary('subtract', index(threads), size, range), range);

  const declared = {
    name: own,
    group: { kind: 'lanes', of: 'block' },
    count: null,
    completes: false,
  } as const;
  const barrier = lowering.barriers.push({ barrier: declared, completion: null }) - 1;
  lowering.emit({ kind: 'call', intrinsic: 'makeBarrier', barrier, expected: null, masks, half, range });
  lowering.emit({ kind: 'call', intrinsic: 'sync', group: { kind: 'block' }, range });
  return {
    kind: 'subset',
    name: own,
    masks,
    half,
    rank: settled(count(before), 'rank'),
    size,
    base: settled(base, 'base'),
    barrier,
    most: threads,
    exchanged: new Map(),
  };
}

/** The value of the thread with a rank in the subset; all of its threads come. The rank is one that it has. */
export function ofRankInSubset(
  call: Place,
  { name, exchanged, base, rank, most, ...subset }: SubsetValue,
  value: Expression,
  of: Expression,
): Expression {
  const { lowering, node } = call;
  const range = lowering.range(node);
  const element = value.type as Element;
  let array = exchanged.get(element);
  if (array === undefined) {
    array = exchangeArray(call, `${name}.${element}`, element, most);
    exchanged.set(element, array);
  }
  const place = (which: Expression) => binary('add', base, which, range);
  lowering.emit({ kind: 'store', array: array.array, index: place(rank), value, range });
  const meet = () => syncOfSubset(call, { name, exchanged, base, rank, most, ...subset });
  meet();
  const found = lowering.settleExpression(load(array.array, place(of), value.type, range), 'other');
  meet();
  return found;
}

function exchangeArray(call: Place, name: string, element: Element, length: number): ViewValue {
  const { lowering, node } = call;
  const count = lowering.indexConstant(length, node);
  return newSharedArray(lowering, { name, element, count }, node, { node, message: '', hint: '' });
}

/** Meets with the block, and fails where a thread of it has returned: the votes of its warp may be missing. */
function refuseMissing({ lowering, node }: Place, threads: number, name: string): void {
  const range = lowering.range(node);
  const result = lowering.newFixedVariable('present', 'i32');
  const operation = {
    kind: 'groupCount',
    group: { kind: 'block' },
    value: lowering.boolConstant(true, node),
    waiting: { verb: name },
  } as const;
  lowering.emit({ kind: 'call', intrinsic: 'core', operation, result, range });
  const present = variable(result, 'i32', range);
  lowering.emit({
    kind: 'call',
    intrinsic: 'assert',
    test: compare('equal', present, numberConstant('i32', threads, range), range),
    parts: [
      `${name} cuts a block of ${threads} threads, and all must come: `,
      present,
      ' did, the others had returned',
    ],
    range,
  });
}
