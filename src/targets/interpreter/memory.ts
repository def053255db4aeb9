// Memory as the threads see it: arrays, and the one place where a thread reads or writes an element.
//
// Shared and local arrays start poisoned with a pattern that is easy to recognise and wrong
// almost everywhere (as f32 it is 3.39e38), so that an element that is read before it was
// written shows in the result.

import { type AtomicFunction, type Value, zeroOf } from '../../compiler/arithmetic.ts';
import { elementValueType, type ValueType } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import { bytesOf, isNumberElement, layoutOf } from '../../kernel/layout.ts';
import {
  type Element,
  hostArrays,
  type NumberElement,
  numberBytes,
  type TypedArray,
} from '../../kernel/types.ts';
import { type Culprit, outOfRange } from './fault.ts';

/** The pattern of memory that was never written, as a 32-bit word. */
export const poison = 0x7f7fdead;

/** An array of the program, in memory. */
export interface Elements {
  readonly name: string;
  readonly element: Element;
  /** Elements. */
  readonly length: number;
  /** The numbers that an element is made of. */
  readonly parts: readonly PartArray[];
  /** The array as the program declares it, where this is one that is seen as other elements; else itself. */
  readonly whole: Elements;
  readonly views: Map<Element, Elements>;
  /** All of its memory. */
  readonly bytes: Uint8Array;
  /** Of an array of integers or floats of 32 or 64 bits, the same as integers: what atomics move. */
  readonly bits: BitArray | null;
}

/** A number of each element. */
export interface PartArray {
  /** It is the first of these, and from one element to the next lie so many. */
  readonly values: TypedArray;
  readonly stride: number;
  readonly element: NumberElement;
  /** Bytes from the element's beginning. */
  readonly offset: number;
}

export type BitArray = Int32Array | BigInt64Array;

export function elementsAt(
  name: string,
  element: Element,
  buffer: ArrayBufferLike,
  address: number,
  length: number,
  seenOf: Elements | null = null,
): Elements {
  const { bytes, parts } = layoutOf(element);
  const end = address + length * bytes;
  const made: Omit<Elements, 'whole'> & { whole: Elements | null } = {
    name,
    element,
    length,
    whole: seenOf,
    views: new Map(),
    parts: parts.map((part) => {
      const size = numberBytes[part.element];
      const begin = address + part.offset;
      const Values: new (buffer: ArrayBufferLike, begin: number, length: number) => TypedArray =
        hostArrays[part.element];
      const values = new Values(buffer, begin, Math.max(Math.floor((end - begin) / size), 0));
      return { values, stride: bytes / size, element: part.element, offset: part.offset };
    }),
    bytes: new Uint8Array(buffer, address, length * bytes),
    bits: bitsAt(element, buffer, address, length),
  };
  made.whole ??= made as Elements;
  return made as Elements;
}

/** An array seen as elements of another type. */
export function viewOf(array: Elements, element: Element): Elements {
  const known = array.views.get(element);
  if (known !== undefined) return known;
  const { buffer, byteOffset, byteLength } = array.bytes;
  const length = Math.floor(byteLength / bytesOf(element));
  const made = elementsAt(array.name, element, buffer, byteOffset, length, array);
  array.views.set(element, made);
  return made;
}

function bitsAt(element: Element, buffer: ArrayBufferLike, address: number, length: number): BitArray | null {
  if (!isNumberElement(element)) return null;
  if (numberBytes[element] === 8) return new BigInt64Array(buffer, address, length);
  return numberBytes[element] === 4 ? new Int32Array(buffer, address, length) : null;
}

/** The size of an element of an array. */
export function elementSize({ parts: [first] }: Elements): number {
  return first!.stride * first!.values.BYTES_PER_ELEMENT;
}

/** Fills bytes, from a multiple of 4 on, with the poison. */
export function poisonBytes(buffer: ArrayBufferLike, address: number, byteLength: number): void {
  new Uint32Array(buffer, address, Math.floor(byteLength / 4)).fill(poison);
}

/** Reads an element, or the component of one. */
export function readElement(
  thread: Culprit,
  array: Elements,
  index: number,
  component: number,
  range: Range,
): Value {
  const { values, stride } = array.parts[component]!;
  const value = values[index * stride];
  if (value === undefined) throw outside(thread, array, index, range, 'read');
  return value;
}

/** Writes an element, or the component of one. */
export function writeElement(
  thread: Culprit,
  array: Elements,
  index: number,
  component: number,
  value: Value,
  range: Range,
): void {
  if (!(index >= 0 && index < array.length)) throw outside(thread, array, index, range, 'write');
  // A bigint array takes bigints and every other numbers, as the value's type has been made to be.
  const { values, stride } = array.parts[component]!;
  (values as Record<number, Value>)[index * stride] = value;
}

/**
 * Replaces an element of 4 or 8 bytes by what `update` makes of it, in one step for all threads of all
 * blocks; gives the old one.
 */
export function updateElement(
  thread: Culprit,
  array: Elements,
  index: number,
  update: AtomicFunction,
  value: Value,
  compared: Value | null,
  range: Range,
): Value {
  if (!(index >= 0 && index < array.length)) throw outside(thread, array, index, range, 'write');
  const { bits, element } = array;
  const type = elementValueType(element);
  const comparand = compared ?? zeroOf(type);
  const after = (old: Value) => update(old, value, comparand);
  if (bits instanceof BigInt64Array) return exchangeWide(bits, index, type, after);
  if (bits instanceof Int32Array) return exchangeNarrow(bits, index, type, after);
  throw new TypeError(`atomics on ${element} are not defined`);
}

function exchangeNarrow(
  bits: Int32Array,
  index: number,
  type: ValueType,
  after: (old: Value) => Value,
): Value {
  for (;;) {
    const before = Atomics.load(bits, index);
    exchange.setInt32(0, before);
    const old =
      type === 'f32' ? exchange.getFloat32(0) : type === 'u32' ? exchange.getUint32(0) : exchange.getInt32(0);
    const next = after(old) as number;
    if (type === 'f32') exchange.setFloat32(0, next);
    else exchange.setInt32(0, next);
    if (Atomics.compareExchange(bits, index, before, exchange.getInt32(0)) === before) return old;
  }
}

function exchangeWide(
  bits: BigInt64Array,
  index: number,
  type: ValueType,
  after: (old: Value) => Value,
): Value {
  for (;;) {
    const before = Atomics.load(bits, index);
    exchange.setBigInt64(0, before);
    const old =
      type === 'f64'
        ? exchange.getFloat64(0)
        : type === 'u64'
          ? exchange.getBigUint64(0)
          : exchange.getBigInt64(0);
    const next = after(old);
    if (type === 'f64') exchange.setFloat64(0, next as number);
    else exchange.setBigInt64(0, next as bigint);
    if (Atomics.compareExchange(bits, index, before, exchange.getBigInt64(0)) === before) return old;
  }
}

const exchange = new DataView(new ArrayBuffer(8));

function outside(
  thread: Culprit,
  { name, length }: Elements,
  index: number,
  range: Range,
  access: 'read' | 'write',
) {
  return outOfRange(thread, { range, array: name, access, index, count: 1, length });
}
