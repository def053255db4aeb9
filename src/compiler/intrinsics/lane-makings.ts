// What any lanes of a warp make together: a pipeline or a barrier.
//
// They meet right before and right behind it. So what one of them sets up is there for all, and what was used by them
// before is free. Where each brings a role or a number, they tell each other: the making gets both, what each brought and
// what they agreed on, which is how many producers there are, or the number that the lowest of them brought.

import { binary, convert, numberConstant, unary, variable } from '../build.ts';
import type { Expression, SharingGroup } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import type { GroupValue, LanesValue } from '../values.ts';
import { syncOfLanes } from './coalesced.ts';
import type { IntrinsicCall } from './handler.ts';
import { countOfLanes } from './lane-masks.ts';

type Place = Pick<IntrinsicCall, 'lowering' | 'node'>;

/** What a making is given of its group, where that is of lanes. */
interface Makers {
  readonly mask?: Expression;
  readonly agreed?: Expression;
}

export function sharingGroup(group: GroupValue | LanesValue): SharingGroup {
  return group.kind === 'lanes' ? { kind: 'lanes' } : group.group;
}

/** Emits what a group makes. `brought` is what each of its threads brings: a bool for a role, a number, or nothing. */
export function makeTogether(
  call: Place,
  group: GroupValue | LanesValue,
  brought: Expression | null,
  make: (makers: Makers, brought: Expression | null) => void,
): void {
  if (group.kind !== 'lanes') {
    make({}, brought);
    return;
  }
  const { lowering } = call;
  const own = brought && lowering.settleExpression(brought, 'own');
  const mask = lowering.settleExpression(group.mask, 'makers');
  const agreed = own && lowering.settleExpression(agreedOn(call, mask, own), 'agreed');
  syncOfLanes(call, { kind: 'lanes', mask });
  make({ mask, ...(agreed === null ? {} : { agreed }) }, own);
  syncOfLanes(call, { kind: 'lanes', mask });
}

/** Of the indexType. */
function agreedOn(call: Place, mask: Expression, own: Expression): Expression {
  const { lowering, node } = call;
  const { indexType } = lowering;
  const range = lowering.range(node);
  if (own.type === 'bool') {
    const result = lowering.newFixedVariable('producers', 'u32');
    emitExchange(lowering, { operator: 'ballot', mask, value: own, lane: null, result, range });
    return convert(countOfLanes(call, variable(result, 'u32', range)), indexType, range);
  }
  // As many lanes lie below the lowest as bits are set below it once it is taken away.
  const one = numberConstant('u32', 1, range);
  const below = binary('and', unary('complement', mask, range), binary('subtract', mask, one, range), range);
  const result = lowering.newFixedVariable('agreed', indexType);
  const lane = countOfLanes(call, below);
  emitExchange(lowering, { operator: 'shfl', mask, value: own, lane, result, range });
  return variable(result, indexType, range);
}

function emitExchange(
  lowering: Lowering,
  given: {
    readonly operator: 'ballot' | 'shfl';
    readonly mask: Expression;
    readonly value: Expression;
    readonly lane: Expression | null;
    readonly result: number;
    readonly range: Expression['range'];
  },
): void {
  lowering.emit({ kind: 'call', intrinsic: 'warp', group: { kind: 'tile', size: 32 }, width: 32, ...given });
}
