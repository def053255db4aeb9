// Masks of lanes as groups: how many lanes there are, which has a rank, and which ranks some of them have.
//
// A mask is a u32 whose bit i stands for lane i. Ranks count its lanes from the lowest.

import { binary, builtin, compare, conditional, convert, numberConstant, unary } from '../build.ts';
import type { Expression } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import type { IntrinsicCall } from './handler.ts';

type Place = Pick<IntrinsicCall, 'lowering' | 'node'>;

/** How many lanes a mask names, as an i32. */
export function countOfLanes({ lowering, node }: Place, mask: Expression): Expression {
  const range = lowering.range(node);
  return convert(unary('popcount', mask, range), 'i32', range);
}

/** The lanes of a mask below the own. */
export function lanesBelow(call: Place, mask: Expression): Expression {
  return binary('and', mask, lanesUnderOwn(call), call.lowering.range(call.node));
}

/** All lanes below the own. */
export function lanesUnderOwn({ lowering, node }: Place): Expression {
  const range = lowering.range(node);
  const { indexType } = lowering;
  const rank = builtin('threadRank', indexType, range);
  const lane = convert(binary('and', rank, numberConstant(indexType, 31, range), range), 'u32', range);
  const one = numberConstant('u32', 1, range);
  return binary('subtract', binary('shiftLeft', one, lane, range), one, range);
}

/**
 * The lane with a rank in a mask, as an i32, by halves: lanes that a half has too few of lie above it. Of a
 * rank that the group does not have, lane 31 or one that is not in the mask.
 */
export function laneOfRank(lowering: Lowering, mask: Expression, rank: Expression): Expression {
  const { range } = rank;
  let left = lowering.settleExpression(convert(rank, 'i32', range), 'left');
  let lane: Expression = numberConstant('u32', 0, range);
  for (let half = 16; half >= 1; half /= 2) {
    const part = numberConstant('u32', 2 ** half - 1, range);
    const here = binary('and', binary('shiftRight', mask, lane, range), part, range);
    const inHere = lowering.settleExpression(convert(unary('popcount', here, range), 'i32', range), 'here');
    const isAbove = lowering.settleExpression(compare('greaterEqual', left, inHere, range), 'above');
    const above = binary('add', lane, numberConstant('u32', half, range), range);
    lane = lowering.settleExpression(conditional(isAbove, above, lane, range), 'lane');
    const rest = binary('subtract', left, inHere, range);
    left = lowering.settleExpression(conditional(isAbove, rest, left, range), 'left');
  }
  return convert(lane, 'i32', range);
}

/**
 * The ranks in a mask of some of its lanes: bit i for rank i. Each bit moves down by as many places as the
 * mask has gaps below it; bit k of that number moves it by 2 ** k, for all bits at once.
 */
export function ranksOf({ lowering, node }: Place, mask: Expression, lanes: Expression): Expression {
  const range = lowering.range(node);
  const settled = (value: Expression) => lowering.settleExpression(value, 'ranks');
  const by = (operator: 'shiftLeft' | 'shiftRight', value: Expression, places: number) =>
    binary(operator, value, numberConstant('u32', places, range), range);
  const outside = (value: Expression) => unary('complement', value, range);

  let ranks = settled(binary('and', lanes, mask, range));
  let gaps = settled(by('shiftLeft', outside(mask), 1));
  for (let places = 1; places < 32; places *= 2) {
    // Bit i says whether an odd number of the gaps that are left lies below it.
    let odd = gaps;
    for (let width = 1; width < 32; width *= 2)
      odd = settled(binary('xor', odd, by('shiftLeft', odd, width), range));
    const moving = settled(binary('and', ranks, odd, range));
    const staying = binary('xor', ranks, moving, range);
    ranks = settled(binary('or', staying, by('shiftRight', moving, places), range));
    gaps = settled(binary('and', gaps, outside(odd), range));
  }
  return ranks;
}
