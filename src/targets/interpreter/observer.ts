// The observer seam: the interpreter reports to listeners what its threads do.
//
// An observer is notified of every access, of every asynchronous copy and of everything that orders
// threads, each before or after it takes effect as its method says. It changes nothing. The
// accesses of a program that nobody observes are compiled as if this file did not exist; the rarer
// events cost a comparison with null.
//
// Order between threads is reported in two events, whatever the primitive: a thread `arrived` at a
// phase of a synchronisation object, and a thread that `waited` for the phase comes after all
// that arrived at it or at an earlier phase. Objects are distinguished by identity. The completion of
// copies goes by the same objects and phases: copies that are `bound` to a phase are there for
// whoever waited for it, or for a later one.
//
// What throws a fault is reported before it is checked, so that an observer sees the misuse itself.

import type { Value } from '../../compiler/arithmetic.ts';
import type { Call, Expression, Group, Program } from '../../compiler/ir.ts';
import type { RankGroup } from '../../compiler/ir-cohorts.ts';
import type { Pipeline } from '../../compiler/ir-pipelines.ts';
import type { WarpOperator } from '../../compiler/ir-warps.ts';
import type { Range } from '../../diagnostics/source.ts';
import type { Fault } from '../executable.ts';
import type { PipelineRole } from '../pipeline-misuse.ts';
import type { Block } from './block.ts';
import type { PendingCopy } from './copies.ts';
import type { Launch } from './launch.ts';
import type { Elements } from './memory.ts';
import type { WaitVerb } from './pipeline.ts';
import type { Thread } from './thread.ts';
import type { Gathering } from './warp.ts';

export type AtomicCall = Extract<Call, { intrinsic: 'atomic' }>;

/** A program as the interpreter compiles it. */
export interface ObservedProgram extends Program {
  readonly observer?: Observer;
  /** Integer arithmetic whose exact result matters: that it was not representable is reported. */
  readonly exact?: ReadonlySet<Expression>;
  /** The threads among which `threadRank` counts, if they are not the block's. */
  readonly ranks?: RankGroup;
}

/** A pipeline that a group has made: distinguished by identity. For thread scope each thread has one of its own. */
export interface MadePipeline {
  readonly declaration: Pipeline;
  /** Ranks of the threads that share it, from the lowest. */
  readonly members: readonly number[];
}

/** A thread's use of one stage of a pipeline. */
export interface StageUse {
  readonly pipeline: MadePipeline;
  /** Which stage; for thread scope, which has none, the batch. */
  readonly stage: number;
  /** How many times the thread has used the pipeline this way before. */
  readonly batch: number;
  /** Of the thread, where the pipeline was made with roles. */
  readonly role: PipelineRole | null;
  readonly range: Range;
}

export interface Observer {
  launchBegan(launch: Launch): void;
  launchEnded(launch: Launch, fault: Fault | null): void;
  /** Its threads are about to start. */
  blockBegan(block: Block): void;
  /** All of its threads have returned. */
  blockEnded(block: Block): void;
  /** It has returned. */
  threadEnded(thread: Thread): void;

  /** An element, or the component of a vector, is about to be read. The index may be out of range. */
  read(thread: Thread, array: Elements, index: number, range: Range, component: number): void;
  /** The same, about to be written. */
  write(thread: Thread, array: Elements, index: number, value: Value, range: Range, component: number): void;
  /** An element is about to be read and written in one step, by a call of the program if one is given. The index may be out of range. */
  update(thread: Thread, array: Elements, index: number, range: Range, call?: AtomicCall): void;
  /** Arithmetic of the program's `exact` set has wrapped: what it would have been, and what it was. */
  wrapped(thread: Thread, expression: Expression, exact: number | bigint, actual: number | bigint): void;

  /** A thread has issued its share of a copy, with valid operands. It is not delivered yet. */
  issued(copy: PendingCopy): void;
  /** The bytes of a copy are about to move. */
  delivered(copy: PendingCopy): void;
  /** From now on it is phase `phase` of `sync` that completes these copies. */
  bound(copies: readonly PendingCopy[], sync: object, phase: number, range: Range): void;

  /** What the thread did so far comes before phase `phase` of `sync` completes. */
  arrived(thread: Thread, sync: object, phase: number, range: Range): void;
  /** Phase `phase` of `sync` has completed, and what the thread does from now on comes after it. */
  waited(thread: Thread, sync: object, phase: number, range: Range): void;

  /** What the thread did and knows of this memory comes before what the copy engine is given after it. */
  proxyFenced(thread: Thread, space: 'shared' | 'global'): void;
  /** Accesses of the thread are ordered around atomic operations, for who sees those. */
  fenced(thread: Thread, scope: 'block' | 'device' | 'system'): void;

  /** A thread comes to a sync of its group. */
  syncBegan(thread: Thread, group: Group, range: Range): void;
  /** It goes on from there. */
  syncEnded(thread: Thread, group: Group, range: Range): void;

  /** All lanes have come that an exchange waits for, and this one is about to take what it gets. */
  lanesMet(thread: Thread, operator: WarpOperator, gathering: Gathering): void;

  /**
   * A thread comes to a makePipeline: as a producer (true), a consumer, or with a count of producers. `members` are
   * the ranks of those that make it together, from the lowest.
   */
  makeBegan(
    thread: Thread,
    declaration: Pipeline,
    producers: boolean | number | null,
    members: readonly number[],
    range: Range,
  ): void;
  made(thread: Thread, pipeline: MadePipeline, range: Range): void;
  acquireBegan(thread: Thread, use: StageUse): void;
  acquired(thread: Thread, use: StageUse): void;
  /** A thread is about to commit; `copies` are those that it issued since its last commit. */
  committed(thread: Thread, use: StageUse, copies: readonly PendingCopy[]): void;
  /** A thread comes to a wait; `limit` is how many nanoseconds it may last, where it may time out. */
  waitBegan(thread: Thread, use: StageUse, verb: WaitVerb, limit?: number): void;
  /** The wait is over: the stage is there. */
  waitEnded(thread: Thread, use: StageUse): void;
  /** The wait is over: its time is, and the stage is not there. */
  waitGaveUp(thread: Thread, use: StageUse): void;
  released(thread: Thread, use: StageUse): void;
  quit(thread: Thread, use: StageUse): void;
}
