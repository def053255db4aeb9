// Records: types of elements with named fields, laid out as C lays out a struct.
//
// A record's type is a value that the schema names: kernels take arrays of it, and the host turns objects into its
// bytes and back. `struct()` is read when it is made; its layout never depends on the device.

import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import { decodeHalf, encodeHalf } from './half.ts';
import { layoutOf, type Part, recordOf } from './layout.ts';
import { elementCalled } from './other-names.ts';
import { isStruct, scalarProblem } from './parameters.ts';
import type { ElementValues } from './schema.ts';
import {
  componentNames,
  type Element,
  type ElementType,
  elementsInWords,
  hostArrays,
  isElementType,
  isRecordType,
  isVectorType,
  type NumberElement,
  type RecordType,
  type TypedArray,
  vectorTypes,
} from './types.ts';

/** The fields of a record: element types, and records. */
export interface StructFields {
  readonly [name: string]: ElementType | Struct;
}

declare const fieldsOfRecord: unique symbol;

/** The element type of an array of records with these fields. */
export type RecordOf<F extends StructFields> = RecordType & { readonly [fieldsOfRecord]: F };

/** What a kernel and the host see of a field. */
export type FieldValue<T> =
  T extends Struct<infer F> ? RecordValue<F> : T extends ElementType ? ElementValues[T] : never;

/** What a kernel and the host see of a record: an object of its fields. */
export type RecordValue<F extends StructFields> = { -readonly [K in keyof F]: FieldValue<F[K]> };

/** Arrays of records, as entries of a schema. */
export interface StructArray<F extends StructFields = StructFields, W extends boolean = boolean> {
  readonly kind: 'structArray';
  readonly struct: Struct<F>;
  readonly readonly: W extends true ? false : boolean;
}

/** A type of records. Made by `struct()`. */
export interface Struct<F extends StructFields = StructFields> {
  readonly kind: 'struct';
  readonly fields: F;
  /** What arrays of it are made of: `device.alloc(node.element, n)` is `device.alloc(node, n)`. */
  readonly element: RecordOf<F>;
  /** Bytes of one, padding included. CUDA: `sizeof(T)`. */
  readonly bytes: number;
  /** What its address is a multiple of. CUDA: `alignof(T)`. */
  readonly alignment: number;
  /** An array of it in a schema: `{ nodes: node.array }`. */
  readonly array: StructArray<F, true>;
  /** An array that is only read: `{ nodes: node.readonlyArray }`. */
  readonly readonlyArray: StructArray<F, false>;
  /** Records as bytes, for a copy to a device. Throws WS2001 for a value that a field does not hold. */
  pack(records: readonly RecordValue<F>[]): Uint8Array;
  /** The records that bytes are. */
  unpack(bytes: Uint8Array): RecordValue<F>[];
  /**
   * One field of all records, as a typed array: a copy, of a vector its components. The path names a field of a
   * nested record: `'box.low'`.
   */
  column(bytes: Uint8Array, path: string): TypedArray;
  /** Puts values into one field of all records. */
  setColumn(bytes: Uint8Array, path: string, values: TypedArray): void;
}

/**
 * Makes a type of records, whose fields lie in memory as those of a C struct do.
 *
 * A kernel takes arrays of it by the schema, `nodes: node.array`, and the type itself, `node`, to make arrays of its
 * own: `cuda.sharedArray(node, 64)`. `nodes[i].start` reads a field, `nodes[i].start = 1` writes it, and
 * `nodes[i] = nodes[j]` all of them. An element that a name stands for is a copy.
 *
 * @example
 * const node = struct({ start: 'i32', count: 'i32' });
 * const degrees = kernel({ nodes: node.readonlyArray, out: 'i32[]' }, ({ nodes, out }, cuda) => {
 *   const i = cuda.thisGrid().threadRank();
 *   if (i < out.length) out[i] = nodes[i]!.count;
 * });
 * const nodes = device.alloc(node, 2);
 * stream.memcpyAsync(nodes, node.pack([{ start: 0, count: 3 }, { start: 3, count: 1 }]));
 *
 * @throws WarpstageError WS1010 for a field that is no element type and no record
 * @see CUDA C++: `struct Node { int start; int count; };`
 */
export function struct<const F extends StructFields>(fields: F): Struct<F> {
  const own = Object.freeze({ ...fields });
  const element = recordOf(readFields(own)) as RecordOf<F>;
  const { bytes, alignment, parts } = layoutOf(element);
  const whole = (given: Uint8Array) => {
    if (given instanceof Uint8Array && given.byteLength % bytes === 0) return given.byteLength / bytes;
    throw new WarpstageError({
      code: 'WS2001',
      message: `records of ${bytes} bytes are read from ${given instanceof Uint8Array ? `${given.byteLength} bytes` : String(given)}`,
      hint: 'give the bytes of whole records: those of pack(), or of a copy from the device',
    });
  };
  const made: Struct<F> = {
    kind: 'struct',
    fields: own,
    element,
    bytes,
    alignment,
    get array() {
      return { kind: 'structArray', struct: made, readonly: false } as const;
    },
    get readonlyArray() {
      return { kind: 'structArray', struct: made, readonly: true } as const;
    },
    pack(records) {
      const packed = new Uint8Array(records.length * bytes);
      const view = new DataView(packed.buffer);
      for (const [i, record] of records.entries()) {
        for (const part of parts) writePart(view, i * bytes, part, record, i);
      }
      return packed;
    },
    unpack(given) {
      const view = new DataView(given.buffer, given.byteOffset, given.byteLength);
      return Array.from({ length: whole(given) }, (_, i) =>
        valueAt(view, i * bytes, element),
      ) as RecordValue<F>[];
    },
    column(given, path) {
      const chosen = partsAt(element, path);
      const count = whole(given);
      const values = new hostArrays[chosen[0]!.element](
        new ArrayBuffer(count * chosen.length * widthOf(chosen[0]!)),
      );
      eachNumber(given, bytes, chosen, values, (at, part, i, byte) => {
        at.set(given.subarray(byte, byte + widthOf(part)), i * widthOf(part));
      });
      return values;
    },
    setColumn(given, path, values) {
      const chosen = partsAt(element, path);
      const numbers = whole(given) * chosen.length;
      if (!(values instanceof hostArrays[chosen[0]!.element]) || values.length !== numbers) {
        throw new WarpstageError({
          code: 'WS2001',
          message: `column '${path}' takes a ${hostArrays[chosen[0]!.element].name} of ${numbers} numbers`,
        });
      }
      eachNumber(given, bytes, chosen, values, (from, part, i, byte) => {
        given.set(from.subarray(i * widthOf(part), (i + 1) * widthOf(part)), byte);
      });
    },
  };
  return Object.freeze(made);
}

function readFields(fields: StructFields): [string, Element][] {
  const issues: Issue[] = [];
  const read = Object.entries(fields).map(([name, type]): [string, Element] => {
    if (!/^[A-Za-z_$][\w$]*$/.test(name)) {
      issues.push({
        code: 'WS1010',
        message: `a field cannot be called '${name}'`,
        hint: 'name it as a variable',
      });
    }
    if (isStruct(type)) return [name, type.element];
    if (typeof type === 'string' && isElementType(type)) return [name, type];
    const meant = elementCalled(String(type));
    issues.push({
      code: 'WS1010',
      message: `field '${name}' has the type '${String(type)}', which does not exist`,
      hint:
        meant === undefined
          ? `a field is ${elementsInWords}, or made by struct()`
          : `did you mean '${meant}'?`,
    });
    return [name, 'i32'];
  });
  if (read.length === 0) {
    issues.push({
      code: 'WS1010',
      message: 'a record without fields',
      hint: "name one: struct({ start: 'i32' })",
    });
  }
  if (issues.length > 0) throw new WarpstageError(issues);
  return read;
}

const widthOf = ({ element }: Part) => hostArrays[element].BYTES_PER_ELEMENT;

/** The numbers that a path names, which are one after the other and of one type. */
function partsAt(record: Element, path: string): readonly Part[] {
  const chosen = layoutOf(record).parts.filter(({ name }) => name === path || name.startsWith(`${path}.`));
  if (chosen.length > 0 && chosen.every(({ element }) => element === chosen[0]!.element)) return chosen;
  throw new WarpstageError({
    code: 'WS2001',
    message:
      chosen.length === 0
        ? `there is no field '${path}'`
        : `'${path}' is no column: its numbers have several types`,
    hint: `its numbers are ${layoutOf(record)
      .parts.map(({ name }) => name)
      .join(', ')}`,
  });
}

function eachNumber(
  given: Uint8Array,
  bytes: number,
  parts: readonly Part[],
  values: TypedArray,
  use: (numbers: Uint8Array, part: Part, position: number, byte: number) => void,
): void {
  const numbers = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  for (let i = 0; i * bytes < given.byteLength; i += 1) {
    for (const [at, part] of parts.entries())
      use(numbers, part, i * parts.length + at, i * bytes + part.offset);
  }
}

function writePart(
  view: DataView,
  begin: number,
  { name, element, offset }: Part,
  record: unknown,
  i: number,
): void {
  let value: unknown = record;
  for (const step of name.split('.')) value = (value as Record<string, unknown> | undefined | null)?.[step];
  const problem = value === undefined ? 'is missing' : scalarProblem(element, value);
  if (problem !== null)
    throw new WarpstageError({ code: 'WS2001', message: `'${name}' of record ${i} ${problem}` });
  writers[element](view, begin + offset, value as never);
}

type Access<T> = (view: DataView, at: number, value: T) => void;

const writers: { readonly [N in NumberElement]: Access<never> } = {
  i8: (view, at, value) => view.setInt8(at, value),
  u8: (view, at, value) => view.setUint8(at, value),
  i16: (view, at, value) => view.setInt16(at, value, true),
  u16: (view, at, value) => view.setUint16(at, value, true),
  i32: (view, at, value) => view.setInt32(at, value, true),
  u32: (view, at, value) => view.setUint32(at, value, true),
  i64: (view, at, value) => view.setBigInt64(at, value, true),
  u64: (view, at, value) => view.setBigUint64(at, value, true),
  f16: (view, at, value) => view.setUint16(at, encodeHalf('f16', value), true),
  bf16: (view, at, value) => view.setUint16(at, encodeHalf('bf16', value), true),
  f32: (view, at, value) => view.setFloat32(at, value, true),
  f64: (view, at, value) => view.setFloat64(at, value, true),
};

const readers: { readonly [N in NumberElement]: (view: DataView, at: number) => number | bigint } = {
  i8: (view, at) => view.getInt8(at),
  u8: (view, at) => view.getUint8(at),
  i16: (view, at) => view.getInt16(at, true),
  u16: (view, at) => view.getUint16(at, true),
  i32: (view, at) => view.getInt32(at, true),
  u32: (view, at) => view.getUint32(at, true),
  i64: (view, at) => view.getBigInt64(at, true),
  u64: (view, at) => view.getBigUint64(at, true),
  f16: (view, at) => decodeHalf('f16', view.getUint16(at, true)),
  bf16: (view, at) => decodeHalf('bf16', view.getUint16(at, true)),
  f32: (view, at) => view.getFloat32(at, true),
  f64: (view, at) => view.getFloat64(at, true),
};

function valueAt(view: DataView, at: number, element: Element): unknown {
  if (isRecordType(element)) {
    return Object.fromEntries(
      layoutOf(element).fields.map((field) => [field.name, valueAt(view, at + field.offset, field.element)]),
    );
  }
  if (!isVectorType(element)) return readers[element](view, at);
  const { parts } = layoutOf(element);
  return Object.fromEntries(
    componentNames
      .slice(0, vectorTypes[element].components)
      .map((name, i) => [name, valueAt(view, at + parts[i]!.offset, parts[i]!.element)]),
  );
}
