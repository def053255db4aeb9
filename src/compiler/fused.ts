// x * y + z, rounded once.

/**
 * Of three f32, as an f64 that rounds to the f32 that is asked for: the product is exact in f64, and the sum is
 * rounded to odd, so that rounding again does not round twice.
 */
export function fusedSingle(x: number, y: number, z: number): number {
  const product = x * y;
  const sum = product + z;
  const added = sum - product;
  const rest = product - (sum - added) + (z - added);
  return rest === 0 || !Number.isFinite(rest) ? sum : toOdd(sum, rest);
}

const bits = new BigInt64Array(1);
const float = new Float64Array(bits.buffer);

/** Of a sum that was rounded to even, and of what it lacks: the neighbour of the exact one whose last bit is set. */
function toOdd(sum: number, rest: number): number {
  float[0] = sum;
  if ((bits[0]! & 1n) === 0n) bits[0]! += sum > 0 === rest > 0 ? 1n : -1n;
  return float[0]!;
}

/** Of three f64, by integers: `significand` times 2^`exponent` is the value. */
export function fused(x: number, y: number, z: number): number {
  const product = x * y;
  if (!Number.isFinite(x) || !Number.isFinite(y) || x === 0 || y === 0) return product + z;
  if (!Number.isFinite(z)) return z;
  const [a, b, c] = [parts(x), parts(y), parts(z)];
  const exponent = a.exponent + b.exponent;
  const least = z === 0 ? exponent : Math.min(exponent, c.exponent);
  const whole = a.significand * b.significand;
  // What lies far below the other's last bit only says which side of it the sum is on.
  if (z !== 0 && Math.abs(exponent - c.exponent) > 400) {
    const [large, at, small] =
      exponent > c.exponent ? [whole, exponent, c.significand] : [c.significand, c.exponent, whole];
    return rounded((large << 200n) + (small > 0n ? 1n : -1n), at - 200);
  }
  const scaled = whole << BigInt(exponent - least);
  return rounded(z === 0 ? scaled : scaled + (c.significand << BigInt(c.exponent - least)), least);
}

function parts(x: number): { significand: bigint; exponent: number } {
  float[0] = x;
  const raw = BigInt.asUintN(64, bits[0]!);
  const biased = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & 0xf_ffff_ffff_ffffn;
  const size = biased === 0 ? fraction : fraction | (1n << 52n);
  return { significand: x < 0 ? -size : size, exponent: Math.max(biased, 1) - 1075 };
}

/** The nearest f64, a half to the even one. */
function rounded(significand: bigint, exponent: number): number {
  if (significand === 0n) return 0;
  const size = significand < 0n ? -significand : significand;
  const length = size.toString(2).length;
  // The last bit of an f64 of this size stands for 2^last.
  const last = Math.max(length + exponent - 53, -1074);
  const drop = last - exponent;
  let kept = drop <= 0 ? size << BigInt(-drop) : size >> BigInt(drop);
  if (drop > 0) {
    const half = 1n << BigInt(drop - 1);
    const rest = size - (kept << BigInt(drop));
    if (rest > half || (rest === half && (kept & 1n) === 1n)) kept += 1n;
  }
  // Both factors are in range, and their product is exact: the significand has 53 bits, or is 2^53.
  const first = Math.max(last, -1000);
  const value =
    Number(kept) * 2 ** Math.min(first, 900) * 2 ** (last - first) * 2 ** Math.max(first - 900, 0);
  return significand < 0n ? -value : value;
}
