// Memory as a kernel's text sees it, in plain JavaScript: arrays of numbers, vectors and records that lie in bytes, seen
// as other elements, as parts, or with a shape.
//
// Reading a vector or record gives the place in memory, as C's `a[i]` does. Where a kernel copies, a text that
// runs here says `val(a[i])`; `inKernel` takes that away again.

import { decodeBF16, decodeF16, encodeBF16, encodeF16 } from 'warpstage';
import { layoutOf } from '#warpstage/kernel/layout.js';
import { type Element, isVectorType, type NumberElement, vectorTypes } from '#warpstage/kernel/types.js';

/** The text of a kernel, of one in which `val` marks the copies. */
export function inKernel(text: string): string {
  return text.replaceAll(/\bval\(/g, '(');
}

/** A number as an element of a type keeps it. */
export function kept(element: NumberElement, value: number | bigint): number | bigint {
  if (element === 'i64') return BigInt.asIntN(64, BigInt(value));
  if (element === 'u64') return BigInt.asUintN(64, BigInt(value));
  const number = Number(value);
  switch (element) {
    case 'i8':
      return (number << 24) >> 24;
    case 'u8':
      return number & 255;
    case 'i16':
      return (number << 16) >> 16;
    case 'u16':
      return number & 65535;
    case 'i32':
      return number | 0;
    case 'u32':
      return number >>> 0;
    case 'f16':
      return decodeF16(encodeF16([number]))[0]!;
    case 'bf16':
      return decodeBF16(encodeBF16([number]))[0]!;
    case 'f32':
      return Math.fround(number);
    default:
      return number;
  }
}

function read(view: DataView, at: number, element: NumberElement): number | bigint {
  switch (element) {
    case 'i8':
      return view.getInt8(at);
    case 'u8':
      return view.getUint8(at);
    case 'i16':
      return view.getInt16(at, true);
    case 'u16':
      return view.getUint16(at, true);
    case 'i32':
      return view.getInt32(at, true);
    case 'u32':
      return view.getUint32(at, true);
    case 'i64':
      return view.getBigInt64(at, true);
    case 'u64':
      return view.getBigUint64(at, true);
    case 'f16':
      return decodeF16(Uint16Array.of(view.getUint16(at, true)))[0]!;
    case 'bf16':
      return decodeBF16(Uint16Array.of(view.getUint16(at, true)))[0]!;
    case 'f32':
      return view.getFloat32(at, true);
    default:
      return view.getFloat64(at, true);
  }
}

function write(view: DataView, at: number, element: NumberElement, value: number | bigint): void {
  switch (element) {
    case 'i64':
      view.setBigInt64(at, BigInt(value), true);
      return;
    case 'u64':
      view.setBigUint64(at, BigInt(value), true);
      return;
    case 'f16':
      view.setUint16(at, encodeF16([Number(value)])[0]!, true);
      return;
    case 'bf16':
      view.setUint16(at, encodeBF16([Number(value)])[0]!, true);
      return;
    case 'f32':
      view.setFloat32(at, Number(value), true);
      return;
    case 'f64':
      view.setFloat64(at, Number(value), true);
      return;
    default: {
      const number = Number(value);
      if (/8/.test(element)) view.setUint8(at, number & 255);
      else if (/16/.test(element)) view.setUint16(at, number & 65535, true);
      else view.setUint32(at, number >>> 0, true);
    }
  }
}

type Value = number | bigint | Composite;
interface Composite {
  [member: string]: Value;
}

/** The members of vectors and records that are values, and the element of each. */
const elementOfValue = new WeakMap<object, Element>();

function membersOf(element: Element): readonly (readonly [name: string, element: Element, offset: number])[] {
  if (isVectorType(element)) {
    const { component } = vectorTypes[element];
    return layoutOf(element).parts.map(({ name, offset }) => [name, component, offset]);
  }
  return layoutOf(element).fields.map(({ name, element: of, offset }) => [name, of, offset]);
}

function isNumber(element: Element): element is NumberElement {
  return layoutOf(element).parts[0]!.name === '';
}

/** A place in memory: what it has is read and written there. */
function placeAt(view: DataView, at: number, element: Element): Value {
  if (isNumber(element)) return read(view, at, element);
  const place: Composite = {};
  elementOfValue.set(place, element);
  for (const [name, of, offset] of membersOf(element)) {
    Object.defineProperty(place, name, {
      enumerable: true,
      get: () => placeAt(view, at + offset, of),
      set: (value: Value) => assign(view, at + offset, of, value),
    });
  }
  return place;
}

function assign(view: DataView, at: number, element: Element, value: Value): void {
  if (isNumber(element)) {
    write(view, at, element, value as number);
    return;
  }
  const copy = val(value, element) as Composite;
  for (const [name, of, offset] of membersOf(element)) assign(view, at + offset, of, copy[name]!);
}

/** A copy of a value; its numbers are kept as those of its element are. */
export function val(value: Value, as?: Element): Value {
  if (typeof value !== 'object') return value;
  const element = as ?? elementOfValue.get(value);
  if (element === undefined)
    return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, val(of)]));
  const copy: Composite = {};
  elementOfValue.set(copy, element);
  for (const [name, of] of membersOf(element)) {
    let now = isNumber(of) ? kept(of, value[name] as number) : val(value[name]!, of);
    Object.defineProperty(copy, name, {
      enumerable: true,
      get: () => now,
      set: (next: Value) => {
        now = isNumber(of) ? kept(of, next as number) : val(next, of);
      },
    });
  }
  return copy;
}

/** A part of some bytes as elements. */
export class MemoryArray {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly element: Element;
  readonly length: number;
  [index: number]: Value;

  constructor(element: Element, bytes: Uint8Array<ArrayBuffer>) {
    const size = layoutOf(element).bytes;
    this.bytes = bytes;
    this.element = element;
    this.length = Math.floor(bytes.length / size);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const placeOf = (name: string | symbol) => {
      const index = typeof name === 'string' && /^-?\d+$/.test(name) ? Number(name) : null;
      if (index !== null && (index < 0 || index >= this.length)) throw new Error(`no element ${index}`);
      return index === null ? null : index * size;
    };
    // biome-ignore lint/correctness/noConstructorReturn: an array whose elements are read from its bytes
    return new Proxy(this, {
      get: (target, name) => {
        const at = placeOf(name);
        return at === null ? Reflect.get(target, name, target) : placeAt(view, at, element);
      },
      set: (_, name, value: Value) => {
        assign(view, placeOf(name)!, element, value);
        return true;
      },
    });
  }

  subarray(begin = 0, end = this.length): MemoryArray {
    const size = layoutOf(this.element).bytes;
    return new MemoryArray(this.element, this.bytes.subarray(begin * size, end * size));
  }

  as(element: Element | { readonly element: Element }): MemoryArray {
    return new MemoryArray(typeof element === 'object' ? element.element : element, this.bytes);
  }

  shaped(extents: readonly number[], pitch = extents.at(-1)!): unknown {
    const [extent, ...inner] = extents as [number, ...number[]];
    if (inner.length === 0) return this.subarray(0, extent);
    const step = inner.slice(0, -1).reduce((all, one) => all * one, 1) * pitch;
    return Array.from({ length: extent }, (_, i) => this.subarray(i * step).shaped(inner, pitch));
  }
}

type Numbers = readonly (number | bigint)[];

function vector(element: Element, numbers: Numbers): Value {
  const names = membersOf(element).map(([name]) => name);
  return val(Object.fromEntries(names.map((name, i) => [name, numbers[i]!])), element);
}

/** By components, as the element of `a` keeps them. */
function byComponents(a: Composite, b: Value, operation: (x: never, y: never) => number | bigint): Value {
  const element = elementOfValue.get(a)!;
  const numbers = membersOf(element).map(([name]) => {
    const other = typeof b === 'object' ? b[name] : b;
    return operation(a[name] as never, other as never);
  });
  return vector(element, numbers);
}

function changed(array: MemoryArray, index: number, next: (old: never) => number | bigint): Value {
  const old = array[index]!;
  array[index] = next(old as never);
  return old;
}

const update = (operation: (old: never, value: never) => number | bigint) => {
  return (array: MemoryArray, index: number, value: number | bigint) =>
    changed(array, index, (old) => operation(old, value as never));
};
type N = number;
const imul = (x: N | bigint, y: N | bigint): N | bigint =>
  typeof x === 'bigint'
    ? x * (y as bigint)
    : Number.isInteger(x) && Number.isInteger(y)
      ? Math.imul(x, y as N)
      : x * (y as N);

/** Those of the second parameter of a kernel that memory and its values need; threads run one after the other. */
export const memoryIntrinsics = {
  ...Object.fromEntries(
    Object.keys(vectorTypes).map((type) => [type, (...numbers: Numbers) => vector(type as Element, numbers)]),
  ),
  i32: (x: number | bigint) => (typeof x === 'bigint' ? Number(BigInt.asIntN(32, x)) : x | 0),
  u32: (x: number | bigint) => (typeof x === 'bigint' ? Number(BigInt.asUintN(32, x)) : x >>> 0),
  i64: (x: number | bigint) => BigInt.asIntN(64, BigInt(typeof x === 'bigint' ? x : Math.trunc(x))),
  u64: (x: number | bigint) => BigInt.asUintN(64, BigInt(typeof x === 'bigint' ? x : Math.trunc(x))),
  f32: (x: number) => Math.fround(x),
  f64: (x: number) => x,
  index: (x: number | bigint) => Number(x),
  add: (a: Composite, b: Value) => byComponents(a, b, (x: N, y: N) => x + y),
  subtract: (a: Composite, b: Value) => byComponents(a, b, (x: N, y: N) => x - y),
  multiply: (a: Composite, b: Value) => byComponents(a, b, imul),
  localArray: (element: Element | { readonly element: Element }, count: number) => {
    const of = typeof element === 'object' ? element.element : element;
    return new MemoryArray(of, new Uint8Array(count * layoutOf(of).bytes));
  },
  memcpyAsync: (_: unknown, to: MemoryArray, from: MemoryArray, count: number) => {
    const bytes = count * layoutOf(to.element).bytes;
    to.bytes.set(from.bytes.slice(0, bytes));
  },
  thisThread: () => null,
  syncthreads: () => {},
  makePipeline: () => ({
    producerAcquire: () => {},
    producerCommit: () => {},
    consumerWait: () => {},
    consumerRelease: () => {},
  }),
  atomicAdd: update((old: N, value: N) => old + value),
  atomicSub: update((old: N, value: N) => old - value),
  atomicMin: update((old, value) => [old, value].sort((a, b) => (a < b ? -1 : 1))[0]!),
  atomicMax: update((old, value) => [old, value].sort((a, b) => (a < b ? 1 : -1))[0]!),
  atomicAnd: update((old: N, value: N) => old & value),
  atomicOr: update((old: N, value: N) => old | value),
  atomicXor: update((old: N, value: N) => old ^ value),
  atomicExch: update((_, value) => value),
  atomicCAS: (array: MemoryArray, index: number, compare: number | bigint, value: number | bigint) =>
    changed(array, index, (old) => (old === compare ? value : old)),
} as const;
