// Threads together: groups (the grid, a block, its tiles, a thread alone) and the lanes of a warp.

import type { Exchanged, Index, Lanes, Scalar, TileSize } from './cuda-arguments.ts';

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

/** Any threads of a warp. Ranks count them from the lowest lane. CUDA: `cooperative_groups::coalesced_group`. */
export interface CoalescedGroup {
  /** The number of threads of the group. CUDA: `group.size()`. */
  size(): number;
  /** The number of threads of the group. CUDA: `group.num_threads()`. */
  numThreads(): number;
  /** The rank of this thread in the group. CUDA: `group.thread_rank()`. */
  threadRank(): number;
  /** Waits until every thread of the group is here; what they wrote before is then visible to them. Barrier: the group. CUDA: `group.sync()`. */
  sync(): void;
  /** The value of the thread with this rank in the group; a rank that the group does not have is an error. Barrier: the group. CUDA: `group.shfl(value, rank)`. */
  shfl<T extends Scalar>(value: T, rank: Index): Exchanged<T>;
  /** The value of the thread `delta` ranks below; of the own where there is none. Barrier: the group. CUDA: `group.shfl_up(value, delta)`. */
  shflUp<T extends Scalar>(value: T, delta: Index): Exchanged<T>;
  /** The value of the thread `delta` ranks above; of the own where there is none. Barrier: the group. CUDA: `group.shfl_down(value, delta)`. */
  shflDown<T extends Scalar>(value: T, delta: Index): Exchanged<T>;
  /** Whether the predicate holds for a thread of the group. Barrier: the group. CUDA: `group.any(predicate)`. */
  any(predicate: number | boolean): boolean;
  /** Whether the predicate holds for all threads of the group. Barrier: the group. CUDA: `group.all(predicate)`. */
  all(predicate: number | boolean): boolean;
  /** The threads for which the predicate holds, bit i for rank i. Barrier: the group. CUDA: `group.ballot(predicate)`. */
  ballot(predicate: number | boolean): number;
  /** The threads with the same value, to the bit, as this one, bit i for rank i. Barrier: the group. CUDA: `group.match_any(value)`. */
  matchAny(value: Scalar): number;
  /** All threads of the group if they have the same value, to the bit; else 0. Barrier: the group. CUDA: `group.match_all(value, pred)`. */
  matchAll(value: Scalar): number;
}

/**
 * Threads of one block, of any of its warps: those that bring the same truth to `binaryPartition`. Ranks count them as in the
 * block. CUDA: any type with `size`, `thread_rank` and `sync`, which `cuda::pipeline` and `memcpy_async` take as a group.
 */
export interface ThreadSubset {
  /** The number of threads of the subset. CUDA: `group.size()`. */
  size(): number;
  /** The number of threads of the subset. CUDA: `group.num_threads()`. */
  numThreads(): number;
  /** The rank of this thread in the subset. CUDA: `group.thread_rank()`. */
  threadRank(): number;
  /** Waits until every thread of the subset is here; what they wrote before is then visible to them. Barrier: the group. CUDA: `group.sync()`. */
  sync(): void;
  /** Whether the predicate holds for a thread of the subset. Barrier: the group. CUDA: `group.any(predicate)`. */
  any(predicate: number | boolean): boolean;
  /** Whether the predicate holds for all threads of the subset. Barrier: the group. CUDA: `group.all(predicate)`. */
  all(predicate: number | boolean): boolean;
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

/** The intrinsics that give groups. */
export interface CudaGroups {
  /** All threads of the launch. CUDA: `cooperative_groups::this_grid()`. */
  thisGrid(): Grid;
  /** The threads of this block. CUDA: `cooperative_groups::this_thread_block()`. */
  thisThreadBlock(): ThreadBlock;
  /** The calling thread alone. CUDA: `cooperative_groups::this_thread()`. */
  thisThread(): Thread;
  /**
   * The tile of `size` consecutive threads of the group that this thread is in. `size` is a
   * power of two that divides the group. A block may also have threads left over by tiles of at
   * most 32: they are its last tile. CUDA: `cooperative_groups::tiled_partition<size>(group)`.
   */
  tiledPartition<N extends number>(group: ThreadBlock | Tile, size: TileSize<N>): Tile;
  /**
   * Of a group of any lanes, by their ranks: the `size` after one another that this thread is among; the last may be fewer.
   * CUDA: `cooperative_groups::tiled_partition(group, size)`.
   */
  tiledPartition<N extends number>(group: CoalescedGroup, size: TileSize<N>): CoalescedGroup;
  /**
   * Threads of the warp that are here at this moment, the calling one among them. CUDA does not
   * promise that it finds any other; on a CPU it never does. To know who takes part, cut a tile by
   * a predicate that all its threads bring: `cuda.binaryPartition(tile, predicate)`.
   * CUDA: `cooperative_groups::coalesced_threads()`.
   */
  coalescedThreads(): CoalescedGroup;
  /**
   * The threads of the group, of at most 32, for which the predicate holds as it does for this one.
   * Barrier: the group. CUDA: `cooperative_groups::binary_partition(group, predicate)`.
   *
   * @example
   * const mine = cuda.binaryPartition(cuda.tiledPartition(block, 32), x > 0);
   */
  binaryPartition(group: Tile | CoalescedGroup, predicate: number | boolean): CoalescedGroup;
  /**
   * The threads of the block for which the predicate holds as it does for this one, whatever their warps. All threads of the
   * block must come: one that has returned is an error.
   * Barrier: the group. CUDA: a group of the program's own.
   *
   * @example
   * const some = cuda.binaryPartition(block, block.threadRank() % 3 === 0);
   */
  binaryPartition(group: ThreadBlock, predicate: number | boolean): ThreadSubset;
  /**
   * The threads of the group, of at most 32, with the same label, to the bit, as this one.
   * Barrier: the group. CUDA: `cooperative_groups::labeled_partition(group, label)`.
   */
  labeledPartition(group: Tile | CoalescedGroup, label: Scalar): CoalescedGroup;
}

/** The intrinsics of warps. */
export interface CudaWarps {
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
   * take part is an error. With a `width` (a power of two up to 32, constant or not) lanes are counted
   * within parts of the warp of so many. Barrier: the warp. CUDA: `__shfl_sync(mask, value, lane, width)`.
   *
   * @example
   * const first = cuda.shflSync(0xffffffff, x, 0);
   */
  shflSync<T extends Scalar>(mask: Lanes, value: T, lane: Index, width?: Index): Exchanged<T>;
  /** The value of the lane `delta` places below; of the own where there is none. Barrier: the warp. CUDA: `__shfl_up_sync(mask, value, delta, width)`. */
  shflUpSync<T extends Scalar>(mask: Lanes, value: T, delta: Index, width?: Index): Exchanged<T>;
  /**
   * The value of the lane `delta` places above; of the own where there is none.
   * Barrier: the warp. CUDA: `__shfl_down_sync(mask, value, delta, width)`.
   *
   * @example
   * for (let delta = 16; delta > 0; delta >>= 1) sum += cuda.shflDownSync(0xffffffff, sum, delta);
   */
  shflDownSync<T extends Scalar>(mask: Lanes, value: T, delta: Index, width?: Index): Exchanged<T>;
  /** The value of the lane whose number differs in the bits of `laneMask`. Barrier: the warp. CUDA: `__shfl_xor_sync(mask, value, laneMask, width)`. */
  shflXorSync<T extends Scalar>(mask: Lanes, value: T, laneMask: Index, width?: Index): Exchanged<T>;
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
}
