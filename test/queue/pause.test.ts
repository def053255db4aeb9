// The pause between two questions to a queue's server: a message ends it, at once and however long it were, and nothing else
// does but its time and the signal.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Connection } from '#warpstage/queue/connection.js';
import { Pause } from '#warpstage/queue/pause.js';
import { OwnServer } from '#warpstage/queue/server.js';
import { connect, hasServer } from './support.ts';

/** Longer than any test. */
const hour = 3_600_000;

describe.runIf(hasServer)('a pause', () => {
  let server: OwnServer;
  let here: Connection;
  let other: Connection;
  beforeAll(async () => {
    server = await OwnServer.start();
    [here, other] = [await connect(server.url), await connect(server.url)];
    // A message that no stream keeps has no answer.
    await other.streams.streams.add({ name: 'pauses', subjects: ['warpstage.*.deal'] });
  });
  afterAll(async () => {
    await here?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });
  const say = (name: string) => other.jetstream.publish(`warpstage.${name}.deal`, '');
  const pauseOf = async (milliseconds: { least: number; most: number }) => {
    const pause = new Pause(here, 'warpstage.*.deal', milliseconds);
    // What was subscribed is known to the server when it has answered.
    await here.streams.getAccountInfo();
    return pause;
  };
  const { signal } = new AbortController();

  test('ends with a message', async () => {
    using pause = await pauseOf({ least: hour, most: hour });
    const waited = pause.wait(signal);
    await say('one');
    await waited;
  });

  test('is over where a message came before it', async () => {
    using pause = await pauseOf({ least: hour, most: hour });
    await say('two');
    await here.streams.getAccountInfo();
    await pause.wait(signal);
  });

  test('is one for each message, and ends with the signal', async () => {
    using pause = await pauseOf({ least: hour, most: hour });
    await say('three');
    await here.streams.getAccountInfo();
    await pause.wait(signal);
    const stop = new AbortController();
    let ended = false;
    const waited = pause.wait(stop.signal).then(() => {
      ended = true;
    });
    await here.streams.getAccountInfo();
    expect(ended).toBe(false);
    stop.abort();
    await waited;
  });

  test('is short after a message and then longer', async () => {
    using pause = await pauseOf({ least: 1, most: hour });
    // 1, 2 and 4 milliseconds.
    for (let i = 0; i < 3; i++) await pause.wait(signal);
    await say('four');
    await here.streams.getAccountInfo();
    for (let i = 0; i < 4; i++) await pause.wait(signal);
    const stop = AbortSignal.timeout(100);
    for (let i = 0; i < 40; i++) await pause.wait(stop);
    expect(stop.aborted).toBe(true);
  });

  test('leaves no subscription behind', () => {
    let subscriptions = 0;
    const listen = () => {
      subscriptions++;
      return { unsubscribe: () => subscriptions-- };
    };
    {
      using _ = new Pause({ listen } as unknown as Connection, 'warpstage.*.deal', { least: 1, most: 1 });
      expect(subscriptions).toBe(1);
    }
    expect(subscriptions).toBe(0);
  });
});
