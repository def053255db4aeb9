// The surroundings of a device without threads: its engines work on the thread that opened it, in turns of the event
// loop, and while that thread waits or asks. So a browser runs kernels in a page that is not isolated from others.
//
// Commands are carried out one after the other, in an order that the streams allow. A kernel that runs cannot be
// stopped from the same thread. To be able to stop one, run everything in a worker, and end the worker.

import { inNextTurn } from '../turn.ts';
import { type CommandTable, type EngineName, engineNames, isComplete } from './command-table.ts';
import { computeHandler, type RunnerFactory } from './computing.ts';
import { copyHandler } from './copying.ts';
import { type CommandOrder, carryOut, enqueue, type TaskHandler, takeReady } from './engine-queue.ts';
import type { Runnable } from './file-pieces.ts';
import type { EngineParts, EngineSet, Surroundings } from './surroundings.ts';
import { browserSize } from './web/size.ts';
import { createWorkerPoolMemory, WorkerPool } from './worker-pool.ts';

/** Milliseconds after which the event loop gets its turn. */
const slice = 8;

/** Engines that were given commands: who waits for one may wait for what another is to do. */
const busy = new Set<CallingThread>();

class CallingThread implements EngineSet {
  readonly #table: CommandTable;
  readonly #parts: EngineParts;
  readonly #create: RunnerFactory;
  readonly #queues = engineNames.map((): CommandOrder[] => []);
  readonly #handlers: (TaskHandler | undefined)[] = engineNames.map(() => undefined);
  readonly #numbers = new WeakMap<Runnable, number>();
  readonly #unreachable = new FinalizationRegistry<number>((id) => this.#handlers[2]?.forget(id));
  #announced = 0;
  #isScheduled = false;
  #isWorking = false;

  constructor(parts: EngineParts, create: RunnerFactory) {
    this.#parts = parts;
    this.#table = parts.table;
    this.#create = create;
  }

  isStopping(): boolean {
    return false;
  }

  isWanted(): boolean {
    return false;
  }

  announce(executable: Runnable): number {
    const known = this.#numbers.get(executable);
    if (known !== undefined) return known;
    const id = ++this.#announced;
    this.#numbers.set(executable, id);
    this.#unreachable.register(executable, id);
    this.#handlerOf(engineNames.indexOf('compute')).announce(id, executable);
    return id;
  }

  warmUp(): void {}

  post(engine: EngineName, order: CommandOrder): void {
    enqueue(this.#queues[engineNames.indexOf(engine)]!, order);
    busy.add(this);
    this.#schedule();
  }

  awaitKernels(): void {}

  collect(): void {}

  drain(): void {}

  advance(): void {
    this.#step();
  }

  /** Carries commands out until that one is complete, or none of any device is ready: then the caller asks others. */
  wait(ticket: number): void {
    while (!isComplete(this.#table.state(ticket))) {
      let isAnyReady = false;
      for (const engines of busy) if (engines.#step()) isAnyReady = true;
      if (!isAnyReady) return;
    }
  }

  async stop(engine: EngineName): Promise<void> {
    const index = engineNames.indexOf(engine);
    this.#queues[index] = [];
    this.#handlers[index] = undefined;
    if (this.#queues.every((queue) => queue.length === 0)) busy.delete(this);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    inNextTurn(() => this.#work());
  }

  #work(): void {
    this.#isScheduled = false;
    const begin = performance.now();
    let isReady = this.#step();
    while (isReady && performance.now() - begin < slice) isReady = this.#step();
    // What is settled now may be what another command waits for.
    this.#parts.events.arrived();
    if (isReady) this.#schedule();
  }

  /** Carries out a command of each engine that has one ready. False if none was. */
  #step(): boolean {
    // What a kernel prints may be given to a function that asks for something.
    if (this.#isWorking) return false;
    this.#isWorking = true;
    try {
      let isAny = false;
      for (let engine = 0; engine < engineNames.length; ++engine) {
        const next = takeReady(engine, this.#table, this.#queues[engine]!, () => this.#schedule());
        if (next === null) continue;
        isAny = true;
        const port = { postMessage: this.#parts.events.report.bind(this.#parts.events) };
        const means = { now: () => performance.now(), handler: this.#handlerOf(engine), port };
        carryOut(next, this.#table, means, () => this.#schedule());
      }
      if (isAny) this.#schedule();
      else if (this.#queues.every((queue) => queue.length === 0)) busy.delete(this);
      return isAny;
    } finally {
      this.#isWorking = false;
    }
  }

  #handlerOf(engine: number): TaskHandler {
    const known = this.#handlers[engine];
    if (known !== undefined) return known;
    const { device, staging } = this.#parts.memories();
    const workshop = {
      memory: device,
      port: { postMessage: this.#parts.events.report.bind(this.#parts.events) },
      create: this.#create,
      now: () => performance.now(),
    };
    const handler =
      engineNames[engine] === 'compute'
        ? computeHandler(new WorkerPool(createWorkerPoolMemory(1)), workshop)
        : copyHandler(device, staging);
    this.#handlers[engine] = handler;
    return handler;
  }
}

/** Engines on the thread that opens the device; `create` makes what runs kernels. */
export function callingThread(create: RunnerFactory): Surroundings {
  return {
    processor: 'WebAssembly of this browser',
    sizeOf: (wanted) => ({ ...browserSize(wanted), threads: 1 }),
    createEngines: (parts) => new CallingThread(parts, create),
    arrayFreed: () => false,
    collectGarbage: () => {},
    deviceFreed: () => {},
  };
}
