// The command table between two threads, in every order of their steps.

import { expect, test } from 'vitest';
import {
  CommandTable,
  createCommandTableMemory,
  isComplete,
  State,
} from '#warpstage/runtime/cpu/command-table.js';
import { inEveryOrder } from '../support/interleavings.ts';

const silently = () => {};
const compute = 2;

/** The same table, as two threads have it, and a command that runs. */
function running() {
  const memory = createCommandTableMemory();
  const [mine, theirs] = [new CommandTable(memory), new CommandTable(memory)];
  const ticket = mine.open(5);
  mine.advance(ticket, State.pending, State.running, silently);
  return { mine, theirs, ticket };
}

test('a completion is seen by the main thread, or rings for it', () => {
  const orders = inEveryOrder(() => {
    const { mine, theirs, ticket } = running();
    let [rung, advanced, seen] = [0, false, -1];
    return {
      one: () => {
        advanced = mine.advance(ticket, State.running, State.done, () => ++rung);
      },
      other: () => {
        seen = theirs.watchFromMain(ticket);
      },
      check: () => expect([advanced, isComplete(seen) || rung === 1]).toEqual([true, true]),
    };
  });
  expect(orders).toBeGreaterThanOrEqual(2);
});

test('an engine that finds nothing ready is woken by what it waits for', () => {
  inEveryOrder(() => {
    const { mine, theirs, ticket } = running();
    let isReady = false;
    return {
      one: () => {
        while (!isReady) {
          const seen = mine.signals(compute);
          isReady = isComplete(mine.watchFromEngine(ticket, compute));
          if (!isReady) mine.sleep(compute, seen);
        }
      },
      other: () => theirs.advance(ticket, State.running, State.done, silently),
      check: () => expect(isReady).toBe(true),
    };
  });
});

test('a blocked main thread is woken by what it waits for', () => {
  inEveryOrder(() => {
    const { mine, theirs, ticket } = running();
    return {
      one: () => mine.blockMain(ticket, 1000),
      other: () => theirs.advance(ticket, State.running, State.failed, silently),
      check: () => expect(mine.state(ticket)).toBe(State.failed),
    };
  });
});

test('of a completion and a cancellation one comes first, and the other has no effect', () => {
  inEveryOrder(() => {
    const { mine, theirs, ticket } = running();
    const won: string[] = [];
    return {
      one: () => mine.advance(ticket, State.running, State.done, silently) && won.push('done'),
      other: () =>
        theirs.advance(ticket, State.running, State.cancelling, silently) && won.push('cancelling'),
      check: () => {
        expect(won).toHaveLength(1);
        expect(mine.state(ticket)).toBe(won[0] === 'done' ? State.done : State.cancelling);
      },
    };
  });
});

test('who watches a command before it runs hears of its end, and nobody else does', () => {
  const memory = createCommandTableMemory();
  const table = new CommandTable(memory);
  const ticket = table.open(0);
  let rung = 0;
  const before = [0, 1, 2].map((engine) => table.signals(engine));
  table.watchFromMain(ticket);
  table.watchFromEngine(ticket, 1);
  table.advance(ticket, State.pending, State.running, () => ++rung);
  expect([rung, table.signals(1)]).toEqual([0, before[1]]);
  table.advance(ticket, State.running, State.done, () => ++rung);
  expect(rung).toBe(1);
  expect([0, 1, 2].map((engine) => table.signals(engine) - before[engine]!)).toEqual([0, 1, 0]);
});

test('a ticket of a former use names no later command of the slot', () => {
  const table = new CommandTable(createCommandTableMemory());
  const first = table.open(7);
  table.advance(first, State.pending, State.running, silently);
  table.advance(first, State.running, State.done, silently);
  const second = table.open(7);
  expect(second).not.toBe(first);
  expect([table.state(first), table.state(second)]).toEqual([State.failed, State.pending]);
  expect(table.advance(first, State.pending, State.running, silently)).toBe(false);
  expect(table.state(second)).toBe(State.pending);
});

test('each slot keeps the times of its command', () => {
  const table = new CommandTable(createCommandTableMemory());
  const tickets = [0, 1, 1023].map((slot) => table.open(slot));
  for (const [at, ticket] of tickets.entries()) table.setTimes(ticket, 10 * at + 1, 10 * at + 2);
  expect(tickets.map((ticket) => [table.started(ticket), table.ended(ticket)])).toEqual([
    [1, 2],
    [11, 12],
    [21, 22],
  ]);
});
