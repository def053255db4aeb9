// What a kernel may say of JavaScript's own names. TypeScript's library types them for editors; what they
// take and mean in a kernel is said here.

import type { Constant, Divided, Scalar } from './cuda-arguments.ts';

/** What a kernel may say of `Math`. */
export interface KernelMath {
  /** The absolute value. CUDA: `abs(x)`. */
  abs(x: number): number;
  /** The arc cosine. CUDA: `acos(x)`. */
  acos(x: Divided): number;
  /** The inverse hyperbolic cosine. CUDA: `acosh(x)`. */
  acosh(x: Divided): number;
  /** The arc sine. CUDA: `asin(x)`. */
  asin(x: Divided): number;
  /** The inverse hyperbolic sine. CUDA: `asinh(x)`. */
  asinh(x: Divided): number;
  /** The arc tangent. CUDA: `atan(x)`. */
  atan(x: Divided): number;
  /** The angle of the point (x, y). CUDA: `atan2(y, x)`. */
  atan2(y: Divided, x: Divided): number;
  /** The inverse hyperbolic tangent. CUDA: `atanh(x)`. */
  atanh(x: Divided): number;
  /** The cube root. CUDA: `cbrt(x)`. */
  cbrt(x: Divided): number;
  /** The least integer not below x; of a / b with integers, their quotient rounded up. CUDA: `ceil(x)`. */
  ceil(x: Divided): number;
  /** How many of the 32 bits are zero before the first one. CUDA: `__clz(x)`. */
  clz32(x: number): number;
  /** The cosine. CUDA: `cos(x)`. */
  cos(x: Divided): number;
  /** The hyperbolic cosine. CUDA: `cosh(x)`. */
  cosh(x: Divided): number;
  /** e to the power of x. CUDA: `exp(x)`. */
  exp(x: Divided): number;
  /** e to the power of x, less 1. CUDA: `expm1(x)`. */
  expm1(x: Divided): number;
  /** The greatest integer not above x; of a / b with integers, their quotient rounded down. CUDA: `floor(x)`. */
  floor(x: Divided): number;
  /** To a float: the same as cuda.f32. CUDA: `(float) x`. */
  fround(x: Divided): number;
  /** The root of the sum of squares. CUDA: `hypot(x, y)`. */
  hypot(...numbers: Divided[]): number;
  /** The product of two 32-bit integers, wrapped. CUDA: `x * y`. */
  imul(x: number, y: number): number;
  /** The natural logarithm. CUDA: `log(x)`. */
  log(x: Divided): number;
  /** The logarithm to base 10. CUDA: `log10(x)`. */
  log10(x: Divided): number;
  /** The natural logarithm of 1 + x. CUDA: `log1p(x)`. */
  log1p(x: Divided): number;
  /** The logarithm to base 2. CUDA: `log2(x)`. */
  log2(x: Divided): number;
  /** The greatest; not a number if one is not. CUDA: `max(x, y)`. */
  max(...numbers: Divided[]): number;
  /** The least; not a number if one is not. CUDA: `min(x, y)`. */
  min(...numbers: Divided[]): number;
  /** x to the power of y, as x ** y is too. CUDA: `pow(x, y)`. */
  pow(x: number, y: number): number;
  /** The nearest integer, a half going up. CUDA: `floor(x + 0.5)`. */
  round(x: number): number;
  /** -1, 0 or 1. CUDA: `(x > 0) - (x < 0)`. */
  sign(x: number): number;
  /** The sine. CUDA: `sin(x)`. */
  sin(x: Divided): number;
  /** The hyperbolic sine. CUDA: `sinh(x)`. */
  sinh(x: Divided): number;
  /** The square root, correctly rounded. CUDA: `sqrt(x)`. */
  sqrt(x: Divided): number;
  /** The tangent. CUDA: `tan(x)`. */
  tan(x: Divided): number;
  /** The hyperbolic tangent. CUDA: `tanh(x)`. */
  tanh(x: Divided): number;
  /** The integer part; of a / b with integers, their quotient as C++ gives it. CUDA: `trunc(x)`. */
  trunc(x: Divided): number;
  /** Euler's number. CUDA: `M_E`. */
  readonly E: number;
  /** The natural logarithm of 10. CUDA: `M_LN10`. */
  readonly LN10: number;
  /** The natural logarithm of 2. CUDA: `M_LN2`. */
  readonly LN2: number;
  /** The logarithm of e to base 10. CUDA: `M_LOG10E`. */
  readonly LOG10E: number;
  /** The logarithm of e to base 2. CUDA: `M_LOG2E`. */
  readonly LOG2E: number;
  /** The ratio of a circle to its diameter. CUDA: `M_PI`. */
  readonly PI: number;
  /** The square root of 1/2. CUDA: `M_SQRT1_2`. */
  readonly SQRT1_2: number;
  /** The square root of 2. CUDA: `M_SQRT2`. */
  readonly SQRT2: number;
}

/** What a kernel may say of `Number`. */
export interface KernelNumber {
  /** Whether x is neither infinite nor not a number. CUDA: `isfinite(x)`. */
  isFinite(x: number): boolean;
  /** Whether x has no fraction. CUDA: `trunc(x) == x && isfinite(x)`. */
  isInteger(x: number): boolean;
  /** Whether x is not a number. CUDA: `isnan(x)`. */
  isNaN(x: number): boolean;
  /** The step from 1 to the next double. CUDA: `DBL_EPSILON`. */
  readonly EPSILON: number;
  /** 2^53 - 1. CUDA: `(1ll << 53) - 1`. */
  readonly MAX_SAFE_INTEGER: number;
  /** 1 - 2^53. CUDA: `1 - (1ll << 53)`. */
  readonly MIN_SAFE_INTEGER: number;
  /** The greatest finite double. CUDA: `DBL_MAX`. */
  readonly MAX_VALUE: number;
  /** The least positive double. CUDA: `DBL_TRUE_MIN`. */
  readonly MIN_VALUE: number;
  /** Not a number. CUDA: `NAN`. */
  readonly NaN: number;
  /** Infinity. CUDA: `INFINITY`. */
  readonly POSITIVE_INFINITY: number;
  /** -Infinity. CUDA: `-INFINITY`. */
  readonly NEGATIVE_INFINITY: number;
}

/** What a kernel may say of `BigInt`. */
export interface KernelBigInt {
  /** The low bits of a bigint, 1 to 64 of them, as a signed integer. CUDA: `(long long) x`. */
  asIntN(bits: Constant, x: Scalar): bigint;
  /** The low bits of a bigint, 1 to 64 of them, as an unsigned integer. CUDA: `(unsigned long long) x`. */
  asUintN(bits: Constant, x: Scalar): bigint;
}

/** What a kernel may say of `console`. */
export interface KernelConsole {
  /** Prints a line, its parts separated by spaces; numbers look as in JavaScript. CUDA: `printf(…)`. */
  log(...parts: unknown[]): void;
}
