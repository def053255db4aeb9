// The worker pool: the threads that run a kernel's blocks together.
//
// The lead opens a launch, works on it like everybody else, and closes it; helpers enter an open
// launch when they are awake and leave when no blocks are left. One word holds both whether the
// launch is closed and how many helpers are inside, so that the lead waits for exactly those who
// entered: a helper that wakes up late finds the gate closed, and delays nobody. What a helper
// reads of the launch after it entered stays as it is until it leaves.

import { sharedBytes } from '../../targets/shared-bytes.ts';

/** Words of a line of the processors' caches: what one thread writes while others look at something else has a line of its own. */
const line = 16;

const Word = {
  /** Helpers inside, and `closed`. */
  gate: 0,
  /** Next block that nobody has taken, and how many there are. */
  next: line,
  end: line + 1,
  /** Not zero when the launch is to stop early. */
  halted: line + 2,
  /** Counts the launches that want helpers. */
  calls: 2 * line,
  executable: 3 * line,
  record: 3 * line + 1,
  arena: 3 * line + 2,
  arenaStride: 3 * line + 3,
  ticket: 3 * line + 4,
  /** Not zero when one thread runs all blocks. */
  together: 3 * line + 5,
  /** The executable that records the stages of a block, or 0; and the block. */
  stages: 3 * line + 6,
  stagesBlock: 3 * line + 7,
  /** Not zero while the lead is alone, and nobody was called. */
  alone: 3 * line + 8,
  /** Not zero while somebody has to wait for a kernel. */
  awaited: 3 * line + 9,
  /** The fewest blocks that are taken at once, as long as there are so many. */
  fewest: 3 * line + 10,
  /** Not zero when the threads are being ended: for code that nothing else can end. */
  stopped: 4 * line,
  /** Threads inside such code, or in what loads it. */
  inside: 4 * line + 1,
} as const;

/** Blocks that a lead takes at once while it is alone, unless the share of each thread is larger. */
const mostAlone = 8;

/** Into so many ranges for each thread blocks are divided at most that take turns. */
const mostParts = 2;

const wordCount = 5 * line;
const closed = 1 << 30;

export interface WorkerPoolMemory {
  readonly words: SharedArrayBuffer;
  /** Threads, the lead included. */
  readonly members: number;
}

export function createWorkerPoolMemory(members: number): WorkerPoolMemory {
  const words = sharedBytes(4 * wordCount);
  new Int32Array(words)[Word.gate] = closed;
  return { words, members };
}

/** What the pool's threads know of a launch. */
export interface PoolLaunch {
  readonly ticket: number;
  readonly executable: number;
  readonly recordAddress: number;
  readonly arena: number;
  readonly arenaStride: number;
  readonly blocks: number;
  /** One thread runs all of them, as they wait for each other. */
  readonly together: boolean;
  /** Blocks that a thread has at once take turns, so that long ranges are faster. They all take about as long. */
  readonly inTurn: boolean;
  /** The block whose stages are recorded, and the executable that does so. */
  readonly stages: { readonly block: number; readonly executable: number } | null;
}

export class WorkerPool {
  readonly #words: Int32Array;
  readonly #members: number;

  constructor(memory: WorkerPoolMemory) {
    this.#words = new Int32Array(memory.words);
    this.#members = memory.members;
  }

  /** The word that says that the threads are being ended, and behind it how many are where they may not be. */
  get stopWords(): Int32Array {
    return new Int32Array(this.#words.buffer as SharedArrayBuffer, 4 * Word.stopped, 2);
  }

  // For the lead

  /** `calls`: whether helpers are called at once; they may be later. */
  open(launch: PoolLaunch, calls = true): void {
    const words = this.#words;
    words[Word.next] = 0;
    words[Word.end] = launch.blocks;
    words[Word.halted] = 0;
    words[Word.together] = launch.together ? 1 : 0;
    words[Word.fewest] = launch.inTurn ? Math.ceil(launch.blocks / (mostParts * this.#members)) : 1;
    words[Word.record] = launch.recordAddress;
    words[Word.arena] = launch.arena;
    words[Word.arenaStride] = launch.arenaStride;
    words[Word.ticket] = launch.ticket;
    words[Word.stagesBlock] = launch.stages?.block ?? 0;
    Atomics.store(words, Word.stages, launch.stages?.executable ?? 0);
    Atomics.store(words, Word.executable, launch.executable);
    Atomics.store(words, Word.alone, 1);
    Atomics.store(words, Word.gate, 0);
    if (calls || Atomics.load(words, Word.awaited) !== 0) this.call();
  }

  /**
   * Somebody has to wait for a kernel, or nobody has: as long as it is so no lead is alone, since a block of its may wait for
   * one that others would run.
   */
  set isAwaited(isAwaited: boolean) {
    Atomics.store(this.#words, Word.awaited, isAwaited ? 1 : 0);
    if (isAwaited && Atomics.load(this.#words, Word.alone) !== 0) this.call();
  }

  /** Wakes as many helpers as there are blocks for. */
  call(): void {
    const words = this.#words;
    Atomics.store(words, Word.alone, 0);
    const wanted = this.isTogether ? 0 : Math.min(this.#members, words[Word.end]!) - 1;
    if (wanted <= 0) return;
    Atomics.add(words, Word.calls, 1);
    Atomics.notify(words, Word.calls, wanted);
  }

  /** Lets nobody in any more and waits for those inside. True if the launch ran to its end. */
  close(): boolean {
    const words = this.#words;
    Atomics.or(words, Word.gate, closed);
    for (let spins = 0; ; ++spins) {
      const gate = Atomics.load(words, Word.gate);
      if (gate === closed) break;
      if (spins > 2000) Atomics.wait(words, Word.gate, gate);
    }
    return Atomics.load(words, Word.halted) === 0;
  }

  /** Wakes all helpers, though there is nothing to do. */
  wake(): void {
    Atomics.add(this.#words, Word.calls, 1);
    Atomics.notify(this.#words, Word.calls);
  }

  // For helpers

  get calls(): number {
    return Atomics.load(this.#words, Word.calls);
  }

  /** Waits for a call that came after `seen` was read. */
  awaitCall(seen: number): void {
    // Launches of a stream follow each other closely; a wake-up costs some 45 µs.
    for (let i = 0; i < 4000; ++i) if (Atomics.load(this.#words, Word.calls) !== seen) return;
    Atomics.wait(this.#words, Word.calls, seen);
  }

  /** Enters the launch. False if it is closed. */
  enter(): boolean {
    for (;;) {
      const gate = Atomics.load(this.#words, Word.gate);
      if (gate & closed) return false;
      if (Atomics.compareExchange(this.#words, Word.gate, gate, gate + 1) === gate) return true;
    }
  }

  leave(): void {
    if (Atomics.sub(this.#words, Word.gate, 1) - 1 === closed) Atomics.notify(this.#words, Word.gate);
  }

  // For everybody inside

  /** The launch. Before entering it may be a former one's. */
  get executable(): number {
    return Atomics.load(this.#words, Word.executable);
  }

  /** The executable that records the stages of a block, if that is wanted. Before entering it may be a former one's. */
  get stages(): { readonly block: number; readonly executable: number } | null {
    const executable = Atomics.load(this.#words, Word.stages);
    return executable === 0 ? null : { executable, block: this.#words[Word.stagesBlock]! };
  }

  get isTogether(): boolean {
    return this.#words[Word.together] !== 0;
  }

  get ticket(): number {
    return this.#words[Word.ticket]!;
  }

  get recordAddress(): number {
    return this.#words[Word.record]! >>> 0;
  }

  /** The arena of a member; the blocks' own, where they have one each, begin with the first. */
  arenaOf(member: number): number {
    const stride = this.#words[Word.together] === 0 ? this.#words[Word.arenaStride]! >>> 0 : 0;
    return (this.#words[Word.arena]! >>> 0) + member * stride;
  }

  /**
   * Takes blocks: a share of what is left, so that ranges are long at first and short when
   * threads are about to run out of work; or `alone` at most, where nobody was called. Null if there are none.
   */
  take(alone: number | null = null): { readonly first: number; readonly end: number } | null {
    const words = this.#words;
    for (;;) {
      const first = Atomics.load(words, Word.next);
      const left = words[Word.end]! - first;
      if (left <= 0 || Atomics.load(words, Word.halted) !== 0) return null;
      const isWhole = this.#members === 1 || words[Word.together] !== 0;
      const fair = isWhole ? left : Math.max(Math.ceil(left / (2 * this.#members)), words[Word.fewest]!);
      const wanted = isWhole || alone === null ? fair : Math.min(alone, Math.max(fair, mostAlone));
      const share = Math.min(left, wanted);
      if (Atomics.compareExchange(words, Word.next, first, first + share) === first) {
        return { first, end: first + share };
      }
    }
  }

  /** Stops the launch: blocks that nobody has taken are not run. */
  halt(): void {
    Atomics.store(this.#words, Word.halted, 1);
  }
}
