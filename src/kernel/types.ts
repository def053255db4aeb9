// The words for data that every room shares: element types of arrays, and their host arrays.
//
// An element is a number, or a vector of 2 or 4 numbers of one type side by side. What a kernel
// computes with is in the compiler's hands (compiler/number-types.ts); here is only how it lies
// in memory, and which typed array of the host holds it.

/** Vectors, with the type of a component and how many there are. Their alignment is their size. */
export const vectorTypes = {
  i32x2: { component: 'i32', components: 2 },
  i32x4: { component: 'i32', components: 4 },
  u32x2: { component: 'u32', components: 2 },
  u32x4: { component: 'u32', components: 4 },
  f32x2: { component: 'f32', components: 2 },
  f32x4: { component: 'f32', components: 4 },
  f64x2: { component: 'f64', components: 2 },
} as const;

/** A type of vectors: `'f32x4'`, … */
export type VectorType = keyof typeof vectorTypes;

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

/** The element types of arrays, with their size in bytes. */
export const elementBytes = {
  ...numberBytes,
  i32x2: 8,
  i32x4: 16,
  u32x2: 8,
  u32x4: 16,
  f32x2: 8,
  f32x4: 16,
  f64x2: 16,
} as const;

/** An element type of an array: `'f32'`, `'i32'`, `'f32x4'`, … */
export type ElementType = keyof typeof elementBytes;

/** An element that is a single number. */
export type NumberElement = keyof typeof numberBytes;

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

/** The host's typed array of each element type. `f16` and `bf16` are held as their bits; vectors as their components. */
export interface HostArrays {
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
  i32x2: Int32Array;
  i32x4: Int32Array;
  u32x2: Uint32Array;
  u32x4: Uint32Array;
  f32x2: Float32Array;
  f32x4: Float32Array;
  f64x2: Float64Array;
}

/** A typed array that can be an array of a kernel. */
export type TypedArray = HostArrays[ElementType];

/** The typed array constructor of each element type. */
export const hostArrays = {
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
  i32x2: Int32Array,
  i32x4: Int32Array,
  u32x2: Uint32Array,
  u32x4: Uint32Array,
  f32x2: Float32Array,
  f32x4: Float32Array,
  f64x2: Float64Array,
} as const satisfies {
  [E in ElementType]: new (
    buffer: ArrayBufferLike,
    offset?: number,
    length?: number,
  ) => HostArrays[E];
};

/** The names of a vector's components, in their order. */
export const componentNames = ['x', 'y', 'z', 'w'] as const;

export function isVectorType(element: string): element is VectorType {
  return Object.hasOwn(vectorTypes, element);
}

/** The type of the numbers that an element is made of: the element itself, but of a vector its components. */
export function componentOf(element: ElementType): NumberElement {
  return isVectorType(element) ? vectorTypes[element].component : element;
}

/** How many numbers an element is made of. */
export function componentCount(element: ElementType): 1 | 2 | 4 {
  return isVectorType(element) ? vectorTypes[element].components : 1;
}

/** Three extents; what is left out is 1. A number alone is the extent in x. */
export type Extent = number | readonly [x: number, y?: number, z?: number];

/** Three extents, all given. */
export type Extent3 = readonly [x: number, y: number, z: number];
