// Which operations four lanes do at once: i32, u32 and f32 in a v128, and bool as a mask of all
// ones or all zeros in each lane.
//
// What is not here has no instruction that gives the same bits.

import type {
  BinaryOperator,
  CompareOperator,
  Expression,
  UnaryOperator,
  ValueType,
} from '../../../compiler/ir.ts';
import type { PlainInstruction } from '../encoder/opcodes.ts';

/** The types whose values fit a lane. */
export type LaneType = 'bool' | 'i32' | 'u32' | 'f32';

export function isLaneType(type: ValueType): type is LaneType {
  return type === 'bool' || type === 'i32' || type === 'u32' || type === 'f32';
}

const bits = { and: 'v128.and', or: 'v128.or', xor: 'v128.xor' } as const;

const integers = {
  ...bits,
  add: 'i32x4.add',
  subtract: 'i32x4.sub',
  multiply: 'i32x4.mul',
  /** The count is a scalar, the same for all lanes. */
  shiftLeft: 'i32x4.shl',
} as const;

const binary: { readonly [T in LaneType]: { readonly [O in BinaryOperator]?: PlainInstruction } } = {
  bool: bits,
  i32: { ...integers, shiftRight: 'i32x4.shr_s', min: 'i32x4.min_s', max: 'i32x4.max_s' },
  u32: { ...integers, shiftRight: 'i32x4.shr_u', min: 'i32x4.min_u', max: 'i32x4.max_u' },
  f32: {
    add: 'f32x4.add',
    subtract: 'f32x4.sub',
    multiply: 'f32x4.mul',
    divide: 'f32x4.div',
    min: 'f32x4.min',
    max: 'f32x4.max',
  },
};

const unary: { readonly [T in LaneType]: { readonly [O in UnaryOperator]?: PlainInstruction | null } } = {
  bool: { not: 'v128.not' },
  i32: { negate: 'i32x4.neg', complement: 'v128.not', abs: 'i32x4.abs' },
  u32: { negate: 'i32x4.neg', complement: 'v128.not', abs: null },
  f32: {
    negate: 'f32x4.neg',
    abs: 'f32x4.abs',
    sqrt: 'f32x4.sqrt',
    floor: 'f32x4.floor',
    ceil: 'f32x4.ceil',
    trunc: 'f32x4.trunc',
  },
};

const compareIntegers = { equal: 'i32x4.eq', notEqual: 'i32x4.ne' } as const;

const compareUnsigned = {
  ...compareIntegers,
  less: 'i32x4.lt_u',
  lessEqual: 'i32x4.le_u',
  greater: 'i32x4.gt_u',
  greaterEqual: 'i32x4.ge_u',
} as const;

const compare: { readonly [T in LaneType]: { readonly [O in CompareOperator]: PlainInstruction } } = {
  // As unsigned numbers all ones are above all zeros, as true is above false.
  bool: compareUnsigned,
  u32: compareUnsigned,
  i32: {
    ...compareIntegers,
    less: 'i32x4.lt_s',
    lessEqual: 'i32x4.le_s',
    greater: 'i32x4.gt_s',
    greaterEqual: 'i32x4.ge_s',
  },
  f32: {
    equal: 'f32x4.eq',
    notEqual: 'f32x4.ne',
    less: 'f32x4.lt',
    lessEqual: 'f32x4.le',
    greater: 'f32x4.gt',
    greaterEqual: 'f32x4.ge',
  },
};

export function binaryInstruction(operator: BinaryOperator, type: ValueType): PlainInstruction | undefined {
  return isLaneType(type) ? binary[type][operator] : undefined;
}

/** Null where the operation changes nothing. */
export function unaryInstruction(
  operator: UnaryOperator,
  type: ValueType,
): PlainInstruction | null | undefined {
  return isLaneType(type) ? unary[type][operator] : undefined;
}

export function compareInstruction(operator: CompareOperator, type: ValueType): PlainInstruction | undefined {
  return isLaneType(type) ? compare[type][operator] : undefined;
}

/** Whether four lanes can be converted at once. */
export function convertsInLanes({ operand, type }: Expression & { readonly kind: 'convert' }): boolean {
  return isLaneType(operand.type) && isLaneType(type);
}
