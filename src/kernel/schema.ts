// The schema of a kernel: what its first parameter holds, spelt as TypeScript would spell it.
//
// The schema is the type: the parameter types of a kernel's body and of every launch are
// inferred from its strings.

import type { Index } from './cuda-arguments.ts';
import type { Pipeline } from './cuda-async.ts';
import type { Barrier, BarrierArray } from './cuda-barriers.ts';
import type { RecordOf, RecordValue, Struct, StructArray } from './struct.ts';
import type { Element, ElementType, NumberElement, ScalarType, VectorType } from './types.ts';

/** One entry of a schema. */
export type SchemaEntry =
  | `${ElementType}[]`
  | `readonly ${ElementType}[]`
  | `${ElementType}[][]`
  | `readonly ${ElementType}[][]`
  | `${ElementType}[][][]`
  | `readonly ${ElementType}[][][]`
  | ScalarType
  | VectorType
  | `constant ${ScalarType}`
  | `constant ${ScalarType} = ${string}`
  | StructArray
  | Struct
  | DeviceFunction<DeviceSchema, unknown>;

/** What a device function may take beside: handles, which live inside a kernel. */
export type HandleEntry = 'pipeline' | 'barrier' | 'barrier[]';

/**
 * An element of an array with its neighbours: of `x: 'f32[-1..2]'`, `x[0]` is the element itself, `x[-1]` the one
 * before it, `x[2]` the second after it. A device function is given one as a part of an array that begins at
 * the element.
 */
export type WindowEntry = `${ElementType}[${number}..${number}]`;

/** Parameter names and what they hold. */
export interface Schema {
  readonly [name: string]: SchemaEntry;
}

/** The same of a device function. */
export interface DeviceSchema {
  readonly [name: string]: SchemaEntry | HandleEntry | WindowEntry;
}

/** Two numbers, a value: what is assigned or passed is a copy. CUDA: `float2`, … */
export interface Vector2<T = number> {
  x: T;
  y: T;
}

/** Three numbers, a value: what is assigned or passed is a copy. CUDA: `float3`, … */
export interface Vector3<T = number> {
  x: T;
  y: T;
  z: T;
}

/** Four numbers, a value: what is assigned or passed is a copy. CUDA: `float4`, … */
export interface Vector4<T = number> {
  x: T;
  y: T;
  z: T;
  w: T;
}

/** What a kernel sees of a single number: a bigint of those of 64 bits. */
export type NumberValues = { [N in NumberElement]: N extends 'i64' | 'u64' ? bigint : number };

/** What a kernel sees of a vector. */
export type VectorValues = {
  [V in VectorType]: V extends `${infer C extends NumberElement}x${infer N}`
    ? { '2': Vector2<NumberValues[C]>; '3': Vector3<NumberValues[C]>; '4': Vector4<NumberValues[C]> }[N &
        ('2' | '3' | '4')]
    : never;
};

/** What a kernel sees of an element: a number, a bigint or a vector. */
export interface ElementValues extends NumberValues, VectorValues {}

/** What a kernel sees of an element of an array, which may be a record. */
export type ElementValue<E extends Element> = E extends ElementType
  ? ElementValues[E]
  : E extends RecordOf<infer F>
    ? RecordValue<F>
    : never;

/** What a kernel sees of a type: a number, a bigint, a boolean or a vector. */
export type ValueOf<T> = T extends ElementType ? ElementValues[T] : T extends 'bool' ? boolean : number;

declare const element: unique symbol;
declare const writable: unique symbol;

/** The extents of two or three dimensions, from the outermost: `[rows, columns]`. Each is an integer, of at least 1. */
export type Shape = readonly [Index, Index] | readonly [Index, Index, Index];

/** The rows of an array of several dimensions. A row is what an index gives; none can be assigned as a whole. */
export interface Rows<Row> {
  /** How many rows there are. */
  readonly length: number;
  readonly [index: number]: Row;
}

/** An array of several dimensions: `a[y]![x]`, `a[z]![y]![x]`. Each index is checked against its own extent. */
export type Shaped<Row, S extends Shape> = S extends readonly [Index, Index] ? Rows<Row> : Rows<Rows<Row>>;

/**
 * An array as a kernel sees it, of the element type that its schema names: `KernelArray<'u8'>`. It behaves like a
 * typed array; positions are counted in elements. Without a name it is one whose elements are seen as `number`.
 */
export interface KernelArray<E extends Element = Exclude<NumberElement, 'i64' | 'u64'>> {
  /** The number of elements. CUDA: `std::span::size()`. */
  readonly length: number;
  [index: number]: ElementValue<E>;
  /** The part of the array from `begin`. Accesses are checked against the whole array. CUDA: `array + begin`. */
  subarray(begin?: Index, end?: Index): KernelArray<E>;
  /**
   * The array as one of two or three dimensions, whose rows begin `pitch` elements from each other; by default as
   * many as a row has. CUDA: `reinterpret_cast<T (*)[columns]>(array)`.
   *
   * @example
   * const image = pixels.shaped([height, width]);
   * const above = y > 0 ? image[y - 1]![x]! : 0;
   */
  shaped<const S extends Shape>(shape: S, pitch?: Index): Shaped<KernelArray<E>, S>;
  /**
   * The same memory as elements of another type: a vector of its elements, another number of the same bits, a record.
   * Positions count the new elements. Where it begins must be a multiple of their size, and where the array itself
   * begins one of their alignment; else the launch ends with an error. CUDA: `reinterpret_cast<T*>(array)`.
   *
   * @example
   * const four = x.as('f32x4');
   * const v = four[i]!;
   */
  as<const A extends Element>(element: A): KernelArray<A>;
  /** These keep arrays of different elements apart, and those that are only read; no kernel has them. */
  readonly [element]: E;
  readonly [writable]: true;
}

/** An array that a kernel only reads: `ReadonlyKernelArray<'u8'>`. */
export interface ReadonlyKernelArray<E extends Element = Exclude<NumberElement, 'i64' | 'u64'>> {
  readonly length: number;
  readonly [index: number]: ElementValue<E>;
  /** The part of the array from `begin`. Accesses are checked against the whole array. */
  subarray(begin?: Index, end?: Index): ReadonlyKernelArray<E>;
  /** The array as one of two or three dimensions, whose rows begin `pitch` elements from each other. */
  shaped<const S extends Shape>(shape: S, pitch?: Index): Shaped<ReadonlyKernelArray<E>, S>;
  /** The same memory as elements of another type. */
  as<const A extends Element>(element: A): ReadonlyKernelArray<A>;
  readonly [element]: E;
}

/** The type of one entry inside a body. */
export type EntryValue<T> =
  T extends DeviceFunction<infer S, infer R>
    ? (args: DeviceFunctionArguments<S>) => R
    : T extends StructArray<infer F, infer W>
      ? W extends true
        ? KernelArray<RecordOf<F>>
        : ReadonlyKernelArray<RecordOf<F>>
      : T extends Struct<infer F>
        ? RecordOf<F>
        : T extends `readonly ${infer E extends ElementType}[]`
          ? ReadonlyKernelArray<E>
          : T extends `${infer E extends ElementType}[]`
            ? KernelArray<E>
            : T extends `constant ${infer C} = ${string}`
              ? ValueOf<C>
              : T extends `constant ${infer C}`
                ? ValueOf<C>
                : T extends HandleEntry
                  ? Handles[T]
                  : T extends `${infer E extends ElementType}[${number}..${number}]`
                    ? ReadonlyKernelArray<E>
                    : T extends `${string}[][]`
                      ? RowsOf<T>
                      : ValueOf<T>;

/** The array of a parameter of two or three dimensions. */
export type RowsOf<T> = T extends `readonly ${infer E extends ElementType}[][]`
  ? Rows<ReadonlyKernelArray<E>>
  : T extends `${infer E extends ElementType}[][]`
    ? Rows<KernelArray<E>>
    : T extends `readonly ${infer E extends ElementType}[][][]`
      ? Rows<Rows<ReadonlyKernelArray<E>>>
      : T extends `${infer E extends ElementType}[][][]`
        ? Rows<Rows<KernelArray<E>>>
        : never;

export interface Handles {
  readonly pipeline: Pipeline;
  readonly barrier: Barrier;
  readonly 'barrier[]': BarrierArray;
}

/** The first parameter of a body. */
export type BodyData<S extends DeviceSchema> = { readonly [K in keyof S]: EntryValue<S[K]> };

/** Names of the entries that may be left out where they are given: defaults and device functions. */
export type OptionalNames<S extends DeviceSchema> = {
  [K in keyof S]: S[K] extends
    | `constant ${ScalarType} = ${string}`
    | DeviceFunction<DeviceSchema, unknown>
    | Struct
    ? K
    : never;
}[keyof S];

/** What a call of a device function passes. */
export type DeviceFunctionArguments<S extends DeviceSchema> = {
  readonly [K in Exclude<keyof S, OptionalNames<S>>]: EntryValue<S[K]>;
} & { readonly [K in OptionalNames<S>]?: EntryValue<S[K]> };

/** The element types that a function's result is stored as: of a single value, or of the members of an object. */
export type ResultTypes = NumberElement | { readonly [name: string]: NumberElement };

/** A function that kernels call. Made by `deviceFunction()`. */
export interface DeviceFunction<S extends DeviceSchema = DeviceSchema, R = unknown> {
  readonly kind: 'deviceFunction';
  readonly schema: S;
  /** The body's own text is what is compiled; calling it on the host is not meant. */
  readonly body: (data: never, cuda: never) => R;
  /** What its results are stored as, of the function of a row. */
  readonly results?: ResultTypes;
}
