// Integers of 64 bits, which a f64 does not hold: into a block of f64, and into each other.

/** The low bits that are left out of a number which is rounded twice: 52 of 64 remain. */
const left = 12;

/**
 * Decodes integers, low and high words in turn, into a block. Returns the position of the first that a f64 does
 * not hold exactly, or -1.
 *
 * Where values are to be rounded again, to a narrower float, an inexact one becomes the odd of its two neighbours
 * of 52 bits: so the second rounding gives what one rounding of the integer would.
 */
export function decodeIntegers64(
  words: Int32Array,
  signed: boolean,
  roundsAgain: boolean,
  block: Float64Array,
): number {
  let inexact = -1;
  for (let i = 0; i < words.length / 2; i++) {
    const low = words[2 * i]! >>> 0;
    const high = signed ? words[2 * i + 1]! : words[2 * i + 1]! >>> 0;
    const value = high * 2 ** 32 + low;
    block[i] = value;
    if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) continue;
    if (inexact < 0 && BigInt(value) !== (BigInt(high) << 32n) + BigInt(low)) inexact = i;
    if (roundsAgain) block[i] = high * 2 ** 32 + oddBits(low);
  }
  return inexact;
}

/** The f64 of an integer that is to be rounded again. */
export function numberToRound(value: bigint): number {
  const near = Number(value);
  if (Math.abs(near) <= Number.MAX_SAFE_INTEGER) return near;
  const low = Number(value & 0xffffffffn);
  return Number((value >> 32n) << 32n) + oddBits(low);
}

/** A low word without its last bits; where one of them was set, the bit above them is. */
function oddBits(low: number): number {
  const mask = 2 ** left - 1;
  return ((low & ~mask) | ((low & mask) === 0 ? 0 : 2 ** left)) >>> 0;
}

/** Bytes as the integers that they are. */
export function viewIntegers64(
  dtype: 'i64' | 'u64',
  { buffer, byteOffset }: Uint8Array,
  count: number,
): BigInt64Array | BigUint64Array {
  return dtype === 'i64'
    ? new BigInt64Array(buffer, byteOffset, count)
    : new BigUint64Array(buffer, byteOffset, count);
}

/** Stores integers as those of the other sign. Returns the position of the first that does not fit, or -1. */
export function storeIntegers64(
  from: ArrayLike<bigint>,
  count: number,
  into: BigInt64Array | BigUint64Array,
  begin: number,
): number {
  const signed = into instanceof BigInt64Array;
  for (let i = 0; i < count; i++) {
    const value = from[i]!;
    if ((signed ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value)) !== value) return i;
    into[begin + i] = value;
  }
  return -1;
}
