// Types of elements as files have them, and how their values become those of a kernel's array.
//
// Every value passes through a block of f64, which holds all types but 64-bit integers exactly;
// those are checked where they enter the block. So a conversion is two independent steps:
// decoding a file's type into the block, and encoding the block into the kernel's type, which
// also finds the first value that does not fit.

import { type ElementType, elementBytes, hostArrays } from '../kernel/types.ts';
import type { TypedArray } from './job.ts';

/** An element type of a file. `bool` is a byte, 0 for false. */
export type Dtype = ElementType | 'bool' | 'i64' | 'u64' | 'f16';

/** The element types of files, with their size in bytes. */
export const dtypeBytes = { ...elementBytes, bool: 1, i64: 8, u64: 8, f16: 2 } as const satisfies Record<
  Dtype,
  number
>;

/** How values become another type: see `InputDeclaration.convert`. */
export type Conversion = 'exact' | 'nearest';

/** Values of one block: small enough for the first-level cache, large enough to hide the calls. */
export const blockLength = 2048;

const floatDigits = { f16: 11, f32: 24, f64: 53 } as const;

/** Why no value of a type may become another at all, or null where each value decides for itself. */
export function conversionProblem(from: Dtype, to: ElementType, conversion: Conversion): string | null {
  if (conversion === 'nearest' || !isFloat(from)) return null;
  if (isFloat(to) && floatDigits[from] <= floatDigits[to]) return null;
  return isFloat(to) ? 'values would be rounded' : 'fractions would be lost';
}

/**
 * Decodes `count` elements of `bytes`, from element `begin`, into a block. Returns the position
 * in the block of the first 64-bit integer that a f64 does not hold exactly, or -1.
 */
export function decode(
  dtype: Dtype,
  bytes: Uint8Array,
  begin: number,
  count: number,
  block: Float64Array,
): number {
  const offset = bytes.byteOffset + begin * dtypeBytes[dtype];
  switch (dtype) {
    case 'i64':
      return decodeIntegers64(new Int32Array(bytes.buffer, offset, count * 2), true, block);
    case 'u64':
      return decodeIntegers64(new Int32Array(bytes.buffer, offset, count * 2), false, block);
    case 'f16':
      decodeHalves(new Uint16Array(bytes.buffer, offset, count), block);
      return -1;
    case 'bool':
      for (let i = 0; i < count; i++) block[i] = bytes[begin + i] === 0 ? 0 : 1;
      return -1;
    default:
      block.set(viewElements(dtype, bytes.buffer, offset, count));
      return -1;
  }
}

function viewElements(
  element: ElementType,
  buffer: ArrayBufferLike,
  offset: number,
  length: number,
): TypedArray {
  const Constructor: new (buffer: ArrayBufferLike, offset: number, length: number) => TypedArray =
    hostArrays[element];
  return new Constructor(buffer, offset, length);
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
    if (!isFloat(from) && to === 'f32' && conversion === 'exact') {
      for (let i = 0; i < count; i++) if (Math.fround(block[i]!) !== block[i]) return i;
    }
  } else {
    const [least, greatest] = ranges[to];
    const fractions = isFloat(from);
    for (let i = 0; i < count; i++) {
      if (fractions) block[i] = roundToEven(block[i]!);
      const value = block[i]!;
      if (!(value >= least && value <= greatest)) return i;
    }
  }
  into.set(block.subarray(0, count), begin);
  return -1;
}

const ranges = {
  i8: [-(2 ** 7), 2 ** 7 - 1],
  u8: [0, 2 ** 8 - 1],
  i16: [-(2 ** 15), 2 ** 15 - 1],
  u16: [0, 2 ** 16 - 1],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
} as const;

/** What the reader of an error learns about a type, for example `i32 (-2147483648 to 2147483647)`. */
export function describeType(type: ElementType): string {
  return isFloat(type) ? type : `${type} (${ranges[type][0]} to ${ranges[type][1]})`;
}

function isFloat<T extends Dtype>(type: T): type is T & ('f16' | 'f32' | 'f64') {
  return type === 'f16' || type === 'f32' || type === 'f64';
}

/** Adding and taking away 1.5 * 2^52 leaves no bits for a fraction, and rounds ties to even. */
function roundToEven(value: number): number {
  const shift = 6755399441055744;
  return Math.abs(value) < 2 ** 51 ? value + shift - shift : value;
}

/** Low and high words in turn. Beyond 2^53 the sum in f64 is compared with the integer itself. */
function decodeIntegers64(words: Int32Array, signed: boolean, block: Float64Array): number {
  let inexact = -1;
  for (let i = 0; i < words.length / 2; i++) {
    const low = words[2 * i]! >>> 0;
    const high = signed ? words[2 * i + 1]! : words[2 * i + 1]! >>> 0;
    const value = high * 2 ** 32 + low;
    block[i] = value;
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER && inexact < 0) {
      if (BigInt(value) !== (BigInt(high) << 32n) + BigInt(low)) inexact = i;
    }
  }
  return inexact;
}

function decodeHalves(halves: Uint16Array, block: Float64Array): void {
  for (let i = 0; i < halves.length; i++) {
    const bits = halves[i]!;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    let value: number;
    if (exponent === 0) value = fraction * 2 ** -24;
    else if (exponent === 31) value = fraction === 0 ? Infinity : NaN;
    else value = (1024 + fraction) * 2 ** (exponent - 25);
    block[i] = bits & 0x8000 ? -value : value;
  }
}
