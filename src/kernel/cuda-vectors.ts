// Vectors of two to four numbers: how they are made, and what C++ users write as operators and functions on them.

import type { Divided, Scalar } from './cuda-arguments.ts';
import type { Vector2, Vector3, Vector4 } from './schema.ts';

/** A vector of floats or integers, of any length. */
export type AnyVector = Vector2 | Vector3 | Vector4;

/** The same, or a number that stands for all of its components. */
export type VectorOrNumber<V extends AnyVector = AnyVector> = V | number;

/** Vectors. `helper_math.h` is that of NVIDIA's samples. */
export interface CudaVectors {
  /** A vector of two i8. CUDA: `make_char2(x, y)`. */
  i8x2(x: Divided, y: Divided): Vector2;
  /** A vector of three i8. CUDA: `make_char3(x, y, z)`. */
  i8x3(x: Divided, y: Divided, z: Divided): Vector3;
  /** A vector of four i8. CUDA: `make_char4(x, y, z, w)`. */
  i8x4(x: Divided, y: Divided, z: Divided, w: Divided): Vector4;
  /** A vector of two u8. CUDA: `make_uchar2(x, y)`. */
  u8x2(x: Divided, y: Divided): Vector2;
  /** A vector of three u8. CUDA: `make_uchar3(x, y, z)`. */
  u8x3(x: Divided, y: Divided, z: Divided): Vector3;
  /** A vector of four u8. CUDA: `make_uchar4(x, y, z, w)`. */
  u8x4(x: Divided, y: Divided, z: Divided, w: Divided): Vector4;
  /** A vector of two i16. CUDA: `make_short2(x, y)`. */
  i16x2(x: Divided, y: Divided): Vector2;
  /** A vector of three i16. CUDA: `make_short3(x, y, z)`. */
  i16x3(x: Divided, y: Divided, z: Divided): Vector3;
  /** A vector of four i16. CUDA: `make_short4(x, y, z, w)`. */
  i16x4(x: Divided, y: Divided, z: Divided, w: Divided): Vector4;
  /** A vector of two u16. CUDA: `make_ushort2(x, y)`. */
  u16x2(x: Divided, y: Divided): Vector2;
  /** A vector of three u16. CUDA: `make_ushort3(x, y, z)`. */
  u16x3(x: Divided, y: Divided, z: Divided): Vector3;
  /** A vector of four u16. CUDA: `make_ushort4(x, y, z, w)`. */
  u16x4(x: Divided, y: Divided, z: Divided, w: Divided): Vector4;
  /** A vector of two i32. CUDA: `make_int2(x, y)`. */
  i32x2(x: Divided, y: Divided): Vector2;
  /** A vector of three i32. CUDA: `make_int3(x, y, z)`. */
  i32x3(x: Divided, y: Divided, z: Divided): Vector3;
  /** A vector of four i32. CUDA: `make_int4(x, y, z, w)`. */
  i32x4(x: Divided, y: Divided, z: Divided, w: Divided): Vector4;
  /** A vector of two u32. CUDA: `make_uint2(x, y)`. */
  u32x2(x: Divided, y: Divided): Vector2;
  /** A vector of three u32. CUDA: `make_uint3(x, y, z)`. */
  u32x3(x: Divided, y: Divided, z: Divided): Vector3;
  /** A vector of four u32. CUDA: `make_uint4(x, y, z, w)`. */
  u32x4(x: Divided, y: Divided, z: Divided, w: Divided): Vector4;
  /** A vector of two i64. CUDA: `make_longlong2(x, y)`. */
  i64x2(x: Scalar, y: Scalar): Vector2<bigint>;
  /** A vector of three i64. CUDA: `make_longlong3(x, y, z)`. */
  i64x3(x: Scalar, y: Scalar, z: Scalar): Vector3<bigint>;
  /** A vector of four i64. CUDA: `make_longlong4(x, y, z, w)`. */
  i64x4(x: Scalar, y: Scalar, z: Scalar, w: Scalar): Vector4<bigint>;
  /** A vector of two u64. CUDA: `make_ulonglong2(x, y)`. */
  u64x2(x: Scalar, y: Scalar): Vector2<bigint>;
  /** A vector of three u64. CUDA: `make_ulonglong3(x, y, z)`. */
  u64x3(x: Scalar, y: Scalar, z: Scalar): Vector3<bigint>;
  /** A vector of four u64. CUDA: `make_ulonglong4(x, y, z, w)`. */
  u64x4(x: Scalar, y: Scalar, z: Scalar, w: Scalar): Vector4<bigint>;
  /** A vector of two f32. CUDA: `make_float2(x, y)`. */
  f32x2(x: Divided, y: Divided): Vector2;
  /** A vector of three f32. CUDA: `make_float3(x, y, z)`. */
  f32x3(x: Divided, y: Divided, z: Divided): Vector3;
  /** A vector of four f32. CUDA: `make_float4(x, y, z, w)`. */
  f32x4(x: Divided, y: Divided, z: Divided, w: Divided): Vector4;
  /** A vector of two f64. CUDA: `make_double2(x, y)`. */
  f64x2(x: Divided, y: Divided): Vector2;
  /** A vector of three f64. CUDA: `make_double3(x, y, z)`. */
  f64x3(x: Divided, y: Divided, z: Divided): Vector3;
  /** A vector of four f64. CUDA: `make_double4(x, y, z, w)`. */
  f64x4(x: Divided, y: Divided, z: Divided, w: Divided): Vector4;

  /**
   * The sum, component by component; of a vector and a number, of each component and the number.
   * CUDA: `a + b` of `helper_math.h`.
   *
   * @example
   * position[i] = cuda.add(position[i]!, cuda.multiply(velocity[i]!, dt));
   */
  add<V extends AnyVector>(a: V, b: VectorOrNumber<NoInfer<V>>): V;
  /** The difference, component by component. CUDA: `a - b` of `helper_math.h`. */
  subtract<V extends AnyVector>(a: V, b: VectorOrNumber<NoInfer<V>>): V;
  /** The product, component by component. CUDA: `a * b` of `helper_math.h`. */
  multiply<V extends AnyVector>(a: V, b: VectorOrNumber<NoInfer<V>>): V;
  /** The quotient of floats, component by component. CUDA: `a / b` of `helper_math.h`. */
  divide<V extends AnyVector>(a: V, b: VectorOrNumber<NoInfer<V>>): V;
  /** The sum of the products of the components, from the first on. CUDA: `dot(a, b)` of `helper_math.h`. */
  dot<V extends AnyVector>(a: V, b: NoInfer<V>): number;
  /** The vector at right angles to two of three components. CUDA: `cross(a, b)` of `helper_math.h`. */
  cross(a: Vector3, b: Vector3): Vector3;
  /** The square root of the dot product of a vector of floats with itself. CUDA: `length(a)` of `helper_math.h`. */
  length<V extends AnyVector>(a: V): number;
}
