// The number types of the kernel language and how they combine.
//
// They are those of the IR, and `index`: signed, and as wide as the launch needs. So `index`
// stays a type of its own until an expression is made. i64 and u64 are JavaScript's bigints,
// which never meet numbers unless by a cast. Types that only memory has (8 and 16 bits) are
// computed with in the next larger type.

import { componentOf, type ElementType, type ScalarType } from '../kernel/types.ts';
import type { ValueType } from './ir.ts';

export type NumberType = 'bool' | IntegerType | 'f32' | 'f64';

/** The integers that are numbers in JavaScript. */
export type SmallIntegerType = 'i32' | 'u32' | 'index';

/** The integers that are bigints in JavaScript. */
export type BigintType = 'i64' | 'u64';

export type IntegerType = SmallIntegerType | BigintType;

export function isInteger(type: NumberType): type is IntegerType {
  return isSmallInteger(type) || isBigint(type);
}

export function isSmallInteger(type: NumberType): type is SmallIntegerType {
  return type === 'i32' || type === 'u32' || type === 'index';
}

export function isBigint(type: NumberType): type is BigintType {
  return type === 'i64' || type === 'u64';
}

export function isFloat(type: NumberType): type is 'f32' | 'f64' {
  return type === 'f32' || type === 'f64';
}

/**
 * The type in which two values are combined, or null where one needs a cast: i32 with u32, i64 with u64,
 * and bigints with anything else. A bool counts as an integer that takes the other's type.
 */
export function join(a: NumberType, b: NumberType): NumberType | null {
  if (a === b) return a;
  if (isBigint(a) || isBigint(b)) return null;
  if (a === 'bool') return b;
  if (b === 'bool') return a;
  if (a === 'f64' || b === 'f64') return 'f64';
  if (a === 'f32' || b === 'f32') return 'f32';
  return a === 'index' || b === 'index' ? 'index' : null;
}

/** The type in which an element, or a component of it, is computed with. */
export function loadedType(element: ElementType): Exclude<NumberType, 'bool' | 'index'> {
  return computedType(componentOf(element)) as Exclude<NumberType, 'bool' | 'index'>;
}

/** The type in which a scalar of the schema is computed with. */
export function computedType(type: ScalarType): NumberType {
  switch (type) {
    case 'i8':
    case 'u8':
    case 'i16':
    case 'u16':
      return 'i32';
    case 'f16':
    case 'bf16':
      return 'f32';
    default:
      return type;
  }
}

/** Whether an integer literal is a value of the type. */
export function fits(value: number | bigint, type: IntegerType, indexType: 'i32' | 'i64'): boolean {
  if (isBigint(type)) {
    if (typeof value !== 'bigint') return false;
    return value === (type === 'i64' ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value));
  }
  if (typeof value !== 'number' || !Number.isInteger(value)) return false;
  if (type === 'u32') return value >= 0 && value < 2 ** 32;
  if (type === 'index' && indexType === 'i64') return Number.isSafeInteger(value);
  return value >= -(2 ** 31) && value < 2 ** 31;
}

/** The type in the IR. */
export function valueType(type: NumberType, indexType: 'i32' | 'i64'): ValueType {
  return type === 'index' ? indexType : type;
}
