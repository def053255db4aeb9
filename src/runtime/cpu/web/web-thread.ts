// A web worker of the device, seen from the main thread.

import { CommandTable, engineNames } from '../command-table.ts';
import type { Order, Report, Role, ThreadData } from '../messages.ts';
import type { Thread, ThreadEvents } from '../staff.ts';
import { WorkerPool } from '../worker-pool.ts';
import type { Member } from './crew.ts';
import { createMailMemory, MailIn, type MailMemory } from './mail.ts';

/** What a worker is given when it is known what it is to do. */
export interface WebThreadData extends Omit<ThreadData, 'port' | 'runners' | 'clockOffset'> {
  readonly role: Role;
  readonly mail: MailMemory;
  /** The main thread's `performance.timeOrigin`. */
  readonly timeOrigin: number;
}

export class WebThread implements Thread {
  readonly #member: Member;
  readonly #mail: MailIn;
  readonly #events: ThreadEvents;
  readonly #wake: () => void;
  #stopping = false;

  constructor(member: Member, data: Omit<WebThreadData, 'mail' | 'timeOrigin'>, events: ThreadEvents) {
    const mail = createMailMemory();
    this.#member = member;
    this.#mail = new MailIn(mail);
    this.#events = events;
    const { role, table, pool } = data;
    this.#wake = () => {
      if (typeof role === 'object') new WorkerPool(pool).wake();
      else new CommandTable(table).signal(engineNames.indexOf(role));
    };
    member.worker.onmessage = () => {
      this.#mail.answer();
      this.drain();
      events.report({ kind: 'complete' } satisfies Report);
      events.arrived();
    };
    member.worker.onerror = (event) => {
      event.preventDefault?.();
      if (!this.#stopping) events.lost(event.message ?? 'it ended by itself');
    };
    const { timeOrigin } = performance;
    member.worker.postMessage({ ...data, mail, timeOrigin } satisfies WebThreadData);
  }

  /** It had started before it was given anything to do. */
  get hasBegun(): boolean {
    return true;
  }

  post(order: Order): void {
    this.#mail.count();
    this.#member.worker.postMessage(order);
  }

  /** Makes room for what it reports, while nobody may be told of it. */
  pull(): void {
    this.#mail.pull();
  }

  drain(): void {
    for (const report of this.#mail.take()) this.#events.report(report);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#mail.end();
    this.#wake();
    await this.#member.end();
    this.drain();
  }
}
