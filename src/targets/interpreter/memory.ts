// Memory as the threads see it: arrays, and the one place where a thread reads or writes an element.
//
// Shared and local arrays start poisoned with a pattern that is easy to recognise and wrong
// almost everywhere (as f32 it is 3.39e38), so that an element that is read before it was
// written shows in the result.

import { type AtomicFunction, type Value, zeroOf } from '../../compiler/arithmetic.ts';
import { elementValueType } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import { type ElementType, elementBytes, type HostArrays, hostArrays } from '../../kernel/types.ts';
import { type Culprit, outOfRange } from './fault.ts';

/** The pattern of memory that was never written, as a 32-bit word. */
export const poison = 0x7f7fdead;

/** An array of the program, in memory. */
export interface Elements {
  readonly name: string;
  readonly element: ElementType;
  readonly values: HostArrays[ElementType];
  /** The same memory as integers of the element's width: what copies and atomics move. */
  readonly bits: BitArray;
}

export type BitArray = Uint8Array | Uint16Array | Int32Array | BigInt64Array;

export function elementsAt(
  name: string,
  element: ElementType,
  buffer: ArrayBufferLike,
  address: number,
  length: number,
): Elements {
  const Values: ViewConstructor<HostArrays[ElementType]> = hostArrays[element];
  const Bits: ViewConstructor<BitArray> = bitArrays[elementBytes[element]];
  return {
    name,
    element,
    values: new Values(buffer, address, length),
    bits: new Bits(buffer, address, length),
  };
}

type ViewConstructor<T> = new (buffer: ArrayBufferLike, address: number, length: number) => T;

const bitArrays = { 1: Uint8Array, 2: Uint16Array, 4: Int32Array, 8: BigInt64Array } as const;

/** Fills bytes, from a multiple of 4 on, with the poison. */
export function poisonBytes(buffer: ArrayBufferLike, address: number, byteLength: number): void {
  new Uint32Array(buffer, address, Math.floor(byteLength / 4)).fill(poison);
}

export function readElement(thread: Culprit, array: Elements, index: number, range: Range): number {
  const value = array.values[index];
  if (value === undefined) throw outside(thread, array, index, range, 'read');
  return value;
}

export function writeElement(
  thread: Culprit,
  array: Elements,
  index: number,
  value: number,
  range: Range,
): void {
  if (!(index >= 0 && index < array.values.length)) throw outside(thread, array, index, range, 'write');
  array.values[index] = value;
}

/**
 * Replaces an element of 4 bytes by what `update` makes of it, in one step for all threads of all blocks;
 * gives the old one.
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
  if (!(index >= 0 && index < array.values.length)) throw outside(thread, array, index, range, 'write');
  const { bits, element } = array;
  if (!(bits instanceof Int32Array)) throw new TypeError(`atomics on ${element} are not defined`);
  const comparand = compared ?? zeroOf(elementValueType(element));
  for (;;) {
    const before = Atomics.load(bits, index);
    const old = fromBits(before, element);
    const after = toBits(update(old, value, comparand) as number, element);
    if (Atomics.compareExchange(bits, index, before, after) === before) return old;
  }
}

const exchange = new DataView(new ArrayBuffer(4));

function fromBits(bits: number, element: ElementType): number {
  if (element === 'i32') return bits;
  if (element === 'u32') return bits >>> 0;
  exchange.setInt32(0, bits);
  return exchange.getFloat32(0);
}

function toBits(value: number, element: ElementType): number {
  if (element !== 'f32') return value | 0;
  exchange.setFloat32(0, value);
  return exchange.getInt32(0);
}

function outside(thread: Culprit, array: Elements, index: number, range: Range, access: 'read' | 'write') {
  return outOfRange(thread, {
    range,
    array: array.name,
    access,
    index,
    count: 1,
    length: array.values.length,
  });
}
