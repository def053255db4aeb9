// Conversions of lanes, in four lanes and between these and the pairs of an f64.

import type { Expression } from '../../../compiler/ir.ts';
import type { LaneType } from '../instructions.ts';
import type { GroupContext } from './group.ts';
import { writeJoinedLanes, writeJoinedMasks, writePairOf } from './pairs.ts';

/** The pairs of a vector. */
export function pairsOf(vector: number): readonly [number, number] {
  return [2 * vector, 2 * vector + 1];
}

/** Pushes what is converted to f64 or from it: between four lanes and a pair. */
export function pushOtherWidth(
  group: GroupContext,
  { operand, type }: Expression & { readonly kind: 'convert' },
  vector: number,
  push: (operand: Expression, vector: number) => void,
): void {
  const { code } = group;
  if (type === 'f64') {
    push(operand, vector >> 1);
    writePairOf(code, vector);
    if (operand.type === 'f32') {
      code.op('f64x2.promote_low_f32x4');
      return;
    }
    if (operand.type === 'bool') code.op('i32x4.neg');
    code.op(operand.type === 'u32' ? 'f64x2.convert_low_i32x4_u' : 'f64x2.convert_low_i32x4_s');
    return;
  }
  for (const pair of pairsOf(vector)) {
    push(operand, pair);
    if (type === 'f32') code.op('f32x4.demote_f64x2_zero');
    else code.op('f64x2.abs').get(group.constants.integer(0)).op('f64x2.gt');
  }
  if (type === 'f32') writeJoinedLanes(code);
  else writeJoinedMasks(code);
}

/** Converts the vector on the stack. */
export function writeLaneConversion(
  { code, unit, constants }: GroupContext,
  from: LaneType,
  to: LaneType,
): void {
  if (from === to) return;
  if (to === 'bool') {
    if (from === 'f32') code.op('f32x4.abs').get(constants.integer(0)).op('f32x4.gt');
    else code.get(constants.integer(0)).op('i32x4.ne');
    return;
  }
  if (from === 'bool') code.op('i32x4.neg');
  if (to === 'f32') {
    code.op(from === 'u32' ? 'f32x4.convert_i32x4_u' : 'f32x4.convert_i32x4_s');
  } else if (from === 'f32') {
    // 2^31 as a float: what is below it is one instruction, the rest is rare.
    const limit = constants.integer(0x4f000000);
    code.withTemporary('v128', (value) => {
      code.tee(value).op('f32x4.abs').get(limit).op('f32x4.lt', 'i32x4.all_true');
      code.if(
        () => code.get(value).op('i32x4.trunc_sat_f32x4_s'),
        () => code.get(value).call(unit.truncateFunction()),
        'v128',
      );
    });
  }
}
