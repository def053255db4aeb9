// An array that is decoded in a thread of its own: decompressing and decoding take longer than
// everything else that such a job does, and here they wait for nothing.
//
// The thread (decoding-thread.ts) writes straight into page-locked memory, which is shared; what
// is not shared goes through memory that is. It answers one request at a time.

import { Worker } from 'node:worker_threads';
import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import { unreadable } from '../diagnostics/problem.ts';
import { hostArrays, type TypedArray } from '../kernel/types.ts';
import type { Dtype } from './dtype.ts';
import { packageFile } from './package-file.ts';
import type { Source, Wanted } from './source.ts';
import { setElements } from './typed-arrays.ts';

/** What the thread begins with. */
export interface DecodingTask {
  /** The module that exports the format, by its URL. */
  readonly module: string;
  /** The name of the format. */
  readonly format: string;
  readonly path: string;
  readonly dtype: Dtype | undefined;
  readonly wanted: Wanted;
}

/** What it is asked: to fill a part of shared memory, or to leave out elements. */
export type DecodingRequest =
  | { readonly buffer: SharedArrayBuffer; readonly byteOffset: number; readonly length: number }
  | { readonly skip: number };

/** What it answers: how many elements it read, or left out. */
export type DecodingAnswer = { readonly read: number } | { readonly issues: readonly Issue[] };

/** The same array, in a thread of its own; undefined in a bundle, which has no file of the thread's. */
export function inThread(
  here: Source,
  task: Omit<DecodingTask, 'module'>,
  module: string | { readonly href: string },
): ThreadedSource | undefined {
  const thread = packageFile('formats/decoding-thread.js', import.meta.url);
  return (
    thread &&
    new ThreadedSource(here, { ...task, module: typeof module === 'string' ? module : module.href }, thread)
  );
}

/** What a thread that decodes holds: seen are 35 MiB. */
const threadBytes = 40 * 2 ** 20;

/** Has a thread read an array. */
export class ThreadedSource implements Source {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[] | undefined;
  readonly length: number | undefined;
  readonly decodingBytes: number;
  readonly #worker: Worker;
  #settle: ((answer: DecodingAnswer | Error) => void) | undefined;
  #failure: Error | undefined;

  /** `here` is the same array, opened here: it says what is known before anything is read. */
  constructor(here: Source, task: DecodingTask, thread: URL) {
    this.name = here.name;
    this.dtype = here.dtype;
    this.shape = here.shape;
    this.length = here.length;
    this.decodingBytes = threadBytes + (here.decodingBytes ?? 0);
    this.#worker = new Worker(thread, { workerData: task });
    this.#worker.on('message', (answer: DecodingAnswer) => this.#settle?.(answer));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('its decoding was ended')));
  }

  async read(into: TypedArray): Promise<number> {
    const { buffer } = into;
    const shared = buffer instanceof SharedArrayBuffer ? buffer : new SharedArrayBuffer(into.byteLength);
    const byteOffset = shared === buffer ? into.byteOffset : 0;
    const read = await this.#ask({ buffer: shared, byteOffset, length: into.length });
    if (shared !== buffer) setElements(into, viewOf(into, shared).subarray(0, read));
    return read;
  }

  skip(elements: number): Promise<number> {
    return this.#ask({ skip: elements });
  }

  async #ask(request: DecodingRequest): Promise<number> {
    if (this.#failure !== undefined) throw unreadable(this.name, this.#failure);
    const answer = await new Promise<DecodingAnswer | Error>((resolve) => {
      this.#settle = resolve;
      this.#worker.postMessage(request);
    });
    this.#settle = undefined;
    if (answer instanceof Error) throw unreadable(this.name, answer);
    if ('issues' in answer) throw new WarpstageError(answer.issues);
    return answer.read;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#settle?.(error);
  }
}

/** Memory, seen as the elements that an array has. */
function viewOf(like: TypedArray, buffer: SharedArrayBuffer): TypedArray {
  const Constructor = Object.values(hostArrays).find((one) => like instanceof one)! as new (
    buffer: SharedArrayBuffer,
  ) => TypedArray;
  return new Constructor(buffer);
}
