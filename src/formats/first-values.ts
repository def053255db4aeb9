// The first values of an array in a file, as they are stored: not converted, nulls among them.

import { decodeHalf } from '../kernel/half.ts';
import { type Dtype, dtypeBytes } from './dtype.ts';
import type { StoredArray } from './format.ts';
import { viewElements } from './typed-arrays.ts';

/** A value of a file. */
export type StoredValue = number | bigint | boolean | null;

/** The first `count` values, or as many as there are. The array has a `dtype`. */
export async function firstValues(array: StoredArray, count: number): Promise<StoredValue[]> {
  const dtype = array.dtype!;
  const elements = await array.elements();
  if ('bytes' in elements) {
    const bytes = new Uint8Array(count * dtypeBytes[dtype]);
    const read = await elements.bytes.read(bytes);
    return valuesOf(dtype, bytes, Math.floor(read / dtypeBytes[dtype]));
  }
  const values: StoredValue[] = [];
  for (let unit = 0; values.length < count; unit++) {
    if (elements.lengths !== undefined && unit >= elements.lengths.length) break;
    const decoded = await elements.decode(unit);
    if (decoded === undefined) break;
    for (let i = 0; i < decoded.length && values.length < count; i++) values.push(decoded[i] ?? null);
  }
  return values;
}

function valuesOf(dtype: Dtype, bytes: Uint8Array, count: number): StoredValue[] {
  if (dtype === 'bool') return Array.from(bytes.subarray(0, count), (byte) => byte !== 0);
  const elements = viewElements(dtype, bytes.buffer, 0, count) as ArrayLike<number | bigint>;
  if (dtype !== 'f16' && dtype !== 'bf16') return Array.from(elements);
  return Array.from(elements, (bits) => decodeHalf(dtype, Number(bits)));
}
