// Functions of numbers that targets have by name: a row is all that one of them takes. Folding, the
// interpreter and the host functions of a WebAssembly module compute by it, and targets find there what they
// call it.

import { fused, fusedSingle } from './fused.ts';
import * as specialFunctions from './special-functions.ts';

/** Of 32 bits; the result has the operand's type, and is at most `most`. `cuda` takes what `of` says. */
export const bitFunctions = {
  clz32: { compute: Math.clz32, most: 32, cuda: '__clz', of: 'int', wasm: 'i32.clz' },
  /** How many are set. */
  popcount: { compute: bitCount, most: 32, cuda: '__popc', of: 'unsigned', wasm: 'i32.popcnt' },
} as const;

export type BitFunction = keyof typeof bitFunctions;

/**
 * Of floats: computed in f64, as JavaScript's Math does, and then rounded to the type (f32 or f64). CUDA's math
 * API has them by the same names, but for those that are the target's own.
 */
export const mathFunctions = {
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  atan2: Math.atan2,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  exp: Math.exp,
  expm1: Math.expm1,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  log1p: Math.log1p,
  pow: Math.pow,
  cbrt: Math.cbrt,
  hypot: Math.hypot,
  round: Math.round,
  sign: Math.sign,
  rsqrt: (x: number) => 1 / Math.sqrt(x),
  ...specialFunctions,
  exp2: (x: number) => 2 ** x,
  exp10: (x: number) => 10 ** x,
  /** Of f64, and of f32. */
  fma: fused,
  fmaf: fusedSingle,
} as const;

export type MathFunction = keyof typeof mathFunctions;

/** Counted in pairs, fours and bytes at once. */
function bitCount(a: number): number {
  const pairs = a - ((a >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
