// The number types of the kernel language and how they combine.
//
// They are those of the IR, and `index`: signed, and as wide as the launch needs. So `index`
// stays a type of its own until an expression is made.

import type { ElementType } from '../kernel/types.ts';
import type { ValueType } from './ir.ts';

export type NumberType = 'bool' | 'i32' | 'u32' | 'index' | 'f32' | 'f64';

export function isInteger(type: NumberType): type is 'i32' | 'u32' | 'index' {
  return type === 'i32' || type === 'u32' || type === 'index';
}

export function isFloat(type: NumberType): type is 'f32' | 'f64' {
  return type === 'f32' || type === 'f64';
}

/**
 * The type in which two values are combined, or null for i32 with u32, which need a cast.
 * A bool counts as an integer that takes the other's type.
 */
export function join(a: NumberType, b: NumberType): NumberType | null {
  if (a === b) return a;
  if (a === 'bool') return b;
  if (b === 'bool') return a;
  if (a === 'f64' || b === 'f64') return 'f64';
  if (a === 'f32' || b === 'f32') return 'f32';
  return a === 'index' || b === 'index' ? 'index' : null;
}

/** What a load of an element gives. */
export function loadedType(element: ElementType): Exclude<NumberType, 'bool' | 'index'> {
  switch (element) {
    case 'i8':
    case 'i16':
      return 'i32';
    case 'u8':
    case 'u16':
      return 'u32';
    default:
      return element;
  }
}

/** Whether an integer literal is a value of the type. */
export function fits(value: number, type: 'i32' | 'u32' | 'index', indexType: 'i32' | 'i64'): boolean {
  if (!Number.isInteger(value)) return false;
  if (type === 'u32') return value >= 0 && value < 2 ** 32;
  if (type === 'index' && indexType === 'i64') return Number.isSafeInteger(value);
  return value >= -(2 ** 31) && value < 2 ** 31;
}

/** The type in the IR. */
export function valueType(type: NumberType, indexType: 'i32' | 'i64'): ValueType {
  return type === 'index' ? indexType : type;
}
