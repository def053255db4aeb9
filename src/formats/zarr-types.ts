// The types of Zarr arrays, and the values that stand for chunks that are missing.

import { encodeHalf } from '../kernel/half.ts';
import type { Dtype } from './dtype.ts';
import { fitsFloat } from './dtype.ts';

/** The names that Zarr has for the types that are read. */
export const nameOfDtype = {
  bool: 'bool',
  i8: 'int8',
  u8: 'uint8',
  i16: 'int16',
  u16: 'uint16',
  i32: 'int32',
  u32: 'uint32',
  i64: 'int64',
  u64: 'uint64',
  f16: 'float16',
  bf16: 'bfloat16',
  f32: 'float32',
  f64: 'float64',
} as const satisfies Record<Dtype, string>;

/** The type of a name; undefined where it is none of numbers. */
export function dtypeOfName(name: unknown): Dtype | undefined {
  return (Object.keys(nameOfDtype) as Dtype[]).find((dtype) => nameOfDtype[dtype] === name);
}

const special: Readonly<Record<string, number>> = { NaN, Infinity, '-Infinity': -Infinity };

/**
 * The bytes of an element that is missing; undefined where the value is none of the type. `exact`: the digits of a whole
 * number that JSON's numbers do not hold.
 */
export function fillBytes(dtype: Dtype, value: unknown, exact?: string): Uint8Array | undefined {
  const view = new DataView(new ArrayBuffer(8));
  const bytes = (size: number) => new Uint8Array(view.buffer, 0, size);
  switch (dtype) {
    case 'bool':
      if (typeof value !== 'boolean') return undefined;
      view.setUint8(0, Number(value));
      return bytes(1);
    case 'f16':
    case 'bf16':
    case 'f32':
    case 'f64': {
      const size = dtype === 'f64' ? 8 : dtype === 'f32' ? 4 : 2;
      if (typeof value === 'string' && new RegExp(`^0x[0-9a-f]{${2 * size}}$`, 'i').test(value)) {
        view.setBigUint64(0, BigInt(value), true);
        return bytes(size);
      }
      const number = typeof value === 'string' ? special[value] : value;
      if (typeof number !== 'number' || !(Number.isNaN(number) || fitsFloat(dtype, number))) return undefined;
      if (dtype === 'f64') view.setFloat64(0, number, true);
      else if (dtype === 'f32') view.setFloat32(0, number, true);
      else view.setUint16(0, encodeHalf(dtype, number), true);
      return bytes(size);
    }
    default: {
      if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
      const bits = Number(dtype.slice(1));
      const integer = BigInt(exact ?? value);
      const isSigned = dtype.startsWith('i');
      const fits = isSigned ? BigInt.asIntN(bits, integer) : BigInt.asUintN(bits, integer);
      if (fits !== integer) return undefined;
      view.setBigInt64(0, integer, true);
      return bytes(bits / 8);
    }
  }
}
