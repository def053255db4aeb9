// The server goes away while a worker waits for a piece. The worker ends when it is told to. It also ends by itself, after its
// patience. The client's own call would wait for ever.

import { expect, test } from 'vitest';
import { Connection } from '#warpstage/queue/connection.js';
import { deal } from '#warpstage/queue/dealer.js';
import { OwnServer } from '#warpstage/queue/server.js';
import { queueAddress } from '#warpstage/queue/url.js';
import { work } from '#warpstage/queue/worker.js';
import { atLength } from '../support/thorough.ts';
import { connect, dealOf, hasServer, until } from './support.ts';

/** Longer than any test. */
const hour = 3_600_000;

/** A worker that never ends a piece. How it ended: a code, or nothing. */
async function workerOf(url: string, patience: number, stop: AbortController, onPiece = () => {}) {
  const { signal } = stop;
  const connection = await Connection.open(queueAddress(url), { patience, signal });
  const compute = () => {
    onPiece();
    return new Promise<void>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  };
  const working = work({
    ...{ name: 'worker', connection, signal, idle: undefined, say: () => {}, mayPass: () => false },
    prepare: async () => compute,
  });
  const ended = working.then(
    () => undefined,
    ({ code }: { readonly code?: string }) => code,
  );
  return { ended: ended.finally(() => connection[Symbol.asyncDispose]()) };
}

test.runIf(hasServer && atLength).each([
  ['its signal', hour, undefined],
  ['its patience', 500, 'WS5017'],
])('it ends with %s', async (_, patience, code) => {
  const server = await OwnServer.start();
  const [others, stop] = [new AbortController(), new AbortController()];
  const { signal } = others;
  const run = await connect(server.url, signal);
  const { deal: dealt, names } = dealOf('/tmp/y.npy', 1);
  const dealing = deal({
    ...{ deal: dealt, names, pieces: [1], connection: run, signal },
    ...{ onPiece: () => {}, onTrouble: () => {} },
  }).catch(() => 'ended');
  let computing = false;
  const busy = await workerOf(server.url, hour, others, () => {
    computing = true;
  });
  await until(() => computing);
  const waiting = await workerOf(server.url, patience, stop);
  await until(async () => (await run.streams.consumers.info(names.pieces, 'workers')).num_waiting === 1);
  await server[Symbol.asyncDispose]();
  if (code === undefined) {
    // Until the client has missed what the server says twice a second, and asks again and again.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    stop.abort();
  }
  expect(await waiting.ended).toBe(code);
  others.abort();
  await busy.ended;
  expect(await dealing).toBe('ended');
  await run[Symbol.asyncDispose]();
});
