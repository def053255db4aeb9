// A thread that starts before anybody knows what it will do.
//
// The first run of a process loads what it needs, and the start of a thread takes as long: on another processor they go side by
// side. The thread waits for its program, and the first device that starts a thread meanwhile has it. There is one for each
// run, since each takes a processor while it starts: two at once were no better than none on two processors. Where much is to be
// read, a second one starts behind it.

import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type Transferable, Worker } from 'node:worker_threads';
import { addressSpaceLeft } from './address-space.ts';

/** The program finds its data where every thread's are, and `require`, which Bun has in no global scope. */
const program = `
  const threads = require('node:worker_threads');
  globalThis.require ??= require;
  threads.parentPort.once('message', ({ text, workerData }) => {
    threads.workerData = workerData;
    require('node:vm').runInThisContext(text);
  });`;

const waiting: EarlyThread[] = [];

export class EarlyThread implements AsyncDisposable {
  readonly worker: Worker;
  #begun = false;

  constructor() {
    this.worker = new Worker(program, { eval: true, execArgv: [], name: 'warpstage' });
    this.worker.unref();
    this.worker.once('online', () => {
      this.#begun = true;
    });
    // Nobody misses one that does not start.
    this.worker.on('error', () => this.#leave());
    this.worker.once('exit', () => this.#leave());
    waiting.push(this);
  }

  /** Those that nobody has, in the order in which they began. */
  static get waiting(): readonly EarlyThread[] {
    return waiting;
  }

  /** The one that waits longest; null where none does. It is the taker's, who gives it a program at once. */
  static take(): EarlyThread | null {
    return waiting.shift() ?? null;
  }

  /** Whether it has begun to run, as the event loop has seen. */
  get hasBegun(): boolean {
    return this.#begun;
  }

  run(text: string, workerData: unknown, transferred: readonly Transferable[]): void {
    this.worker.postMessage({ text, workerData }, transferred);
  }

  /** Whether it was waiting still. */
  #leave(): boolean {
    const position = waiting.indexOf(this);
    if (position >= 0) waiting.splice(position, 1);
    return position >= 0;
  }

  /** Ends it, unless somebody has it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#leave()) await this.worker.terminate();
  }
}

/** The threads that start for a run: ends those that nobody has. */
class EarlyThreads implements AsyncDisposable {
  readonly #threads: EarlyThread[];

  constructor(hasMuch: boolean) {
    const first = new EarlyThread();
    this.#threads = [first];
    // A device that has the first one starts all others itself.
    if (hasMuch)
      first.worker.once('online', () => {
        if (waiting.includes(first)) this.#another();
      });
  }

  #another(): void {
    try {
      this.#threads.push(new EarlyThread());
    } catch {
      // The device says so, if it has none either.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread[Symbol.asyncDispose]()));
  }
}

/** Bytes of an input that take longer than a thread's start. */
const much = 2 ** 26;

/** Whether one of the first of these names a large file. */
function isMuch(input: unknown): boolean {
  const isRecord = typeof input === 'object' && input !== null && !ArrayBuffer.isView(input);
  const names: unknown[] = isRecord ? Object.values(input).slice(0, 8) : [input];
  return names.some((name) => {
    try {
      return typeof name === 'string' && (statSync(name, { throwIfNoEntry: false })?.size ?? 0) >= much;
    } catch {
      return false;
    }
  });
}

/**
 * Starts threads for a run that will open the CPU and read this; null where that would not be sooner, or there are none. Where the
 * address space is limited, the device counts its threads before there is any.
 */
export function startEarly(device: unknown, input: unknown): AsyncDisposable | null {
  if ((device !== undefined && device !== 'cpu') || availableParallelism() < 2) return null;
  if (addressSpaceLeft() !== Number.POSITIVE_INFINITY) return null;
  try {
    return new EarlyThreads(isMuch(input));
  } catch {
    return null;
  }
}
