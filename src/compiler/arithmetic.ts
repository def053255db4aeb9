// What every operator does, on every type, to the bit.
//
// The one definition that constant folding, launch-time evaluation, the interpreter and the
// tests of the fast targets share. It is what WebAssembly and IEEE 754 do: integers wrap at
// their width, f32 is rounded after every operation, floats become integers by truncation and
// then modulo the width.
//
// Values: i32, u32, f32 and f64 are JavaScript numbers in the range of their type (an f32 is
// always one that Math.fround keeps), i64 and u64 are bigints, bool is a boolean. An operation
// may rely on operands that are in range, and gives a result that is. The bits of a NaN are
// not specified.
//
// The functions here choose an operation; what they return is one closure for one operator and
// type, so that an interpreter pays for the choice once.

import { decodeHalf, encodeHalf } from '../kernel/half.ts';
import { type BitFunction, bitFunctions, mathFunctions } from './functions.ts';
import type {
  AtomicOperator,
  BinaryOperator,
  CompareOperator,
  ConversionFormat,
  MathFunction,
  UnaryOperator,
  ValueType,
} from './ir.ts';

/** A value of any type; see the ranges above. */
export type Value = number | bigint | boolean;

export type UnaryFunction = (operand: Value) => Value;
export type BinaryFunction = (left: Value, right: Value) => Value;
export type CompareFunction = (left: Value, right: Value) => boolean;

/** What an integer `divide` or `remainder` by zero throws; what runs the operation knows where it stands. */
export class DivisionByZero extends Error {
  override readonly name = 'DivisionByZero';

  constructor() {
    super('integer division by zero');
  }
}

type Unary<T> = { readonly [O in UnaryOperator]?: (a: T) => T };
type Binary<T> = { readonly [O in BinaryOperator]?: (a: T, b: T) => T };

const { fround } = Math;
const signed = (a: bigint) => BigInt.asIntN(64, a);
const unsigned = (a: bigint) => BigInt.asUintN(64, a);

// Math.min and Math.max take no bigints.
function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

function larger(a: bigint, b: bigint): bigint {
  if (a < b) return b;
  return a;
}

/** On i32 and u32 alike. */
const bits = Object.fromEntries(
  Object.entries(bitFunctions).map(([name, { compute }]) => [name, compute]),
) as { readonly [F in BitFunction]: (a: number) => number };

/** The divisor, which must not be zero. */
function divisor<T extends number | bigint>(b: T): T {
  if (!b) throw new DivisionByZero();
  return b;
}

const unary = {
  bool: { not: (a) => !a },
  i32: {
    negate: (a) => -a | 0,
    complement: (a) => ~a,
    // The smallest integer is its own absolute value.
    abs: (a) => Math.abs(a) | 0,
    ...bits,
  },
  u32: {
    negate: (a) => -a >>> 0,
    complement: (a) => ~a >>> 0,
    abs: (a) => a,
    ...bits,
  },
  i64: {
    negate: (a) => signed(-a),
    complement: (a) => ~a,
    abs: (a) => (a < 0n ? signed(-a) : a),
  },
  u64: {
    negate: (a) => unsigned(-a),
    complement: (a) => unsigned(~a),
    abs: (a) => a,
  },
  f32: {
    negate: (a) => -a,
    abs: Math.abs,
    // Rounding the f64 root once more gives the correctly rounded f32 root.
    sqrt: (a) => fround(Math.sqrt(a)),
    floor: Math.floor,
    ceil: Math.ceil,
    trunc: Math.trunc,
  },
  f64: {
    negate: (a) => -a,
    abs: Math.abs,
    sqrt: Math.sqrt,
    floor: Math.floor,
    ceil: Math.ceil,
    trunc: Math.trunc,
  },
} satisfies {
  readonly [T in ValueType]: T extends 'bool'
    ? Unary<boolean>
    : T extends 'i64' | 'u64'
      ? Unary<bigint>
      : Unary<number>;
};

const binary = {
  bool: {
    and: (a, b) => a && b,
    or: (a, b) => a || b,
    xor: (a, b) => a !== b,
  },
  i32: {
    add: (a, b) => (a + b) | 0,
    subtract: (a, b) => (a - b) | 0,
    multiply: Math.imul,
    divide: (a, b) => (a / divisor(b)) | 0,
    // `| 0` makes the -0 of JavaScript's -4 % 2 an integer zero.
    remainder: (a, b) => (a % divisor(b)) | 0,
    and: (a, b) => a & b,
    or: (a, b) => a | b,
    xor: (a, b) => a ^ b,
    shiftLeft: (a, b) => a << b,
    shiftRight: (a, b) => a >> b,
    min: (a, b) => Math.min(a, b),
    max: (a, b) => Math.max(a, b),
  },
  u32: {
    add: (a, b) => (a + b) >>> 0,
    subtract: (a, b) => (a - b) >>> 0,
    multiply: (a, b) => Math.imul(a, b) >>> 0,
    divide: (a, b) => (a / divisor(b)) >>> 0,
    remainder: (a, b) => a % divisor(b),
    and: (a, b) => (a & b) >>> 0,
    or: (a, b) => (a | b) >>> 0,
    xor: (a, b) => (a ^ b) >>> 0,
    shiftLeft: (a, b) => (a << b) >>> 0,
    shiftRight: (a, b) => a >>> b,
    min: (a, b) => Math.min(a, b),
    max: (a, b) => Math.max(a, b),
  },
  i64: {
    add: (a, b) => signed(a + b),
    subtract: (a, b) => signed(a - b),
    multiply: (a, b) => signed(a * b),
    divide: (a, b) => signed(a / divisor(b)),
    remainder: (a, b) => a % divisor(b),
    and: (a, b) => a & b,
    or: (a, b) => a | b,
    xor: (a, b) => a ^ b,
    shiftLeft: (a, b) => signed(a << (b & 63n)),
    shiftRight: (a, b) => a >> (b & 63n),
    min: smaller,
    max: larger,
  },
  u64: {
    add: (a, b) => unsigned(a + b),
    subtract: (a, b) => unsigned(a - b),
    multiply: (a, b) => unsigned(a * b),
    divide: (a, b) => a / divisor(b),
    remainder: (a, b) => a % divisor(b),
    and: (a, b) => a & b,
    or: (a, b) => a | b,
    xor: (a, b) => a ^ b,
    shiftLeft: (a, b) => unsigned(a << (b & 63n)),
    shiftRight: (a, b) => a >> (b & 63n),
    min: smaller,
    max: larger,
  },
  // f64 has more than twice the digits of f32, so that rounding its result once more gives the
  // correctly rounded f32 result of + - * and /; a remainder is exact.
  f32: {
    add: (a, b) => fround(a + b),
    subtract: (a, b) => fround(a - b),
    multiply: (a, b) => fround(a * b),
    divide: (a, b) => fround(a / b),
    remainder: (a, b) => a % b,
    min: (a, b) => Math.min(a, b),
    max: (a, b) => Math.max(a, b),
  },
  f64: {
    add: (a, b) => a + b,
    subtract: (a, b) => a - b,
    multiply: (a, b) => a * b,
    divide: (a, b) => a / b,
    remainder: (a, b) => a % b,
    min: (a, b) => Math.min(a, b),
    max: (a, b) => Math.max(a, b),
  },
} satisfies {
  readonly [T in ValueType]: T extends 'bool'
    ? Binary<boolean>
    : T extends 'i64' | 'u64'
      ? Binary<bigint>
      : Binary<number>;
};

// JavaScript's comparisons are right on every representation, NaN included; bool orders false before true.
const compare: { readonly [O in CompareOperator]: CompareFunction } = {
  equal: (a, b) => a === b,
  notEqual: (a, b) => a !== b,
  less: (a, b) => a < b,
  lessEqual: (a, b) => a <= b,
  greater: (a, b) => a > b,
  greaterEqual: (a, b) => a >= b,
};

/** The operation of a unary operator on operands of a type; the result has the same type. */
export function unaryOperation(operator: UnaryOperator, type: ValueType): UnaryFunction {
  return chosen<UnaryFunction>(unary[type], operator, type);
}

/** The operation of a binary operator on operands of a type; the result has the same type. */
export function binaryOperation(operator: BinaryOperator, type: ValueType): BinaryFunction {
  return chosen<BinaryFunction>(binary[type], operator, type);
}

/** Whether a binary operator is defined on a type. */
export function hasBinaryOperation(operator: BinaryOperator, type: ValueType): boolean {
  return operator in binary[type];
}

/** Whether a unary operator is defined on a type. */
export function hasUnaryOperation(operator: UnaryOperator, type: ValueType): boolean {
  return operator in unary[type];
}

/** The operation of a comparison; its operands have one type, whichever. */
export function compareOperation(operator: CompareOperator): CompareFunction {
  return compare[operator];
}

function chosen<F>(table: object, operator: string, type: ValueType): F {
  const operation = (table as Record<string, F | undefined>)[operator];
  if (operation === undefined) throw new TypeError(`${operator} is not defined on ${type}`);
  return operation;
}

const identity: UnaryFunction = (a) => a;

/** The conversion of a value of one type to another, or with a format of the bits of a half to its value or back. */
export function convertOperation(from: ValueType, to: ValueType, format?: ConversionFormat): UnaryFunction {
  if (format === 'bits') return bitsOperation(from, to);
  if (format !== undefined) {
    return to === 'f32'
      ? (a) => decodeHalf(format, (a as number) & 0xffff)
      : (a) => encodeHalf(format, a as number);
  }
  if (from === to) return identity;
  if (to === 'bool') return (a) => Boolean(a);
  if (from === 'bool') {
    return to === 'i64' || to === 'u64' ? (a) => (a ? 1n : 0n) : (a) => (a ? 1 : 0);
  }
  return from === 'i64' || from === 'u64' ? fromBigInt(to) : fromNumber(to);
}

function fromBigInt(to: Exclude<ValueType, 'bool'>): UnaryFunction {
  switch (to) {
    case 'i32':
      return (a) => Number(BigInt.asIntN(32, a as bigint));
    case 'u32':
      return (a) => Number(BigInt.asUintN(32, a as bigint));
    case 'i64':
      return (a) => signed(a as bigint);
    case 'u64':
      return (a) => unsigned(a as bigint);
    case 'f32':
      return (a) => nearestFloat(a as bigint);
    case 'f64':
      return (a) => Number(a);
    default:
      return to satisfies never;
  }
}

function fromNumber(to: Exclude<ValueType, 'bool'>): UnaryFunction {
  switch (to) {
    case 'i32':
      return (a) => (a as number) | 0;
    case 'u32':
      return (a) => (a as number) >>> 0;
    case 'i64':
      return (a) => (Number.isFinite(a) ? signed(BigInt(Math.trunc(a as number))) : 0n);
    case 'u64':
      return (a) => (Number.isFinite(a) ? unsigned(BigInt(Math.trunc(a as number))) : 0n);
    case 'f32':
      return (a) => fround(a as number);
    case 'f64':
      return identity;
    default:
      return to satisfies never;
  }
}

/**
 * The f32 nearest to a 64-bit integer. Going through the nearest f64 would round twice; so the low
 * bits, which f64 cannot hold, are first folded into one that only says whether they were zero.
 */
function nearestFloat(a: bigint): number {
  const low = a & 2047n;
  return fround(Number(low === 0n || (a < 1n << 53n && a > -(1n << 53n)) ? a : (a - low) | 2048n));
}

/** A function on operands of type f32 or f64: computed in f64, then rounded to the type. */
export function mathOperation(name: MathFunction, type: 'f32' | 'f64'): (...operands: number[]) => number {
  const exact: (...operands: number[]) => number = mathFunctions[name];
  return type === 'f64' ? exact : (...operands) => fround(exact(...operands));
}

/** What an atomic operation makes of the old element; `compared` is `cas`'s alone. */
export type AtomicFunction = (old: Value, value: Value, compared: Value) => Value;

/** The read-modify-write of an atomic operator on elements of a type. */
export function atomicOperation(operator: AtomicOperator, type: ValueType): AtomicFunction {
  if (operator === 'exch' || operator === 'store') return (_old, value) => value;
  if (operator === 'load') return (old) => old;
  if (operator === 'inc') return (old, limit) => (Number(old) >= Number(limit) ? 0 : Number(old) + 1);
  if (operator === 'dec')
    return (old, limit) => (Number(old) === 0 || Number(old) > Number(limit) ? limit : Number(old) - 1);
  // Compared by bits, as the hardware does; on integers that is equality.
  if (operator === 'cas') return (old, value, compared) => (Object.is(old, compared) ? value : old);
  return binaryOperation(operator === 'sub' ? 'subtract' : operator, type);
}

/** The zero of a type: what a variable holds before it is assigned. */
export function zeroOf(type: ValueType): Value {
  return type === 'bool' ? false : type === 'i64' || type === 'u64' ? 0n : 0;
}

/** The value of a type that has the bits of one of another type. */
function bitsOperation(from: ValueType, to: ValueType): UnaryFunction {
  return (value) => {
    seenAs[from as keyof typeof seenAs][0] = value as never;
    return seenAs[to as keyof typeof seenAs][0]!;
  };
}

const eightBytes = new ArrayBuffer(8);
const seenAs = {
  i32: new Int32Array(eightBytes),
  u32: new Uint32Array(eightBytes),
  f32: new Float32Array(eightBytes),
  i64: new BigInt64Array(eightBytes),
  u64: new BigUint64Array(eightBytes),
  f64: new Float64Array(eightBytes),
} as const;
