// The values of a page of a Parquet file, as numbers.
//
// Each value takes what its type takes in memory: arrays are made for as many as the page has, after it was looked
// at whether as many can be there.

import type { SchemaElement } from 'hyparquet';
import { readDeltas, readRuns } from './parquet-runs.ts';

/** Values of one type. Booleans are 0 and 1, decimals and floats of 16 bits are f64, times the integers that are stored. */
export type Values =
  | Uint8Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

/** How the values of a column are stored. */
export interface ColumnType {
  readonly physical: Physical;
  /** Bytes of a value; of byte strings with a length of their own undefined. */
  readonly width: number | undefined;
  readonly unsigned: boolean;
  /** Of decimals, the digits behind the point. */
  readonly scale: number | undefined;
}

type Physical = NonNullable<SchemaElement['type']>;

/** How values are coded, by Parquet's numbers. */
const encoding = {
  plain: 0,
  plainDictionary: 2,
  runs: 3,
  deltas: 5,
  lengths: 6,
  prefixes: 7,
  dictionary: 8,
  split: 9,
} as const;

/** Bytes of a decimal: twice as many as any that is written has. */
const longest = 64;

const widths: Partial<Record<Physical, number>> = { INT32: 4, INT64: 8, INT96: 12, FLOAT: 4, DOUBLE: 8 };

/** How the values of a numeric column are stored. */
export function typeOf({
  type,
  type_length,
  converted_type,
  logical_type,
  scale,
}: SchemaElement): ColumnType {
  const decimal = converted_type === 'DECIMAL' || logical_type?.type === 'DECIMAL';
  const said = logical_type?.type === 'DECIMAL' ? logical_type.scale : 0;
  return {
    physical: type!,
    width: type === 'FIXED_LEN_BYTE_ARRAY' ? type_length : widths[type!],
    unsigned:
      converted_type === 'UINT_32' ||
      converted_type === 'UINT_64' ||
      (logical_type?.type === 'INTEGER' && !logical_type.isSigned && logical_type.bitWidth >= 32),
    scale: decimal ? (scale ?? said) : undefined,
  };
}

/** Reads so many values. `dictionary`: the values that may be named by their places. */
export function readValues(
  bytes: Uint8Array,
  coding: number,
  count: number,
  type: ColumnType,
  dictionary: Values | undefined,
): Values {
  if (coding === encoding.dictionary || coding === encoding.plainDictionary) {
    return named(bytes, count, dictionary);
  }
  return meant(stored(bytes, coding, count, type), type);
}

/** Values that a dictionary page holds. */
export function readDictionary(bytes: Uint8Array, count: number, type: ColumnType): Values {
  return readValues(bytes, encoding.plain, count, type, undefined);
}

/** An array of the same type. */
export function arrayLike(values: Values, length: number): Values {
  return new (values.constructor as new (length: number) => Values)(length);
}

function named(bytes: Uint8Array, count: number, dictionary: Values | undefined): Values {
  if (dictionary === undefined) throw new Error('a page names values of a dictionary, and none is there');
  const places = new Int32Array(count);
  if (count > 0) readRuns(bytes.subarray(1), bytes[0] ?? 0, places);
  const values = arrayLike(dictionary, count);
  const { length } = dictionary;
  for (let i = 0; i < count; i++) {
    const place = places[i]!;
    if (place < 0 || place >= length)
      throw new Error(`a page names value ${place} of a dictionary of ${length}`);
    values[i] = dictionary[place]!;
  }
  return values;
}

/** Values as they are stored. */
function stored(bytes: Uint8Array, coding: number, count: number, type: ColumnType): Values {
  const { physical } = type;
  switch (coding) {
    case encoding.plain:
      return plain(bytes, count, type);
    case encoding.split:
      return plain(together(bytes, count, type), count, type);
    case encoding.runs: {
      if (physical !== 'BOOLEAN') break;
      need(bytes, 4);
      const values = new Uint8Array(count);
      readRuns(bytes.subarray(4), 1, values);
      return values;
    }
    case encoding.deltas: {
      if (physical !== 'INT32' && physical !== 'INT64') break;
      const values = physical === 'INT32' ? new Int32Array(count) : new BigInt64Array(count);
      readDeltas(bytes, values);
      return values;
    }
    case encoding.lengths:
    case encoding.prefixes:
      if (physical !== 'BYTE_ARRAY' && physical !== 'FIXED_LEN_BYTE_ARRAY') break;
      return strings(bytes, coding === encoding.prefixes, count, type);
  }
  throw new Error(`the coding ${coding} of ${physical} is not read`);
}

function plain(bytes: Uint8Array, count: number, type: ColumnType): Values {
  const { physical, width } = type;
  if (physical === 'BOOLEAN') {
    need(bytes, Math.ceil(count / 8));
    return Uint8Array.from({ length: count }, (_, i) => (bytes[i >> 3]! >> (i & 7)) & 1);
  }
  if (physical === 'BYTE_ARRAY') return byteArrays(bytes, count, type);
  if (width === undefined || width < 1) throw new Error('a column does not say how long its values are');
  need(bytes, count * width);
  // Where they lie; else copied to where elements may. A page's bytes belong to nobody else.
  const { buffer, byteOffset } = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice(0, count * width);
  switch (physical) {
    case 'INT32':
      return new Int32Array(buffer, byteOffset, count);
    case 'INT64':
      return new BigInt64Array(buffer, byteOffset, count);
    case 'FLOAT':
      return new Float32Array(buffer, byteOffset, count);
    case 'DOUBLE':
      return new Float64Array(buffer, byteOffset, count);
    case 'INT96':
      return nanoseconds(new DataView(buffer, byteOffset), count);
    default:
      return Float64Array.from({ length: count }, (_, i) => numberOf(bytes, i * width, width, type));
  }
}

/** Bytes of values whose first bytes come first, then their second ones, and so on. */
function together(bytes: Uint8Array, count: number, { width = 0 }: ColumnType): Uint8Array {
  need(bytes, count * width);
  const values = new Uint8Array(count * width);
  for (let byte = 0; byte < width; byte++)
    for (let i = 0; i < count; i++) values[i * width + byte] = bytes[byte * count + i]!;
  return values;
}

/** Byte strings, each behind its length. */
function byteArrays(bytes: Uint8Array, count: number, type: ColumnType): Float64Array {
  need(bytes, 4 * count);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Float64Array(count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    need(bytes, at + 4);
    const length = view.getUint32(at, true);
    need(bytes, at + 4 + length);
    values[i] = numberOf(bytes, at + 4, length, type);
    at += 4 + length;
  }
  return values;
}

/** Byte strings behind the lengths of all, which may share what the one before begins with. */
function strings(bytes: Uint8Array, shared: boolean, count: number, type: ColumnType): Float64Array {
  const prefixes = new Int32Array(count);
  const lengths = new Int32Array(count);
  let rest = bytes;
  if (shared) rest = rest.subarray(readDeltas(rest, prefixes));
  rest = rest.subarray(readDeltas(rest, lengths));
  const values = new Float64Array(count);
  let text = new Uint8Array(0);
  for (let i = 0, at = 0; i < count; i++) {
    const [prefix, length] = [prefixes[i]!, lengths[i]!];
    if (prefix < 0 || prefix > text.length || length < 0 || length > rest.length - at) throw endsEarly();
    if (prefix + length > longest) throw new Error(`a number of it has ${prefix + length} bytes`);
    const next = new Uint8Array(prefix + length);
    next.set(text.subarray(0, prefix));
    next.set(rest.subarray(at, at + length), prefix);
    at += length;
    text = next;
    values[i] = numberOf(text, 0, text.length, type);
  }
  return values;
}

/** The number in a byte string: a decimal's, the highest byte first, or a float of 16 bits. */
function numberOf(bytes: Uint8Array, begin: number, length: number, { scale }: ColumnType): number {
  if (length > longest) throw new Error(`a number of it has ${length} bytes`);
  if (scale === undefined) {
    if (length !== 2) throw new Error(`a float of 16 bits has ${length} bytes`);
    return float16(bytes[begin]! | (bytes[begin + 1]! << 8));
  }
  let number = 0;
  if (length <= 6) {
    for (let i = 0; i < length; i++) number = number * 256 + bytes[begin + i]!;
    return length > 0 && bytes[begin]! >= 128 ? number - 2 ** (8 * length) : number;
  }
  const digits = Buffer.from(bytes.buffer, bytes.byteOffset + begin, length).toString('hex');
  return Number(BigInt.asIntN(8 * length, BigInt(`0x${digits}`)));
}

function float16(bits: number): number {
  const sign = bits >> 15 === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 31;
  const fraction = (bits & 1023) / 1024;
  if (exponent === 0) return sign * fraction * 2 ** -14;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction) * 2 ** (exponent - 15);
}

/** Times of 96 bits, nanoseconds of a day and its Julian number, as nanoseconds since 1970. */
function nanoseconds(view: DataView, count: number): BigInt64Array {
  return BigInt64Array.from({ length: count }, (_, i) => {
    const day = BigInt(view.getInt32(12 * i + 8, true)) - 2_440_588n;
    const time = day * 86_400_000_000_000n + view.getBigUint64(12 * i, true);
    if (BigInt.asIntN(64, time) !== time)
      throw new Error(`a time is ${time} ns after 1970, and 64 bits hold less`);
    return time;
  });
}

/** Stored values as they are meant. */
function meant(values: Values, { scale, unsigned }: ColumnType): Values {
  if (scale !== undefined)
    return Float64Array.from(values as ArrayLike<number>, (value) => Number(value) / 10 ** scale);
  if (!unsigned) return values;
  const { buffer, byteOffset, length } = values;
  if (values instanceof Int32Array) return new Uint32Array(buffer, byteOffset, length);
  return values instanceof BigInt64Array ? new BigUint64Array(buffer, byteOffset, length) : values;
}

function need(bytes: Uint8Array, length: number): void {
  if (length > bytes.length) throw endsEarly();
}

function endsEarly(): Error {
  return new Error('a page ends too early');
}
