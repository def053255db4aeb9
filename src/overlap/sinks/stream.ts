// Streams as sinks: standard output and named pipes. What was written cannot be taken back.

import type { Writable } from 'node:stream';
import { unwritable } from '../../diagnostics/problem.ts';
import type { TypedArray } from '../job.ts';
import { bytesOf, type Sink } from './sink.ts';

/** A sink over a stream of Node. */
export class StreamSink implements Sink {
  readonly name: string;
  readonly #stream: Writable;
  /** Whether the stream is ours to end. */
  readonly #owned: boolean;
  #failure: unknown;
  #interrupt: ((reason: unknown) => void) | undefined;

  private constructor(name: string, stream: Writable, owned: boolean) {
    this.name = name;
    this.#stream = stream;
    this.#owned = owned;
    stream.on('error', this.#onError);
  }

  static async open(
    name: string,
    stream: Writable,
    header: Uint8Array | undefined,
    owned: boolean,
  ): Promise<Sink> {
    const sink = new StreamSink(name, stream, owned);
    if (header !== undefined) await sink.#writeBytes(header);
    return sink;
  }

  write(data: TypedArray): Promise<void> {
    return this.#writeBytes(bytesOf(data));
  }

  async finish(): Promise<void> {
    if (this.#owned) await this.#settled((done) => this.#stream.end(done));
    this.#stream.off('error', this.#onError);
  }

  publish(): void {}

  /** A reader that has stopped reading is not waited for. */
  async abandon(): Promise<void> {
    this.#interrupt?.(new Error('it was closed'));
    if (this.#owned) this.#stream.destroy();
    else this.#stream.off('error', this.#onError);
  }

  #writeBytes(bytes: Uint8Array): Promise<void> {
    return this.#settled((done) => this.#stream.write(bytes, done));
  }

  /** Waits for a call back, or for an error of the stream, whichever comes first. */
  async #settled(call: (done: (error?: Error | null) => void) => void): Promise<void> {
    try {
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve, reject) => {
        this.#interrupt = reject;
        call((error) => (error ? reject(error) : resolve()));
      });
    } catch (cause) {
      throw unwritable(this.name, cause);
    }
  }

  readonly #onError = (cause: Error): void => {
    this.#failure = cause;
    this.#interrupt?.(cause);
  };
}
