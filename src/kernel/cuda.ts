// The intrinsics: the type of a kernel's second parameter. The interfaces of cuda*.ts are the one table of them.
//
// All that is to be said of an intrinsic is said here: its name, which is CUDA's in camelCase, the types
// that it takes and gives, what it does, whether threads meet, signal or wait there, and which, and what it
// is in CUDA. The compiler checks calls by forms-*.ts, which are made of these interfaces as docs/intrinsics.md
// is; the type of an argument says what is taken. Nothing here exists at run time.

import type { Castable, Constant, Divided, Exchanged, Index, RandomState, Scalar } from './cuda-arguments.ts';
import type { CudaAsync } from './cuda-async.ts';
import type { CudaAtomics } from './cuda-atomics.ts';
import type { CudaBarriers } from './cuda-barriers.ts';
import type { CudaGroups, CudaWarps, Dim3 } from './cuda-groups.ts';
import type { CudaVectors } from './cuda-vectors.ts';
import type { KernelArray, Shape, Shaped, Vector2, Vector4 } from './schema.ts';
import type { Element } from './types.ts';

export type {
  Castable,
  Constant,
  Divided,
  Exchanged,
  Index,
  Lanes,
  Nanoseconds,
  RandomState,
  Scalar,
  TileSize,
} from './cuda-arguments.ts';
export type {
  AlignedSize,
  CooperativeGroups,
  Pipeline,
  PipelinedBatches,
  PipelineRole,
  PipelineScope,
  PipelineSharedState,
  StageCopies,
  StageCopy,
  Staged,
} from './cuda-async.ts';
export type { AtomicElement, MemoryOrder, MemoryScope } from './cuda-atomics.ts';
export type { ArrivalToken, Barrier, BarrierArray } from './cuda-barriers.ts';
export type { Dim3, Grid, Thread, ThreadBlock, Tile } from './cuda-groups.ts';
export type { AnyVector, VectorOrNumber } from './cuda-vectors.ts';

/** The numbers that a bitcast makes. */
export type BitType = 'i32' | 'u32' | 'f32' | 'i64' | 'u64' | 'f64';

/** The intrinsics: the second parameter of every kernel and device function. */
export interface Cuda extends CudaGroups, CudaWarps, CudaAtomics, CudaAsync, CudaBarriers, CudaVectors {
  /** The place of this thread in its block. CUDA: `threadIdx`. */
  readonly threadIdx: Dim3;
  /** The place of this block in the grid. CUDA: `blockIdx`. */
  readonly blockIdx: Dim3;
  /** The threads of a block in each dimension. CUDA: `blockDim`. */
  readonly blockDim: Dim3;
  /** The blocks of the grid in each dimension. CUDA: `gridDim`. */
  readonly gridDim: Dim3;

  /** Waits until every thread of the block is here; what they wrote before is then visible to all. Barrier: the block. CUDA: `__syncthreads()`. */
  syncthreads(): void;
  /**
   * Waits as `syncthreads` does, and gives for how many threads of the block the predicate holds; threads that
   * have returned do not count. Barrier: the block. CUDA: `__syncthreads_count(predicate)`.
   *
   * @example
   * const inside = cuda.syncthreadsCount(x[i]! < limit);
   */
  syncthreadsCount(predicate: number | boolean): number;
  /** Waits as `syncthreads` does; whether the predicate holds for all threads. Barrier: the block. CUDA: `__syncthreads_and(predicate)`. */
  syncthreadsAnd(predicate: number | boolean): boolean;
  /**
   * Waits as `syncthreads` does; whether the predicate holds for a thread.
   * Barrier: the block. CUDA: `__syncthreads_or(predicate)`.
   *
   * @example
   * while (cuda.syncthreadsOr(changed)) changed = relax();
   */
  syncthreadsOr(predicate: number | boolean): boolean;

  /** The upper 32 bits of the product of two i32. CUDA: `__mulhi(x, y)`. */
  mulhi(x: number, y: number): number;
  /** The upper 32 bits of the product of two u32. CUDA: `__umulhi(x, y)`. */
  umulhi(x: number, y: number): number;
  /** 1 divided by the square root. CUDA: `rsqrt(x)`. */
  rsqrt(x: Divided): number;
  /** A float from 0 to 1: x itself, or the nearer end; 0 if x is not a number. CUDA: `__saturatef(x)`. */
  saturate(x: Divided): number;
  /**
   * x * y + z, rounded once: the same bits everywhere. On a CPU it is much slower than `x * y + z`, which the
   * option `fma` of a kernel lets targets fuse. CUDA: `fma(x, y, z)`.
   *
   * @example
   * const sum = cuda.fma(a[i]!, b[i]!, c[i]!);
   */
  fma(x: Divided, y: Divided, z: Divided): number;
  /** The nearest integer, a half going to the even one. CUDA: `rint(x)`. */
  rint(x: Divided): number;
  /** The nearest integer, a half going away from zero; `Math.round` rounds it up. CUDA: `round(x)`. */
  round(x: Divided): number;
  /** The magnitude of x with the sign of y; that of a y which is not a number counts as positive. CUDA: `copysign(x, y)`. */
  copysign(x: Divided, y: Divided): number;
  /** x - y, or 0 where that is negative. CUDA: `fdim(x, y)`. */
  fdim(x: Divided, y: Divided): number;
  /** 2 to the power of x. CUDA: `exp2(x)`. */
  exp2(x: Divided): number;
  /** 10 to the power of x. CUDA: `exp10(x)`. */
  exp10(x: Divided): number;
  /** The sine of x times pi. CUDA: `sinpi(x)`. */
  sinpi(x: Divided): number;
  /** The cosine of x times pi. CUDA: `cospi(x)`. */
  cospi(x: Divided): number;
  /**
   * The sine. For an x from -pi to pi a GPU is off by at most 2^-21.4; further away the error grows. An f64, and any other device, has the exact one: only an f32 on a GPU is
   * computed by the fast instruction. So it is with all that are called fast. CUDA: `__sinf(x)`.
   */
  fastSin(x: Divided): number;
  /** The cosine. For an x from -pi to pi a GPU is off by at most 2^-21.1; further away the error grows. CUDA: `__cosf(x)`. */
  fastCos(x: Divided): number;
  /** The tangent, as `fastSin(x) / fastCos(x)`. CUDA: `__tanf(x)`. */
  fastTan(x: Divided): number;
  /**
   * e to the power of x. A GPU is off by at most 2 + floor(|1.173 * x|) units in the last place. CUDA: `__expf(x)`.
   *
   * @example
   * const weight = cuda.fastExp(-distance[i]!);
   */
  fastExp(x: Divided): number;
  /** 10 to the power of x. A GPU is off by at most 2 + floor(|2.97 * x|) units in the last place. CUDA: `__exp10f(x)`. */
  fastExp10(x: Divided): number;
  /** The natural logarithm. For an x from 0.5 to 2 a GPU is off by at most 2^-21.4, elsewhere by 3 units in the last place. CUDA: `__logf(x)`. */
  fastLog(x: Divided): number;
  /** The logarithm to base 2. For an x from 0.5 to 2 a GPU is off by at most 2^-22, elsewhere by 2 units in the last place. CUDA: `__log2f(x)`. */
  fastLog2(x: Divided): number;
  /** The logarithm to base 10. For an x from 0.5 to 2 a GPU is off by at most 2^-24, elsewhere by 3 units in the last place. CUDA: `__log10f(x)`. */
  fastLog10(x: Divided): number;
  /** x to the power of y, as 2 to the power of `y * log2(x)`: of an x from 0 on, and no exact powers. CUDA: `__powf(x, y)`. */
  fastPow(x: Divided, y: Divided): number;
  /** The quotient of two floats. For a y of up to 2^126 a GPU is off by at most 2 units in the last place; beyond, it gives 0. CUDA: `__fdividef(x, y)`. */
  fastDivide(x: Divided, y: Divided): number;
  /** The error function. On a CPU within 4 units in the last place of an f64. CUDA: `erf(x)`. */
  erf(x: Divided): number;
  /** 1 less the error function. On a CPU within 8 units in the last place of an f64. CUDA: `erfc(x)`. */
  erfc(x: Divided): number;
  /**
   * The logarithm of the magnitude of the gamma function. On a CPU an f64 is off by 1e-15 times the result for a
   * positive x, and by 1e-14 times that or times 1 for a negative one. CUDA: `lgamma(x)`.
   */
  lgamma(x: Divided): number;
  /** |x - y| + z of two i32, as a u32. CUDA: `__sad(x, y, z)`. */
  sad(x: number, y: number, z: number): number;
  /** |x - y| + z of u32. CUDA: `__usad(x, y, z)`. */
  usad(x: number, y: number, z: number): number;
  /** The products of the four signed bytes of x and y, added to z. CUDA: `__dp4a(x, y, z)` of int. */
  dp4a(x: number, y: number, z: number): number;
  /** The products of the four unsigned bytes of x and y, added to z. CUDA: `__dp4a(x, y, z)` of unsigned. */
  udp4a(x: number, y: number, z: number): number;
  /** Four of the eight bytes of x and y, x first: nibble i of `selector` says by its low 3 bits which is byte i. CUDA: `__byte_perm(x, y, selector)`. */
  bytePerm(x: number, y: number, selector: number): number;
  /** The upper half of `high` and `low` beside each other, shifted left by `shift` modulo 32. CUDA: `__funnelshift_l(low, high, shift)`. */
  funnelshiftL(low: number, high: number, shift: number): number;
  /** The lower half of `high` and `low` beside each other, shifted right by `shift` modulo 32. CUDA: `__funnelshift_r(low, high, shift)`. */
  funnelshiftR(low: number, high: number, shift: number): number;
  /**
   * Four u32 of the random numbers that cuRAND's Philox4_32_10 gives: those that the call number `n` (from 0) of
   * `curand4` gives after `curand_init(seed, subsequence, 0, &state)`. It keeps no state: count `n` up yourself.
   * The same bits on every device. CUDA: `skipahead(4 * n, &state), curand4(&state)`.
   *
   * @example
   * const bits = cuda.philox(seed, i, 0);
   * const x = cuda.curandUniform(bits.x);
   */
  philox(seed: Scalar, subsequence: Scalar, n: Scalar): Vector4;
  /**
   * A generator of the thread's own, which counts what was drawn: of cuRAND's Philox4_32_10, and the same words in the
   * same order, on every device. The draws of a subsequence begin `offset` words from its start. Functions of the kernel
   * take it, and count on in the same. CUDA: `curandStatePhilox4_32_10_t state; curand_init(seed, subsequence, offset, &state)`.
   *
   * @example
   * const state = cuda.curandInit(seed, i, 0);
   * const x = cuda.curandUniform(cuda.curand(state));
   */
  curandInit(seed: Scalar, subsequence: Scalar, offset: Scalar): RandomState;
  /** The next 32 random bits of a generator, a u32. CUDA: `curand(&state)`. */
  curand(state: RandomState): number;
  /** The next four words of a generator, u32. CUDA: `curand4(&state)`. */
  curand4(state: RandomState): Vector4;
  /** A float above 0 and up to 1 of 32 random bits: the same bits on every device. CUDA: `curand_uniform(&state)`. */
  curandUniform(bits: number): number;
  /**
   * An f64 above 0 and up to 1 of 53 bits of two random words: the same bits on every device.
   * CUDA: `curand_uniform2_double(&state)`, of which words x and y make the first, z and w the second.
   */
  curandUniformDouble(low: number, high: number): number;
  /**
   * Two f32 of the standard normal distribution, of two random words, by Box and Muller's method: within 6 units in
   * the last place of what the exact functions give of the two uniforms. cuRAND's sine is less exact on a GPU, so
   * that its last digits differ. CUDA: `curand_normal2(&state)`; `curand_normal` gives x first, and then y.
   *
   * @example
   * const bits = cuda.philox(seed, i, 0);
   * const { x, y } = cuda.curandNormal2(bits.x, bits.y);
   */
  curandNormal2(x: number, y: number): Vector2;
  /**
   * Two f64 of the standard normal distribution, of four random words: within 12 units in the last place of what the
   * exact functions give of the two uniforms. CUDA: `curand_normal2_double(&state)`, of words x, y, z and w.
   */
  curandNormal2Double(xLow: number, xHigh: number, yLow: number, yHigh: number): Vector2;

  /** How many of the 32 bits of an integer are set, or of the 64 of a bigint. CUDA: `__popc(x)`, `__popcll(x)`. */
  popc(x: Scalar): number;
  /** How many of the 32 bits, or of the 64 of a bigint, are zero, from the highest on. CUDA: `__clz(x)`, `__clzll(x)`. */
  clz(x: Scalar): number;
  /** The place of the lowest bit that is set, counted from 1; 0 if there is none. CUDA: `__ffs(x)`, `__ffsll(x)`. */
  ffs(x: Scalar): number;
  /** The 32 bits in reverse order; of a bigint the 64, as a u64. CUDA: `__brev(x)`, `__brevll(x)`. */
  brev<T extends Scalar>(x: T): Exchanged<T>;

  /**
   * Ends the launch with an error (WS3012) unless the condition holds. The error names the line, the thread, its
   * block and the numbers that were compared; a message, with up to four values, says more. On every device, whether
   * accesses are tested there or not; a GPU goes on living. CUDA: `assert(condition)`.
   *
   * @example
   * cuda.assert(size === batches * grid.size(), `a batch is cut off at ${size}`);
   */
  assert(condition: Scalar, message?: unknown): void;

  /**
   * An array that the threads of a block share. Its contents are undefined at first. `count` is
   * made of constants, scalar parameters and the extents of block and grid.
   * The element type is a name such as `'f32'`, or a type of records of the schema.
   * CUDA: `__shared__ T array[count]`.
   */
  sharedArray<const E extends Element>(element: E, count: Index): KernelArray<E>;
  /**
   * One of two or three dimensions, whose rows lie one after the other. CUDA: `__shared__ T array[rows][columns]`.
   *
   * @example
   * const tile = cuda.sharedArray('f32', [16, 17]);
   * tile[cuda.threadIdx.y]![cuda.threadIdx.x] = input[i]!;
   */
  sharedArray<const E extends Element, const S extends Shape>(
    element: E,
    shape: S,
  ): Shaped<KernelArray<E>, S>;
  /** An array of the thread's own, zero at first; `count` is a constant. CUDA: `T array[count]`. */
  localArray<const E extends Element>(element: E, count: Constant): KernelArray<E>;
  /** One of two or three dimensions; its extents are constants. CUDA: `T array[rows][columns]`. */
  localArray<const E extends Element, const S extends Shape>(element: E, shape: S): Shaped<KernelArray<E>, S>;

  /** To an integer of -128 to 127; floats are truncated, and what does not fit wraps. CUDA: `(signed char) x`. */
  i8(x: Castable): number;
  /** To an integer of 0 to 255; floats are truncated, and what does not fit wraps. CUDA: `(unsigned char) x`. */
  u8(x: Castable): number;
  /** To an integer of -32768 to 32767; floats are truncated, and what does not fit wraps. CUDA: `(short) x`. */
  i16(x: Castable): number;
  /** To an integer of 0 to 65535; floats are truncated, and what does not fit wraps. CUDA: `(unsigned short) x`. */
  u16(x: Castable): number;
  /** To a 32-bit integer; floats are truncated, and what does not fit wraps. CUDA: `(int) x`. */
  i32(x: Castable): number;
  /** To an unsigned 32-bit integer; floats are truncated, and what does not fit wraps. CUDA: `(unsigned) x`. */
  u32(x: Castable): number;
  /** To a 64-bit integer, a bigint; floats are truncated, and what does not fit wraps. CUDA: `(long long) x`. */
  i64(x: Castable): bigint;
  /** To an unsigned 64-bit integer, a bigint; floats are truncated, and what does not fit wraps. CUDA: `(unsigned long long) x`. */
  u64(x: Castable): bigint;
  /** To the type of positions and counts; floats are truncated. CUDA: `(ptrdiff_t) x`. */
  index(x: Castable): number;
  /** To a float that `f16` has, rounded to nearest even. CUDA: `(float) (__half) x`. */
  f16(x: Castable): number;
  /** To a float that `bf16` has, rounded to nearest even. CUDA: `(float) (__nv_bfloat16) x`. */
  bf16(x: Castable): number;
  /** To a float, rounded to nearest even. CUDA: `(float) x`. */
  f32(x: Castable): number;
  /** To a double. CUDA: `(double) x`. */
  f64(x: Castable): number;
  /**
   * The number of a type of 32 or 64 bits that has the bits of another of the same width. Which of its bits a NaN keeps
   * is not said. CUDA: `__float_as_int(x)`, `__int_as_float(x)`, `__double_as_longlong(x)` and their like.
   *
   * @example
   * const magnitude = cuda.bitcast('u32', x) & 0x7fffffff;
   */
  bitcast<const B extends BitType>(element: B, x: Scalar): B extends 'i64' | 'u64' ? bigint : number;
  /** True unless x is 0 or not a number. CUDA: `(bool) x`. */
  bool(x: Castable): boolean;
}
