// The loop of an engine, in one thread: which command it takes, and what becomes of those that it does not run.

import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { CommandTable, createCommandTableMemory, State } from '#warpstage/runtime/cpu/command-table.js';
import { runEngine } from '#warpstage/runtime/cpu/engine-loop.js';
import type { Order, Task } from '#warpstage/runtime/cpu/messages.js';
import { inEveryOrder } from '../support/interleavings.ts';

const silently = () => {};
const task: Task = { kind: 'set', address: 0, bytes: 0, byte: 0 };
const compute = 2;

/** A table that ends the loop where the engine would sleep. */
class Ending extends CommandTable {
  override sleep(): void {
    throw new Error('asleep');
  }
}

function engine() {
  const memory = createCommandTableMemory();
  const table = new CommandTable(memory);
  const { port1, port2 } = new MessageChannel();
  const ran: number[] = [];
  let slot = 0;
  return {
    table,
    ran,
    /** Opens a command and sends it. */
    send: (priority = 0, dependencies: readonly number[] = []) => {
      const ticket = table.open(slot++);
      port1.postMessage({ kind: 'command', ticket, priority, dependencies, task } satisfies Order);
      return ticket;
    },
    /** Runs the engine until it would sleep. A command whose ticket is in `failing` fails. */
    run: (failing: readonly number[] = []) => {
      const handler = {
        run: (_: Task, ticket: number) => {
          ran.push(ticket);
          return !failing.includes(ticket);
        },
        announce: () => {},
        forget: () => {},
      };
      expect(() => runEngine(compute, new Ending(memory), port2, () => 0, handler)).toThrow('asleep');
    },
    close: () => port1.close(),
  };
}

test('takes urgent commands first, and those of one priority in the order of issue', () => {
  const { send, run, ran, close } = engine();
  const [first, urgent, second, alsoUrgent] = [send(0), send(-1), send(0), send(-1)];
  run();
  expect(ran).toEqual([urgent, alsoUrgent, first, second]);
  close();
});

test('runs a command when all that it depends on is done, and lets others pass', () => {
  const { table, send, run, ran, close } = engine();
  const elsewhere = table.open(900);
  const waiting = send(0, [elsewhere]);
  const free = send(0);
  const after = send(0, [free]);
  run();
  expect(ran).toEqual([free, after]);
  expect(table.state(waiting)).toBe(State.pending);
  close();
});

test('skips what depends on a failure, and says so to what waits for that', () => {
  const { table, send, run, ran, close } = engine();
  const failing = send();
  const dependent = send(0, [failing]);
  const last = send(0, [dependent]);
  run([failing]);
  expect(ran).toEqual([failing]);
  expect([failing, dependent, last].map((ticket) => table.state(ticket))).toEqual([
    State.failed,
    State.skipped,
    State.skipped,
  ]);
  close();
});

test('runs no command that was cancelled before it began, whenever that was', () => {
  inEveryOrder(() => {
    const { table, send, run, ran, close } = engine();
    const ticket = send();
    let wasCancelled = false;
    return {
      one: () => run(),
      other: () => {
        wasCancelled = table.advance(ticket, State.pending, State.failed, silently);
      },
      check: () => {
        expect(ran).toEqual(wasCancelled ? [] : [ticket]);
        expect(table.state(ticket)).toBe(wasCancelled ? State.failed : State.done);
        close();
      },
    };
  });
});
