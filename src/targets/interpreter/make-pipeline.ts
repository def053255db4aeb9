// makePipeline: the threads of a group meet, and come away with handles of one state.
//
// With roles the producers are counted; with a count its value must be the same in all threads.

import type { Value } from '../../compiler/arithmetic.ts';
import type { Call } from '../../compiler/ir.ts';
import type { Pipeline } from '../../compiler/ir-pipelines.ts';
import { differentCounts, oneSided } from '../pipeline-misuse.ts';
import { waitsToMake } from '../waiting.ts';
import { GroupBarriers, membership } from './barrier.ts';
import { pipelineMisuse } from './fault.ts';
import { BlockPipeline, type PipelineHandle, PipelineState, ThreadPipeline } from './pipeline.ts';
import type { Thread, Wait } from './thread.ts';

export type MakeCall = Extract<Call, { intrinsic: 'makePipeline' }>;

/** What one group has made, or is about to. */
interface Making {
  /** How many times the group has met here when this round completes. */
  readonly round: number;
  producers: number;
  readonly counts: Set<number>;
  state: PipelineState | null;
}

/** One place of the program that makes a pipeline, in one block. */
export class PipelineMaker {
  readonly #declaration: Pipeline;
  readonly #barriers: GroupBarriers;
  readonly #blockSize: number;
  readonly #makings: Making[] = [];
  /** What each thread takes part in, by rank: one that is ahead may be about to make it anew. */
  readonly #ownMakings: Making[] = [];
  /** Whether each thread comes as a producer. */
  readonly #produces: boolean[] = [];

  constructor(declaration: Pipeline, blockSize: number) {
    this.#declaration = declaration;
    this.#barriers = new GroupBarriers(declaration.group, blockSize);
    this.#blockSize = blockSize;
  }

  /** A thread arrives with its role (true for a producer) or count; it must wait for the others of its group. */
  begin(thread: Thread, producers: Value | null, call: MakeCall): Wait | null {
    const { scope, name } = this.#declaration;
    const role = typeof producers === 'boolean' || producers === null ? producers : Number(producers);
    thread.observer?.makeBegan(thread, this.#declaration, role, call.range);
    if (scope === 'thread') return null;
    const barrier = this.#barriers.of(thread.rank);
    const round = barrier.phase + 1;
    const { index } = membership(this.#declaration.group, thread.rank, this.#blockSize);
    let making = this.#makings[index];
    if (making?.round !== round) {
      making = { round, producers: 0, counts: new Set(), state: null };
      this.#makings[index] = making;
    }
    this.#ownMakings[thread.rank] = making;
    this.#produces[thread.rank] = producers === true;
    if (producers === true) making.producers += 1;
    else if (typeof producers !== 'boolean' && producers !== null) making.counts.add(Number(producers));
    thread.observer?.arrived(thread, barrier, barrier.phase, call.range);
    barrier.arrive();
    return {
      range: call.range,
      ready: () => barrier.phase >= round,
      describe: () => waitsToMake(name, this.#barriers.progress(thread.rank)),
    };
  }

  /** All have arrived: the thread's handle. */
  end(thread: Thread, call: MakeCall): PipelineHandle {
    const handle = this.#handleOf(thread, call);
    thread.observer?.made(thread, handle.pipeline, call.range);
    return handle;
  }

  #handleOf(thread: Thread, call: MakeCall): PipelineHandle {
    const { scope, group, partition } = this.#declaration;
    if (scope === 'thread') return new ThreadPipeline(this.#declaration, thread);
    const barrier = this.#barriers.of(thread.rank);
    thread.observer?.waited(thread, barrier, barrier.phase - 1, call.range);
    const { size } = membership(group, thread.rank, this.#blockSize);
    const making = this.#ownMakings[thread.rank]!;
    making.state ??= this.#makeState(thread, size, making, call);
    const role = partition !== 'role' ? null : this.#produces[thread.rank] ? 'producer' : 'consumer';
    return new BlockPipeline(making.state, thread, role);
  }

  leave(thread: Thread): void {
    if (this.#declaration.scope !== 'thread') this.#barriers.leave(thread);
  }

  #makeState(thread: Thread, size: number, making: Making, call: MakeCall): PipelineState {
    const { partition, name } = this.#declaration;
    if (partition === 'unified') return new PipelineState(this.#declaration, size, size, size);
    if (making.counts.size > 1) {
      throw pipelineMisuse(thread, call.range, differentCounts(name, making.counts));
    }
    const producers = partition === 'role' ? making.producers : (making.counts.values().next().value ?? 0);
    if (producers < 1 || producers >= size) {
      throw pipelineMisuse(thread, call.range, oneSided(name, producers, size));
    }
    return new PipelineState(this.#declaration, size, producers, size - producers);
  }
}
