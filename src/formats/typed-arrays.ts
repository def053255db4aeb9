// Typed arrays of whatever elements. TypeScript cannot see that two arrays of one job hold the
// same kind of number, bigints or not; this is the one place that says so.

import type { TypedArray } from '../kernel/types.ts';
import { type ElementType, hostArrays } from '../kernel/types.ts';

/** A value of an element: a bigint in arrays of 64-bit integers. */
export type ElementValue = number | bigint;

/** The array as one of numbers; the other kind behaves alike, with bigints. */
function asNumbers(array: TypedArray): Float64Array {
  return array as Float64Array;
}

export function newArray(element: ElementType, length: number): TypedArray {
  const Constructor: new (length: number) => TypedArray = hostArrays[element];
  return new Constructor(length);
}

/** The elements in a part of a buffer. */
export function viewElements(
  element: ElementType,
  buffer: ArrayBufferLike,
  offset: number,
  length: number,
): TypedArray {
  const Constructor: new (buffer: ArrayBufferLike, offset: number, length: number) => TypedArray =
    hostArrays[element];
  return new Constructor(buffer, offset, length);
}

/** Copies elements to a position of an array that has the same type. */
export function setElements(into: TypedArray, from: TypedArray, position = 0): void {
  asNumbers(into).set(asNumbers(from), position);
}

/** Fills elements with a value, which may be a number whatever the array. */
export function fillElements(array: TypedArray, value: ElementValue, begin?: number, end?: number): void {
  if (isWide(array)) array.fill(BigInt(value), begin, end);
  else asNumbers(array).fill(Number(value), begin, end);
}

/** Stores a value that has the array's kind. */
export function setElement(array: TypedArray, position: number, value: ElementValue): void {
  if (isWide(array)) array[position] = BigInt(value);
  else array[position] = Number(value);
}

/** Whether the elements are bigints. */
export function isWide(array: TypedArray): array is BigInt64Array | BigUint64Array {
  return array instanceof BigInt64Array || array instanceof BigUint64Array;
}
