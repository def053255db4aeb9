// Memory that threads share while they write it: fences and atomic operations.

import type { Index } from './cuda-arguments.ts';
import type { ElementValues, KernelArray } from './schema.ts';

/** The elements that every atomic works on. */
export type AtomicElement = 'i32' | 'u32' | 'i64' | 'u64';

/**
 * What an atomic operation orders, beside itself: `release` lets others see what this thread did before it,
 * `acquire` lets this thread see what they did before theirs. CUDA: `cuda::memory_order`.
 */
export type MemoryOrder = 'relaxed' | 'acquire' | 'release' | 'acq_rel' | 'seq_cst';

/** Among which threads an atomic operation is atomic, and orders. CUDA: `cuda::thread_scope`. */
export type MemoryScope = 'block' | 'device' | 'system';

/** The fences and atomic operations. */
export interface CudaAtomics {
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
}
