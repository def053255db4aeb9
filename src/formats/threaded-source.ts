// An array that is decoded in a thread of its own: decompressing and decoding take longer than
// everything else that such a job does, and here they wait for nothing.
//
// The thread (decoding-thread.ts) writes straight into page-locked memory, which is shared; what
// is not shared goes through memory that is. It answers one request at a time. It takes as long to start as to decode some
// tens of megabytes: where an array comes in short units, they are decoded here until that has taken as long, and then
// until the thread says that it has opened the file. It leaves out the elements that were read here, most of which it
// need not decode for that.

import { Worker } from 'node:worker_threads';
import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import { unreadable } from '../diagnostics/problem.ts';
import { hostArrays, type TypedArray } from '../kernel/types.ts';
import type { Dtype } from './dtype.ts';
import { packageFile } from './package-file.ts';
import type { Source, Wanted } from './source.ts';
import { setElements } from './typed-arrays.ts';
import type { UnitSource } from './unit-source.ts';

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

/** What it says first, when it has opened the file, or could not: then the first answer tells why. */
export type ThreadReady = 'ready';

/** Milliseconds that a thread takes to start. */
const usualPatience = 50;

/** The same array, in a thread of its own; undefined in a bundle, which has no file of the thread's. */
export function inThread(
  here: UnitSource,
  task: Omit<DecodingTask, 'module'>,
  module: string | { readonly href: string },
  patience = usualPatience,
): ThreadedSource | undefined {
  const thread = packageFile('formats/decoding-thread.js', import.meta.url);
  return (
    thread &&
    new ThreadedSource(
      here,
      { ...task, module: typeof module === 'string' ? module : module.href },
      thread,
      patience,
    )
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
  readonly rate: number | undefined;
  readonly decodingBytes: number;
  #worker: Worker | undefined;
  readonly #start: () => Worker;
  readonly #patience: number;
  /** What decodes until the thread has started; undefined from then on, or where that is left to the thread. */
  #here: UnitSource | undefined;
  /** Elements that were read here, and the milliseconds that it took. */
  #readHere = 0;
  #spentHere = 0;
  #isReady = false;
  #settle: ((answer: DecodingAnswer | Error) => void) | undefined;
  #failure: Error | undefined;

  /**
   * `here` is the same array, opened here: it says what is known before anything is read. `patience`: milliseconds of
   * decoding here before there is a thread.
   */
  constructor(here: UnitSource, task: DecodingTask, thread: URL, patience: number) {
    this.name = here.name;
    this.dtype = here.dtype;
    this.shape = here.shape;
    this.length = here.length;
    this.rate = here.rate;
    this.#here = here.hasShortUnits ? here : undefined;
    this.decodingBytes = threadBytes + here.decodingBytes * (here.hasShortUnits ? 2 : 1);
    this.#patience = patience;
    this.#start = () => {
      const worker = new Worker(thread, { workerData: task });
      worker.on('message', (answer: DecodingAnswer | ThreadReady) => {
        if (answer === 'ready') this.#isReady = true;
        else this.#settle?.(answer);
      });
      worker.on('error', (error) => this.#fail(error));
      worker.on('exit', () => this.#fail(new Error('its decoding was ended')));
      return worker;
    };
    if (this.#here === undefined || patience === 0) this.#worker = this.#start();
  }

  async read(into: TypedArray): Promise<number> {
    if (this.#here !== undefined && !this.#isReady) return this.#begin((here) => here.read(into));
    if (this.#here !== undefined) await this.#leaveToThread();
    const { buffer } = into;
    const shared = buffer instanceof SharedArrayBuffer ? buffer : new SharedArrayBuffer(into.byteLength);
    const byteOffset = shared === buffer ? into.byteOffset : 0;
    const read = await this.#ask({ buffer: shared, byteOffset, length: into.length });
    if (shared !== buffer) setElements(into, viewOf(into, shared).subarray(0, read));
    return read;
  }

  async skip(elements: number): Promise<number> {
    if (this.#here !== undefined) return this.#begin((here) => here.skip(elements));
    return this.#ask({ skip: elements });
  }

  /** Whether the thread has opened the file: what is read from then on is decoded there. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Elements that were decoded, or left out, before the thread was ready. */
  get readHere(): number {
    return this.#readHere;
  }

  /** Decodes here. What has ended the thread ends this too. */
  async #begin(step: (here: UnitSource) => Promise<number>): Promise<number> {
    const failed = (error: unknown) => {
      if (this.#failure === undefined) throw error;
      return 0;
    };
    const began = performance.now();
    const read = this.#failure === undefined ? await step(this.#here!).catch(failed) : 0;
    if (this.#failure !== undefined) throw unreadable(this.name, this.#failure);
    this.#spentHere += performance.now() - began;
    if (this.#spentHere > this.#patience) this.#worker ??= this.#start();
    this.#readHere += read;
    return read;
  }

  async #leaveToThread(): Promise<void> {
    this.#here = undefined;
    if (this.#readHere > 0) await this.#ask({ skip: this.#readHere });
  }

  async #ask(request: DecodingRequest): Promise<number> {
    if (this.#failure !== undefined) throw unreadable(this.name, this.#failure);
    const answer = await new Promise<DecodingAnswer | Error>((resolve) => {
      this.#settle = resolve;
      this.#worker!.postMessage(request);
    });
    this.#settle = undefined;
    if (answer instanceof Error) throw unreadable(this.name, answer);
    if ('issues' in answer) throw new WarpstageError(answer.issues);
    return answer.read;
  }

  async close(): Promise<void> {
    this.#fail(new Error('its decoding was ended'));
    await this.#worker?.terminate();
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
