// The words for data that every room shares: element types of arrays, and their host arrays.
//
// An element is a number, a vector of 2 to 4 numbers of one type side by side, or a record of named
// fields. What a kernel computes with is in the compiler's hands (compiler/number-types.ts); how an
// element lies in memory is said by layout.ts. Here are their names, and the typed arrays of the host.

/** Elements that are a single number, with their size in bytes. */
export const numberBytes = {
  i8: 1,
  u8: 1,
  i16: 2,
  u16: 2,
  i32: 4,
  u32: 4,
  i64: 8,
  u64: 8,
  f16: 2,
  bf16: 2,
  f32: 4,
  f64: 8,
} as const;

/** An element that is a single number. */
export type NumberElement = keyof typeof numberBytes;

/** What vectors have as components. */
const vectorComponents = ['i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64', 'f32', 'f64'] as const;
const vectorLengths = [2, 3, 4] as const;

/** A number that a vector may have as components. */
export type VectorComponent = (typeof vectorComponents)[number];
/** How many components a vector may have. */
export type VectorLength = (typeof vectorLengths)[number];

/** A type of vectors: `'f32x4'`, `'u8x3'`, … */
export type VectorType = `${VectorComponent}x${VectorLength}`;

/** The type of a vector's components, and how many there are. */
export interface Vector<C extends NumberElement = VectorComponent, N extends number = VectorLength> {
  readonly component: C;
  readonly components: N;
}

/** Each type of vectors, with what it is made of. */
export type VectorTypes = {
  readonly [V in VectorType]: V extends `${infer C extends VectorComponent}x${infer N extends VectorLength}`
    ? Vector<C, N>
    : never;
};

/** All vectors: those of two to four components that CUDA has. */
export const vectorTypes = Object.fromEntries(
  vectorComponents.flatMap((component) =>
    vectorLengths.map((components) => [`${component}x${components}`, { component, components }]),
  ),
) as VectorTypes;

/** An element type of an array: `'f32'`, `'i32'`, `'f32x4'`, … */
export type ElementType = NumberElement | VectorType;

/** A record of named fields, written out: `{start:i32,count:i32}`. It is what `struct()` makes. */
export type RecordType = `{${string}}`;

/** What an array of a program is made of. */
export type Element = ElementType | RecordType;

/** A type of a scalar in a schema. `index` is the type of positions and counts. */
export type ScalarType =
  | 'index'
  | 'i8'
  | 'u8'
  | 'i16'
  | 'u16'
  | 'i32'
  | 'u32'
  | 'i64'
  | 'u64'
  | 'f16'
  | 'bf16'
  | 'f32'
  | 'f64'
  | 'bool';

/** The host's typed array of each number. `f16` and `bf16` are held as their bits. */
export interface NumberArrays {
  i8: Int8Array;
  u8: Uint8Array;
  i16: Int16Array;
  u16: Uint16Array;
  i32: Int32Array;
  u32: Uint32Array;
  i64: BigInt64Array;
  u64: BigUint64Array;
  f16: Uint16Array;
  bf16: Uint16Array;
  f32: Float32Array;
  f64: Float64Array;
}

/** The host's typed array of each type of vectors: that of their components. */
export type VectorArrays = { [V in VectorType]: NumberArrays[VectorTypes[V]['component']] };

/** The host's typed array of each element type: of vectors that of their components. */
export interface HostArrays extends NumberArrays, VectorArrays {}

/** The host's typed array of an element type, of records that of their bytes. */
export type HostArray<E extends Element> = E extends ElementType ? HostArrays[E] : Uint8Array;

/** A typed array that can be an array of a kernel. */
export type TypedArray = NumberArrays[NumberElement];

type ArrayConstructors<Arrays> = {
  readonly [E in keyof Arrays]: new (
    buffer: ArrayBufferLike,
    offset?: number,
    length?: number,
  ) => Arrays[E];
};

const numberArrays = {
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
  f16: Uint16Array,
  bf16: Uint16Array,
  f32: Float32Array,
  f64: Float64Array,
} as const satisfies ArrayConstructors<NumberArrays>;

/** The typed array constructor of each element type. */
export const hostArrays = {
  ...numberArrays,
  ...Object.fromEntries(
    Object.entries(vectorTypes).map(([name, { component }]) => [name, numberArrays[component]]),
  ),
} as typeof numberArrays & { readonly [V in VectorType]: (typeof numberArrays)[VectorTypes[V]['component']] };

/** The names of a vector's components, in their order. */
export const componentNames = ['x', 'y', 'z', 'w'] as const;

export function isVectorType(element: string): element is VectorType {
  return Object.hasOwn(vectorTypes, element);
}

/** Whether it names an element type. */
export function isElementType(element: string): element is ElementType {
  return Object.hasOwn(numberBytes, element) || isVectorType(element);
}

/** Whether it is a record. */
export function isRecordType(element: string): element is RecordType {
  return element.startsWith('{');
}

/** The element types in words, for messages. */
export const elementsInWords = `${Object.keys(numberBytes).join(', ')}, or a vector of 2 to 4 of them, such as f32x4`;

/** The type of the numbers that an element is made of: the element itself, but of a vector its components. */
export function componentOf<E extends ElementType>(
  element: E,
): E extends VectorType ? VectorTypes[E]['component'] : E;
export function componentOf(element: ElementType): NumberElement {
  return isVectorType(element) ? vectorTypes[element].component : element;
}

/** How many numbers an element is made of. */
export function componentCount(element: ElementType): 1 | VectorLength {
  return isVectorType(element) ? vectorTypes[element].components : 1;
}

/** Three extents; what is left out is 1. A number alone is the extent in x. */
export type Extent = number | readonly [x: number, y?: number, z?: number];

/** Three extents, all given. */
export type Extent3 = readonly [x: number, y: number, z: number];
