// Host functions in a stream of the driver.
//
// At the function's place in the stream is a *gate*: a word of page-locked memory that the stream
// waits for. When the main thread has settled the commands before it (so that what they copied
// is in its place), it calls the function, and opens the gate when that has returned. So no thread
// of the driver's ever calls into JavaScript.

import type { WarpstageError } from '../../diagnostics/error.ts';
import type { Command } from '../command.ts';
import { callHost, type HostWork } from '../host-call.ts';
import type { Driver } from './driver.ts';
import type { PinnedMemory } from './memory.ts';

/** CU_STREAM_WAIT_VALUE_GEQ */
const greaterOrEqual = 0;
/** Gates of one page; a word a gate. */
const gatesOfPage = 1024;

interface Gate {
  readonly words: Int32Array;
  readonly position: number;
  readonly address: number;
}

interface Call {
  readonly command: Command;
  readonly work: HostWork;
  readonly gate: Gate;
  running: boolean;
  failure: WarpstageError | null;
}

export class HostGates {
  readonly #driver: Driver;
  readonly #pinned: PinnedMemory;
  readonly #free: Gate[] = [];
  readonly #calls = new Set<Call>();
  /** Called when a gate was opened. */
  readonly #opened: () => void;

  constructor(driver: Driver, pinned: PinnedMemory, opened: () => void) {
    this.#driver = driver;
    this.#pinned = pinned;
    this.#opened = opened;
  }

  /** Functions whose gates are shut. */
  get shut(): number {
    return this.#calls.size;
  }

  /** Puts a function at the end of a stream. Called when its command has landed: its error, or null. */
  issue(command: Command, work: HostWork, stream: number): () => WarpstageError | null {
    const gate = this.#take();
    Atomics.store(gate.words, gate.position, 0);
    const call: Call = { command, work, gate, running: false, failure: null };
    const waits = this.#driver.cuStreamWaitValue32_v2(stream, gate.address, 1, greaterOrEqual);
    this.#driver.check(waits, 'launchHostFunction');
    this.#calls.add(call);
    return () => {
      this.#free.push(gate);
      return call.failure;
    };
  }

  #take(): Gate {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const buffer = this.#pinned.allocate(4 * gatesOfPage);
    const words = new Int32Array(buffer);
    const address = this.#pinned.addressOf(buffer)!;
    for (let position = gatesOfPage - 1; position >= 0; --position) {
      this.#free.push({ words, position, address: address + 4 * position });
    }
    return this.#free.pop()!;
  }

  /** Calls the functions whose turn has come, each as soon as the caller of this has returned. */
  poll(): void {
    for (const call of this.#calls) {
      if (call.running || call.command.dependencies.some(({ status }) => status === 'queued')) continue;
      call.running = true;
      queueMicrotask(() => void this.#run(call));
    }
  }

  async #run(call: Call): Promise<void> {
    // It is not called if something before it in the stream failed: its command then fails with that.
    const failed = call.command.dependencies.some(({ status }) => status === 'failed');
    if (!failed) call.failure = await callHost(call.work);
    this.#open(call);
  }

  #open(call: Call): void {
    if (!this.#calls.delete(call)) return;
    Atomics.store(call.gate.words, call.gate.position, 1);
    this.#opened();
  }

  /** Opens every gate, so that nothing waits for a function any more; those that were not called fail. */
  openAll(failure: WarpstageError): void {
    for (const call of [...this.#calls]) {
      call.failure = failure;
      this.#open(call);
    }
  }
}
