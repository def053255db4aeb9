// Commands that the main thread carries out in their turn: host functions, and waits for other devices. Their states
// are in the command table like those of any other, so that engines wait for them.

import type { Command } from '../command.ts';
import { failureOfWait, HostWaits, type WaitWork } from '../foreign-wait.ts';
import { callHost, type HostWork } from '../host-call.ts';
import { type CommandTable, State } from './command-table.ts';
import type { Flight } from './flight.ts';

/** The main thread sees what it has just completed itself; nobody needs to tell it. */
const silently = () => {};

interface HostCommandsHost {
  readonly table: CommandTable;
  watch(command: Command): void;
  poll(): void;
}

export class HostCommands {
  readonly #host: HostCommandsHost;
  readonly #waits = new HostWaits();

  constructor(host: HostCommandsHost) {
    this.#host = host;
  }

  /** Whether no other device is waited for. */
  get isAlone(): boolean {
    return this.#waits.isEmpty;
  }

  /** Asks other devices whether they have come to what is waited for. */
  ask(): void {
    this.#waits.ask();
  }

  /** Calls a host function when all before it is settled; what waits for it waits for the call. */
  callInTurn(flight: Flight, work: HostWork): void {
    const before = flight.command.dependencies.filter(({ status }) => status === 'queued');
    let left = before.length;
    const call = () => queueMicrotask(() => void this.#call(flight, work));
    for (const command of before) {
      command.whenSettled(() => {
        if (--left === 0) call();
      });
      this.#host.watch(command);
    }
    if (before.length === 0) call();
    this.#host.watch(flight.command);
  }

  async #call(flight: Flight, work: HostWork): Promise<void> {
    const { command, ticket } = flight;
    const { table } = this.#host;
    if (command.dependencies.some(({ status }) => status === 'failed')) {
      table.advance(ticket, State.pending, State.skipped, silently);
    } else if (table.advance(ticket, State.pending, State.running, silently)) {
      const started = performance.now();
      const called = callHost(work);
      const failure = called instanceof Promise ? await called : called;
      flight.thrown = failure;
      table.setTimes(ticket, started, performance.now());
      table.advance(ticket, State.running, failure === null ? State.done : State.failed, silently);
    }
    this.#host.poll();
  }

  /** Waits for another device when all before it is settled; what waits for it waits for that. */
  waitInTurn(flight: Flight, work: WaitWork): void {
    const { command, ticket } = flight;
    const { table } = this.#host;
    const over = () => {
      if (!table.advance(ticket, State.pending, State.running, silently)) return;
      const now = performance.now();
      table.setTimes(ticket, now, now);
      flight.thrown = failureOfWait(command, work);
      table.advance(ticket, State.running, flight.thrown === null ? State.done : State.failed, silently);
      this.#host.poll();
    };
    this.#waits.add(command, work, (one) => this.#host.watch(one), over);
    this.#host.watch(command);
  }
}
