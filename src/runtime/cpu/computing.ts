// The trade of the compute engine: kernels, run by the lead and its helpers.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { BlockRunner, Executable, RunnerContext } from '../../targets/executable.ts';
import type { Crew } from './crew.ts';
import { reasonOf, type Trade } from './engine-loop.ts';
import { MemoryView } from './linear-memory.ts';
import type { Order, Report } from './messages.ts';

/** Makes runners of one target's executables. */
export type RunnerFactory = (executable: Executable, context: RunnerContext) => BlockRunner;

/** A thread's executables, each made ready to run when it is first wanted. */
class Runners {
  readonly #create: RunnerFactory;
  readonly #context: RunnerContext;
  readonly #executables = new Map<number, Executable>();
  readonly #runners = new Map<number, BlockRunner>();

  constructor(create: RunnerFactory, memory: WebAssembly.Memory, port: MessagePort) {
    this.#create = create;
    this.#context = { memory, print: (line) => port.postMessage({ kind: 'print', line } satisfies Report) };
  }

  announce(id: number, executable: Executable): void {
    this.#executables.set(id, executable);
  }

  get(id: number): BlockRunner {
    const known = this.#runners.get(id);
    if (known !== undefined) return known;
    const runner = this.#create(this.#executables.get(id)!, this.#context);
    this.#runners.set(id, runner);
    return runner;
  }

  /** Null if it was not announced yet or cannot be made here: then the others do the work. */
  tryGet(id: number): BlockRunner | null {
    try {
      return this.#executables.has(id) ? this.get(id) : null;
    } catch {
      return null;
    }
  }
}

/** Runs ranges of the open launch until there are none, or one fails. */
function work(crew: Crew, member: number, runner: BlockRunner, port: MessagePort): void {
  const record = crew.recordAddress;
  const arena = crew.arenaOf(member);
  for (let range = crew.take(); range !== null; range = crew.take()) {
    const fault = runner(record, arena, range.first, range.end);
    if (fault === null) continue;
    crew.halt();
    port.postMessage({ kind: 'fault', ticket: crew.ticket, fault } satisfies Report);
  }
}

/** The lead's trade. */
export function computingTrade(
  crew: Crew,
  memory: WebAssembly.Memory,
  port: MessagePort,
  create: RunnerFactory,
): Trade {
  const device = new MemoryView(memory);
  const runners = new Runners(create, memory, port);
  return {
    carryOut(task, ticket) {
      if (task.kind !== 'launch') throw new TypeError('the compute engine only launches');
      const runner = runners.get(task.executable);
      device.upTo(task.recordAddress + task.record.length).set(task.record, task.recordAddress);
      crew.open({ ...task, ticket });
      let whole = false;
      try {
        work(crew, 0, runner, port);
      } catch (error) {
        crew.halt();
        throw error;
      } finally {
        whole = crew.close();
      }
      return whole;
    },
    announce: (id, executable) => runners.announce(id, executable),
  };
}

/** Runs a helper, for ever. */
export function runHelper(
  member: number,
  crew: Crew,
  memory: WebAssembly.Memory,
  port: MessagePort,
  create: RunnerFactory,
): never {
  const runners = new Runners(create, memory, port);
  for (;;) {
    const seen = crew.calls;
    for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
      const order = received.message as Order;
      if (order.kind === 'executable') runners.announce(order.id, order.executable);
    }
    help(member, crew, runners, port);
    crew.awaitCall(seen);
  }
}

/** Takes part in the launch that is open, if one is. */
function help(member: number, crew: Crew, runners: Runners, port: MessagePort): void {
  const executable = crew.executable;
  if (executable === 0) return;
  // The runner is made before entering: it may take a while, and the lead waits for whoever is inside.
  const runner = runners.tryGet(executable);
  if (runner === null || !crew.enter()) return;
  try {
    if (crew.executable === executable) work(crew, member, runner, port);
  } catch (error) {
    port.postMessage({ kind: 'broken', ticket: crew.ticket, reason: reasonOf(error) } satisfies Report);
    crew.halt();
  } finally {
    crew.leave();
  }
}
