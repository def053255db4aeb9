// A worker thread of the device, seen from the main thread.
//
// Neither the thread nor its port keeps the process alive; who awaits a command does.

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { EarlyThread } from './early-thread.ts';
import type { Order, Report, ThreadData } from './messages.ts';
import type { Thread, ThreadEvents } from './staff.ts';
import { WorkerPool } from './worker-pool.ts';

/** The words that stop threads. A process waits for its threads when it ends, and they may run for ever. */
const running = new Set<Int32Array>();
/** So long a thread may need to leave code of the processor's own, in milliseconds; it looks in every loop. */
const leavesWithin = 10_000;

/** A thread that is ended while such code calls it, or while it loads the package for that, ends the process. */
function leaveNativeCode(words: Int32Array): void {
  Atomics.store(words, 0, 1);
  for (let inside = Atomics.load(words, 1); inside !== 0; inside = Atomics.load(words, 1))
    if (Atomics.wait(words, 1, inside, leavesWithin) === 'timed-out') return;
}

function stopAll(): void {
  for (const words of running) leaveNativeCode(words);
}

export class NodeThread implements Thread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #events: ThreadEvents;
  readonly #exited: Promise<void>;
  /** Of a thread that runs code which nothing else can end. */
  readonly #stopWords: Int32Array | null;
  #stopping = false;
  #begun = false;
  #reason = 'it ended by itself';

  /** `text`: the thread's program. */
  constructor(text: string, data: Omit<ThreadData, 'port'>, events: ThreadEvents) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const computes = data.role === 'compute' || typeof data.role === 'object';
    const stopWords = data.runners === 'native' && computes ? new WorkerPool(data.pool).stopWords : null;
    this.#stopWords = stopWords;
    if (stopWords !== null) {
      if (running.size === 0) process.once('exit', stopAll);
      running.add(stopWords);
    }
    this.#events = events;
    const workerData: ThreadData = { ...data, port: port2 };
    // Other runners are loaded by name, which a program that came late cannot do.
    const early = data.runners === 'wasm' ? EarlyThread.take() : null;
    early?.run(text, workerData, [port2]);
    this.#begun = early?.hasBegun ?? false;
    // From text: a bundle has no file of the thread's, and one script starts sooner than forty modules.
    this.#worker =
      early?.worker ??
      new Worker(text, {
        eval: true,
        workerData,
        transferList: [port2],
        // The process's own flags may name loaders, which would be loaded again by every thread.
        execArgv: [],
        name:
          typeof data.role === 'string' ? `warpstage ${data.role}` : `warpstage helper ${data.role.helper}`,
      });
    this.#worker.once('online', () => {
      this.#begun = true;
    });
    this.#worker.on('error', (error: unknown) => {
      this.#reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.drain();
        this.#port.close();
        if (stopWords !== null && running.delete(stopWords) && running.size === 0)
          process.removeListener('exit', stopAll);
        resolve();
        if (!this.#stopping) this.#events.lost(this.#reason);
      });
    });
    this.#port.on('message', (report: Report) => {
      this.#events.report(report);
      this.#events.arrived();
    });
    this.#port.unref();
    this.#worker.unref();
  }

  /** Whether it has begun to run, as the event loop has seen. */
  get hasBegun(): boolean {
    return this.#begun;
  }

  post(order: Order): void {
    this.#port.postMessage(order);
  }

  /** Hands on the reports that have arrived, without waiting for the event loop. */
  drain(): void {
    for (let received = receiveMessageOnPort(this.#port); received; ) {
      this.#events.report(received.message as Report);
      received = receiveMessageOnPort(this.#port);
    }
  }

  /** Ends the thread, whatever it does. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#stopWords !== null) leaveNativeCode(this.#stopWords);
    await this.#worker.terminate();
    await this.#exited;
  }
}
