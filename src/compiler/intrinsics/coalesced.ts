// Groups of any lanes of a warp: a group is the mask of its lanes, a u32 that the thread keeps.
//
// What the lanes do together is the warp's operation under that mask, so targets and the checker know
// nothing of such groups; operations that exchange values stand with those of tiles.

import { convert } from '../build.ts';
import type { Expression } from '../ir.ts';
import { toType } from '../numbers.ts';
import { type LanesValue, number, undefinedValue, type Value } from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';
import { countOfLanes, lanesBelow } from './lane-masks.ts';
import { halfOfBlock } from './subsets.ts';
import { exchange, numberOf, tileIn } from './warps.ts';

type Place = Pick<IntrinsicCall, 'lowering' | 'node'>;

export const coalescedHandlers = {
  'cuda.coalescedThreads': (call) => {
    const value = call.lowering.boolConstant(true, call.node);
    return groupOf(call, exchange(call, 'activemask', { value, result: 'u32' }));
  },
  // Threads of one group are those that bring the same: a truth, or a label.
  'cuda.binaryPartition': (call) => {
    const { lowering, args, at } = call;
    if (args.group.kind === 'group' && args.group.group.kind === 'block') return halfOfBlock(call);
    const value = toType(lowering, args.predicate, 'bool', at('predicate'));
    return partition(call, convert(value, 'u32', lowering.range(call.node)));
  },
  'cuda.labeledPartition': (call) => partition(call, numberOf(call, call.args.label).expression),

  'coalesced.size': (call) => inIndices(call, countOfLanes(call, call.receiver.mask)),
  'coalesced.numThreads': (call) => inIndices(call, countOfLanes(call, call.receiver.mask)),
  'coalesced.threadRank': (call) => inIndices(call, countOfLanes(call, lanesBelow(call, call.receiver.mask))),
  'coalesced.sync': (call) => syncOfLanes(call, call.receiver),
} satisfies SomeHandlers;

/** The lanes of a group wait for each other. */
export function syncOfLanes({ lowering, node }: Place, { mask }: LanesValue): Value {
  const group = { kind: 'tile', size: 32 } as const;
  lowering.emit({ kind: 'call', intrinsic: 'sync', group, mask, range: lowering.range(node) });
  return undefinedValue;
}

function partition(
  call: IntrinsicCall<'cuda.binaryPartition' | 'cuda.labeledPartition'>,
  value: Expression,
): Value {
  const { group } = call.args;
  const whom = group.kind === 'lanes' ? { mask: group.mask } : { group: tileIn(call, group) };
  return groupOf(call, exchange(call, 'matchAny', { ...whom, value, result: 'u32' }));
}

/** The group of the lanes that an exchange gave. */
function groupOf({ lowering, node }: Place, lanes: Value): Value {
  // Where the result is not used, the lanes have met, and there is nothing to keep.
  if (lanes.kind !== 'number') return undefinedValue;
  const mask = lowering.settleExpression(toType(lowering, lanes, 'u32', node), 'lanes');
  return { kind: 'lanes', mask };
}

function inIndices({ lowering, node }: Place, value: Expression): Value {
  return number('index', convert(value, lowering.indexType, lowering.range(node)));
}
