// The intrinsics that only compute: casts, Math.* and Number.*, and printing.

import type { Form, Intrinsic } from './entry.ts';

const one = [{ x: 'number' }] as const satisfies readonly Form[];
const divided = [{ x: 'number or quotient' }] as const satisfies readonly Form[];
const two = [{ x: 'number', y: 'number' }] as const satisfies readonly Form[];
const many = [{ numbers: 'number or quotient...' }] as const satisfies readonly Form[];

const either = [{ x: 'number, bigint or quotient' }] as const satisfies readonly Form[];
const bits = [{ bits: 'constant', x: 'number or bigint' }] as const satisfies readonly Form[];

const integer = 'floats are truncated, and what does not fit wraps.';

export const castIntrinsics = {
  'cuda.i8': {
    cuda: '(signed char) x',
    forms: either,
    result: 'i32',
    doc: `To an integer of -128 to 127; ${integer}`,
  },
  'cuda.u8': {
    cuda: '(unsigned char) x',
    forms: either,
    result: 'i32',
    doc: `To an integer of 0 to 255; ${integer}`,
  },
  'cuda.i16': {
    cuda: '(short) x',
    forms: either,
    result: 'i32',
    doc: `To an integer of -32768 to 32767; ${integer}`,
  },
  'cuda.u16': {
    cuda: '(unsigned short) x',
    forms: either,
    result: 'i32',
    doc: `To an integer of 0 to 65535; ${integer}`,
  },
  'cuda.i32': { cuda: '(int) x', forms: either, result: 'i32', doc: `To a 32-bit integer; ${integer}` },
  'cuda.u32': {
    cuda: '(unsigned) x',
    forms: either,
    result: 'u32',
    doc: `To an unsigned 32-bit integer; ${integer}`,
  },
  'cuda.i64': {
    cuda: '(long long) x',
    forms: either,
    result: 'i64',
    doc: `To a 64-bit integer, a bigint; ${integer}`,
  },
  'cuda.u64': {
    cuda: '(unsigned long long) x',
    forms: either,
    result: 'u64',
    doc: `To an unsigned 64-bit integer, a bigint; ${integer}`,
  },
  'cuda.index': {
    cuda: '(ptrdiff_t) x',
    forms: either,
    result: 'index',
    doc: 'To the type of positions and counts; floats are truncated.',
  },
  'cuda.f16': {
    cuda: '(float) (__half) x',
    forms: either,
    result: 'f32',
    doc: 'To a float that f16 has, rounded to nearest even.',
  },
  'cuda.bf16': {
    cuda: '(float) (__nv_bfloat16) x',
    forms: either,
    result: 'f32',
    doc: 'To a float that bf16 has, rounded to nearest even.',
  },
  'cuda.f32': {
    cuda: '(float) x',
    forms: either,
    result: 'f32',
    doc: 'To a float, rounded to nearest even.',
  },
  'cuda.f64': { cuda: '(double) x', forms: either, result: 'f64', doc: 'To a double.' },
  'cuda.bool': {
    cuda: '(bool) x',
    forms: either,
    result: 'bool',
    doc: 'True unless x is 0 or not a number.',
  },
  'BigInt.asIntN': {
    cuda: '(long long) x',
    forms: bits,
    result: 'i64',
    doc: 'The low bits of a bigint, 1 to 64 of them, as a signed integer.',
  },
  'BigInt.asUintN': {
    cuda: '(unsigned long long) x',
    forms: bits,
    result: 'u64',
    doc: 'The low bits of a bigint, 1 to 64 of them, as an unsigned integer.',
  },
} as const satisfies Readonly<Record<string, Intrinsic>>;

const pair = [{ x: 'number or quotient', y: 'number or quotient' }] as const satisfies readonly Form[];
const four = [
  { x: 'number or quotient', y: 'number or quotient', z: 'number or quotient', w: 'number or quotient' },
] as const satisfies readonly Form[];

export const vectorIntrinsics = {
  'cuda.i32x2': { cuda: 'make_int2(x, y)', forms: pair, result: 'vector', doc: 'A vector of two i32.' },
  'cuda.i32x4': {
    cuda: 'make_int4(x, y, z, w)',
    forms: four,
    result: 'vector',
    doc: 'A vector of four i32.',
  },
  'cuda.u32x2': { cuda: 'make_uint2(x, y)', forms: pair, result: 'vector', doc: 'A vector of two u32.' },
  'cuda.u32x4': {
    cuda: 'make_uint4(x, y, z, w)',
    forms: four,
    result: 'vector',
    doc: 'A vector of four u32.',
  },
  'cuda.f32x2': { cuda: 'make_float2(x, y)', forms: pair, result: 'vector', doc: 'A vector of two f32.' },
  'cuda.f32x4': {
    cuda: 'make_float4(x, y, z, w)',
    forms: four,
    result: 'vector',
    doc: 'A vector of four f32.',
  },
  'cuda.f64x2': { cuda: 'make_double2(x, y)', forms: pair, result: 'vector', doc: 'A vector of two f64.' },
} as const satisfies Readonly<Record<string, Intrinsic>>;

export const mathIntrinsics = {
  'Math.abs': { cuda: 'abs(x)', forms: one, result: 'number', doc: 'The absolute value.' },
  'Math.acos': { cuda: 'acos(x)', forms: divided, result: 'number', doc: 'The arc cosine.' },
  'Math.acosh': { cuda: 'acosh(x)', forms: divided, result: 'number', doc: 'The inverse hyperbolic cosine.' },
  'Math.asin': { cuda: 'asin(x)', forms: divided, result: 'number', doc: 'The arc sine.' },
  'Math.asinh': { cuda: 'asinh(x)', forms: divided, result: 'number', doc: 'The inverse hyperbolic sine.' },
  'Math.atan': { cuda: 'atan(x)', forms: divided, result: 'number', doc: 'The arc tangent.' },
  'Math.atan2': {
    cuda: 'atan2(y, x)',
    forms: [{ y: 'number or quotient', x: 'number or quotient' }],
    result: 'number',
    doc: 'The angle of the point (x, y).',
  },
  'Math.atanh': {
    cuda: 'atanh(x)',
    forms: divided,
    result: 'number',
    doc: 'The inverse hyperbolic tangent.',
  },
  'Math.cbrt': { cuda: 'cbrt(x)', forms: divided, result: 'number', doc: 'The cube root.' },
  'Math.ceil': {
    cuda: 'ceil(x)',
    forms: divided,
    result: 'number',
    doc: 'The least integer not below x; of a / b with integers, their quotient rounded up.',
  },
  'Math.clz32': {
    cuda: '__clz(x)',
    forms: one,
    result: 'i32',
    doc: 'How many of the 32 bits are zero before the first one.',
  },
  'Math.cos': { cuda: 'cos(x)', forms: divided, result: 'number', doc: 'The cosine.' },
  'Math.cosh': { cuda: 'cosh(x)', forms: divided, result: 'number', doc: 'The hyperbolic cosine.' },
  'Math.exp': { cuda: 'exp(x)', forms: divided, result: 'number', doc: 'e to the power of x.' },
  'Math.expm1': { cuda: 'expm1(x)', forms: divided, result: 'number', doc: 'e to the power of x, less 1.' },
  'Math.floor': {
    cuda: 'floor(x)',
    forms: divided,
    result: 'number',
    doc: 'The greatest integer not above x; of a / b with integers, their quotient rounded down.',
  },
  'Math.fround': {
    cuda: '(float) x',
    forms: divided,
    result: 'f32',
    doc: 'To a float: the same as cuda.f32.',
  },
  'Math.hypot': {
    cuda: 'hypot(x, y)',
    forms: many,
    result: 'number',
    doc: 'The root of the sum of squares.',
  },
  'Math.imul': {
    cuda: 'x * y',
    forms: two,
    result: 'i32',
    doc: 'The product of two 32-bit integers, wrapped.',
  },
  'Math.log': { cuda: 'log(x)', forms: divided, result: 'number', doc: 'The natural logarithm.' },
  'Math.log10': { cuda: 'log10(x)', forms: divided, result: 'number', doc: 'The logarithm to base 10.' },
  'Math.log1p': {
    cuda: 'log1p(x)',
    forms: divided,
    result: 'number',
    doc: 'The natural logarithm of 1 + x.',
  },
  'Math.log2': { cuda: 'log2(x)', forms: divided, result: 'number', doc: 'The logarithm to base 2.' },
  'Math.max': {
    cuda: 'max(x, y)',
    forms: many,
    result: 'number',
    doc: 'The greatest; not a number if one is not.',
  },
  'Math.min': {
    cuda: 'min(x, y)',
    forms: many,
    result: 'number',
    doc: 'The least; not a number if one is not.',
  },
  'Math.pow': {
    cuda: 'pow(x, y)',
    forms: two,
    result: 'number',
    doc: 'x to the power of y, as x ** y is too.',
  },
  'Math.round': {
    cuda: 'floor(x + 0.5)',
    forms: one,
    result: 'number',
    doc: 'The nearest integer, a half going up.',
  },
  'Math.sign': { cuda: '(x > 0) - (x < 0)', forms: one, result: 'number', doc: '-1, 0 or 1.' },
  'Math.sin': { cuda: 'sin(x)', forms: divided, result: 'number', doc: 'The sine.' },
  'Math.sinh': { cuda: 'sinh(x)', forms: divided, result: 'number', doc: 'The hyperbolic sine.' },
  'Math.sqrt': {
    cuda: 'sqrt(x)',
    forms: divided,
    result: 'number',
    doc: 'The square root, correctly rounded.',
  },
  'Math.tan': { cuda: 'tan(x)', forms: divided, result: 'number', doc: 'The tangent.' },
  'Math.tanh': { cuda: 'tanh(x)', forms: divided, result: 'number', doc: 'The hyperbolic tangent.' },
  'Math.trunc': {
    cuda: 'trunc(x)',
    forms: divided,
    result: 'number',
    doc: 'The integer part; of a / b with integers, their quotient as C++ gives it.',
  },
  'Math.E': { cuda: 'M_E', result: 'constant', doc: "Euler's number." },
  'Math.LN10': { cuda: 'M_LN10', result: 'constant', doc: 'The natural logarithm of 10.' },
  'Math.LN2': { cuda: 'M_LN2', result: 'constant', doc: 'The natural logarithm of 2.' },
  'Math.LOG10E': { cuda: 'M_LOG10E', result: 'constant', doc: 'The logarithm of e to base 10.' },
  'Math.LOG2E': { cuda: 'M_LOG2E', result: 'constant', doc: 'The logarithm of e to base 2.' },
  'Math.PI': { cuda: 'M_PI', result: 'constant', doc: 'The ratio of a circle to its diameter.' },
  'Math.SQRT1_2': { cuda: 'M_SQRT1_2', result: 'constant', doc: 'The square root of 1/2.' },
  'Math.SQRT2': { cuda: 'M_SQRT2', result: 'constant', doc: 'The square root of 2.' },
  'Number.isFinite': {
    cuda: 'isfinite(x)',
    forms: one,
    result: 'bool',
    doc: 'Whether x is neither infinite nor not a number.',
  },
  'Number.isInteger': {
    cuda: 'trunc(x) == x && isfinite(x)',
    forms: one,
    result: 'bool',
    doc: 'Whether x has no fraction.',
  },
  'Number.isNaN': { cuda: 'isnan(x)', forms: one, result: 'bool', doc: 'Whether x is not a number.' },
  'Number.EPSILON': { cuda: 'DBL_EPSILON', result: 'constant', doc: 'The step from 1 to the next double.' },
  'Number.MAX_SAFE_INTEGER': { cuda: '(1ll << 53) - 1', result: 'constant', doc: '2^53 - 1.' },
  'Number.MIN_SAFE_INTEGER': { cuda: '1 - (1ll << 53)', result: 'constant', doc: '1 - 2^53.' },
  'Number.MAX_VALUE': { cuda: 'DBL_MAX', result: 'constant', doc: 'The greatest finite double.' },
  'Number.MIN_VALUE': { cuda: 'DBL_TRUE_MIN', result: 'constant', doc: 'The least positive double.' },
  'Number.NaN': { cuda: 'NAN', result: 'constant', doc: 'Not a number.' },
  'Number.POSITIVE_INFINITY': { cuda: 'INFINITY', result: 'constant', doc: 'Infinity.' },
  'Number.NEGATIVE_INFINITY': { cuda: '-INFINITY', result: 'constant', doc: '-Infinity.' },
} as const satisfies Readonly<Record<string, Intrinsic>>;

export const consoleIntrinsics = {
  'console.log': {
    cuda: 'printf(…)',
    forms: [{ parts: 'anything...' }],
    result: 'nothing',
    doc: 'Prints a line, its parts separated by spaces; numbers look as in JavaScript.',
  },
} as const satisfies Readonly<Record<string, Intrinsic>>;
