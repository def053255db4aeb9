// The n-th request of a run that reads URLs fails, in each way that a server or the network can, once or from then on. The
// output that was there stays until a whole one takes its place; a run that is resumed gives equal bytes.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, map, open, run, WarpstageError } from 'warpstage';
import { isInTurn } from '../support/thorough.ts';
import { shardedFiles, shardedNumbers } from './sharded-store.ts';
import { useShortPauses } from './short-pauses.ts';
import { expectFailure, namesIn, npyFile, useFolder } from './support.ts';
import { answer, useServer } from './url-server.ts';

const host = useServer();
const pauses = useShortPauses();
const at = useFolder();
let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

const tripled = map({ y: 'i32', x: 'i32' }, ({ x }) => 3 * x);

/** Has the server have it, as an array of a file and in shards; with its version, or in one answer. */
const inputs = {
  'x.npy': () => host.serve('/x.npy', npyFile({ descr: '<i4', shape: [400, 400], data: shardedNumbers })),
  'x.npy in one answer': () =>
    host.serve('/x.npy', npyFile({ descr: '<i4', shape: [400, 400], data: shardedNumbers }), {
      ranges: false,
    }),
  'x.zarr': () => {
    for (const [path, bytes] of shardedFiles()) host.serve(`/x.zarr/${path}`, bytes);
    return `${host.origin}/x.zarr`;
  },
};

type Way = (request: IncomingMessage, response: ServerResponse) => boolean;
const refuse =
  (status: number, headers: Record<string, string> = {}): Way =>
  (_, response) => {
    response.writeHead(status, headers).end('no');
    return true;
  };
/** Half of what was asked for, and then nothing more. */
const cut: Way = (request, response) => {
  const { bytes, ranges } = host.served.get(new URL(request.url!, 'http://host').pathname)!;
  const [begin, last] = (/\d+-\d+$/.exec(request.headers.range ?? '')?.[0] ?? '0-0').split('-').map(Number);
  const isPart = ranges && request.headers.range !== undefined;
  const end = isPart ? Math.min(last! + 1, bytes.length) : bytes.length;
  const from = isPart ? begin! : 0;
  response.writeHead(isPart ? 206 : 200, {
    'content-length': `${end - from}`,
    etag: '"1"',
    ...(isPart && { 'content-range': `bytes ${from}-${end - 1}/${bytes.length}` }),
  });
  response.write(bytes.subarray(from, from + ((end - from) >> 1)), () => request.socket.destroy());
  return true;
};
const ways: Readonly<Record<string, Way>> = {
  'is answered 500': refuse(500),
  'is answered 503 with when to ask again': refuse(503, { 'retry-after': '2' }),
  'is answered 429': refuse(429),
  'is cut off': cut,
  'is lost': (request) => {
    request.socket.destroy();
    return true;
  },
  'is answered 403': refuse(403),
  'is answered by another version': (request) => {
    const one = host.served.get(new URL(request.url!, 'http://host').pathname);
    if (one !== undefined) {
      const bytes = Buffer.from(one.bytes);
      bytes[bytes.length - 1]! ^= 1;
      Object.assign(one, { tag: '"2"', bytes });
    }
    return false;
  },
};
/** Those that pass, if they do so once. */
const isTriedAgain = (way: string) => !/403|version/.test(way);

describe.each(Object.keys(inputs) as (keyof typeof inputs)[])('%s', (kind) => {
  const cases = Object.keys(ways).flatMap((way, i) =>
    [false, true].map(
      (forEver, k) => [way, forEver ? 'from then on' : 'once', forEver, (i + k) % 2 === 1] as const,
    ),
  );
  test.each(cases)('whose n-th request %s %s', { timeout: 60_000 }, async (way, _, forEver, isResumed) => {
    const url = inputs[kind]();
    // One in one answer is no input of a run that reads it again.
    const resume = isResumed && !kind.endsWith('answer');
    const options = { output: at('y.npy'), device, chunk: 16_000, depth: 2 };
    await run(tripled, { ...options, input: url, resume });
    const whole = readFileSync(at('y.npy'));
    const count = host.asked.length;
    const versions = new Map([...host.served].map(([path, one]) => [path, { ...one }]));
    for (let n = 1; n <= count; n++) {
      if (isInTurn && n > 2 && n < count && n % 3 > 0) continue;
      for (const [path, one] of versions) host.served.set(path, { ...one });
      writeFileSync(at('y.npy'), 'from before');
      host.asked = [];
      host.instead = (request, response, number) =>
        (forEver ? number >= n : number === n) && ways[way]!(request, response);
      const error: unknown = await run(tripled, { ...options, input: url, resume }).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      host.instead = answer;
      const told = `request ${n} of ${count}: ${error}`;
      const left = readFileSync(at('y.npy'));
      const isAnswer = kind.endsWith('answer') && way === 'is cut off';
      if (!forEver && isTriedAgain(way) && !isAnswer) expect(error, told).toBeUndefined();
      if (error === undefined) {
        // What is another version from the first request on is one.
        const isOther = way.endsWith('version');
        if (!isOther) expect(left.equals(whole), told).toBe(true);
      } else {
        expect(error, told).toBeInstanceOf(WarpstageError);
        const { code } = error as WarpstageError;
        const expected = isTriedAgain(way)
          ? ['WS5020']
          : way.endsWith('version')
            ? ['WS5003', 'WS5013']
            : ['WS5003'];
        expect(expected, told).toContain(code);
        expect(left.toString(), told).toBe('from before');
        if (!resume) expect(namesIn(at()), told).toEqual(['y.npy']);
      }
      if (!resume) continue;
      for (const [path, one] of versions) host.served.set(path, { ...one });
      const again = await run(tripled, { ...options, input: url, resume }).then(
        () => undefined,
        (reason: WarpstageError) => reason,
      );
      // The one that was begun is of the other version.
      if (way.endsWith('version') && again !== undefined) {
        expect(again, told).toMatchObject({ code: 'WS5013' });
        for (const name of namesIn(at()).filter((one) => one !== 'y.npy')) rmSync(at(name));
        continue;
      }
      expect(again, told).toBeUndefined();
      expect(readFileSync(at('y.npy')).equals(whole), told).toBe(true);
      expect(namesIn(at()), told).toEqual(['y.npy']);
    }
  });
});

describe('a server that says when to ask again', () => {
  const outcomeOf = async (says: string, times: number) => {
    const url = inputs['x.npy']();
    host.asked = [];
    host.instead = (request, response, number) =>
      number <= times && refuse(503, { 'retry-after': says })(request, response);
    return run(tripled, { input: url, output: at('y.npy'), device });
  };

  test('is asked then', async () => {
    await outcomeOf('7', 2);
    expect(pauses).toEqual([7000, 7000]);
    pauses.length = 0;
    await outcomeOf(new Date(Date.now() + 30_000).toUTCString(), 1);
    expect(pauses.length).toBe(1);
    expect(pauses[0]).toBeGreaterThan(20_000);
    for (const says of ['', 'soon', '0', 'Thu, 26 Nov 2020 00:00:00 GMT']) {
      pauses.length = 0;
      await outcomeOf(says, 2);
      expect(pauses).toEqual([100, 1000]);
    }
  });

  test('is not waited for where that is long', async () => {
    await expectFailure(
      outcomeOf('3600', 1),
      'WS5020',
      /x\.npy cannot be read: the server answers 503 Service Unavailable$/,
      /^run it again in 3,600 seconds, as it asks$/,
    );
    expect(host.asked.length).toBe(1);
    expect(pauses).toEqual([]);
  });
});
