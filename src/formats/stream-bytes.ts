// Bytes of a stream: of Node, of the web, or of any program that gives pieces one by one.

import { unreadable } from '../diagnostics/problem.ts';
import type { OpenBytes } from './bytes.ts';

/** What a stream of the web has that cannot be iterated over everywhere: `ReadableStream`, by its shape. */
export interface ReadableShape<T> {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: T | undefined }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

/** Whether something is a stream of the web to read from. */
export function isReadable(data: object): data is ReadableShape<unknown> {
  return 'getReader' in data && typeof data.getReader === 'function';
}

/** The pieces of a stream of the web. Who stops taking them cancels it. */
export function piecesOf<T>(stream: ReadableShape<T>): AsyncIterableIterator<T> {
  const reader = stream.getReader();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => reader.read() as Promise<IteratorResult<T>>,
    async return() {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}

/** The bytes of a stream, which come in pieces of its own choice. */
export class StreamBytes implements OpenBytes {
  readonly name: string;
  readonly size = undefined;
  readonly #stream: AsyncIterable<unknown>;
  readonly #pieces: AsyncIterator<unknown>;
  #rest: Uint8Array = new Uint8Array();
  #ended = false;
  #interrupt: ((reason: Error) => void) | undefined;

  constructor(name: string, stream: AsyncIterable<unknown>) {
    this.name = name;
    this.#stream = stream;
    this.#pieces = stream[Symbol.asyncIterator]();
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
    try {
      const { done, value } = await new Promise<IteratorResult<unknown>>((resolve, reject) => {
        this.#interrupt = reject;
        this.#pieces.next().then(resolve, reject);
      });
      if (done === true) {
        this.#ended = true;
        return new Uint8Array();
      }
      if (!ArrayBuffer.isView(value)) throw new TypeError(`it gave a ${typeof value} instead of bytes`);
      return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    } catch (cause) {
      this.#ended = true;
      throw unreadable(this.name, cause);
    }
  }

  /** Ends the stream. A read that still waits for data fails: it might wait for ever. */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#interrupt?.(new Error('it was closed'));
    if (isDestroyed(this.#stream)) this.#stream.destroy();
    else this.#pieces.return?.()?.catch(() => {});
  }
}

/** Whether a stream ends at once when it is told to: one of Node. */
function isDestroyed<T extends object>(stream: T): stream is T & { destroy(): unknown } {
  return 'destroy' in stream && typeof stream.destroy === 'function';
}
