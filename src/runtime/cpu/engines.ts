// The engines' threads, seen from the main thread: started when they are first needed, given
// orders, and, for the compute engine, stopped as a whole and started afresh.
//
// A kernel needs its lead alone; each helper makes it faster, as far as there are processors. So what starting a
// helper costs is never waited for: beyond what the machine runs at a time they start one after another, while
// launches come, and one that the system does not let start is done without.

import type { CommandTable, EngineName } from './command-table.ts';
import { engineNames } from './command-table.ts';
import { reasonOf } from './engine-queue.ts';
import type { Runnable } from './file-pieces.ts';
import type { Order, Role } from './messages.ts';
import type { Staff, Thread } from './staff.ts';
import type { EngineEvents, EngineSet } from './surroundings.ts';
import { createWorkerPoolMemory, WorkerPool } from './worker-pool.ts';

export class Engines implements EngineSet {
  readonly #staff: Staff;
  readonly #table: CommandTable;
  readonly #members: number;
  readonly #events: EngineEvents;
  readonly #threads: Record<EngineName, Thread[]> = { 'copy in': [], 'copy out': [], compute: [] };
  readonly #stopping = new Set<EngineName>();
  readonly #numbers = new WeakMap<Runnable, number>();
  /** Those that something may still launch, by their numbers. A command in flight holds its own. */
  readonly #executables = new Map<number, WeakRef<Runnable>>();
  readonly #unreachable = new FinalizationRegistry<number>((id) => this.#forget(id));
  #announced = 0;
  #pool = createWorkerPoolMemory(1);
  #areAwaited = false;
  /** Helpers that were started, and whether more may be. */
  #helpers = 0;
  #mayGrow = true;

  constructor(staff: Staff, table: CommandTable, members: number, events: EngineEvents) {
    this.#staff = staff;
    this.#table = table;
    this.#members = members;
    this.#events = events;
  }

  /** Whether an engine is being stopped, and takes no orders. */
  isStopping(engine: EngineName): boolean {
    return this.#stopping.has(engine);
  }

  /** Whether an engine was given anything to do. */
  isWanted(engine: EngineName): boolean {
    return this.#threads[engine].length > 0;
  }

  /** The number that launches name an executable by; all threads of the pool get it. */
  announce(executable: Runnable): number {
    const known = this.#numbers.get(executable);
    if (known !== undefined) return known;
    const id = ++this.#announced;
    this.#numbers.set(executable, id);
    this.#executables.set(id, new WeakRef(executable));
    this.#unreachable.register(executable, id);
    for (const thread of this.#threads.compute) thread.post({ kind: 'executable', id, executable });
    return id;
  }

  /** Nothing can launch an executable any more. */
  #forget(id: number): void {
    this.#executables.delete(id);
    for (const thread of this.#threads.compute) thread.post({ kind: 'forget', id });
  }

  /** Starts an engine's thread, if it has none, so that it is ready when the first command comes. */
  warmUp(engine: EngineName): void {
    this.#startLead(engine);
  }

  /** Gives an engine a command. Where its thread cannot start, the engine is lost. */
  post(engine: EngineName, order: Extract<Order, { kind: 'command' }>): void {
    const failure = this.#startLead(engine);
    if (failure !== null) {
      this.#events.lost(engine, failure);
      return;
    }
    if (order.task.kind === 'launch' && order.task.blocks > 1) this.#startHelpers();
    this.#threads[engine][0]!.post(order);
    this.#table.signal(engineNames.indexOf(engine));
  }

  awaitKernels(areAwaited: boolean): void {
    this.#areAwaited = areAwaited;
    new WorkerPool(this.#pool).isAwaited = areAwaited;
  }

  /** Why it could not be started, if it could not. */
  #startLead(engine: EngineName): string | null {
    const threads = this.#threads[engine];
    if (threads.length > 0 || this.#stopping.has(engine)) return null;
    if (engine === 'compute') {
      this.#pool = createWorkerPoolMemory(this.#members);
      this.awaitKernels(this.#areAwaited);
      this.#helpers = 0;
      this.#mayGrow = true;
    }
    try {
      threads.push(this.#start(engine, engine, (reason) => this.#events.lost(engine, reason)));
      return null;
    } catch (error) {
      return reasonOf(error);
    }
  }

  #startHelpers(): void {
    const threads = this.#threads.compute;
    while (this.#mayGrow && this.#helpers + 1 < this.#members) {
      if (threads.length >= this.#staff.atOnce && !threads.at(-1)!.hasBegun) return;
      this.#helpers++;
      try {
        const thread = this.#start('compute', { helper: this.#helpers }, (reason) => {
          // One that has run may have left a launch half done.
          if (thread.hasBegun) this.#events.lost('compute', reason);
          else this.#doWithout(thread);
        });
        threads.push(thread);
      } catch {
        this.#mayGrow = false;
      }
    }
  }

  #doWithout(helper: Thread): void {
    this.#threads.compute = this.#threads.compute.filter((one) => one !== helper);
    this.#mayGrow = false;
  }

  #start(engine: EngineName, role: Role, lost: (reason: string) => void): Thread {
    const thread = this.#staff.start(role, this.#pool, {
      report: (report) => this.#events.report(report),
      arrived: () => this.#events.arrived(),
      lost,
    });
    if (engine === 'compute') {
      for (const [id, known] of this.#executables) {
        const executable = known.deref();
        if (executable !== undefined) thread.post({ kind: 'executable', id, executable });
      }
    }
    return thread;
  }

  /** Has the copy engines let go of host memory that was freed. */
  collect(): void {
    for (const engine of ['copy in', 'copy out'] as const) {
      for (const thread of this.#threads[engine]) thread.post({ kind: 'collect' });
      this.#table.signal(engineNames.indexOf(engine));
    }
  }

  /** Hands on all reports that have arrived. */
  drain(): void {
    for (const name of engineNames) for (const thread of this.#threads[name]) thread.drain();
  }

  /** Threads need nobody's time. */
  advance(): void {}

  wait(ticket: number, timeout: number): void {
    this.#staff.wait(this.#table, ticket, timeout);
  }

  /** Ends an engine's threads. Unless that is for good, it may be given orders again when this has resolved. */
  async stop(engine: EngineName, forGood: boolean): Promise<void> {
    this.#stopping.add(engine);
    const threads = this.#threads[engine];
    await Promise.all(threads.map((thread) => thread.stop()));
    this.#threads[engine] = [];
    await (forGood ? this.#staff.close() : this.#staff.replace(threads.length));
    this.#stopping.delete(engine);
    // A thread may have ended between completing a command and waking those who waited for it.
    for (let i = 0; i < engineNames.length; ++i) this.#table.signal(i);
  }
}
