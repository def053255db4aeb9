// A thread that starts before anybody knows what it will do.
//
// The first run of a process loads what it needs, and the start of a thread takes as long: on another processor they go side by
// side. The thread waits for its program, and the first device that starts a thread meanwhile has it. There is one for each
// run, since each takes a processor while it starts: two were no better than none on two processors.

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

/**
 * Starts a thread for a run that will open the CPU; null where that would not be sooner, or there is none. Where the address
 * space is limited, the device counts its threads before there is any.
 */
export function startEarly(device: unknown): EarlyThread | null {
  if ((device !== undefined && device !== 'cpu') || availableParallelism() < 2) return null;
  if (addressSpaceLeft() !== Number.POSITIVE_INFINITY) return null;
  try {
    return new EarlyThread();
  } catch {
    return null;
  }
}
