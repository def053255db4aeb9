// The asynchronous intrinsics as TypeScript sees them: copies, pipelines and the time.

import type { Constant, Exchanged, Index, Nanoseconds, Scalar } from './cuda-arguments.ts';
import type { Barrier } from './cuda-barriers.ts';
import type { CoalescedGroup, Thread, ThreadBlock, ThreadSubset, Tile } from './cuda-groups.ts';
import type { Combination } from './intrinsics.ts';
import type { KernelArray, ReadonlyKernelArray } from './schema.ts';
import type { Element } from './types.ts';

declare const brand: unique symbol;

/** A count of elements with a promise about its alignment, made by `cuda.alignedSize`. */
export interface AlignedSize {
  readonly [brand]: 'alignedSize';
}

/** What the threads of a pipeline share, made by `cuda.pipelineSharedState`. */
export interface PipelineSharedState {
  readonly [brand]: 'pipelineSharedState';
}

/** The part that a thread plays in a partitioned pipeline. CUDA: `cuda::pipeline_role`. */
export type PipelineRole = 'producer' | 'consumer';

/** Whose threads share a pipeline. CUDA: `cuda::thread_scope`. */
export type PipelineScope = 'block' | 'cluster' | 'device' | 'system';

/**
 * A queue of stages between producers and consumers. Each stage is acquired, filled by
 * asynchronous copies, committed, waited for, and released. CUDA: `cuda::pipeline`.
 */
export interface Pipeline extends Disposable {
  /**
   * Waits until the next stage is free: until all consumers have released its previous use.
   * With thread scope it does nothing. Waits for: the pipeline. CUDA: `pipeline.producer_acquire()`.
   */
  producerAcquire(): void;
  /**
   * Hands the copies that this thread issued since its last commit over to the stage, and goes
   * on to the next stage. It never waits. Signals: the pipeline. CUDA: `pipeline.producer_commit()`.
   */
  producerCommit(): void;
  /**
   * Waits until all producers have committed the oldest stage and its copies have arrived. A second
   * wait before the release is for the same stage. With thread scope it waits for this thread's own
   * copies alone, and a second wait is for its next commit; without one it does nothing.
   * Waits for: the pipeline. CUDA: `pipeline.consumer_wait()`.
   */
  consumerWait(): void;
  /**
   * Waits like `consumerWait`, but no longer than so many nanoseconds; true if the stage is there.
   * If it is false nothing has changed: do not release, but you may wait again. With 0 or less it
   * looks once and does not wait. (In CUDA C++ a duration of 0 waits for ever.) With thread scope it
   * waits as long as it takes, and is true. Waits for: the pipeline. CUDA: `pipeline.consumer_wait_for(duration)`.
   *
   * @example
   * while (!pipeline.consumerWaitFor(1000)) polls += 1;
   */
  consumerWaitFor(duration: Nanoseconds): boolean;
  /**
   * Waits like `consumerWait`, but no longer than until `cuda.globaltimer()` gives `time`; true if
   * the stage is there. If the time is past, it looks once. Otherwise it is like `consumerWaitFor`.
   * Waits for: the pipeline. CUDA: `pipeline.consumer_wait_until(time)`.
   */
  consumerWaitUntil(time: Nanoseconds): boolean;
  /**
   * Gives the oldest stage back to the producers. With thread scope it does nothing.
   * Signals: the pipeline. CUDA: `pipeline.consumer_release()`.
   */
  consumerRelease(): void;
  /**
   * Leaves the pipeline; true in the one thread that left last. A thread that has not quit does so where it leaves
   * the block that makes the pipeline. Signals: the pipeline. CUDA: `pipeline.quit()`.
   */
  quit(): boolean;
}

/** What `cuda.pipelined` copies of a batch into one array of its stage. */
export interface StageCopy<E extends Element = Element> {
  /** Where the elements of the batch begin. */
  readonly source: ReadonlyKernelArray<E>;
  /** How many of them are copied. */
  readonly count: number | AlignedSize;
  /** For how many elements a stage has room; known at the launch. Default: `count`. */
  readonly room?: Index;
  /** The position in the stage that the first one goes to. Default: 0. */
  readonly at?: Index;
  /** The threads that make the copy together. Default: the group; where threads have roles it must be given. */
  readonly by?: ThreadBlock | Tile | CoalescedGroup | ThreadSubset | Thread;
}

/** One copy, or several with names. */
export type StageCopies = StageCopy | { readonly [name: string]: StageCopy };

/** A stage as its threads see it: the array that was copied, or an object of them with the names of the copies. */
export type Staged<C extends StageCopies> =
  C extends StageCopy<infer E>
    ? KernelArray<E>
    : { readonly [K in keyof C]: C[K] extends StageCopy<infer E> ? KernelArray<E> : never };

/** What `cuda.pipelined` takes. */
export interface PipelinedBatches<C extends StageCopies> {
  /** The threads that work together. Each group of the block has stages of its own; so has a single thread. */
  readonly group: ThreadBlock | Tile | Thread;
  /** How many batches are under way at most: 1 to 255. */
  readonly stages: Constant;
  /** How many batches there are. */
  readonly batches: Index;
  /** The part of this thread, where some threads only copy and the others only compute. Without it all do both. */
  readonly role?: PipelineRole;
  /** The same by a number: so many threads of the group copy, those of the lowest ranks. */
  readonly producers?: Index;
  /** What is copied of a batch. */
  readonly copy: (batch: number) => C;
  /** What is done with a batch that has arrived. */
  readonly use: (staged: Staged<C>, batch: number) => void;
}

/** A group's copies that need no pipeline. CUDA: `namespace cooperative_groups`. */
export interface CooperativeGroups {
  /**
   * Begins to copy `count` elements, by the threads of the group together. Each call is a commit of
   * its own, also one that copies nothing. CUDA: `cooperative_groups::memcpy_async(group, destination, source, count)`.
   *
   * @example
   * cuda.cg.memcpyAsync(tile, shared.subarray(begin), globalIn.subarray(begin), tile.size());
   * cuda.cg.wait(tile);
   */
  memcpyAsync<E extends Element>(
    group: ThreadBlock | Tile | CoalescedGroup | ThreadSubset | Thread,
    destination: KernelArray<E>,
    source: ReadonlyKernelArray<NoInfer<E>>,
    count: number | AlignedSize,
  ): void;
  /**
   * Begins to copy as many elements as both sides have, counted in elements.
   * CUDA: `cooperative_groups::memcpy_async(group, destination, destination_layout, source, source_layout)`.
   */
  memcpyAsync<E extends Element>(
    group: ThreadBlock | Tile | CoalescedGroup | ThreadSubset | Thread,
    destination: KernelArray<E>,
    destinationCount: number | AlignedSize,
    source: ReadonlyKernelArray<NoInfer<E>>,
    sourceCount: number | AlignedSize,
  ): void;
  /**
   * Waits until all copies that the threads of the group have committed are done, and all of them
   * are here. The group may be a wider one than those that copied. Barrier: the group. CUDA: `cooperative_groups::wait(group)`.
   */
  wait(group: ThreadBlock | Tile | CoalescedGroup | ThreadSubset | Thread): void;
  /**
   * The same, but the copies of each thread's `n` youngest commits need not be done.
   * Barrier: the group. CUDA: `cooperative_groups::wait_prior<n>(group)`.
   */
  waitPrior(group: ThreadBlock | Tile | CoalescedGroup | ThreadSubset | Thread, n: Constant): void;
  /**
   * All values of a group of at most 32 threads, or of a subset of a block, combined; each thread gets the same. Floats are
   * combined in one order on every device. Barrier: the group. CUDA: `cooperative_groups::reduce(group, value, cooperative_groups::plus<T>())`.
   *
   * @example
   * const sum = cuda.cg.reduce(tile, x[i], 'plus');
   */
  reduce<T extends Scalar>(
    group: Tile | CoalescedGroup | ThreadSubset,
    value: T,
    operation: Combination,
  ): Exchanged<T>;
  /** The values of the group's threads up to this one combined. Barrier: the group. CUDA: `cooperative_groups::inclusive_scan(group, value, …)`. */
  inclusiveScan<T extends Scalar>(
    group: Tile | CoalescedGroup | ThreadSubset,
    value: T,
    operation?: Combination,
  ): Exchanged<T>;
  /**
   * The values of the group's threads before this one combined. The first gets what changes nothing:
   * 0, or of 'less' the greatest value. Barrier: the group. CUDA: `cooperative_groups::exclusive_scan(group, value, …)`.
   */
  exclusiveScan<T extends Scalar>(
    group: Tile | CoalescedGroup | ThreadSubset,
    value: T,
    operation?: Combination,
  ): Exchanged<T>;
}

/** The part of the intrinsics that is about copies, pipelines and time. */
export interface CudaAsync {
  /**
   * Begins to copy `count` elements. The threads of the group copy together, so all of them call it alike;
   * of a coalesced group each thread copies its part by itself.
   * The copy belongs to the next commit of the pipeline, or arrives before the current phase of the barrier
   * is over. CUDA: `cuda::memcpy_async(group, destination, source, bytes, pipeline | barrier)`.
   *
   * @example
   * pipeline.producerAcquire();
   * cuda.memcpyAsync(block, shared, globalIn.subarray(begin), block.size(), pipeline);
   * pipeline.producerCommit();
   *
   * @example
   * cuda.memcpyAsync(block, shared, globalIn.subarray(begin), block.size(), barrier);
   * const token = barrier.arrive();
   * // … what does not need the copy …
   * barrier.wait(token);
   */
  memcpyAsync<E extends Element>(
    group: ThreadBlock | Tile | CoalescedGroup | ThreadSubset | Thread,
    destination: KernelArray<E>,
    source: ReadonlyKernelArray<NoInfer<E>>,
    count: number | AlignedSize,
    sync: Pipeline | Barrier,
  ): void;
  /**
   * The same, where each calling thread copies all of them by itself.
   * CUDA: `cuda::memcpy_async(destination, source, bytes, pipeline | barrier)`.
   */
  memcpyAsync<E extends Element>(
    destination: KernelArray<E>,
    source: ReadonlyKernelArray<NoInfer<E>>,
    count: number | AlignedSize,
    sync: Pipeline | Barrier,
  ): void;
  /**
   * A count of elements with the promise that the size in bytes and both addresses are multiples
   * of `align` bytes. CUDA: `cuda::aligned_size_t<align>(bytes)`.
   */
  alignedSize(align: Constant, count: Index): AlignedSize;

  /** A group's copies that need no pipeline. CUDA: `namespace cooperative_groups`. */
  readonly cg: CooperativeGroups;

  /**
   * Begins to copy `count` elements, 4, 8 or 16 bytes of them, from global to shared memory, by the
   * calling thread alone. The last `zeroFill` elements are not read, but set to zero.
   * CUDA: `__pipeline_memcpy_async(destination, source, size, zfill)`.
   *
   * @example
   * const i = cuda.thisGrid().threadRank();
   * cuda.pipelineMemcpyAsync(shared.subarray(t), globalIn.subarray(i), 1, i < globalIn.length ? 0 : 1);
   * cuda.pipelineCommit();
   * cuda.pipelineWaitPrior(0);
   */
  pipelineMemcpyAsync<E extends Element>(
    destination: KernelArray<E>,
    source: ReadonlyKernelArray<NoInfer<E>>,
    count: Constant,
    zeroFill?: Index,
  ): void;
  /** Makes the copies that this thread began since its last commit a batch. CUDA: `__pipeline_commit()`. */
  pipelineCommit(): void;
  /** Waits until at most the `n` youngest of this thread's batches are under way. Waits for: the thread. CUDA: `__pipeline_wait_prior(n)`. */
  pipelineWaitPrior(n: Constant): void;

  /**
   * What the threads of a pipeline share: its `stages`, 1 to 255, known when the kernel is
   * compiled. Each group that makes a pipeline of it has a state of its own. All scopes mean the
   * same here, as a pipeline lies inside one block.
   * CUDA: `__shared__ cuda::pipeline_shared_state<scope, stages>`.
   */
  pipelineSharedState(scope: PipelineScope, stages: Constant): PipelineSharedState;
  /**
   * Copies batches ahead, as many as there are stages, while the threads compute one that has arrived. It makes the
   * arrays of the stages in shared memory and a pipeline, and means what its verbs mean in the usual two loops: acquire,
   * copy, commit for each batch that has a free stage; wait, use, release for the oldest one. With `role` or `producers`
   * some threads copy, and the others use. What it has no member for is written by the verbs.
   * Waits for: the pipeline. CUDA: the loops of `make_pipeline`, `producer_acquire`, `memcpy_async`, `producer_commit`, `consumer_wait` and `consumer_release`.
   *
   * @example
   * cuda.pipelined({
   *   group: block,
   *   stages: 2,
   *   batches: batchCount,
   *   copy: (batch) => ({ source: globalIn.subarray(begin(batch)), count: block.size() }),
   *   use: (staged, batch) => compute({ out: globalOut.subarray(begin(batch)), staged }),
   * });
   */
  pipelined<C extends StageCopies>(options: PipelinedBatches<C>): void;
  /** A pipeline of the thread's own. Barrier: the group. CUDA: `cuda::make_pipeline()`. */
  makePipeline(): Pipeline;
  /** A pipeline whose threads are all producers and consumers. Barrier: the group. CUDA: `cuda::make_pipeline(group, &state)`. */
  makePipeline(
    group: ThreadBlock | Tile | CoalescedGroup | ThreadSubset,
    state: PipelineSharedState,
  ): Pipeline;
  /** A pipeline in which each thread has a role. Barrier: the group. CUDA: `cuda::make_pipeline(group, &state, role)`. */
  makePipeline(
    group: ThreadBlock | Tile | CoalescedGroup | ThreadSubset,
    state: PipelineSharedState,
    role: PipelineRole,
  ): Pipeline;
  /** A pipeline with a number of producers; the others consume. Barrier: the group. CUDA: `cuda::make_pipeline(group, &state, producers)`. */
  makePipeline(
    group: ThreadBlock | Tile | CoalescedGroup | ThreadSubset,
    state: PipelineSharedState,
    producers: Index,
  ): Pipeline;
  /**
   * Waits until at most the `n` youngest commits of a pipeline of the thread's own are under way;
   * older ones count as waited for. With fewer commits than that it does nothing.
   * Waits for: the thread. CUDA: `cuda::pipeline_consumer_wait_prior<n>(pipeline)`.
   */
  pipelineConsumerWaitPrior(pipeline: Pipeline, n: Constant): void;

  /**
   * The time in nanoseconds, by one clock for all threads: that of the GPU, or Unix time. On the
   * interpreter time is counted, not measured, from 0 in every block. CUDA: `%globaltimer`.
   */
  globaltimer(): number;
  /** A count of the multiprocessor's cycles; of nanoseconds, where there is no GPU. CUDA: `clock64()`. */
  clock64(): number;
  /** The lower 32 bits of that count, a `u32`: differences of two wrap as it does. CUDA: `clock()`. */
  clock(): number;
  /**
   * Suspends the thread for about so many nanoseconds, a million at most, and lets others go on.
   * CUDA: `__nanosleep(duration)`.
   */
  nanosleep(duration: Nanoseconds): void;
}
