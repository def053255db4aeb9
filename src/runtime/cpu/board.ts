// The board: the shared memory in which the main thread and the engines meet.
//
// Every command in flight has a slot: a state word, and the times at which it began and ended.
// The state word's low bits say how far the command is; the others say who wants to be woken
// when it is complete (a bit an engine, and one for the main thread). So a completion wakes
// exactly those who wait for it, and nobody can miss it: whoever sets his bit learns by the
// same atomic operation whether he came too late.
//
//   pending -> running -> done | failed                   by the engine
//   pending -> skipped                                    by the engine, if a dependency failed
//   pending -> failed, running -> cancelling -> failed    by the main thread, for a cancellation
//
// Whoever makes the first step away from `pending` or `running` owns the next one: an engine that
// finds its running command `cancelling` is about to be terminated and touches nothing more.

/** How far a command is. */
export const State = {
  pending: 0,
  running: 1,
  cancelling: 2,
  done: 3,
  failed: 4,
  skipped: 5,
} as const;

const stateMask = 7;
const mainBit = 8;
const firstEngineBit = 16;

/** Commands that may be in flight at a time, as in CUDA's own queues. */
export const slotCount = 1024;

/** The engines, in the order of their signal words. */
export const engineNames = ['copy in', 'copy out', 'compute'] as const;
export type EngineName = (typeof engineNames)[number];

const bellWord = engineNames.length;
const firstSlotWord = 16;

export interface BoardMemory {
  readonly words: SharedArrayBuffer;
  readonly times: SharedArrayBuffer;
}

export function createBoardMemory(): BoardMemory {
  return {
    words: new SharedArrayBuffer(4 * (firstSlotWord + slotCount)),
    times: new SharedArrayBuffer(16 * slotCount),
  };
}

export function isComplete(state: number): boolean {
  return state >= State.done;
}

export class Board {
  readonly #words: Int32Array;
  readonly #times: Float64Array;

  constructor(memory: BoardMemory) {
    this.#words = new Int32Array(memory.words);
    this.#times = new Float64Array(memory.times);
  }

  /** How far the command of a slot is. */
  state(slot: number): number {
    return Atomics.load(this.#words, firstSlotWord + slot) & stateMask;
  }

  /** Makes a slot ready for another command. */
  reset(slot: number): void {
    Atomics.store(this.#words, firstSlotWord + slot, State.pending);
  }

  /**
   * Takes the command of a slot from one state to the next, and wakes whoever waits if that
   * completes it. `ring` tells the main thread's event loop; it is called if the main thread
   * waits. False, and nothing happens, if the command is in another state.
   */
  advance(slot: number, from: number, to: number, ring: () => void): boolean {
    const word = firstSlotWord + slot;
    for (;;) {
      const old = Atomics.load(this.#words, word);
      if ((old & stateMask) !== from) return false;
      const watchers = old & ~stateMask;
      const next = isComplete(to) ? to : to | watchers;
      if (Atomics.compareExchange(this.#words, word, old, next) !== old) continue;
      if (isComplete(to)) this.#wake(watchers, ring);
      return true;
    }
  }

  #wake(watchers: number, ring: () => void): void {
    if (watchers & mainBit) {
      Atomics.add(this.#words, bellWord, 1);
      Atomics.notify(this.#words, bellWord);
      ring();
    }
    for (let engine = 0; engine < engineNames.length; ++engine) {
      if (watchers & (firstEngineBit << engine)) this.signal(engine);
    }
  }

  /** Asks that an engine be woken when the command of a slot is complete. The command's state at that time. */
  watchFromEngine(slot: number, engine: number): number {
    return Atomics.or(this.#words, firstSlotWord + slot, firstEngineBit << engine) & stateMask;
  }

  /** The same for the main thread. */
  watchFromMain(slot: number): number {
    return Atomics.or(this.#words, firstSlotWord + slot, mainBit) & stateMask;
  }

  /** Wakes an engine. */
  signal(engine: number): void {
    Atomics.add(this.#words, engine, 1);
    Atomics.notify(this.#words, engine);
  }

  /** The engine's signal count, for `sleep`. */
  signals(engine: number): number {
    return Atomics.load(this.#words, engine);
  }

  /** Waits until the engine was signalled after `seen` was read. */
  sleep(engine: number, seen: number): void {
    // A wake-up costs some 45 µs; the next command of a busy stream is often there sooner.
    for (let i = 0; i < 2000; ++i) if (Atomics.load(this.#words, engine) !== seen) return;
    Atomics.wait(this.#words, engine, seen);
  }

  /** Blocks the main thread until the command of a slot is complete. */
  blockMain(slot: number): void {
    for (;;) {
      const seen = Atomics.load(this.#words, bellWord);
      if (isComplete(this.watchFromMain(slot))) return;
      Atomics.wait(this.#words, bellWord, seen);
    }
  }

  setTimes(slot: number, started: number, ended: number): void {
    this.#times[2 * slot] = started;
    this.#times[2 * slot + 1] = ended;
  }

  started(slot: number): number {
    return this.#times[2 * slot]!;
  }

  ended(slot: number): number {
    return this.#times[2 * slot + 1]!;
  }
}
