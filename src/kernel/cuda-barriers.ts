// Barriers as TypeScript sees them.

import type { Constant, Index, Nanoseconds } from './cuda-arguments.ts';
import type { Pipeline } from './cuda-async.ts';
import type { CoalescedGroup, ThreadBlock, ThreadSubset, Tile } from './cuda-groups.ts';

declare const brand: unique symbol;

/** What an arrival at a barrier gives, to wait with. CUDA: `cuda::barrier::arrival_token`. */
export interface ArrivalToken {
  readonly [brand]: 'arrivalToken';
}

/**
 * Counts the arrivals of threads, in phases: a phase is over when as many have arrived as the
 * barrier expects, and the next begins at once. A thread that arrives may go on working, and wait
 * later. CUDA: `cuda::barrier` (CUDA C++ Programming Guide, "Asynchronous Barrier").
 */
export interface Barrier {
  /**
   * Counts as one arrival in the current phase, or as `count`, and gives the token to wait with.
   * What this thread did before is visible to all who wait. Signals: the barrier. CUDA: `barrier.arrive(count)`.
   */
  arrive(count?: Index): ArrivalToken;
  /**
   * Waits until the phase is over that the token was got in. A token is good until the phase after
   * its own is over. Waits for: the barrier. CUDA: `barrier.wait(token)`.
   */
  wait(token: ArrivalToken): void;
  /** Arrives, and waits until the phase is over. Barrier: the barrier. CUDA: `barrier.arrive_and_wait()`. */
  arriveAndWait(): void;
  /**
   * Arrives for the last time: from the next phase on one arrival less is expected.
   * Signals: the barrier. CUDA: `barrier.arrive_and_drop()`.
   */
  arriveAndDrop(): void;
  /**
   * Waits until the phase of this parity is over: 0 is that of the first, third … phase. It is the
   * current phase or the one before it. Waits for: the barrier. CUDA: `barrier.wait_parity(parity)`.
   */
  waitParity(parity: number | boolean): void;
  /** Whether the phase of the token is over; never waits. Waits for: the barrier. CUDA: `cuda::ptx::mbarrier_test_wait`. */
  tryWait(token: ArrivalToken): boolean;
  /** Whether the phase of this parity is over; never waits. Waits for: the barrier. CUDA: `cuda::ptx::mbarrier_test_wait_parity`. */
  tryWaitParity(parity: number | boolean): boolean;
  /**
   * Waits like `wait`, but no longer than so many nanoseconds; true if the phase is over. With 0 or
   * less it looks once. Waits for: the barrier. CUDA: `barrier.try_wait_for(token, duration)`.
   */
  tryWaitFor(token: ArrivalToken, duration: Nanoseconds): boolean;
  /**
   * Waits like `wait`, but no longer than until `cuda.globaltimer()` gives `time`; true if the phase
   * is over. Waits for: the barrier. CUDA: `barrier.try_wait_until(token, time)`.
   */
  tryWaitUntil(token: ArrivalToken, time: Nanoseconds): boolean;
  /** Waits like `waitParity`, but no longer than so many nanoseconds. Waits for: the barrier. CUDA: `barrier.try_wait_parity_for(parity, duration)`. */
  tryWaitParityFor(parity: number | boolean, duration: Nanoseconds): boolean;
  /** Waits like `waitParity`, but no longer than until that time. Waits for: the barrier. CUDA: `barrier.try_wait_parity_until(parity, time)`. */
  tryWaitParityUntil(parity: number | boolean, time: Nanoseconds): boolean;
}

/** Barriers that all expect the same. CUDA: an array of `cuda::barrier`. */
export interface BarrierArray {
  /** How many there are. CUDA: `count`. */
  readonly length: number;
  readonly [index: number]: Barrier;
}

/** The part of the intrinsics that is about barriers. */
export interface CudaBarriers {
  /**
   * A barrier of the group, in shared memory; one for each tile if the group is a tile. All threads of
   * the group call it. A phase is over when `expected` arrivals have come: 1 to 1048575, by default
   * those of all threads of the group. Then the thread that arrived last runs the `completion`, and
   * the others go on when it has.
   * Barrier: the group. CUDA: `__shared__ cuda::barrier<cuda::thread_scope_block> bar;`, then in one thread
   * `init(&bar, expected)`, then `block.sync()`.
   *
   * @example
   * const barrier = cuda.barrier(block);
   * const token = barrier.arrive();
   * // … what does not depend on the other threads …
   * barrier.wait(token);
   */
  barrier(
    group: ThreadBlock | Tile | CoalescedGroup | ThreadSubset,
    expected?: Index,
    completion?: () => void,
  ): Barrier;
  barrier(group: ThreadBlock | Tile | CoalescedGroup | ThreadSubset, completion: () => void): Barrier;
  /**
   * An array of barriers that all expect the same; `count` is known when the kernel is compiled.
   * Barrier: the group. CUDA: `__shared__ cuda::barrier<cuda::thread_scope_block> bars[count]`.
   *
   * @example
   * const ready = cuda.barrierArray(block, 2); // a buffer may be filled
   * const filled = cuda.barrierArray(block, 2); // a buffer may be read
   */
  barrierArray(
    group: ThreadBlock | Tile | CoalescedGroup | ThreadSubset,
    count: Constant,
    expected?: Index,
    completion?: () => void,
  ): BarrierArray;
  barrierArray(
    group: ThreadBlock | Tile | CoalescedGroup | ThreadSubset,
    count: Constant,
    completion: () => void,
  ): BarrierArray;
  /**
   * Binds the copies that this thread issued so far to the barrier's current phase, which is not over
   * before they have arrived. The thread must still arrive itself.
   * Signals: the barrier. CUDA: `cuda::pipeline_producer_commit(pipeline, barrier)`.
   */
  pipelineProducerCommit(pipeline: Pipeline, barrier: Barrier): void;
  /**
   * Binds the copies that this thread issued so far to the barrier's current phase, which is not over
   * before they have arrived. The thread must still arrive itself. Signals: the barrier. CUDA: `__pipeline_arrive_on(&barrier)`.
   */
  pipelineArriveOn(barrier: Barrier): void;
}
