// The intrinsics as TypeScript sees them: the type of a kernel's second parameter.
//
// The table in intrinsics.ts says the same as data; a type-level test compares the two. Names are
// CUDA's in camelCase. Nothing here exists at run time: the compiler reads what a kernel says.

import type { CudaAsync } from './cuda-async.ts';
import type { KernelArray } from './schema.ts';
import type { ElementType } from './types.ts';

export type {
  AlignedSize,
  CooperativeGroups,
  Pipeline,
  PipelineRole,
  PipelineScope,
  PipelineSharedState,
} from './cuda-async.ts';

/** Three extents or coordinates. CUDA: `dim3`, `uint3`. */
export interface Dim3 {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** All threads of a launch. CUDA: `cooperative_groups::grid_group`. */
export interface Grid {
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
}

/** The calling thread as a group. CUDA: `cooperative_groups::this_thread()`. */
export interface Thread {
  /** Always 1. CUDA: `thread.size()`. */
  size(): number;
  /** Always 1. CUDA: `thread.num_threads()`. */
  numThreads(): number;
  /** Always 0. CUDA: `thread.thread_rank()`. */
  threadRank(): number;
  /** Does nothing: a thread is in step with itself. CUDA: `thread.sync()`. */
  sync(): void;
}

/** The intrinsics: the second parameter of every kernel and device function. */
export interface Cuda extends CudaAsync {
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
  /** Waits until every thread of the warp (32 consecutive threads of the block) is here. CUDA: `__syncwarp()`. */
  syncwarp(): void;

  /**
   * An array that the threads of a block share. Its contents are undefined at first. `count` is
   * made of constants, scalar parameters and the extents of block and grid.
   * CUDA: `__shared__ T array[count]`.
   */
  sharedArray(element: ElementType, count: number): KernelArray;
  /** An array of the thread's own, zero at first; `count` is a constant. CUDA: `T array[count]`. */
  localArray(element: ElementType, count: number): KernelArray;

  /** Adds to an element of an i32, u32 or f32 array and gives what was there. CUDA: `atomicAdd(&array[index], value)`. */
  atomicAdd(array: KernelArray, index: number, value: number): number;
  /** Subtracts from an element of an i32 or u32 array and gives what was there. CUDA: `atomicSub`. */
  atomicSub(array: KernelArray, index: number, value: number): number;
  /** Stores the lesser of element and value and gives what was there. CUDA: `atomicMin`. */
  atomicMin(array: KernelArray, index: number, value: number): number;
  /** Stores the greater of element and value and gives what was there. CUDA: `atomicMax`. */
  atomicMax(array: KernelArray, index: number, value: number): number;
  /** Stores `element & value` and gives what was there. CUDA: `atomicAnd`. */
  atomicAnd(array: KernelArray, index: number, value: number): number;
  /** Stores `element | value` and gives what was there. CUDA: `atomicOr`. */
  atomicOr(array: KernelArray, index: number, value: number): number;
  /** Stores `element ^ value` and gives what was there. CUDA: `atomicXor`. */
  atomicXor(array: KernelArray, index: number, value: number): number;
  /** Stores `value` and gives what was there. CUDA: `atomicExch`. */
  atomicExch(array: KernelArray, index: number, value: number): number;
  /** Stores `value` if the element equals `compare`, and gives what was there. CUDA: `atomicCAS`. */
  atomicCAS(array: KernelArray, index: number, compare: number, value: number): number;

  /** To a 32-bit integer; floats are truncated, and what does not fit wraps. CUDA: `(int) x`. */
  i32(x: number | boolean): number;
  /** To an unsigned 32-bit integer; floats are truncated, and what does not fit wraps. CUDA: `(unsigned) x`. */
  u32(x: number | boolean): number;
  /** To the type of positions and counts; floats are truncated. CUDA: `(ptrdiff_t) x`. */
  index(x: number | boolean): number;
  /** To a float, rounded to nearest even. CUDA: `(float) x`. */
  f32(x: number | boolean): number;
  /** To a double. CUDA: `(double) x`. */
  f64(x: number | boolean): number;
  /** True unless x is 0 or not a number. CUDA: `(bool) x`. */
  bool(x: number | boolean): boolean;
}
