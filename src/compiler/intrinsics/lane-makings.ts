// What any lanes of a warp, or a subset of a block, make together: a pipeline or a barrier.
//
// They meet right before and right behind it. So what one of them sets up is there for all, and what was used by them
// before is free. Where each brings a role or a number, they tell each other: the making gets both, what each brought and
// what they agreed on, which is how many producers there are, or the number that the lowest of them brought.

import { binary, convert, numberConstant, unary, variable } from '../build.ts';
import type { Expression, Makers, SharingGroup } from '../ir.ts';
import type { GroupValue, LanesValue, SubsetValue, Value } from '../values.ts';
import { syncOfLanes } from './coalesced.ts';
import { sumOfSubset } from './combining.ts';
import type { IntrinsicCall } from './handler.ts';
import { countOfLanes } from './lane-masks.ts';
import { ofRankInSubset, syncOfSubset } from './subsets.ts';
import { ballotOf, warpSize } from './warps.ts';

type Place = Pick<IntrinsicCall, 'lowering' | 'node'>;

/** Groups that threads may share something with. */
export type MakingGroup = GroupValue | LanesValue | SubsetValue;

export function sharingGroup(group: MakingGroup): SharingGroup {
  switch (group.kind) {
    case 'group':
      return group.group;
    case 'lanes':
      return { kind: 'lanes', of: 'warp' };
    case 'subset':
      return { kind: 'lanes', of: 'block' };
  }
}

/** The threads of a group wait for each other. */
export function meet(call: Place, group: LanesValue | SubsetValue): Value {
  return group.kind === 'lanes' ? syncOfLanes(call, group) : syncOfSubset(call, group);
}

/** Emits what a group makes. `brought` is what each of its threads brings: a bool for a role, a number, or nothing. */
export function makeTogether(
  call: Place,
  group: MakingGroup,
  brought: Expression | null,
  make: (makers: Makers, brought: Expression | null) => void,
): void {
  if (group.kind === 'group') {
    make({}, brought);
    return;
  }
  const { lowering } = call;
  const own = brought && lowering.settleExpression(brought, 'own');
  const settled: LanesValue | SubsetValue =
    group.kind === 'subset'
      ? group
      : { kind: 'lanes', mask: lowering.settleExpression(group.mask, 'makers') };
  const agreed = own && lowering.settleExpression(agreedOn(call, settled, own), 'agreed');
  meet(call, settled);
  const masks =
    settled.kind === 'lanes' ? { masks: [settled.mask] } : { masks: settled.masks, half: settled.half };
  make({ ...masks, ...(agreed === null ? {} : { agreed }) }, own);
  meet(call, settled);
}

/** Of the indexType. */
function agreedOn(call: Place, group: LanesValue | SubsetValue, own: Expression): Expression {
  if (group.kind === 'lanes') return agreedOnByLanes(call, group.mask, own);
  const { indexType } = call.lowering;
  const range = call.lowering.range(call.node);
  if (own.type === 'bool')
    return convert(sumOfSubset(call, group, convert(own, 'i32', range)), indexType, range);
  return ofRankInSubset(call, group, own, numberConstant(indexType, 0, range));
}

/** Of the indexType. */
function agreedOnByLanes(call: Place, mask: Expression, own: Expression): Expression {
  const { lowering, node } = call;
  const { indexType } = lowering;
  const range = lowering.range(node);
  if (own.type === 'bool') return convert(countOfLanes(call, ballotOf(call, own, mask)), indexType, range);
  // As many lanes lie below the lowest as bits are set below it once it is taken away.
  const one = numberConstant('u32', 1, range);
  const below = binary('and', unary('complement', mask, range), binary('subtract', mask, one, range), range);
  const result = lowering.newFixedVariable('agreed', indexType);
  const lane = countOfLanes(call, below);
  const group = { kind: 'tile', size: warpSize } as const;
  const shuffle = { kind: 'call', intrinsic: 'warp', operator: 'shfl', group, width: warpSize } as const;
  lowering.emit({ ...shuffle, mask, value: own, lane, result, range });
  return variable(result, indexType, range);
}
