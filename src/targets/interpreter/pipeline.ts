// Pipelines, as cuda::pipeline means them.
//
// Block scope: the group shares stages, each with two barriers. `produced` completes a phase
// when all producers have committed, `consumed` when all consumers have released. Every thread
// has cursors of its own: its head moves at a commit, its tail at a release, and the n-th use
// of a stage is phase n of its barriers. A wait looks at the tail without moving it.
//
// Thread scope: there are no stages, acquire and release do nothing. Copies go into the thread's own
// queue (copy-queue.ts); a wait is for the oldest commit of this pipeline that none has been for.

import type { Pipeline, VerbOf } from '../../compiler/ir-pipelines.ts';
import type { Range } from '../../diagnostics/source.ts';
import { hasQuit, type PipelineRole, wrongRole } from '../pipeline-misuse.ts';
import { type Progress, waitsAtStage } from '../waiting.ts';
import { PhaseBarrier } from './barrier.ts';
import type { PendingCopy } from './copies.ts';
import { pipelineMisuse } from './fault.ts';
import type { MadePipeline, StageUse } from './observer.ts';
import type { Thread, Wait } from './thread.ts';

/** How a thread waits for a stage, in the words of a kernel. */
export type WaitVerb = VerbOf<'wait'>;

/** A thread's handle of a pipeline. */
export interface PipelineHandle {
  /** What was made, whoever holds it. */
  readonly pipeline: MadePipeline;
  /** The thread's, where the pipeline was made with roles. */
  readonly role: PipelineRole | null;
  /** What the thread must wait for before it may fill the head stage. */
  beginAcquire(range: Range): Wait | null;
  endAcquire(range: Range): void;
  /** Takes note of a copy that the thread issued; the next commit covers it. */
  add(copy: PendingCopy, range: Range): void;
  commit(range: Range): void;
  /** What the thread must wait for before the tail stage is there; `limit` is how many nanoseconds at most. */
  beginWait(range: Range, verb: WaitVerb, limit?: number): Wait | null;
  /** The wait is over, if it is: then what it covers is delivered. */
  endWait(range: Range): boolean;
  /** At most so many of the youngest commits may be under way now. Thread scope only. */
  waitPrior(prior: number, range: Range): void;
  release(range: Range): void;
  /** The thread is done with the pipeline; true in the one thread that is the last. */
  quit(range: Range): boolean;
  /** The thread returned without having quit. */
  leave(): void;
}

interface Stage {
  readonly produced: PhaseBarrier;
  readonly consumed: PhaseBarrier;
  /** Copies that a commit has bound to a phase of `produced`, and that no wait has asked for yet. */
  committed: { readonly phase: number; readonly copies: readonly PendingCopy[] }[];
}

/** What the threads of a group share of a block-scope pipeline. */
export class PipelineState {
  readonly declaration: Pipeline;
  readonly members: readonly number[];
  readonly stages: readonly Stage[];
  owners: number;
  returned = 0;

  constructor(declaration: Pipeline, members: readonly number[], producers: number, consumers: number) {
    this.declaration = declaration;
    this.members = members;
    this.owners = members.length;
    this.stages = Array.from({ length: declaration.stages }, () => ({
      produced: new PhaseBarrier(producers),
      consumed: new PhaseBarrier(consumers),
      committed: [],
    }));
  }
}

export class BlockPipeline implements PipelineHandle {
  readonly #state: PipelineState;
  readonly #thread: Thread;
  readonly role: PipelineRole | null;
  // Uses so far: the stage is the cursor modulo the stages, its use the quotient.
  #head = 0;
  #tail = 0;
  #uncommitted: PendingCopy[] = [];
  #active = true;

  constructor(state: PipelineState, thread: Thread, role: PipelineRole | null) {
    this.#state = state;
    this.#thread = thread;
    this.role = role;
  }

  get pipeline(): MadePipeline {
    return this.#state;
  }

  beginAcquire(range: Range): Wait | null {
    this.#thread.observer?.acquireBegan(this.#thread, this.#use(this.#head, range));
    this.#check('producerAcquire', range, 'producer');
    const state = this.#state;
    const { index, stage, use } = this.#at(this.#head);
    return {
      range,
      ready: () => stage.consumed.phase >= use,
      describe: () => waitsAtStage('producer', state.declaration, index, this.#progress(stage.consumed)),
    };
  }

  endAcquire(range: Range): void {
    const { observer } = this.#thread;
    if (observer === null) return;
    const { stage, use } = this.#at(this.#head);
    if (use > 0) observer.waited(this.#thread, stage.consumed, use - 1, range);
    observer.acquired(this.#thread, this.#use(this.#head, range));
  }

  add(copy: PendingCopy, range: Range): void {
    this.#check('memcpyAsync', range, 'producer');
    this.#uncommitted.push(copy);
  }

  commit(range: Range): void {
    const { observer } = this.#thread;
    observer?.committed(this.#thread, this.#use(this.#head, range), this.#uncommitted);
    this.#check('producerCommit', range, 'producer');
    const { stage } = this.#at(this.#head);
    const { phase } = stage.produced;
    if (this.#uncommitted.length > 0) {
      stage.committed.push({ phase, copies: this.#uncommitted });
      observer?.bound(this.#uncommitted, stage.produced, phase, range);
      this.#uncommitted = [];
    }
    observer?.arrived(this.#thread, stage.produced, phase, range);
    stage.produced.arrive();
    this.#head += 1;
  }

  beginWait(range: Range, verb: WaitVerb, limit?: number): Wait | null {
    this.#thread.observer?.waitBegan(this.#thread, this.#use(this.#tail, range), verb, limit);
    this.#check(verb, range, 'consumer');
    const state = this.#state;
    const { index, stage, use } = this.#at(this.#tail);
    return {
      range,
      ready: () => stage.produced.phase > use,
      describe: () => waitsAtStage('consumer', state.declaration, index, this.#progress(stage.produced)),
    };
  }

  endWait(range: Range): boolean {
    const { stage, use } = this.#at(this.#tail);
    const { observer } = this.#thread;
    if (stage.produced.phase <= use) {
      observer?.waitGaveUp(this.#thread, this.#use(this.#tail, range));
      return false;
    }
    this.#deliver(stage, use);
    observer?.waited(this.#thread, stage.produced, use, range);
    observer?.waitEnded(this.#thread, this.#use(this.#tail, range));
    return true;
  }

  waitPrior(): never {
    throw new TypeError('the stages of a shared pipeline are waited for in their order');
  }

  #deliver(stage: Stage, use: number): void {
    if (stage.committed.length === 0) return;
    const covered = stage.committed;
    stage.committed = covered.filter(({ phase }) => phase > use);
    for (const { phase, copies } of covered) {
      if (phase <= use) for (const copy of copies) copy.deliver();
    }
  }

  release(range: Range): void {
    const { observer } = this.#thread;
    observer?.released(this.#thread, this.#use(this.#tail, range));
    this.#check('consumerRelease', range, 'consumer');
    const { consumed } = this.#at(this.#tail).stage;
    observer?.arrived(this.#thread, consumed, consumed.phase, range);
    consumed.arrive();
    this.#tail += 1;
  }

  quit(range: Range): boolean {
    this.#thread.observer?.quit(this.#thread, this.#use(this.#tail, range));
    this.#check('quit', range, null);
    this.#active = false;
    this.#state.owners -= 1;
    return this.#state.owners === 0;
  }

  leave(): void {
    this.#state.returned += 1;
    if (!this.#active) return;
    this.#active = false;
    this.#state.owners -= 1;
  }

  #at(cursor: number) {
    const { stages } = this.#state;
    const index = cursor % stages.length;
    return { index, stage: stages[index]!, use: (cursor - index) / stages.length };
  }

  #use(cursor: number, range: Range): StageUse {
    return {
      pipeline: this.#state,
      stage: cursor % this.#state.stages.length,
      batch: cursor,
      role: this.role,
      range,
    };
  }

  #progress({ arrived, expected }: PhaseBarrier): Progress {
    return { arrived, expected, left: this.#state.returned };
  }

  #check(verb: string, range: Range, required: PipelineRole | null): void {
    const { name } = this.#state.declaration;
    if (!this.#active) throw pipelineMisuse(this.#thread, range, hasQuit(verb, name));
    if (this.role !== null && required !== null && this.role !== required) {
      throw pipelineMisuse(this.#thread, range, wrongRole(verb, name, this.role));
    }
  }
}

export class ThreadPipeline implements PipelineHandle {
  readonly role = null;
  readonly declaration: Pipeline;
  readonly members: readonly number[];
  readonly #thread: Thread;
  #head = 0;
  #tail = 0;

  constructor(declaration: Pipeline, thread: Thread) {
    this.declaration = declaration;
    this.members = [thread.rank];
    this.#thread = thread;
  }

  get pipeline(): MadePipeline {
    return this;
  }

  beginAcquire(range: Range): null {
    this.#thread.observer?.acquireBegan(this.#thread, this.#use(this.#head, range));
    return null;
  }

  endAcquire(range: Range): void {
    this.#thread.observer?.acquired(this.#thread, this.#use(this.#head, range));
  }

  add(copy: PendingCopy): void {
    this.#thread.queue.add(copy);
  }

  commit(range: Range): void {
    const { observer, queue } = this.#thread;
    observer?.committed(this.#thread, this.#use(this.#head, range), queue.uncommitted);
    queue.commit(range);
    this.#head += 1;
  }

  beginWait(range: Range, verb: WaitVerb, limit?: number): null {
    this.#thread.observer?.waitBegan(this.#thread, this.#use(this.#tail, range), verb, limit);
    return null;
  }

  // With nothing committed there is nothing to wait for: unlike block scope's, this wait never blocks.
  endWait(range: Range): boolean {
    const use = this.#use(this.#tail, range);
    if (this.#head > this.#tail) {
      this.#thread.queue.waitForAllBut(this.#head - this.#tail - 1, range);
      this.#tail += 1;
    }
    this.#thread.observer?.waitEnded(this.#thread, use);
    return true;
  }

  // With fewer commits than that nothing is waited for, and none of them is waited for twice.
  waitPrior(prior: number, range: Range): void {
    const { observer, queue } = this.#thread;
    observer?.waitBegan(this.#thread, this.#use(this.#tail, range), 'pipelineConsumerWaitPrior');
    queue.waitForAllBut(prior, range);
    this.#tail = Math.max(this.#tail, this.#head - prior);
    observer?.waitEnded(this.#thread, this.#use(Math.max(this.#tail - 1, 0), range));
  }

  release(range: Range): void {
    this.#thread.observer?.released(this.#thread, this.#use(this.#tail, range));
  }

  quit(range: Range): boolean {
    this.#thread.observer?.quit(this.#thread, this.#use(this.#tail, range));
    return true;
  }

  leave(): void {}

  #use(batch: number, range: Range): StageUse {
    return { pipeline: this, stage: batch, batch, role: null, range };
  }
}
