// A column of a Parquet file that is decoded in a thread of its own: decompressing and decoding
// take longer than everything else that such a job does, and here they wait for nothing.
//
// The thread (column-thread.ts) writes straight into page-locked memory, which is shared; what
// is not shared goes through memory that is. It answers one request at a time.

import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import { unreadable } from '../diagnostics/problem.ts';
import type { TypedArray } from '../kernel/types.ts';
import { hostArrays } from '../kernel/types.ts';
import type { Dtype } from './dtype.ts';
import type { Source, Wanted } from './source.ts';
import { setElements } from './typed-arrays.ts';

/** What the thread begins with. */
export interface ColumnTask {
  readonly path: string;
  readonly wanted: Wanted;
}

/** What it is asked: to fill a part of shared memory, or to leave out elements. */
export type ColumnRequest =
  | { readonly buffer: SharedArrayBuffer; readonly byteOffset: number; readonly length: number }
  | { readonly skip: number };

/** What it answers; nothing is read where elements are left out. */
export type ColumnAnswer = { readonly read: number } | { readonly issues: readonly Issue[] };

/** The thread's module. It imports the package that reads Parquet, so that it is no text as other threads are. */
function threadModule(): URL | undefined {
  if (!import.meta.url) return undefined;
  const url = new URL('./column-thread.js', import.meta.url);
  return existsSync(url) ? url : undefined;
}

/** The same column, in a thread of its own; undefined in a bundle, which has no file of the thread's. */
export function inThread(column: Source, task: ColumnTask): ThreadedColumn | undefined {
  const module = threadModule();
  return module && new ThreadedColumn(column, task, module);
}

export class ThreadedColumn implements Source {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[] | undefined;
  readonly length: number | undefined;
  readonly #worker: Worker;
  #settle: ((answer: ColumnAnswer | Error) => void) | undefined;
  #failure: Error | undefined;

  /** `column` is the same column, opened here: it says what is known before anything is read. */
  constructor(column: Source, task: ColumnTask, module: URL) {
    this.name = column.name;
    this.dtype = column.dtype;
    this.shape = column.shape;
    this.length = column.length;
    this.#worker = new Worker(module, { workerData: task });
    this.#worker.on('message', (answer: ColumnAnswer) => this.#settle?.(answer));
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

  async skip(elements: number): Promise<void> {
    await this.#ask({ skip: elements });
  }

  async #ask(request: ColumnRequest): Promise<number> {
    if (this.#failure !== undefined) throw unreadable(this.name, this.#failure);
    const answer = await new Promise<ColumnAnswer | Error>((resolve) => {
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
