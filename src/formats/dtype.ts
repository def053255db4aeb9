// Types of elements as files have them, and how their values become those of a kernel's array.
//
// Data of the kernel's own type is read as it is, and 64-bit integers become those of the other sign
// (integers64.ts). Every other value passes through a block of f64, which holds all types but 64-bit
// integers exactly; those are checked where they enter it. So a conversion is two independent steps:
// decoding a file's type into the block, and encoding the block into the kernel's type, which also
// finds the first value that does not fit.

import { decodeHalf, encodeHalf } from '../kernel/half.ts';
import type { TypedArray } from '../kernel/types.ts';
import { type ElementType, type NumberElement, numberBytes } from '../kernel/types.ts';
import { decodeIntegers64 } from './integers64.ts';
import { isWide, setElements, viewElements } from './typed-arrays.ts';

/** An element type of a file. `bool` is a byte, 0 for false. */
export type Dtype = NumberElement | 'bool';

/** The element types of files, with their size in bytes. */
export const dtypeBytes = { ...numberBytes, bool: 1 } as const satisfies Record<Dtype, number>;

/** Whether a word is an element type of files. */
export function isDtype(word: string): word is Dtype {
  return Object.hasOwn(dtypeBytes, word);
}

/** How values become another type: see `InputDeclaration.convert`. */
export type Conversion = (typeof conversions)[number];

/** The ways in which values become another type. */
export const conversions = ['exact', 'nearest'] as const;

/** Values of one block: small enough for the first-level cache, large enough to hide the calls. */
export const blockLength = 2048;

/** Bits of the fraction, with the one that is not stored, and of the exponent. */
const floats = { f16: [11, 5], bf16: [8, 8], f32: [24, 8], f64: [53, 11] } as const;

/** Why no value of a type may become another at all, or null where each value decides for itself. */
export function conversionProblem(from: Dtype, to: ElementType, conversion: Conversion): string | null {
  if (conversion === 'nearest' || !isFloat(from)) return null;
  if (!isFloat(to)) return 'fractions would be lost';
  const holds = floats[from][0] <= floats[to][0] && floats[from][1] <= floats[to][1];
  return holds ? null : 'values would be rounded';
}

/**
 * Decodes `count` elements of `bytes`, from element `begin`, into a block, from where they are encoded as `to`.
 * Returns the position in the block of the first 64-bit integer that a f64 does not hold exactly, or -1.
 */
export function decode(
  dtype: Dtype,
  to: ElementType,
  bytes: Uint8Array,
  begin: number,
  count: number,
  block: Float64Array,
): number {
  const offset = bytes.byteOffset + begin * dtypeBytes[dtype];
  switch (dtype) {
    case 'i64':
      return decodeIntegers64(new Int32Array(bytes.buffer, offset, count * 2), true, roundsAgain(to), block);
    case 'u64':
      return decodeIntegers64(new Int32Array(bytes.buffer, offset, count * 2), false, roundsAgain(to), block);
    case 'f16':
    case 'bf16': {
      const halves = new Uint16Array(bytes.buffer, offset, count);
      for (let i = 0; i < count; i++) block[i] = decodeHalf(dtype, halves[i]!);
      return -1;
    }
    case 'bool':
      for (let i = 0; i < count; i++) block[i] = bytes[begin + i] === 0 ? 0 : 1;
      return -1;
    default:
      setElements(block, viewElements(dtype, bytes.buffer, offset, count));
      return -1;
  }
}

/**
 * Stores `count` values of a block as elements of `into`, from element `begin`. Returns the
 * position in the block of the first value that does not fit, or -1. `from` is the type that the
 * values have in the file.
 */
export function encode(
  block: Float64Array,
  count: number,
  from: Dtype,
  into: TypedArray,
  to: ElementType,
  begin: number,
  conversion: Conversion,
): number {
  if (isFloat(to)) {
    if (!isFloat(from) && conversion === 'exact') {
      for (let i = 0; i < count; i++) if (roundedTo(to, block[i]!) !== block[i]) return i;
    }
    const limit = overflows[to];
    for (let i = 0; i < count; i++) {
      const magnitude = Math.abs(block[i]!);
      if (magnitude >= limit && magnitude < Infinity) return i;
    }
    if (to === 'f16' || to === 'bf16') {
      for (let i = 0; i < count; i++) into[begin + i] = encodeHalf(to, block[i]!);
      return -1;
    }
  } else {
    const [least, greatest] = rangeOf(to);
    const fractions = isFloat(from);
    for (let i = 0; i < count; i++) {
      if (fractions) block[i] = roundToEven(block[i]!);
      const value = block[i]!;
      if (!(value >= least && value <= greatest)) return i;
    }
  }
  if (isWide(into)) for (let i = 0; i < count; i++) into[begin + i] = BigInt(block[i]!);
  else setElements(into, block.subarray(0, count), begin);
  return -1;
}

/** Whether values of a block are rounded once more when they become the type. */
export function roundsAgain(to: ElementType): boolean {
  return isFloat(to) && to !== 'f64';
}

function roundedTo(type: 'f16' | 'bf16' | 'f32' | 'f64', value: number): number {
  if (type === 'f64') return value;
  return type === 'f32' ? Math.fround(value) : decodeHalf(type, encodeHalf(type, value));
}

const ranges: Readonly<Record<string, readonly [least: number, greatest: number]>> = {
  i8: [-(2 ** 7), 2 ** 7 - 1],
  u8: [0, 2 ** 8 - 1],
  i16: [-(2 ** 15), 2 ** 15 - 1],
  u16: [0, 2 ** 16 - 1],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
  // The greatest f64 below the limit: a block has no other values.
  i64: [-(2 ** 63), 2 ** 63 - 2 ** 10],
  u64: [0, 2 ** 64 - 2 ** 11],
};

function rangeOf(type: ElementType): readonly [least: number, greatest: number] {
  return ranges[type]!;
}

/** What the reader of an error learns about a type, for example `i32 (-2147483648 to 2147483647)`. */
export function describeType(type: ElementType): string {
  if (type === 'i64') return `${type} (-2^63 to 2^63 - 1)`;
  if (type === 'u64') return `${type} (0 to 2^64 - 1)`;
  return isFloat(type) ? type : `${type} (${rangeOf(type)[0]} to ${rangeOf(type)[1]})`;
}

/** Whether it is a type of numbers with fractions. */
export function isFloatType(type: Dtype | ElementType): type is keyof typeof floats {
  return isFloat(type);
}

function isFloat<T extends Dtype | ElementType>(type: T): type is T & keyof typeof floats {
  return Object.hasOwn(floats, type);
}

/** The least values that round to infinity: half a step above the greatest number of the type. */
const overflows = {
  f16: 65520,
  bf16: 2 ** 128 - 2 ** 119,
  f32: 2 ** 128 - 2 ** 103,
  f64: Infinity,
} as const;

/** Whether a finite number stays finite as a value of the type. */
export function fitsFloat(type: string, value: number | bigint): boolean {
  if (!Object.hasOwn(overflows, type)) return true;
  const magnitude = Math.abs(Number(value));
  return magnitude < overflows[type as keyof typeof overflows] || magnitude === Infinity;
}

/** A sum from 2^52 on has no bits for a fraction, and rounds ties to even. Greater values have none themselves. */
function roundToEven(value: number): number {
  if (!(Math.abs(value) < 2 ** 52)) return value;
  return value < 0 ? value - 2 ** 52 + 2 ** 52 : value + 2 ** 52 - 2 ** 52;
}
