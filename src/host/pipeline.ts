// cuda::pipeline between worker threads: the same verbs, the same stages, the same order.
//
// Every thread has its own cursors, head and tail; a stage has two barriers. A producer acquires
// the head stage when everybody has released its last use, fills the memory that belongs to it and
// commits; a consumer waits until everybody has committed the tail stage, uses it and releases.
// What was written before a commit is seen after the wait for it: both go through Atomics.
//
// A thread that may block waits in slices, so that the death of another thread is noticed even
// where its wake-up is lost; a main thread awaits instead.

import { threadId } from 'node:worker_threads';
import { WarpstageError } from '../diagnostics/error.ts';
import { arrive, isComplete, isFilled, missingArrivals, phaseWord } from './barrier.ts';
import { barrierOffset, memberCount, type PipelineSharedState, quitMember, word } from './state.ts';

/** What a thread is to a partitioned pipeline. */
export type PipelineRole = 'producer' | 'consumer';

/** Milliseconds after which a waiting thread looks whether the others are still alive. */
const slice = 100;

interface Cursor {
  stage: number;
  /** Parity of the phase that the next wait is for. */
  parity: number;
}

/** One thread's handle of a host pipeline. Made by `makePipeline()`; it belongs to the thread that made it. */
export class HostPipeline implements Disposable {
  readonly state: PipelineSharedState;
  /** This thread's role, or null in a unified pipeline, where every thread has both. */
  readonly role: PipelineRole | null;
  readonly #words: Int32Array;
  readonly #member: number;
  #active = true;
  readonly #head: Cursor = { stage: 0, parity: 1 };
  readonly #tail: Cursor = { stage: 0, parity: 0 };

  /** @internal */
  constructor(state: PipelineSharedState, role: PipelineRole | null, member: number) {
    this.state = state;
    this.role = role;
    this.#member = member;
    this.#words = new Int32Array(state.buffer);
  }

  /**
   * Blocks until the next stage is free, and gives its index. Asking again before the commit gives
   * the same stage.
   *
   * @throws WarpstageError WS3006 in a consumer or after `quit`, WS3008 if another thread died
   * @see cuda::pipeline::producer_acquire
   */
  producerAcquire(): number {
    this.#expect('producerAcquire', 'producer');
    this.#block('consumed', this.#head, Number.POSITIVE_INFINITY);
    return this.#head.stage;
  }

  /** `producerAcquire` for a thread that may not block. */
  async producerAcquireAsync(): Promise<number> {
    this.#expect('producerAcquireAsync', 'producer');
    await this.#whenComplete('consumed', this.#head);
    return this.#head.stage;
  }

  /**
   * Commits the acquired stage: when every producer has, the consumers go on.
   *
   * @see cuda::pipeline::producer_commit
   */
  producerCommit(): void {
    this.#expect('producerCommit', 'producer');
    arrive(this.#words, barrierOffset(this.state, this.#head.stage, 'produced'));
    this.#advance(this.#head);
  }

  /**
   * Blocks until every producer has committed the oldest stage, and gives its index. Waiting again
   * before the release gives the same stage.
   *
   * @see cuda::pipeline::consumer_wait
   */
  consumerWait(): number {
    this.#expect('consumerWait', 'consumer');
    this.#block('produced', this.#tail, Number.POSITIVE_INFINITY);
    return this.#tail.stage;
  }

  /** `consumerWait` for a thread that may not block. */
  async consumerWaitAsync(): Promise<number> {
    this.#expect('consumerWaitAsync', 'consumer');
    await this.#whenComplete('produced', this.#tail);
    return this.#tail.stage;
  }

  /**
   * Like `consumerWait`, for at most so many nanoseconds: true if the stage is ready. After false
   * nothing has changed. Zero and negative durations look once and do not wait (the reference waits
   * for ever at exactly zero).
   *
   * @see cuda::pipeline::consumer_wait_for
   */
  consumerWaitFor(nanoseconds: number): boolean {
    this.#expect('consumerWaitFor', 'consumer');
    if (Number.isNaN(nanoseconds)) {
      throw new WarpstageError({
        code: 'WS4007',
        message: 'a duration must be a number of nanoseconds, and NaN was given',
      });
    }
    return this.#block('produced', this.#tail, nanoseconds / 1e6);
  }

  /**
   * Like `consumerWait`, until a time on the clock of `Date.now()`, in nanoseconds.
   *
   * @see cuda::pipeline::consumer_wait_until
   */
  consumerWaitUntil(nanoseconds: number): boolean {
    return this.consumerWaitFor(nanoseconds - Date.now() * 1e6);
  }

  /**
   * Releases the oldest stage: when every consumer has, producers may fill it again.
   *
   * @see cuda::pipeline::consumer_release
   */
  consumerRelease(): void {
    this.#expect('consumerRelease', 'consumer');
    arrive(this.#words, barrierOffset(this.state, this.#tail.stage, 'consumed'));
    this.#advance(this.#tail);
  }

  /**
   * Ends this thread's part. True in exactly one of all the threads that the state was made for: the last to quit.
   *
   * @see cuda::pipeline::quit
   */
  quit(): boolean {
    this.#expect('quit', null);
    this.#active = false;
    Atomics.store(this.#words, word.members + this.#member, quitMember);
    return Atomics.sub(this.#words, word.active, 1) === 1;
  }

  [Symbol.dispose](): void {
    if (this.#active) this.quit();
  }

  #expect(verb: string, role: PipelineRole | null): void {
    if (!this.#active) {
      throw new WarpstageError({
        code: 'WS3006',
        message: `${verb} was called after quit`,
        hint: 'a thread that has quit takes no part any more; make the pipeline anew on a new state',
      });
    }
    if (role !== null && this.role !== null && role !== this.role) {
      throw new WarpstageError({
        code: 'WS3006',
        message: `${verb} belongs to a ${role}, and this thread is a ${this.role}`,
        hint: `call it in a thread that made its pipeline with the role '${role}'`,
      });
    }
    this.#expectAllAlive();
  }

  #expectAllAlive(): void {
    const dead = Atomics.load(this.#words, word.deadMember);
    if (dead >= 0) {
      throw new WarpstageError({
        code: 'WS3008',
        message: `member ${dead} of the pipeline ended without quitting: its stages will never be committed or released`,
        hint: 'mend what ended the thread; a thread that is done calls quit() first',
      });
    }
  }

  /** A thread that quit arrives no more; if its arrival is needed, the wait would never end. */
  #expectPossible(kind: 'produced' | 'consumed', stage: number, parity: number): void {
    const { partitioned, producers, consumers } = this.state;
    const [first, count] = kind === 'consumed' && partitioned ? [producers, consumers] : [0, producers];
    // Whoever quit had made its arrivals before: so the quits are counted first.
    let quit = 0;
    for (let member = first; member < first + count; ++member) {
      if (Atomics.load(this.#words, word.members + member) === quitMember) quit += 1;
    }
    const at = barrierOffset(this.state, stage, kind);
    const missing = missingArrivals(this.#words, at);
    if (missing <= count - quit || isComplete(this.#words, at, parity)) return;
    const verb = kind === 'produced' ? 'commit' : 'release';
    throw new WarpstageError({
      code: 'WS3002',
      message: `stage ${stage} awaits ${missing} of ${count} ${verb}s, and ${quit} of the threads that ${verb} have quit`,
      hint: `a thread quits after its last ${verb}; quit is no arrival`,
    });
  }

  #advance(cursor: Cursor): void {
    cursor.stage += 1;
    if (cursor.stage < this.state.stages) return;
    cursor.stage = 0;
    cursor.parity ^= 1;
  }

  /** Waits for a phase, for at most so many milliseconds; false if they passed first. */
  #block(kind: 'produced' | 'consumed', { stage, parity }: Cursor, milliseconds: number): boolean {
    const at = barrierOffset(this.state, stage, kind);
    const deadline = performance.now() + milliseconds;
    while (!isComplete(this.#words, at, parity)) {
      this.#expectAllAlive();
      this.#expectPossible(kind, stage, parity);
      const left = deadline - performance.now();
      if (left <= 0) return false;
      const phase = Atomics.load(this.#words, phaseWord(at));
      if (isFilled(phase, parity)) Atomics.wait(this.#words, phaseWord(at), phase, Math.min(left, slice));
    }
    return true;
  }

  async #whenComplete(kind: 'produced' | 'consumed', { stage, parity }: Cursor): Promise<void> {
    const at = barrierOffset(this.state, stage, kind);
    // waitAsync alone does not keep Node's event loop alive.
    const alive = setInterval(() => undefined, 2 ** 30);
    try {
      while (!isComplete(this.#words, at, parity)) {
        this.#expectAllAlive();
        this.#expectPossible(kind, stage, parity);
        const phase = Atomics.load(this.#words, phaseWord(at));
        if (isFilled(phase, parity)) await Atomics.waitAsync(this.#words, phaseWord(at), phase, slice).value;
      }
    } finally {
      clearInterval(alive);
    }
  }
}

/**
 * Makes this thread's handle of a pipeline. Each of the threads that the state was made for calls it
 * once; in a partitioned pipeline each names its role.
 *
 * @throws WarpstageError WS3006 if the role is missing, superfluous, or all its places are taken
 * @example
 * // in the worker
 * const pipeline = makePipeline(state, 'consumer');
 * for (const batch of batches) {
 *   const stage = pipeline.consumerWait();
 *   use(slots[stage]);
 *   pipeline.consumerRelease();
 * }
 * pipeline.quit();
 * @see cuda::make_pipeline
 */
export function makePipeline(state: PipelineSharedState, role?: PipelineRole): HostPipeline {
  if (state.partitioned !== (role !== undefined)) {
    throw new WarpstageError({
      code: 'WS3006',
      message: state.partitioned
        ? 'a partitioned pipeline was made without a role'
        : `a unified pipeline was made with the role '${role}'`,
      hint: state.partitioned
        ? "pass 'producer' or 'consumer'"
        : 'leave the role out: every thread both produces and consumes',
    });
  }
  const words = new Int32Array(state.buffer);
  const first = role === 'consumer' ? state.producers : 0;
  const end = role === 'producer' ? state.producers : memberCount(state);
  for (let member = first; member < end; ++member) {
    // Threads are counted from 0, and 0 means a free place.
    if (Atomics.compareExchange(words, word.members + member, 0, threadId + 1) === 0) {
      return new HostPipeline(state, role ?? null, member);
    }
  }
  throw new WarpstageError({
    code: 'WS3006',
    message: `all ${end - first} ${role ?? 'participant'} places of the pipeline are taken`,
    hint: 'make the state for as many threads as take part',
  });
}
