// makePipeline: the threads of a group meet, and come away with handles of one state.
//
// With roles the producers are counted; with a count its value must be the same in all threads.

import type { Value } from '../../compiler/arithmetic.ts';
import type { Call } from '../../compiler/ir.ts';
import type { Pipeline } from '../../compiler/ir-pipelines.ts';
import { differentCounts, oneSided } from '../pipeline-misuse.ts';
import { waitsToMake } from '../waiting.ts';
import { GroupBarriers, makersOf, type PhaseBarrier } from './barrier.ts';
import { pipelineMisuse } from './fault.ts';
import { LaneBarriers } from './lane-barriers.ts';
import { BlockPipeline, type PipelineHandle, PipelineState, ThreadPipeline } from './pipeline.ts';
import type { Thread, Wait } from './thread.ts';

export type MakeCall = Extract<Call, { intrinsic: 'makePipeline' }>;

/** What one group has made, or is about to. */
interface Making {
  readonly members: readonly number[];
  readonly meeting: PhaseBarrier;
  /** How many times the group has met there when this round completes. */
  readonly round: number;
  producers: number;
  readonly counts: Set<number>;
  state: PipelineState | null;
}

/** One place of the program that makes a pipeline, in one block. */
export class PipelineMaker {
  readonly #declaration: Pipeline;
  readonly #meetings: GroupBarriers | LaneBarriers;
  readonly #blockSize: number;
  readonly #makings: Making[] = [];
  /** What each thread takes part in, by rank: one that is ahead may be about to make it anew. */
  readonly #ownMakings: Making[] = [];
  /** Whether each thread comes as a producer. */
  readonly #produces: boolean[] = [];

  constructor(declaration: Pipeline, blockSize: number) {
    this.#declaration = declaration;
    const { group } = declaration;
    this.#meetings = group.kind === 'lanes' ? new LaneBarriers() : new GroupBarriers(group, blockSize);
    this.#blockSize = blockSize;
  }

  /**
   * A thread arrives with its role (true for a producer) or count, and with masks where its group is of lanes; it must wait
   * for the others of its group.
   */
  begin(
    thread: Thread,
    producers: Value | null,
    masks: readonly number[] | null,
    call: MakeCall,
  ): Wait | null {
    const { scope, name, group } = this.#declaration;
    const { rank } = thread;
    const members = makersOf(group, rank, this.#blockSize, masks);
    const role = typeof producers === 'boolean' || producers === null ? producers : Number(producers);
    thread.observer?.makeBegan(thread, this.#declaration, role, members, call.range);
    if (scope === 'thread') return null;
    const meetings = this.#meetings;
    const meeting = meetings instanceof LaneBarriers ? meetings.join(rank, members) : meetings.of(rank);
    const round = meeting.phase + 1;
    let making = this.#makings[members[0]!];
    if (making?.meeting !== meeting || making.round !== round) {
      making = { members, meeting, round, producers: 0, counts: new Set(), state: null };
      this.#makings[members[0]!] = making;
    }
    this.#ownMakings[rank] = making;
    this.#produces[rank] = producers === true;
    if (producers === true) making.producers += 1;
    else if (typeof producers !== 'boolean' && producers !== null) making.counts.add(Number(producers));
    thread.observer?.arrived(thread, meeting, meeting.phase, call.range);
    meeting.arrive();
    return {
      range: call.range,
      ready: () => meeting.phase >= round,
      describe: () => waitsToMake(name, meetings.progress(rank)),
    };
  }

  /** All have arrived: the thread's handle. */
  end(thread: Thread, call: MakeCall): PipelineHandle {
    const handle = this.#handleOf(thread, call);
    thread.observer?.made(thread, handle.pipeline, call.range);
    return handle;
  }

  #handleOf(thread: Thread, call: MakeCall): PipelineHandle {
    const { scope, partition } = this.#declaration;
    if (scope === 'thread') return new ThreadPipeline(this.#declaration, thread);
    const making = this.#ownMakings[thread.rank]!;
    const { meeting } = making;
    thread.observer?.waited(thread, meeting, meeting.phase - 1, call.range);
    making.state ??= this.#makeState(thread, making, call);
    const role = partition !== 'role' ? null : this.#produces[thread.rank] ? 'producer' : 'consumer';
    return new BlockPipeline(making.state, thread, role);
  }

  leave(thread: Thread): void {
    if (this.#declaration.scope !== 'thread') this.#meetings.leave(thread);
  }

  #makeState(thread: Thread, making: Making, call: MakeCall): PipelineState {
    const { partition, name } = this.#declaration;
    const { members } = making;
    const size = members.length;
    if (partition === 'unified') return new PipelineState(this.#declaration, members, size, size);
    if (making.counts.size > 1) {
      throw pipelineMisuse(thread, call.range, differentCounts(name, making.counts));
    }
    const producers = partition === 'role' ? making.producers : (making.counts.values().next().value ?? 0);
    if (producers < 1 || producers >= size) {
      throw pipelineMisuse(thread, call.range, oneSided(name, producers, size));
    }
    return new PipelineState(this.#declaration, members, producers, size - producers);
  }
}
