// The command table: the shared memory in which the main thread and the engines meet.
//
// Every command in flight has a slot: a state word, and the times at which it began and ended.
// The state word's low bits say how far the command is; the next ones say who wants to be woken
// when it is complete (one bit for the main thread, one for each engine). So a completion wakes
// exactly those who wait for it, and nobody can miss it: whoever sets his bit learns by the
// same atomic operation whether he came too late. The rest of the word counts the slot's uses:
// a *ticket* names a slot and its use, and the ticket of a former use reads as failed, so that an
// order left behind in an engine's queue is never taken for the slot's next one.
//
//   pending -> running -> done | failed                   by the engine
//   pending -> skipped                                    by the engine, if a dependency failed
//   pending -> failed, running -> cancelling -> failed    by the main thread, for a cancellation
//
// Whoever makes the first step away from `pending` or `running` owns the next one: an engine that
// finds its running command `cancelling` is about to be terminated and touches nothing more.

import { sharedBytes } from '../../targets/shared-bytes.ts';

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
const flagMask = 0xff;
const useShift = 8;
// So that a ticket, which is use and slot together, fits into 31 bits.
const useMask = 0xfffff;

/** Commands that may be in flight at a time, as in CUDA's own queues. */
export const slotCount = 1024;

/** The engines, in the order of their signal words. */
export const engineNames = ['copy in', 'copy out', 'compute'] as const;
export type EngineName = (typeof engineNames)[number];

const mainSignalWord = engineNames.length;
const firstAliveWord = mainSignalWord + 1;
const firstSlotWord = 16;

export interface CommandTableMemory {
  readonly words: SharedArrayBuffer;
  readonly times: SharedArrayBuffer;
}

export function createCommandTableMemory(): CommandTableMemory {
  return {
    words: sharedBytes(4 * (firstSlotWord + slotCount)),
    times: sharedBytes(16 * slotCount),
  };
}

export function isComplete(state: number): boolean {
  return state >= State.done;
}

/** The slot of a ticket. */
export function slotOf(ticket: number): number {
  return ticket % slotCount;
}

function wordOf(ticket: number): number {
  return firstSlotWord + slotOf(ticket);
}

/** The state that a word says a ticket's command is in. */
function stateIn(word: number, ticket: number): number {
  return word >>> useShift === Math.floor(ticket / slotCount) ? word & stateMask : State.failed;
}

export class CommandTable {
  readonly #words: Int32Array;
  readonly #times: Float64Array;

  constructor(memory: CommandTableMemory) {
    this.#words = new Int32Array(memory.words);
    this.#times = new Float64Array(memory.times);
  }

  /** Makes a slot ready for its next command, and returns the ticket. */
  open(slot: number): number {
    const word = firstSlotWord + slot;
    const use = ((Atomics.load(this.#words, word) >>> useShift) + 1) & useMask;
    Atomics.store(this.#words, word, (use << useShift) | State.pending);
    return use * slotCount + slot;
  }

  /** How far a command is. */
  state(ticket: number): number {
    return stateIn(Atomics.load(this.#words, wordOf(ticket)), ticket);
  }

  /**
   * Takes a command from one state to the next, and wakes who waits if that completes it.
   * `notifyMain` wakes the main thread's event loop; it is called if the main thread waits. False, and
   * nothing happens, if the command is in another state.
   */
  advance(ticket: number, from: number, to: number, notifyMain: () => void): boolean {
    const word = wordOf(ticket);
    for (;;) {
      const old = Atomics.load(this.#words, word);
      if (stateIn(old, ticket) !== from) return false;
      const next = (old & ~stateMask) | to;
      if (Atomics.compareExchange(this.#words, word, old, next) !== old) continue;
      if (isComplete(to)) this.#wake(old & flagMask, notifyMain);
      return true;
    }
  }

  #wake(watchers: number, notifyMain: () => void): void {
    if (watchers & mainBit) {
      Atomics.add(this.#words, mainSignalWord, 1);
      Atomics.notify(this.#words, mainSignalWord);
      notifyMain();
    }
    for (let engine = 0; engine < engineNames.length; ++engine) {
      if (watchers & (firstEngineBit << engine)) this.signal(engine);
    }
  }

  /** Asks that an engine be woken when a command is complete. The command's state at that time. */
  watchFromEngine(ticket: number, engine: number): number {
    return this.#watch(ticket, firstEngineBit << engine);
  }

  /** The same for the main thread. */
  watchFromMain(ticket: number): number {
    return this.#watch(ticket, mainBit);
  }

  #watch(ticket: number, bit: number): number {
    return stateIn(Atomics.or(this.#words, wordOf(ticket), bit), ticket);
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
    // For some 40 µs: a wake-up costs as much, and the next command of a busy stream is often there sooner.
    for (let i = 0; i < 8000; ++i) if (Atomics.load(this.#words, engine) !== seen) return;
    Atomics.wait(this.#words, engine, seen);
  }

  /** An engine's thread says that it has started. */
  setAlive(engine: number): void {
    Atomics.store(this.#words, firstAliveWord + engine, 1);
  }

  /** Whether the engine ever started. */
  isAlive(engine: number): boolean {
    return Atomics.load(this.#words, firstAliveWord + engine) !== 0;
  }

  /** Blocks the main thread until a command is complete, but not for longer than some milliseconds. */
  blockMain(ticket: number, timeout: number): void {
    const seen = Atomics.load(this.#words, mainSignalWord);
    if (!isComplete(this.watchFromMain(ticket))) Atomics.wait(this.#words, mainSignalWord, seen, timeout);
  }

  setTimes(ticket: number, started: number, ended: number): void {
    const at = 2 * slotOf(ticket);
    this.#times[at] = started;
    this.#times[at + 1] = ended;
  }

  started(ticket: number): number {
    return this.#times[2 * slotOf(ticket)]!;
  }

  ended(ticket: number): number {
    return this.#times[2 * slotOf(ticket) + 1]!;
  }
}
