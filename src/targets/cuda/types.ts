// How types, constants and names of the IR are spelt in CUDA C++.

import type { ArrayReference, Program, ValueType } from '../../compiler/ir.ts';
import { componentNames, type ElementType } from '../../kernel/types.ts';

/** The C++ type of a value. */
export const valueTypes = {
  bool: 'bool',
  i32: 'int',
  u32: 'unsigned',
  i64: 'long long',
  u64: 'unsigned long long',
  f32: 'float',
  f64: 'double',
} as const satisfies Record<ValueType, string>;

/** The C++ type of an array's elements; floats of 16 bits are held as their bits. */
export const elementTypes = {
  i8: 'signed char',
  u8: 'unsigned char',
  i16: 'short',
  u16: 'unsigned short',
  i32: 'int',
  u32: 'unsigned',
  i64: 'long long',
  u64: 'unsigned long long',
  f16: 'unsigned short',
  bf16: 'unsigned short',
  f32: 'float',
  f64: 'double',
  i32x2: 'int2',
  i32x4: 'int4',
  u32x2: 'uint2',
  u32x4: 'uint4',
  f32x2: 'float2',
  f32x4: 'float4',
  f64x2: 'double2',
} as const satisfies Record<ElementType, string>;

function floatLiteral(value: number, type: 'f32' | 'f64'): string {
  const single = type === 'f32';
  if (Number.isNaN(value))
    return single ? '__int_as_float(0x7fc00000)' : '__longlong_as_double(0x7ff8000000000000ll)';
  if (!Number.isFinite(value)) {
    const infinity = single ? '__int_as_float(0x7f800000)' : '__longlong_as_double(0x7ff0000000000000ll)';
    return value > 0 ? infinity : `(-${infinity})`;
  }
  const digits = Object.is(value, -0) ? '-0' : String(value);
  const text = `${/[.e]/.test(digits) ? digits : `${digits}.0`}${single ? 'f' : ''}`;
  return value < 0 || Object.is(value, -0) ? `(${text})` : text;
}

/** A constant, exact to the bit. */
export function literal(type: ValueType, value: number | bigint | boolean): string {
  switch (type) {
    case 'bool':
      return value ? 'true' : 'false';
    case 'i32':
      // The smallest i32 has no literal: its magnitude does not fit an int.
      if (value === -(2 ** 31)) return '(-2147483647 - 1)';
      return Number(value) < 0 ? `(${value})` : `${value}`;
    case 'u32':
      return `${value}u`;
    case 'i64':
      if (BigInt(value) === -(2n ** 63n)) return '(-9223372036854775807ll - 1)';
      return BigInt(value) < 0n ? `(${value}ll)` : `${value}ll`;
    case 'u64':
      return `${value}ull`;
    case 'f32':
    case 'f64':
      return floatLiteral(Number(value), type);
  }
  return type satisfies never;
}

/** A name of the kernel's text as an identifier of C++; the number keeps names of one spelling apart. */
export function identifier(name: string, id: number): string {
  return `${name.replace(/[^A-Za-z0-9_]/g, '_')}_${id}`;
}

/** The name of the array's first element's pointer. */
export function arrayName(program: Program, { space, id }: ArrayReference): string {
  const arrays = { global: program.parameters, shared: program.sharedArrays, local: program.localArrays };
  return `${space === 'global' ? 'g' : space === 'shared' ? 's' : 'l'}_${identifier(arrays[space][id]!.name, id)}`;
}

/** The name of the value that holds the array's length in elements. */
export function lengthName(program: Program, array: ArrayReference): string {
  return `${arrayName(program, array)}_length`;
}

/** How a component of a vector is named behind it; nothing for elements that are numbers. */
export function member(component: number | undefined): string {
  return component === undefined ? '' : `.${componentNames[component]}`;
}
