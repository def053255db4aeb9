// A queue that is taken away, at whatever moment: the run whose queue it was ends and says so, the worker that computes for
// it goes on to the next run, and of two runs that begin at the same time one has the queue.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Connection } from '#warpstage/queue/connection.js';
import { allPieces } from '#warpstage/queue/deal.js';
import { deal as dealPieces } from '#warpstage/queue/dealer.js';
import { OwnServer } from '#warpstage/queue/server.js';
import { work } from '#warpstage/queue/worker.js';
import { connect, dealOf, hasServer, until } from './support.ts';

describe.runIf(hasServer)('a queue that is taken away', { timeout: 60_000 }, () => {
  let server: OwnServer;
  beforeAll(async () => {
    server = await OwnServer.start();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  const pieces = [1, 2, 3, 4];
  const { signal } = new AbortController();
  /** A run of four pieces of an output. */
  const runOf = (run: string) => dealOf('taken.npy', pieces.length, { run });
  const dealing = (connection: Connection, run: string) =>
    dealPieces({
      ...runOf(run),
      ...{ pieces, connection, signal, onPiece: () => {}, onTrouble: () => {} },
    });
  /** Starts a worker that computes pieces by `compute`, until `stopped`. */
  const working = (
    connection: Connection,
    stopped: AbortSignal,
    compute: (run: string, piece: number) => Promise<void>,
  ) =>
    work({
      ...{ name: 'worker', connection, idle: undefined, signal: stopped, mayPass: () => true },
      prepare: async (deal) => (piece) => compute(deal.run, piece),
      say: (line) => expect.unreachable(line),
    });

  test('while a worker computes: the worker goes on to the next run', async () => {
    await using connection = await connect(server.url);
    const stop = new AbortController();
    let begun: string | undefined;
    let letGo = () => {};
    const taken = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const worked = working(connection, stop.signal, async (run) => {
      begun ??= run;
      if (run === 'former') await taken;
    });
    const former = expect(dealing(connection, 'former')).rejects.toMatchObject({ code: 'WS5017' });
    await until(() => begun === 'former');
    const { names } = runOf('former');
    for (const name of [names.pieces, names.news]) await connection.streams.streams.delete(name);
    letGo();
    await former;
    const { failed, workers } = await dealing(connection, 'later');
    expect(failed).toEqual([]);
    expect([...workers]).toEqual([['worker', pieces.length]]);
    stop.abort();
    await worked;
  });

  test('by the next run, while a worker computes: what the worker then acknowledges takes none of its pieces', async () => {
    await using connection = await connect(server.url);
    const stop = new AbortController();
    let isBusy = false;
    let letGo = () => {};
    const over = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const worked = working(connection, stop.signal, async (run) => {
      isBusy = true;
      if (run === 'former') await over;
    });
    const former = expect(dealing(connection, 'former')).rejects.toMatchObject({ code: 'WS5017' });
    await until(() => isBusy);
    const later = dealing(connection, 'later');
    await former;
    const { names } = runOf('later');
    const { streams } = connection.streams;
    await until(async () => (await streams.info(names.pieces)).state.messages === pieces.length);
    letGo();
    const { failed, workers } = await later;
    expect(failed).toEqual([]);
    expect([...workers]).toEqual([['worker', pieces.length]]);
    stop.abort();
    await worked;
  });

  test('at whichever request of who deals: it ends with WS5017, or had nothing there yet', async () => {
    await using worker = await connect(server.url);
    const stop = new AbortController();
    const worked = working(worker, stop.signal, async () => {});
    /** What comes of a run whose queue is taken away before its n-th request. */
    const outcomeOf = async (n: number) => {
      await using connection = await connect(server.url);
      const { deal, names } = dealOf(`taken ${n}.npy`, pieces.length);
      const ask = connection.persist.bind(connection);
      let requests = 0;
      connection.persist = async (request) => {
        if (++requests === n)
          for (const name of [names.pieces, names.news])
            await connection.streams.streams.delete(name).catch(() => {});
        return await ask(request);
      };
      return await dealPieces({
        ...{ deal, names, pieces, connection, signal, onPiece: () => {}, onTrouble: () => {} },
      }).then(
        ({ failed }) => (failed.length === 0 ? 'went on' : 'failed'),
        (error: { code?: string }) => error.code ?? error,
      );
    };
    // Its first one makes the stream of its news.
    const outcomes = await Promise.all(Array.from({ length: 11 }, (_, i) => outcomeOf(i + 1)));
    expect(outcomes).toEqual(['went on', ...Array(10).fill('WS5017')]);
    stop.abort();
    await worked;
  });

  test('nor is one there that the server refuses to make: its words are the error', async () => {
    await using connection = await connect(server.url);
    const { streams } = connection.streams;
    await streams.add({ name: 'one', subjects: ['some.>'] });
    const refused = connection.persist(() => streams.add({ name: 'other', subjects: ['some.subject'] }));
    const message = expect.stringMatching(/^the queue at .* answers: subjects overlap/) as string;
    await expect(refused).rejects.toMatchObject({ code: 'WS5017', issues: [{ message }] });
    await streams.delete('one');
  });

  test('by a run that begins at the same time: one of them has all pieces computed', async () => {
    await using connection = await connect(server.url);
    await using other = await connect(server.url);
    await using third = await connect(server.url);
    const stop = new AbortController();
    const worked = working(third, stop.signal, async () => {});
    for (let i = 0; i < 8; i++) {
      const outcomes = await Promise.allSettled([
        dealing(connection, `one ${i}`),
        dealing(other, `other ${i}`),
      ]);
      expect(outcomes.map(({ status }) => status)).toContain('fulfilled');
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') expect(outcome.value.failed).toEqual([]);
        else expect(outcome.reason).toMatchObject({ code: 'WS5017' });
      }
    }
    const left: string[] = [];
    for await (const name of connection.streams.streams.names(allPieces)) left.push(name);
    expect(left).toEqual([]);
    stop.abort();
    await worked;
  });
});
