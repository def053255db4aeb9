// The buffers that CUPTI fills with records, and who has each of them.
//
// CUPTI asks for buffers and gives them back by callbacks, on whichever of its threads or of ours it
// happens to be. Those are answered by a thread of their own (thread.ts), which can always answer: it
// only passes buffers on. The main thread, which is inside a call of the driver when CUPTI asks, and
// would wait for ever for a callback of its own, reads the full ones and makes them free again. What
// both know of a buffer is its address and its state, in shared memory. The buffers themselves are native memory
// that is never given back: CUPTI has threads that outlive those of JavaScript, and with them its memory.

import type { NativeMemory } from '../native.ts';

/** Whose a buffer is. */
const State = { free: 0, filling: 1, full: 2 } as const;

/** Words: the two callbacks' addresses (in two halves each), whether they are there, then state and bytes of each buffer. */
const Word = { request: 0, complete: 2, ready: 4, full: 5, first: 8 } as const;

/** Records of a few thousand operations fit into one; CUPTI asks for a megabyte at least. */
export const bufferBytes = 2 ** 21;
const bufferCount = 8;

/** What the threads share. */
export interface BufferMemory {
  readonly words: SharedArrayBuffer;
  /** Where each buffer lies. */
  readonly addresses: readonly number[];
}

/** Makes buffers, of memory that `allocate` gives. */
export function createBuffers(allocate: (bytes: number) => NativeMemory): {
  readonly memory: BufferMemory;
  readonly views: readonly DataView[];
} {
  const buffers = Array.from({ length: bufferCount }, () => allocate(bufferBytes));
  const words = new SharedArrayBuffer(4 * (Word.first + 2 * bufferCount));
  const memory = { words, addresses: buffers.map(({ address }) => address) };
  return { memory, views: buffers.map(({ view }) => view) };
}

/** Addresses of the functions that CUPTI is to call. */
export interface Callbacks {
  readonly request: number;
  readonly complete: number;
}

export class Buffers {
  readonly memory: BufferMemory;
  readonly #words: Int32Array;

  constructor(memory: BufferMemory) {
    this.memory = memory;
    this.#words = new Int32Array(memory.words);
  }

  // For the thread that answers

  /** Tells the main thread where the callbacks are; null where they could not be made. */
  announce(callbacks: Callbacks | null): void {
    const words = this.#words;
    for (const name of callbacks === null ? [] : (['request', 'complete'] as const)) {
      words[Word[name]] = callbacks![name] | 0;
      words[Word[name] + 1] = Math.floor(callbacks![name] / 2 ** 32);
    }
    Atomics.store(words, Word.ready, callbacks === null ? -1 : 1);
    Atomics.notify(words, Word.ready);
  }

  /** A buffer to be filled, by its address; 0 if none is free. */
  take(): number {
    const { addresses } = this.memory;
    for (const [position, address] of addresses.entries()) {
      const state = Word.first + 2 * position;
      if (Atomics.compareExchange(this.#words, state, State.free, State.filling) === State.free)
        return address;
    }
    return 0;
  }

  /** A buffer was given back with so many bytes of records. */
  give(address: number, bytes: number): void {
    const position = this.memory.addresses.indexOf(address);
    if (position < 0) return;
    const state = Word.first + 2 * position;
    this.#words[state + 1] = bytes;
    Atomics.store(this.#words, state, bytes === 0 ? State.free : State.full);
    if (bytes > 0) Atomics.add(this.#words, Word.full, 1);
  }

  // For the main thread

  /** Waits for the callbacks, so many milliseconds at most; null if there are none. */
  awaitCallbacks(milliseconds: number): Callbacks | null {
    const words = this.#words;
    Atomics.wait(words, Word.ready, 0, milliseconds);
    if (Atomics.load(words, Word.ready) !== 1) return null;
    const address = (word: number) => words[word + 1]! * 2 ** 32 + (words[word]! >>> 0);
    return { request: address(Word.request), complete: address(Word.complete) };
  }

  /** Whether records are there to be read. */
  get hasFull(): boolean {
    return Atomics.load(this.#words, Word.full) > 0;
  }

  /** Reads all full buffers, and makes them free. */
  drain(read: (position: number, bytes: number) => void): void {
    for (const position of this.memory.addresses.keys()) {
      const state = Word.first + 2 * position;
      if (Atomics.load(this.#words, state) !== State.full) continue;
      read(position, this.#words[state + 1]!);
      Atomics.sub(this.#words, Word.full, 1);
      Atomics.store(this.#words, state, State.free);
    }
  }
}
