// What the main thread and a web worker say to each other beside messages, which wait for an event loop.
//
// Reports go through a ring of shared bytes, so that the main thread finds them without returning to its event loop: all
// that a thread has reported of a command is there when the command table says that it is complete. Where the ring is
// full, the thread waits until the main thread has taken some. A message rings a bell, once for all that is there.
//
// Orders come as messages. A word counts those that were posted: a thread that has received fewer waits for the rest
// before it looks what is ready, and so may block when nothing is.

import { sharedBytes } from '../../../targets/shared-bytes.ts';
import type { Report } from '../messages.ts';

const Word = {
  /** Bytes that were ever written and read; they wrap. */
  written: 0,
  read: 1,
  /** Orders that were posted. */
  posted: 2,
  /** Not zero when the bell was rung and nobody has come. */
  rung: 3,
  /** Not zero when the thread is being ended. */
  ended: 4,
} as const;

const headBytes = 4 * 8;
/** A power of two, so that positions wrap with the words that count. */
const capacity = 2 ** 16;
/** Milliseconds after which a thread looks again whether there is room. */
const patience = 100;

export type MailMemory = SharedArrayBuffer;

export function createMailMemory(): MailMemory {
  return sharedBytes(headBytes + capacity);
}

/** A thread's side. */
export class MailOut {
  readonly #words: Int32Array;
  readonly #ring: Uint8Array;
  readonly #ringBell: () => void;
  readonly #encoder = new TextEncoder();

  constructor(memory: MailMemory, ringBell: () => void) {
    this.#words = new Int32Array(memory, 0, headBytes / 4);
    this.#ring = new Uint8Array(memory, headBytes);
    this.#ringBell = ringBell;
  }

  /** Orders that were posted to this thread. */
  get posted(): number {
    return Atomics.load(this.#words, Word.posted);
  }

  /** Whether this thread is being ended. */
  get isEnded(): boolean {
    return Atomics.load(this.#words, Word.ended) !== 0;
  }

  postMessage(report: Report): void {
    // That a command is complete is in the command table; the bell says it.
    if (report.kind !== 'complete') this.#write(this.#encoder.encode(textOf(report)));
    this.#call();
  }

  #call(): void {
    if (Atomics.exchange(this.#words, Word.rung, 1) === 0) this.#ringBell();
  }

  #write(text: Uint8Array): void {
    const bytes = new Uint8Array(4 + text.length);
    new DataView(bytes.buffer).setUint32(0, text.length, true);
    bytes.set(text, 4);
    for (let sent = 0; sent < bytes.length; ) {
      const written = Atomics.load(this.#words, Word.written);
      const read = Atomics.load(this.#words, Word.read);
      const free = capacity - ((written - read) >>> 0);
      if (free === 0) {
        this.#call();
        Atomics.wait(this.#words, Word.read, read, patience);
        continue;
      }
      const at = (written >>> 0) % capacity;
      const part = Math.min(free, bytes.length - sent, capacity - at);
      this.#ring.set(bytes.subarray(sent, sent + part), at);
      Atomics.store(this.#words, Word.written, (written + part) | 0);
      sent += part;
    }
  }
}

/** The main thread's side. */
export class MailIn {
  readonly #words: Int32Array;
  readonly #ring: Uint8Array;
  readonly #decoder = new TextDecoder();
  /** Bytes that were taken out of the ring, and are no whole report yet. */
  #rest: Uint8Array<ArrayBufferLike> = new Uint8Array();
  #reports: Report[] = [];

  constructor(memory: MailMemory) {
    this.#words = new Int32Array(memory, 0, headBytes / 4);
    this.#ring = new Uint8Array(memory, headBytes);
  }

  /** An order is about to be posted. */
  count(): void {
    Atomics.add(this.#words, Word.posted, 1);
  }

  /** The thread is about to be ended. */
  end(): void {
    Atomics.store(this.#words, Word.ended, 1);
  }

  /** The bell was heard: what is reported from now on rings again. */
  answer(): void {
    Atomics.store(this.#words, Word.rung, 0);
  }

  /** Makes room in the ring, and keeps what was there. */
  pull(): void {
    for (;;) {
      const read = Atomics.load(this.#words, Word.read);
      const there = (Atomics.load(this.#words, Word.written) - read) >>> 0;
      if (there === 0) break;
      const at = (read >>> 0) % capacity;
      const part = Math.min(there, capacity - at);
      const joined = new Uint8Array(this.#rest.length + part);
      joined.set(this.#rest);
      joined.set(this.#ring.subarray(at, at + part), this.#rest.length);
      this.#rest = joined;
      Atomics.store(this.#words, Word.read, (read + part) | 0);
      Atomics.notify(this.#words, Word.read);
    }
    for (let length = this.#nextLength(); length !== null; length = this.#nextLength()) {
      this.#reports.push(reportOf(this.#decoder.decode(this.#rest.subarray(4, 4 + length))));
      this.#rest = this.#rest.subarray(4 + length);
    }
  }

  /** The reports that have arrived, each once, in their order. */
  take(): readonly Report[] {
    this.pull();
    const reports = this.#reports;
    this.#reports = [];
    return reports;
  }

  #nextLength(): number | null {
    const { buffer, byteOffset, length } = this.#rest;
    if (length < 4) return null;
    const text = new DataView(buffer, byteOffset, length).getUint32(0, true);
    return length < 4 + text ? null : text;
  }
}

/** A report as JSON, in which what JSON lacks stands as an object of one field. */
function textOf(report: Report): string {
  return JSON.stringify(report, (_, value: unknown) => {
    if (typeof value === 'bigint') return { $bigint: String(value) };
    if (value instanceof Float64Array) return { $f64: [...value] };
    if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
      return { $number: Object.is(value, -0) ? '-0' : String(value) };
    return value;
  });
}

function reportOf(text: string): Report {
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    if ('$bigint' in value) return BigInt(value.$bigint as string);
    if ('$f64' in value) return Float64Array.from(value.$f64 as number[]);
    return '$number' in value ? Number(value.$number) : value;
  }) as Report;
}
