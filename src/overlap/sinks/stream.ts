// Streams as sinks: standard output and named pipes. What was written cannot be taken back.

import type { Writable } from 'node:stream';
import { unwritable } from '../../diagnostics/problem.ts';
import type { Encoding } from '../../formats/format.ts';
import type { TypedArray } from '../job.ts';
import { encoded, nothing, type Sink } from './sink.ts';

/** A sink over a stream of Node. */
export class StreamSink implements Sink {
  readonly name: string;
  readonly #stream: Writable;
  /** Whether the stream is ours to end. */
  readonly #owned: boolean;
  readonly #encoding: Encoding;
  readonly #shape: readonly number[];
  #failure: unknown;
  #interrupt: ((reason: unknown) => void) | undefined;

  private constructor(
    name: string,
    stream: Writable,
    encoding: Encoding,
    shape: readonly number[],
    owned: boolean,
  ) {
    this.name = name;
    this.#encoding = encoding;
    this.#shape = shape;
    this.#stream = stream;
    this.#owned = owned;
    stream.on('error', this.#onError);
  }

  static async open(
    name: string,
    stream: Writable,
    encoding: Encoding,
    shape: readonly number[],
    owned: boolean,
  ): Promise<Sink> {
    const sink = new StreamSink(name, stream, encoding, shape, owned);
    await sink.#writeBytes(encoding.begin?.(shape) ?? nothing);
    return sink;
  }

  async write(data: TypedArray): Promise<void> {
    for await (const bytes of encoded(data, this.#encoding, this.#shape)) await this.#writeBytes(bytes);
  }

  async finish(shape: readonly number[]): Promise<void> {
    await this.#writeBytes((await this.#encoding.end?.(shape)) ?? nothing);
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

  async #writeBytes(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
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
