// The commands that an engine was given and has not carried out.
//
// Of the commands in its queue an engine carries out the first whose dependencies are complete,
// so that a stream which waits holds up no other.

import { type CommandTable, isComplete, State } from './command-table.ts';
import type { Runnable } from './file-pieces.ts';
import type { Order, Report, Task } from './messages.ts';

export type CommandOrder = Extract<Order, { kind: 'command' }>;

/** What an engine can do. */
export interface TaskHandler {
  /** Does the work; false if a kernel failed, which is reported already. */
  run(task: Task, ticket: number): boolean;
  /** Takes note of an executable that launches will name. */
  announce(id: number, executable: Runnable): void;
  /** Gives up what it has of an executable that no launch will name any more. */
  forget(id: number): void;
}

/** Where reports go: a port to the main thread, or the main thread itself. */
export interface ReportPort {
  postMessage(report: Report, transfer?: ArrayBuffer[]): void;
}

/** What was thrown, in words. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** Puts a command into the queue: urgent streams first, otherwise in the order of issue. */
export function enqueue(queue: CommandOrder[], order: CommandOrder): void {
  let at = queue.length;
  while (at > 0 && queue[at - 1]!.priority > order.priority) --at;
  queue.splice(at, 0, order);
}

/** Removes and returns the first command that can be carried out; drops those that never will be. */
export function takeReady(
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

/** Carries out a command that is ready. False if it was cancelled while it ran. */
export function carryOut(
  next: CommandOrder,
  table: CommandTable,
  { now, handler, port }: { now: () => number; handler: TaskHandler; port: ReportPort },
  notifyMain: () => void,
): boolean {
  if (!table.advance(next.ticket, State.pending, State.running, notifyMain)) return true; // cancelled before
  const started = now();
  let well: boolean;
  try {
    well = handler.run(next.task, next.ticket);
  } catch (error) {
    port.postMessage({ kind: 'broken', ticket: next.ticket, reason: reasonOf(error) });
    well = false;
  }
  table.setTimes(next.ticket, started, now());
  return table.advance(next.ticket, State.running, well ? State.done : State.failed, notifyMain);
}
