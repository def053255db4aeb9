// What an engine reports of a command concerns that command alone. One that is heard late, of a command that was
// cancelled, must not be taken for one of the command that has its ticket later: tickets come again after 2 ** 30
// commands, which the words of the table stand in for here.

import { expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { createKernelSource } from '#warpstage/diagnostics/source.js';
import { Command, type Work } from '#warpstage/runtime/command.js';
import { CommandTable, createCommandTableMemory, State } from '#warpstage/runtime/cpu/command-table.js';
import { CpuDispatcher } from '#warpstage/runtime/cpu/dispatcher.js';
import type { Engines } from '#warpstage/runtime/cpu/engines.js';
import type { Order } from '#warpstage/runtime/cpu/messages.js';

const { body } = kernel(
  { y: 'i32[]' },
  ({ y }) => {
    y[0] = 1;
  },
  { name: 'reported' },
);

test('what is reported late of a cancelled command is not reported of the next one with its ticket', async () => {
  const memory = createCommandTableMemory();
  const table = new CommandTable(memory);
  const orders: Extract<Order, { kind: 'command' }>[] = [];
  const engines: Pick<Engines, 'isStopping' | 'isWanted' | 'post' | 'drain' | 'advance' | 'stop'> = {
    isStopping: () => false,
    isWanted: () => false,
    post: (_, order) => void orders.push(order),
    drain: () => {},
    advance: () => {},
    stop: async () => {},
  };
  const recorded: unknown[] = [];
  const dispatcher = new CpuDispatcher(
    {
      assign: () => ({
        engine: 'compute',
        task: { kind: 'set', address: 0, bytes: 0, byte: 0 },
        release: () => {},
      }),
      print: () => {},
      finished: (_command, _work, _engine, stages) => void recorded.push(stages),
    },
    table,
    () => engines as Engines,
  );
  const work = (signal: AbortSignal | null) =>
    ({
      kind: 'launch',
      name: 'reported',
      sources: [createKernelSource(body, 'reported')],
      grid: [1, 1, 1],
      signal,
    }) as unknown as Work;
  let issued = 0;
  const issue = (signal: AbortSignal | null = null) => {
    const command = new Command(++issued, { name: 'stream 1', priority: 0 }, [], []);
    dispatcher.dispatch(command, work(signal));
    return { command, ticket: orders.at(-1)!.ticket };
  };
  const end = (ticket: number, state: number) => {
    table.advance(ticket, State.pending, State.running, () => {});
    table.advance(ticket, State.running, state, () => {});
    dispatcher.poll();
  };

  const controller = new AbortController();
  const first = issue(controller.signal);
  table.advance(first.ticket, State.pending, State.running, () => {});
  controller.abort();
  await Promise.resolve();
  dispatcher.poll();
  expect(first.command.failure?.code).toBe('WS3004');
  const place = { thread: [0, 0, 0], block: [0, 0, 0], range: { source: 0, start: 0, end: 1 } } as const;
  dispatcher.report({
    kind: 'fault',
    ticket: first.ticket,
    fault: { kind: 'division-by-zero', ...place } as never,
  });
  dispatcher.report({ kind: 'broken', ticket: first.ticket, reason: 'of the first' });
  dispatcher.report({ kind: 'stages', ticket: first.ticket, block: 7, marks: new Float64Array(0) });

  /** A command with the ticket of the first. */
  const again = () => {
    const words = new Int32Array(memory.words);
    for (let word = 16; word < words.length; ++word) words[word] = (Math.floor(first.ticket / 1024) - 1) << 8;
    for (;;) {
      const next = issue();
      if (next.ticket === first.ticket) return next;
      end(next.ticket, State.done);
    }
  };
  const second = again();
  end(second.ticket, State.failed);
  expect(second.command.failure?.message).toContain('for an unknown reason');
  const third = again();
  end(third.ticket, State.done);
  expect(third.command.status).toBe('done');
  expect(recorded.every((stages) => stages === undefined)).toBe(true);
});
