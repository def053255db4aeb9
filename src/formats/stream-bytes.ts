// Bytes of a stream: of Node, of the web, or of any program that gives pieces one by one.

import { unreadable } from '../diagnostics/problem.ts';
import type { OpenBytes } from './bytes.ts';

/** What a stream of the web has that cannot be iterated over everywhere: `ReadableStream`, by its shape. */
export interface ReadableShape<T> {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: T | undefined }>;
    cancel(reason?: unknown): Promise<void>;
    releaseLock?(): void;
  };
}

/** Whether something is a stream of the web to read from. */
export function isReadable(data: object): data is ReadableShape<unknown> {
  return 'getReader' in data && typeof data.getReader === 'function';
}

/** What gives pieces one by one. */
export type PieceStream = AsyncIterable<unknown> | Iterable<unknown> | ReadableShape<unknown>;

/** A stream that is being read. */
interface Pieces {
  next(): Promise<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  /** Tells the stream that no more is taken. A program's own may answer only when it has given what was asked for. */
  stop(): unknown;
}

/** Begins to read a stream. One of the web is free for others when it has ended or was stopped. */
function piecesOf(stream: PieceStream): Pieces {
  if (isReadable(stream)) {
    const reader = stream.getReader();
    const free = () => reader.releaseLock?.();
    return {
      async next() {
        try {
          const result = await reader.read();
          if (result.done) free();
          return result;
        } catch (error) {
          free();
          throw error;
        }
      },
      stop: () => reader.cancel().finally(free),
    };
  }
  const pieces = Symbol.asyncIterator in stream ? stream[Symbol.asyncIterator]() : stream[Symbol.iterator]();
  // A stream of Node ends at once when it is told to, also while it is asked for more.
  const stop = 'destroy' in stream && typeof stream.destroy === 'function';
  return {
    async next() {
      const { done, value } = await pieces.next();
      return { done, value: await value };
    },
    stop: () => (stop ? (stream as unknown as { destroy(): unknown }).destroy() : pieces.return?.()),
  };
}

/** How what a stream gives is checked. */
interface StreamChecks {
  readonly check?: (piece: ArrayBufferView) => void;
  readonly checkedAtEnd?: boolean;
  /** See `OpenBytes`. */
  readonly heldBytes?: number;
}

/** The bytes of a stream, which come in pieces of its own choice. Nothing is asked of it before it is read. */
export class StreamBytes implements OpenBytes {
  readonly name: string;
  readonly size = undefined;
  readonly heldBytes: number;
  readonly #stream: PieceStream;
  readonly #check: (piece: ArrayBufferView) => void;
  readonly #checkedAtEnd: boolean;
  #pieces: Pieces | undefined;
  #rest: Uint8Array = new Uint8Array();
  #ended = false;
  #closed = Promise.resolve();
  #interrupt: ((reason: Error) => void) | undefined;

  /**
   * `check` throws for a piece that is not to be taken. `checkedAtEnd`: only the end tells whether all was right, as of
   * what is unpacked.
   */
  constructor(
    name: string,
    stream: PieceStream,
    { check = () => {}, checkedAtEnd = false, heldBytes = 0 }: StreamChecks = {},
  ) {
    this.name = name;
    this.#stream = stream;
    this.#check = check;
    this.#checkedAtEnd = checkedAtEnd;
    this.heldBytes = heldBytes;
  }

  /** Begins at once, so that `close` ends the stream also where nothing was read of it. */
  begin(): this {
    this.#pieces ??= piecesOf(this.#stream);
    return this;
  }

  async read(into: Uint8Array): Promise<number> {
    let done = 0;
    for (;;) {
      const taken = this.#rest.subarray(0, into.length - done);
      into.set(taken, done);
      done += taken.length;
      this.#rest = this.#rest.subarray(taken.length);
      if (done === into.length || this.#ended) return done;
      this.#rest = await this.#next();
    }
  }

  async finish(): Promise<void> {
    if (!this.#checkedAtEnd) return;
    this.#rest = new Uint8Array();
    while (!this.#ended) await this.#next();
  }

  async peek(length: number): Promise<Uint8Array> {
    const head = new Uint8Array(length);
    const got = head.subarray(0, await this.read(head));
    const whole = new Uint8Array(got.length + this.#rest.length);
    whole.set(got);
    whole.set(this.#rest, got.length);
    this.#rest = whole;
    return got;
  }

  async #next(): Promise<Uint8Array> {
    const { done, value } = await this.#ask();
    if (done === true) {
      this.#ended = true;
      return new Uint8Array();
    }
    try {
      if (!ArrayBuffer.isView(value)) throw new TypeError(`it gave a ${typeof value} instead of bytes`);
      this.#check(value);
      return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    } catch (cause) {
      await this.close();
      throw unreadable(this.name, cause);
    }
  }

  /** The next piece. A stream that fails has ended by itself. */
  async #ask(): ReturnType<Pieces['next']> {
    try {
      this.begin();
      return await new Promise((resolve, reject) => {
        this.#interrupt = reject;
        this.#pieces!.next().then(resolve, reject);
      });
    } catch (cause) {
      this.#ended = true;
      throw unreadable(this.name, cause);
    } finally {
      this.#interrupt = undefined;
    }
  }

  /**
   * Ends the stream, if it was begun, and waits until it has. A read that still waits for data fails, and
   * nobody waits for the stream then: it might take for ever.
   */
  close(): Promise<void> {
    if (!this.#ended) this.#closed = this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#ended = true;
    const interrupt = this.#interrupt;
    interrupt?.(new Error('it was closed'));
    const stopped = (async () => this.#pieces?.stop())().catch(() => {});
    if (interrupt === undefined) await stopped;
  }
}
