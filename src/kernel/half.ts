// Floats of 16 bits: f16 (IEEE 754 binary16: 5 bits of exponent, 10 of fraction) and bf16 (the
// upper half of an f32: 8 bits of exponent, 7 of fraction).
//
// This is the one definition of both conversions, which every target follows to the bit: the
// value of the bits is exact as an f32; the bits of an f32 are those of the nearest value, of
// two equally near ones that with an even fraction. What is too great becomes infinite. A NaN
// becomes the quiet one.

/** How a float of 16 bits is coded. */
export type HalfFormat = 'f16' | 'bf16';

const floats = new Float32Array(1);
const words = new Uint32Array(floats.buffer);

function wordOf(value: number): number {
  floats[0] = value;
  return words[0]!;
}

function floatOf(word: number): number {
  words[0] = word;
  return floats[0]!;
}

/** The f32 that 16 bits stand for. */
export function decodeHalf(format: HalfFormat, bits: number): number {
  if (format === 'bf16') return floatOf(bits << 16);
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** The 16 bits of the value nearest to a number, which is rounded to f32 first. */
export function encodeHalf(format: HalfFormat, value: number): number {
  const word = wordOf(value);
  const sign = (word >>> 16) & 0x8000;
  const magnitude = word & 0x7fffffff;
  const isUnordered = magnitude > 0x7f800000;
  if (format === 'bf16') {
    if (isUnordered) return sign | 0x7fc0;
    return sign | ((magnitude + 0x7fff + ((magnitude >>> 16) & 1)) >>> 16);
  }
  if (isUnordered) return sign | 0x7e00;
  if (magnitude >= 0x47800000) return sign | 0x7c00;
  // Below 2^-14 the fraction counts in steps of 2^-24: adding 0.5 lets f32 do the rounding.
  if (magnitude < 0x38800000) return sign | (wordOf(floatOf(magnitude) + 0.5) - 0x3f000000);
  return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
}

/**
 * The bits of numbers as `f16`, for a host array of one.
 *
 * @example
 * stream.memcpyAsync(weights, encodeF16([0.5, 1, 1.5]));
 */
export function encodeF16(values: ArrayLike<number>): Uint16Array {
  return Uint16Array.from(values, (value) => encodeHalf('f16', value));
}

/** The numbers that the bits of `f16` stand for. */
export function decodeF16(bits: ArrayLike<number>): Float32Array {
  return Float32Array.from(bits, (one) => decodeHalf('f16', one));
}

/** The bits of numbers as `bf16`, for a host array of one. */
export function encodeBF16(values: ArrayLike<number>): Uint16Array {
  return Uint16Array.from(values, (value) => encodeHalf('bf16', value));
}

/** The numbers that the bits of `bf16` stand for. */
export function decodeBF16(bits: ArrayLike<number>): Float32Array {
  return Float32Array.from(bits, (one) => decodeHalf('bf16', one));
}
