// Threads as the engines see them, wherever they are: Node's are of thread.ts, a browser's of web/web-thread.ts.

import type { CommandTable } from './command-table.ts';
import type { Order, Report, Role } from './messages.ts';
import type { WorkerPoolMemory } from './worker-pool.ts';

export interface ThreadEvents {
  /** A report, in the order in which the thread made them. */
  readonly report: (report: Report) => void;
  /** Something was reported to the event loop. */
  readonly arrived: () => void;
  /** The thread ended without having been asked to. */
  readonly lost: (reason: string) => void;
}

/** A thread, seen from the main thread. */
export interface Thread {
  /** Whether it has begun to run, as the event loop has seen. */
  readonly hasBegun: boolean;
  post(order: Order): void;
  /** Hands on the reports that have arrived, without waiting for the event loop. */
  drain(): void;
  /** Ends the thread, whatever it does. Resolves when it is gone. */
  stop(): Promise<void>;
}

/** Where threads come from. */
export interface Staff {
  /** Threads of the pool that start together; further ones start one after another. */
  readonly atOnce: number;
  /** Starts a thread. Throws where there is none. */
  start(role: Role, pool: WorkerPoolMemory, events: ThreadEvents): Thread;
  /** Blocks the main thread until a command is complete, but not for longer than some milliseconds. */
  wait(table: CommandTable, ticket: number, timeout: number): void;
  /** So many were stopped, and may be wanted again. */
  replace(count: number): Promise<void>;
  /** None is wanted any more. */
  close(): Promise<void>;
}
