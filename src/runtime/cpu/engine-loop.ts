// The loop of an engine's thread: takes commands, waits for what they depend on, carries them out.
//
// Of the commands in its queue an engine carries out the first whose dependencies are complete,
// so that a stream which waits holds up no other. It sleeps only when nothing is ready, and then
// is woken by whatever makes something ready.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Executable } from '../../targets/executable.ts';
import { type CommandTable, isComplete, State } from './command-table.ts';
import { collectGarbage } from './garbage.ts';
import type { Order, Report, Task } from './messages.ts';

type CommandOrder = Extract<Order, { kind: 'command' }>;

/** What an engine can do. */
export interface TaskHandler {
  /** Does the work; false if a kernel failed, which is reported already. */
  run(task: Task, ticket: number): boolean;
  /** Takes note of an executable that launches will name. */
  announce(id: number, executable: Executable): void;
  /** Gives up what it has of an executable that no launch will name any more. */
  forget(id: number): void;
}

/** Runs an engine, for ever. */
export function runEngine(
  engine: number,
  table: CommandTable,
  port: MessagePort,
  now: () => number,
  handler: TaskHandler,
): never {
  const queue: CommandOrder[] = [];
  const notifyMain = () => port.postMessage({ kind: 'complete' } satisfies Report);

  table.setAlive(engine);
  for (;;) {
    const seen = table.signals(engine);
    receive(port, queue, handler);
    const next = takeReady(engine, table, queue, notifyMain);
    if (next === null) {
      table.sleep(engine, seen);
      continue;
    }
    if (!table.advance(next.ticket, State.pending, State.running, notifyMain)) continue; // cancelled
    const started = now();
    let well: boolean;
    try {
      well = handler.run(next.task, next.ticket);
    } catch (error) {
      port.postMessage({ kind: 'broken', ticket: next.ticket, reason: reasonOf(error) } satisfies Report);
      well = false;
    }
    table.setTimes(next.ticket, started, now());
    if (!table.advance(next.ticket, State.running, well ? State.done : State.failed, notifyMain)) park();
  }
}

/** What was thrown, in words. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** The running command was cancelled: this thread is being terminated, and takes no other. */
function park(): never {
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Empties the port into the queue: urgent streams first, otherwise in the order of issue. */
function receive(port: MessagePort, queue: CommandOrder[], handler: TaskHandler): void {
  for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
    const order = received.message as Order;
    switch (order.kind) {
      case 'executable':
        handler.announce(order.id, order.executable);
        break;
      case 'forget':
        handler.forget(order.id);
        break;
      case 'collect':
        collectGarbage();
        break;
      case 'command': {
        let at = queue.length;
        while (at > 0 && queue[at - 1]!.priority > order.priority) --at;
        queue.splice(at, 0, order);
        break;
      }
    }
  }
}

/** Removes and returns the first command that can be carried out; drops those that never will be. */
function takeReady(
  engine: number,
  table: CommandTable,
  queue: CommandOrder[],
  notifyMain: () => void,
): CommandOrder | null {
  for (let i = 0; i < queue.length; ++i) {
    const order = queue[i]!;
    const cancelled = table.state(order.ticket) !== State.pending;
    const readiness = cancelled ? 'never' : readinessOf(order, table, engine);
    if (readiness === 'later') continue;
    queue.splice(i--, 1);
    if (readiness === 'now') return order;
    if (!cancelled) table.advance(order.ticket, State.pending, State.skipped, notifyMain);
  }
  return null;
}

/** Whether a command's dependencies let it run; `never` if one of them failed. */
function readinessOf(order: CommandOrder, table: CommandTable, engine: number): 'now' | 'later' | 'never' {
  let readiness: 'now' | 'later' = 'now';
  for (const dependency of order.dependencies) {
    const state = table.watchFromEngine(dependency, engine);
    if (!isComplete(state)) readiness = 'later';
    else if (state !== State.done) return 'never';
  }
  return readiness;
}
