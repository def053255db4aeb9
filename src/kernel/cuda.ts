// The intrinsics as TypeScript sees them: the type of a kernel's second parameter.
//
// The table in intrinsics.ts says the same as data; a type-level test compares the two. Names are
// CUDA's in camelCase. Nothing here exists at run time: the compiler reads what a kernel says.

import type { CudaAsync } from './cuda-async.ts';
import type { CudaBarriers } from './cuda-barriers.ts';
import type { ElementValues, KernelArray, Vector2, Vector4 } from './schema.ts';
import type { ElementType } from './types.ts';

export type {
  AlignedSize,
  CooperativeGroups,
  Pipeline,
  PipelineRole,
  PipelineScope,
  PipelineSharedState,
} from './cuda-async.ts';
export type { ArrivalToken, Barrier, BarrierArray } from './cuda-barriers.ts';

/** Three extents or coordinates. CUDA: `dim3`, `uint3`. */
export interface Dim3 {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** All threads of a launch. CUDA: `cooperative_groups::grid_group`. */
export interface Grid {
  /**
   * Waits until every thread of the grid is here; what they wrote before is then visible to all. It
   * needs a launch with `cooperative: true`, and every thread of every block must come.
   * CUDA: `grid.sync()`.
   */
  sync(): void;
  /** Whether the launch is cooperative, so that the grid may synchronise. CUDA: `grid.is_valid()`. */
  isValid(): boolean;
  /** The number of threads of the grid. CUDA: `grid.size()`. */
  size(): number;
  /** The number of threads of the grid. CUDA: `grid.num_threads()`. */
  numThreads(): number;
  /** The rank of this thread in the grid: block by block, in a block x fastest. CUDA: `grid.thread_rank()`. */
  threadRank(): number;
  /** The number of blocks of the grid. CUDA: `grid.num_blocks()`. */
  numBlocks(): number;
  /** The rank of this block in the grid, x fastest. CUDA: `grid.block_rank()`. */
  blockRank(): number;
  /** The place of this block in the grid. CUDA: `grid.block_index()`. */
  blockIndex(): Dim3;
  /** The blocks of the grid in each dimension. CUDA: `grid.dim_blocks()`. */
  dimBlocks(): Dim3;
  /** The blocks of the grid in each dimension. CUDA: `grid.group_dim()`, the older name of `dim_blocks`. */
  groupDim(): Dim3;
}

/** The threads of one block. CUDA: `cooperative_groups::thread_block`. */
export interface ThreadBlock {
  /** The number of threads of the block: a constant when the kernel is compiled. CUDA: `block.size()`. */
  size(): number;
  /** The number of threads of the block. CUDA: `block.num_threads()`. */
  numThreads(): number;
  /** The rank of this thread in its block, x fastest. CUDA: `block.thread_rank()`. */
  threadRank(): number;
  /** The place of this block in the grid: `blockIdx`. CUDA: `block.group_index()`. */
  groupIndex(): Dim3;
  /** The place of this thread in its block: `threadIdx`. CUDA: `block.thread_index()`. */
  threadIndex(): Dim3;
  /** The threads of the block in each dimension: `blockDim`. CUDA: `block.group_dim()`. */
  groupDim(): Dim3;
  /** The threads of the block in each dimension: `blockDim`. CUDA: `block.dim_threads()`. */
  dimThreads(): Dim3;
  /** Waits until every thread of the block is here; what they wrote before is then visible to all. CUDA: `block.sync()`. */
  sync(): void;
}

/** Consecutive threads of a block. CUDA: `cooperative_groups::thread_block_tile<N>`. */
export interface Tile {
  /** The number of threads of the tile. CUDA: `tile.size()`. */
  size(): number;
  /** The number of threads of the tile. CUDA: `tile.num_threads()`. */
  numThreads(): number;
  /** The rank of this thread in its tile. CUDA: `tile.thread_rank()`. */
  threadRank(): number;
  /** How many tiles the partitioned group was cut into. CUDA: `tile.meta_group_size()`. */
  metaGroupSize(): number;
  /** The rank of this tile among those. CUDA: `tile.meta_group_rank()`. */
  metaGroupRank(): number;
  /** Waits until every thread of the tile is here. CUDA: `tile.sync()`. */
  sync(): void;
  /** The value of the thread with this rank in the tile, which has at most 32 threads. CUDA: `tile.shfl(value, rank)`. */
  shfl<T extends Scalar>(value: T, rank: number): Exchanged<T>;
  /** The value of the thread `delta` ranks below; of the own where there is none. CUDA: `tile.shfl_up(value, delta)`. */
  shflUp<T extends Scalar>(value: T, delta: number): Exchanged<T>;
  /** The value of the thread `delta` ranks above; of the own where there is none. CUDA: `tile.shfl_down(value, delta)`. */
  shflDown<T extends Scalar>(value: T, delta: number): Exchanged<T>;
  /** The value of the thread whose rank differs in the bits of `laneMask`. CUDA: `tile.shfl_xor(value, laneMask)`. */
  shflXor<T extends Scalar>(value: T, laneMask: number): Exchanged<T>;
  /** Whether the predicate holds for a thread of the tile. CUDA: `tile.any(predicate)`. */
  any(predicate: number | boolean): boolean;
  /** Whether the predicate holds for all threads of the tile. CUDA: `tile.all(predicate)`. */
  all(predicate: number | boolean): boolean;
  /** The threads for which the predicate holds, bit i for rank i. CUDA: `tile.ballot(predicate)`. */
  ballot(predicate: number | boolean): number;
  /** The threads with the same value, to the bit, as this one. CUDA: `tile.match_any(value)`. */
  matchAny(value: Scalar): number;
  /** All threads of the tile if they have the same value, to the bit; else 0. CUDA: `tile.match_all(value, pred)`. */
  matchAll(value: Scalar): number;
}

/** The calling thread as a group. CUDA: `cooperative_groups::this_thread()`. */
export interface Thread {
  /** Always 1. CUDA: `thread.size()`. */
  size(): 1;
  /** Always 1. CUDA: `thread.num_threads()`. */
  numThreads(): 1;
  /** Always 0. CUDA: `thread.thread_rank()`. */
  threadRank(): 0;
  /** Does nothing: a thread is in step with itself. CUDA: `thread.sync()`. */
  sync(): void;
}

/** The elements that every atomic works on. */
export type AtomicElement = 'i32' | 'u32' | 'i64' | 'u64';

/** What casts take. */
export type Scalar = number | bigint | boolean;

/** What a thread gets of another's value: a truth counts as 0 or 1. */
export type Exchanged<T extends number | bigint | boolean> = T extends bigint ? bigint : number;

/** The intrinsics: the second parameter of every kernel and device function. */
export interface Cuda extends CudaAsync, CudaBarriers {
  /** All threads of the launch. CUDA: `cooperative_groups::this_grid()`. */
  thisGrid(): Grid;
  /** The threads of this block. CUDA: `cooperative_groups::this_thread_block()`. */
  thisThreadBlock(): ThreadBlock;
  /** The calling thread alone. CUDA: `cooperative_groups::this_thread()`. */
  thisThread(): Thread;
  /**
   * The tile of `size` consecutive threads of the group that this thread is in. `size` is a
   * power of two that divides the group. CUDA: `cooperative_groups::tiled_partition<size>(group)`.
   */
  tiledPartition(group: ThreadBlock | Tile, size: number): Tile;

  /** The place of this thread in its block. CUDA: `threadIdx`. */
  readonly threadIdx: Dim3;
  /** The place of this block in the grid. CUDA: `blockIdx`. */
  readonly blockIdx: Dim3;
  /** The threads of a block in each dimension. CUDA: `blockDim`. */
  readonly blockDim: Dim3;
  /** The blocks of the grid in each dimension. CUDA: `gridDim`. */
  readonly gridDim: Dim3;

  /** Waits until every thread of the block is here; what they wrote before is then visible to all. CUDA: `__syncthreads()`. */
  syncthreads(): void;
  /** The lanes of a warp: 32 consecutive threads of the block are one. CUDA: `warpSize`. */
  readonly warpSize: number;
  /** The place of this thread in its warp: its rank in the block modulo 32. CUDA: `%laneid` of PTX. */
  readonly laneId: number;
  /**
   * Waits until the lanes that `mask` names (bit i names lane i), or all lanes of the warp, are
   * here; what they wrote before is then visible to them. Lanes that have returned, and those that
   * a smaller last warp does not have, are not waited for. CUDA: `__syncwarp(mask)`.
   */
  syncwarp(mask?: number): void;
  /**
   * Lanes that are here at this moment, the calling one among them. CUDA does not promise that it
   * finds any other; on a CPU it never does. To know who takes part, ask with `ballotSync`.
   * CUDA: `__activemask()`.
   */
  activemask(): number;
  /**
   * The value of a lane. All lanes that `mask` names must come here; reading from one that does not
   * take part is an error. With a `width` (2, 4, 8 or 16) lanes are counted within parts of the warp
   * of so many. CUDA: `__shfl_sync(mask, value, lane, width)`.
   *
   * @example
   * const first = cuda.shflSync(0xffffffff, x, 0);
   */
  shflSync<T extends Scalar>(mask: number, value: T, lane: number, width?: number): Exchanged<T>;
  /** The value of the lane `delta` places below; of the own where there is none. CUDA: `__shfl_up_sync(mask, value, delta, width)`. */
  shflUpSync<T extends Scalar>(mask: number, value: T, delta: number, width?: number): Exchanged<T>;
  /**
   * The value of the lane `delta` places above; of the own where there is none.
   * CUDA: `__shfl_down_sync(mask, value, delta, width)`.
   *
   * @example
   * for (let delta = 16; delta > 0; delta >>= 1) sum += cuda.shflDownSync(0xffffffff, sum, delta);
   */
  shflDownSync<T extends Scalar>(mask: number, value: T, delta: number, width?: number): Exchanged<T>;
  /** The value of the lane whose number differs in the bits of `laneMask`. CUDA: `__shfl_xor_sync(mask, value, laneMask, width)`. */
  shflXorSync<T extends Scalar>(mask: number, value: T, laneMask: number, width?: number): Exchanged<T>;
  /** The lanes for which the predicate holds, bit i for lane i. CUDA: `__ballot_sync(mask, predicate)`. */
  ballotSync(mask: number, predicate: number | boolean): number;
  /** Whether the predicate holds for a lane. CUDA: `__any_sync(mask, predicate)`. */
  anySync(mask: number, predicate: number | boolean): boolean;
  /** Whether the predicate holds for all lanes. CUDA: `__all_sync(mask, predicate)`. */
  allSync(mask: number, predicate: number | boolean): boolean;
  /** The lanes with the same value, to the bit, as this one. CUDA: `__match_any_sync(mask, value)`. */
  matchAnySync(mask: number, value: Scalar): number;
  /** The lanes of the mask if all have the same value, to the bit; else 0. CUDA: `__match_all_sync(mask, value, &pred)`. */
  matchAllSync(mask: number, value: Scalar): number;
  /** The sum of the lanes' values, which are integers. CUDA: `__reduce_add_sync(mask, value)`. */
  reduceAddSync<T extends Scalar>(mask: number, value: T): Exchanged<T>;
  /** The least of the lanes' values, which are integers. CUDA: `__reduce_min_sync(mask, value)`. */
  reduceMinSync<T extends Scalar>(mask: number, value: T): Exchanged<T>;
  /** The greatest of the lanes' values, which are integers. CUDA: `__reduce_max_sync(mask, value)`. */
  reduceMaxSync<T extends Scalar>(mask: number, value: T): Exchanged<T>;
  /** The bits that are set in all lanes' values. CUDA: `__reduce_and_sync(mask, value)`. */
  reduceAndSync<T extends Scalar>(mask: number, value: T): Exchanged<T>;
  /** The bits that are set in a lane's value. CUDA: `__reduce_or_sync(mask, value)`. */
  reduceOrSync<T extends Scalar>(mask: number, value: T): Exchanged<T>;
  /** The bits that are set in an odd number of lanes' values. CUDA: `__reduce_xor_sync(mask, value)`. */
  reduceXorSync<T extends Scalar>(mask: number, value: T): Exchanged<T>;

  /** How many of the 32 bits of an integer are set, or of the 64 of a bigint. CUDA: `__popc(x)`, `__popcll(x)`. */
  popc(x: number | bigint | boolean): number;
  /** How many of the 32 bits, or of the 64 of a bigint, are zero, from the highest on. CUDA: `__clz(x)`, `__clzll(x)`. */
  clz(x: number | bigint | boolean): number;
  /** The place of the lowest bit that is set, counted from 1; 0 if there is none. CUDA: `__ffs(x)`, `__ffsll(x)`. */
  ffs(x: number | bigint | boolean): number;
  /** The 32 bits in reverse order; of a bigint the 64, as a u64. CUDA: `__brev(x)`, `__brevll(x)`. */
  brev<T extends Scalar>(x: T): Exchanged<T>;

  /**
   * An array that the threads of a block share. Its contents are undefined at first. `count` is
   * made of constants, scalar parameters and the extents of block and grid.
   * CUDA: `__shared__ T array[count]`.
   */
  sharedArray<const E extends ElementType>(element: E, count: number): KernelArray<E>;
  /** An array of the thread's own, zero at first; `count` is a constant. CUDA: `T array[count]`. */
  localArray<const E extends ElementType>(element: E, count: number): KernelArray<E>;

  /** Adds to an element of an i32, u32, i64, u64, f32 or f64 array and gives what was there. CUDA: `atomicAdd(&array[index], value)`. */
  atomicAdd<E extends AtomicElement | 'f32' | 'f64'>(
    array: KernelArray<E>,
    index: number,
    value: ElementValues[E],
  ): ElementValues[E];
  /** Subtracts from an element of an array of integers of 32 or 64 bits and gives what was there. CUDA: `atomicSub`. */
  atomicSub<E extends AtomicElement>(
    array: KernelArray<E>,
    index: number,
    value: ElementValues[E],
  ): ElementValues[E];
  /** Stores the lesser of element and value and gives what was there. CUDA: `atomicMin`. */
  atomicMin<E extends AtomicElement>(
    array: KernelArray<E>,
    index: number,
    value: ElementValues[E],
  ): ElementValues[E];
  /** Stores the greater of element and value and gives what was there. CUDA: `atomicMax`. */
  atomicMax<E extends AtomicElement>(
    array: KernelArray<E>,
    index: number,
    value: ElementValues[E],
  ): ElementValues[E];
  /** Stores `element & value` and gives what was there. CUDA: `atomicAnd`. */
  atomicAnd<E extends AtomicElement>(
    array: KernelArray<E>,
    index: number,
    value: ElementValues[E],
  ): ElementValues[E];
  /** Stores `element | value` and gives what was there. CUDA: `atomicOr`. */
  atomicOr<E extends AtomicElement>(
    array: KernelArray<E>,
    index: number,
    value: ElementValues[E],
  ): ElementValues[E];
  /** Stores `element ^ value` and gives what was there. CUDA: `atomicXor`. */
  atomicXor<E extends AtomicElement>(
    array: KernelArray<E>,
    index: number,
    value: ElementValues[E],
  ): ElementValues[E];
  /** Stores `value` and gives what was there. CUDA: `atomicExch`. */
  atomicExch<E extends AtomicElement>(
    array: KernelArray<E>,
    index: number,
    value: ElementValues[E],
  ): ElementValues[E];
  /** Stores `value` if the element equals `compare`, and gives what was there. CUDA: `atomicCAS`. */
  atomicCAS<E extends AtomicElement>(
    array: KernelArray<E>,
    index: number,
    compare: ElementValues[E],
    value: ElementValues[E],
  ): ElementValues[E];

  /** To an integer of -128 to 127; floats are truncated, and what does not fit wraps. CUDA: `(signed char) x`. */
  i8(x: Scalar): number;
  /** To an integer of 0 to 255; floats are truncated, and what does not fit wraps. CUDA: `(unsigned char) x`. */
  u8(x: Scalar): number;
  /** To an integer of -32768 to 32767; floats are truncated, and what does not fit wraps. CUDA: `(short) x`. */
  i16(x: Scalar): number;
  /** To an integer of 0 to 65535; floats are truncated, and what does not fit wraps. CUDA: `(unsigned short) x`. */
  u16(x: Scalar): number;
  /** To a 32-bit integer; floats are truncated, and what does not fit wraps. CUDA: `(int) x`. */
  i32(x: Scalar): number;
  /** To an unsigned 32-bit integer; floats are truncated, and what does not fit wraps. CUDA: `(unsigned) x`. */
  u32(x: Scalar): number;
  /** To a 64-bit integer, a bigint; floats are truncated, and what does not fit wraps. CUDA: `(long long) x`. */
  i64(x: Scalar): bigint;
  /** To an unsigned 64-bit integer, a bigint; floats are truncated, and what does not fit wraps. CUDA: `(unsigned long long) x`. */
  u64(x: Scalar): bigint;
  /** To the type of positions and counts; floats are truncated. CUDA: `(ptrdiff_t) x`. */
  index(x: Scalar): number;
  /** To a float that `f16` has, rounded to nearest even. CUDA: `(float) (__half) x`. */
  f16(x: Scalar): number;
  /** To a float that `bf16` has, rounded to nearest even. CUDA: `(float) (__nv_bfloat16) x`. */
  bf16(x: Scalar): number;
  /** To a float, rounded to nearest even. CUDA: `(float) x`. */
  f32(x: Scalar): number;
  /** To a double. CUDA: `(double) x`. */
  f64(x: Scalar): number;
  /** True unless x is 0 or not a number. CUDA: `(bool) x`. */
  bool(x: Scalar): boolean;

  /** A vector of two i32. CUDA: `make_int2(x, y)`. */
  i32x2(x: number, y: number): Vector2;
  /** A vector of four i32. CUDA: `make_int4(x, y, z, w)`. */
  i32x4(x: number, y: number, z: number, w: number): Vector4;
  /** A vector of two u32. CUDA: `make_uint2(x, y)`. */
  u32x2(x: number, y: number): Vector2;
  /** A vector of four u32. CUDA: `make_uint4(x, y, z, w)`. */
  u32x4(x: number, y: number, z: number, w: number): Vector4;
  /** A vector of two f32. CUDA: `make_float2(x, y)`. */
  f32x2(x: number, y: number): Vector2;
  /** A vector of four f32. CUDA: `make_float4(x, y, z, w)`. */
  f32x4(x: number, y: number, z: number, w: number): Vector4;
  /** A vector of two f64. CUDA: `make_double2(x, y)`. */
  f64x2(x: number, y: number): Vector2;
}
