// The words for data that every room shares: element types of arrays, and their host arrays.

/** The element types of arrays, with their size in bytes. */
export const elementBytes = { i8: 1, u8: 1, i16: 2, u16: 2, i32: 4, u32: 4, f32: 4, f64: 8 } as const;

/** An element type of an array: `'f32'`, `'i32'`, … */
export type ElementType = keyof typeof elementBytes;

/** A type of a scalar in a schema. `index` is the type of positions and counts. */
export type ScalarType = 'index' | 'i32' | 'u32' | 'f32' | 'f64' | 'bool';

/** The host's typed array of each element type. */
export interface HostArrays {
  i8: Int8Array;
  u8: Uint8Array;
  i16: Int16Array;
  u16: Uint16Array;
  i32: Int32Array;
  u32: Uint32Array;
  f32: Float32Array;
  f64: Float64Array;
}

/** The typed array constructor of each element type. */
export const hostArrays = {
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const satisfies {
  [E in ElementType]: new (
    buffer: ArrayBufferLike,
    offset?: number,
    length?: number,
  ) => HostArrays[E];
};

/** Three extents; what is left out is 1. A number alone is the extent in x. */
export type Extent = number | readonly [x: number, y?: number, z?: number];

/** Three extents, all given. */
export type Extent3 = readonly [x: number, y: number, z: number];
