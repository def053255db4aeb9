// The intrinsics: the type of a kernel's second parameter. This, cuda-async.ts, cuda-barriers.ts and
// cuda-math.ts are the one table of them.
//
// All that is to be said of an intrinsic is said here: its name, which is CUDA's in camelCase, the types
// that it takes and gives, what it does, whether threads meet, signal or wait there, and which, and what it
// is in CUDA. The compiler checks calls by forms.ts, which is made of these interfaces as docs/intrinsics.md
// is; the type of an argument says what is taken. Nothing here exists at run time.

import type { CudaAsync } from './cuda-async.ts';
import type { CudaBarriers } from './cuda-barriers.ts';
import type { ElementValues, KernelArray, Shape, Shaped, Vector2, Vector4 } from './schema.ts';
import type { ElementType } from './types.ts';

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
   * Barrier: the group. CUDA: `grid.sync()`.
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
  /** Waits until every thread of the block is here; what they wrote before is then visible to all. Barrier: the group. CUDA: `block.sync()`. */
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
  /** Waits until every thread of the tile is here. Barrier: the group. CUDA: `tile.sync()`. */
  sync(): void;
  /** The value of the thread with this rank in the tile, which has at most 32 threads. Barrier: the group. CUDA: `tile.shfl(value, rank)`. */
  shfl<T extends Scalar>(value: T, rank: Index): Exchanged<T>;
  /** The value of the thread `delta` ranks below; of the own where there is none. Barrier: the group. CUDA: `tile.shfl_up(value, delta)`. */
  shflUp<T extends Scalar>(value: T, delta: Index): Exchanged<T>;
  /** The value of the thread `delta` ranks above; of the own where there is none. Barrier: the group. CUDA: `tile.shfl_down(value, delta)`. */
  shflDown<T extends Scalar>(value: T, delta: Index): Exchanged<T>;
  /** The value of the thread whose rank differs in the bits of `laneMask`. Barrier: the group. CUDA: `tile.shfl_xor(value, laneMask)`. */
  shflXor<T extends Scalar>(value: T, laneMask: Index): Exchanged<T>;
  /** Whether the predicate holds for a thread of the tile. Barrier: the group. CUDA: `tile.any(predicate)`. */
  any(predicate: number | boolean): boolean;
  /** Whether the predicate holds for all threads of the tile. Barrier: the group. CUDA: `tile.all(predicate)`. */
  all(predicate: number | boolean): boolean;
  /** The threads for which the predicate holds, bit i for rank i. Barrier: the group. CUDA: `tile.ballot(predicate)`. */
  ballot(predicate: number | boolean): number;
  /** The threads with the same value, to the bit, as this one. Barrier: the group. CUDA: `tile.match_any(value)`. */
  matchAny(value: Scalar): number;
  /** All threads of the tile if they have the same value, to the bit; else 0. Barrier: the group. CUDA: `tile.match_all(value, pred)`. */
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

/**
 * What an atomic operation orders, beside itself: `release` lets others see what this thread did before it,
 * `acquire` lets this thread see what they did before theirs. CUDA: `cuda::memory_order`.
 */
export type MemoryOrder = 'relaxed' | 'acquire' | 'release' | 'acq_rel' | 'seq_cst';

/** Among which threads an atomic operation is atomic, and orders. CUDA: `cuda::thread_scope`. */
export type MemoryScope = 'block' | 'device' | 'system';

/** A number, a bigint or a truth, which counts as 0 or 1. */
export type Scalar = number | bigint | boolean;

/** The same, or `a / b` of two integers, of which a cast to an integer drops the fraction. */
export type Castable = Scalar;

/** A number, or `a / b` of two integers, whose fraction is kept, or rounded as the name says. */
export type Divided = number;

/** An integer, taken as a position, a count or a rank. */
export type Index = number;

/** An integer that is known when the kernel is compiled. */
export type Constant = number;

/** The lanes of a warp: an integer whose bit i stands for lane i. */
export type Lanes = number;

/** A number of nanoseconds, with or without a fraction. */
export type Nanoseconds = number;

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
  tiledPartition(group: ThreadBlock | Tile, size: Constant): Tile;

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
  /** The lanes of a warp: 32 consecutive threads of the block are one. CUDA: `warpSize`. */
  readonly warpSize: number;
  /** The place of this thread in its warp: its rank in the block modulo 32. CUDA: `%laneid` of PTX. */
  readonly laneId: number;
  /**
   * Waits until the lanes that `mask` names (bit i names lane i), or all lanes of the warp, are
   * here; what they wrote before is then visible to them. Lanes that have returned, and those that
   * a smaller last warp does not have, are not waited for. Barrier: the warp. CUDA: `__syncwarp(mask)`.
   */
  syncwarp(mask?: Lanes): void;
  /**
   * Lanes that are here at this moment, the calling one among them. CUDA does not promise that it
   * finds any other; on a CPU it never does. To know who takes part, ask with `ballotSync`.
   * CUDA: `__activemask()`.
   */
  activemask(): number;
  /**
   * The value of a lane. All lanes that `mask` names must come here; reading from one that does not
   * take part is an error. With a `width` (2, 4, 8 or 16) lanes are counted within parts of the warp
   * of so many. Barrier: the warp. CUDA: `__shfl_sync(mask, value, lane, width)`.
   *
   * @example
   * const first = cuda.shflSync(0xffffffff, x, 0);
   */
  shflSync<T extends Scalar>(mask: Lanes, value: T, lane: Index, width?: Constant): Exchanged<T>;
  /** The value of the lane `delta` places below; of the own where there is none. Barrier: the warp. CUDA: `__shfl_up_sync(mask, value, delta, width)`. */
  shflUpSync<T extends Scalar>(mask: Lanes, value: T, delta: Index, width?: Constant): Exchanged<T>;
  /**
   * The value of the lane `delta` places above; of the own where there is none.
   * Barrier: the warp. CUDA: `__shfl_down_sync(mask, value, delta, width)`.
   *
   * @example
   * for (let delta = 16; delta > 0; delta >>= 1) sum += cuda.shflDownSync(0xffffffff, sum, delta);
   */
  shflDownSync<T extends Scalar>(mask: Lanes, value: T, delta: Index, width?: Constant): Exchanged<T>;
  /** The value of the lane whose number differs in the bits of `laneMask`. Barrier: the warp. CUDA: `__shfl_xor_sync(mask, value, laneMask, width)`. */
  shflXorSync<T extends Scalar>(mask: Lanes, value: T, laneMask: Index, width?: Constant): Exchanged<T>;
  /** The lanes for which the predicate holds, bit i for lane i. Barrier: the warp. CUDA: `__ballot_sync(mask, predicate)`. */
  ballotSync(mask: Lanes, predicate: number | boolean): number;
  /** Whether the predicate holds for a lane. Barrier: the warp. CUDA: `__any_sync(mask, predicate)`. */
  anySync(mask: Lanes, predicate: number | boolean): boolean;
  /** Whether the predicate holds for all lanes. Barrier: the warp. CUDA: `__all_sync(mask, predicate)`. */
  allSync(mask: Lanes, predicate: number | boolean): boolean;
  /** The lanes with the same value, to the bit, as this one. Barrier: the warp. CUDA: `__match_any_sync(mask, value)`. */
  matchAnySync(mask: Lanes, value: Scalar): number;
  /** The lanes of the mask if all have the same value, to the bit; else 0. Barrier: the warp. CUDA: `__match_all_sync(mask, value, &pred)`. */
  matchAllSync(mask: Lanes, value: Scalar): number;
  /** The sum of the lanes' values, which are integers. Barrier: the warp. CUDA: `__reduce_add_sync(mask, value)`. */
  reduceAddSync<T extends Scalar>(mask: Lanes, value: T): Exchanged<T>;
  /** The least of the lanes' values, which are integers. Barrier: the warp. CUDA: `__reduce_min_sync(mask, value)`. */
  reduceMinSync<T extends Scalar>(mask: Lanes, value: T): Exchanged<T>;
  /** The greatest of the lanes' values, which are integers. Barrier: the warp. CUDA: `__reduce_max_sync(mask, value)`. */
  reduceMaxSync<T extends Scalar>(mask: Lanes, value: T): Exchanged<T>;
  /** The bits that are set in all lanes' values. Barrier: the warp. CUDA: `__reduce_and_sync(mask, value)`. */
  reduceAndSync<T extends Scalar>(mask: Lanes, value: T): Exchanged<T>;
  /** The bits that are set in a lane's value. Barrier: the warp. CUDA: `__reduce_or_sync(mask, value)`. */
  reduceOrSync<T extends Scalar>(mask: Lanes, value: T): Exchanged<T>;
  /** The bits that are set in an odd number of lanes' values. Barrier: the warp. CUDA: `__reduce_xor_sync(mask, value)`. */
  reduceXorSync<T extends Scalar>(mask: Lanes, value: T): Exchanged<T>;

  /** The upper 32 bits of the product of two i32. CUDA: `__mulhi(x, y)`. */
  mulhi(x: number, y: number): number;
  /** The upper 32 bits of the product of two u32. CUDA: `__umulhi(x, y)`. */
  umulhi(x: number, y: number): number;
  /** 1 divided by the square root. CUDA: `rsqrt(x)`. */
  rsqrt(x: Divided): number;
  /** A float from 0 to 1: x itself, or the nearer end; 0 if x is not a number. CUDA: `__saturatef(x)`. */
  saturate(x: Divided): number;

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
   * CUDA: `__shared__ T array[count]`.
   */
  sharedArray<const E extends ElementType>(element: E, count: Index): KernelArray<E>;
  /**
   * One of two or three dimensions, whose rows lie one after the other. CUDA: `__shared__ T array[rows][columns]`.
   *
   * @example
   * const tile = cuda.sharedArray('f32', [16, 17]);
   * tile[cuda.threadIdx.y]![cuda.threadIdx.x] = input[i]!;
   */
  sharedArray<const E extends ElementType, const S extends Shape>(
    element: E,
    shape: S,
  ): Shaped<KernelArray<E>, S>;
  /** An array of the thread's own, zero at first; `count` is a constant. CUDA: `T array[count]`. */
  localArray<const E extends ElementType>(element: E, count: Constant): KernelArray<E>;
  /** One of two or three dimensions; its extents are constants. CUDA: `T array[rows][columns]`. */
  localArray<const E extends ElementType, const S extends Shape>(
    element: E,
    shape: S,
  ): Shaped<KernelArray<E>, S>;

  /**
   * Orders what this thread wrote before it: a thread of the device that sees one of this thread's later atomic writes,
   * and then makes a fence too, sees what was written before. It does not wait.
   * CUDA: `__threadfence()`, or `cuda::atomic_thread_fence(memory_order_seq_cst, thread_scope_device)`.
   *
   * @example
   * partial[block] = sum;
   * cuda.threadFence();
   * const isLast = cuda.atomicAdd(finished, 0, 1) === blocks - 1;
   */
  threadFence(): void;
  /** The same among the threads of the block. CUDA: `__threadfence_block()`. */
  threadFenceBlock(): void;
  /** The same among all threads of all devices and the host. CUDA: `__threadfence_system()`. */
  threadFenceSystem(): void;

  /**
   * Adds to an element of an i32, u32, i64, u64, f32 or f64 array and gives what was there. All atomic operations are
   * relaxed unless an order is given, and of the whole device unless a scope is: what a `release` publishes, an
   * `acquire` of the same element takes. CUDA: `atomicAdd(&array[index], value)`, or
   * `cuda::atomic_ref<T, scope>(array[index]).fetch_add(value, order)`.
   *
   * @example
   * const isLast = cuda.atomicAdd(finished, 0, 1, 'acq_rel') === blocks - 1;
   */
  atomicAdd<E extends AtomicElement | 'f32' | 'f64'>(
    array: KernelArray<E>,
    index: Index,
    value: ElementValues[E],
    order?: MemoryOrder,
    scope?: MemoryScope,
  ): ElementValues[E];
  /** Subtracts from an element of an array of integers of 32 or 64 bits and gives what was there. CUDA: `atomicSub`. */
  atomicSub<E extends AtomicElement>(
    array: KernelArray<E>,
    index: Index,
    value: ElementValues[E],
    order?: MemoryOrder,
    scope?: MemoryScope,
  ): ElementValues[E];
  /** Stores the lesser of element and value and gives what was there. CUDA: `atomicMin`. */
  atomicMin<E extends AtomicElement>(
    array: KernelArray<E>,
    index: Index,
    value: ElementValues[E],
    order?: MemoryOrder,
    scope?: MemoryScope,
  ): ElementValues[E];
  /** Stores the greater of element and value and gives what was there. CUDA: `atomicMax`. */
  atomicMax<E extends AtomicElement>(
    array: KernelArray<E>,
    index: Index,
    value: ElementValues[E],
    order?: MemoryOrder,
    scope?: MemoryScope,
  ): ElementValues[E];
  /** Stores `element & value` and gives what was there. CUDA: `atomicAnd`. */
  atomicAnd<E extends AtomicElement>(
    array: KernelArray<E>,
    index: Index,
    value: ElementValues[E],
    order?: MemoryOrder,
    scope?: MemoryScope,
  ): ElementValues[E];
  /** Stores `element | value` and gives what was there. CUDA: `atomicOr`. */
  atomicOr<E extends AtomicElement>(
    array: KernelArray<E>,
    index: Index,
    value: ElementValues[E],
    order?: MemoryOrder,
    scope?: MemoryScope,
  ): ElementValues[E];
  /** Stores `element ^ value` and gives what was there. CUDA: `atomicXor`. */
  atomicXor<E extends AtomicElement>(
    array: KernelArray<E>,
    index: Index,
    value: ElementValues[E],
    order?: MemoryOrder,
    scope?: MemoryScope,
  ): ElementValues[E];
  /** Stores `value` and gives what was there; in arrays of integers and floats of 32 and 64 bits. CUDA: `atomicExch`. */
  atomicExch<E extends AtomicElement | 'f32' | 'f64'>(
    array: KernelArray<E>,
    index: Index,
    value: ElementValues[E],
    order?: MemoryOrder,
    scope?: MemoryScope,
  ): ElementValues[E];
  /**
   * Stores `value` if the element has the bits of `compare`, and gives what was there; in arrays of integers and floats
   * of 32 and 64 bits. CUDA: `atomicCAS`.
   */
  atomicCAS<E extends AtomicElement | 'f32' | 'f64'>(
    array: KernelArray<E>,
    index: Index,
    compare: ElementValues[E],
    value: ElementValues[E],
    order?: MemoryOrder,
    scope?: MemoryScope,
  ): ElementValues[E];
  /** Counts a u32 element up, and after `limit` from 0 again; gives what was there. CUDA: `atomicInc(&array[index], limit)`. */
  atomicInc(
    array: KernelArray<'u32'>,
    index: Index,
    limit: number,
    order?: MemoryOrder,
    scope?: MemoryScope,
  ): number;
  /** Counts a u32 element down, and below 0 or from above `limit` from `limit` again; gives what was there. CUDA: `atomicDec(&array[index], limit)`. */
  atomicDec(
    array: KernelArray<'u32'>,
    index: Index,
    limit: number,
    order?: MemoryOrder,
    scope?: MemoryScope,
  ): number;
  /**
   * Reads an element that other threads write by atomic operations; `relaxed`, `acquire` or `seq_cst`.
   * CUDA: `cuda::atomic_ref<T, scope>(array[index]).load(order)`.
   *
   * @example
   * while (cuda.atomicLoad(ready, block - 1, 'acquire') === 0);
   */
  atomicLoad<E extends AtomicElement | 'f32' | 'f64'>(
    array: KernelArray<E>,
    index: Index,
    order?: MemoryOrder,
    scope?: MemoryScope,
  ): ElementValues[E];
  /**
   * Writes an element that other threads read by atomic operations; `relaxed`, `release` or `seq_cst`.
   * CUDA: `cuda::atomic_ref<T, scope>(array[index]).store(value, order)`.
   */
  atomicStore<E extends AtomicElement | 'f32' | 'f64'>(
    array: KernelArray<E>,
    index: Index,
    value: ElementValues[E],
    order?: MemoryOrder,
    scope?: MemoryScope,
  ): void;

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
  /** True unless x is 0 or not a number. CUDA: `(bool) x`. */
  bool(x: Castable): boolean;

  /** A vector of two i32. CUDA: `make_int2(x, y)`. */
  i32x2(x: Divided, y: Divided): Vector2;
  /** A vector of four i32. CUDA: `make_int4(x, y, z, w)`. */
  i32x4(x: Divided, y: Divided, z: Divided, w: Divided): Vector4;
  /** A vector of two u32. CUDA: `make_uint2(x, y)`. */
  u32x2(x: Divided, y: Divided): Vector2;
  /** A vector of four u32. CUDA: `make_uint4(x, y, z, w)`. */
  u32x4(x: Divided, y: Divided, z: Divided, w: Divided): Vector4;
  /** A vector of two f32. CUDA: `make_float2(x, y)`. */
  f32x2(x: Divided, y: Divided): Vector2;
  /** A vector of four f32. CUDA: `make_float4(x, y, z, w)`. */
  f32x4(x: Divided, y: Divided, z: Divided, w: Divided): Vector4;
  /** A vector of two f64. CUDA: `make_double2(x, y)`. */
  f64x2(x: Divided, y: Divided): Vector2;
}
