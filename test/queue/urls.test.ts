// Inputs by URL over a queue: workers read their pieces by ranges, of one version, and only what they were told that they may.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkAllowed, checkDealable } from '#warpstage/queue/allowed-urls.js';
import { allPieces } from '#warpstage/queue/deal.js';
import { OwnServer } from '#warpstage/queue/server.js';

import { npy, numbers, root, runHere } from '../cli/support.ts';
import { namesIn, temporaryDirectory } from '../overlap/support.ts';
import { useServer } from '../overlap/url-server.ts';
import { connect, filesWith, hasServer, until } from './support.ts';

const allows = (url: string, ...allowed: string[]) => {
  try {
    checkAllowed(url, allowed);
    return true;
  } catch {
    return false;
  }
};

describe('a worker reads', () => {
  test.each([
    ['https://host/data/x.npy', 'https://host/data', true],
    ['https://host/data/x.npy', 'https://host/data/', true],
    ['https://HOST:443/data/x.npy', 'https://host/data', true],
    ['https://host/data/deep/x.npy', 'https://host', true],
    ['https://host/data', 'https://host/data', true],
    ['https://host/database/x.npy', 'https://host/data', false],
    ['https://host/other/x.npy', 'https://host/data', false],
    ['https://host/data/../other/x.npy', 'https://host/data', false],
    ['https://host/data/%2e%2e/other/x.npy', 'https://host/data', false],
    ['https://host/data/..%2fother/x.npy', 'https://host/data', false],
    ['https://host/data/..%5Cother/x.npy', 'https://host/data', false],
    ['http://host/data/x.npy', 'https://host/data', false],
    ['https://host:444/data/x.npy', 'https://host/data', false],
    ['https://host.evil/data/x.npy', 'https://host', false],
    ['https://host@evil/data/x.npy', 'https://host', false],
    ['https://[/x.npy', 'https://host', false],
    ['s3://data/in/x.npy', 's3://data/in', true],
    ['s3://data/in/x#y?z.npy', 's3://data/in/', true],
    ['s3://data/inner/x.npy', 's3://data/in', false],
    ['s3://data/other/#/in/x.npy', 's3://data/in', false],
    ['s3://data/in/../other/x.npy', 's3://data/in', false],
    ['s3://data/other/../in/x.npy', 's3://data/in', false],
    ['s3://other/in/x.npy', 's3://data/in', false],
  ])('%s with --from %s: %s', (url, allowed, may) => {
    expect(allows(url, 'https://elsewhere/', allowed)).toBe(may);
    expect(allows(url)).toBe(false);
  });

  test('nothing that leads out of where it may read, whatever the path is made of', () => {
    const parts = fc.array(
      fc.constantFrom('a', '..', '.', '%2e%2E', '/', '//', '%2f', '\\', '%5c', 'x.npy', '@', ':', '#'),
    );
    fc.assert(
      fc.property(parts, (path) => {
        const url = `https://host/data/${path.join('')}`;
        if (!allows(url, 'https://host/data')) return;
        // As a server sees it that decodes before it follows `..`.
        const seen = new URL(decodeURIComponent(new URL(url).pathname), 'https://host');
        expect(`${seen.pathname}/`.startsWith('/data/')).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

test.each([
  ['https://me:geheim@host/x.npy', 'has a name or a password'],
  ['https://host/x.npy?signature=geheim', 'has a query'],
])('%s is not dealt', (url, message) => {
  expect(() => checkDealable(url)).toThrowError(
    expect.objectContaining({
      code: 'WS5005',
      message: expect.stringContaining(message),
      issues: [
        expect.objectContaining({
          hint: 'name it without, where workers may read it so; or compute each piece without a queue: --shard 1/10',
        }),
      ],
    }),
  );
  expect(() => checkDealable(url)).not.toThrowError(/geheim/);
});

test('an object is no output of workers', async () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'x.npy'), npy(numbers(100)));
  const files = [join(root, 'examples/fir.ts'), join(folder, 'x.npy'), 's3://bucket/y.npy'];
  const { code, stderr } = await runHere('run', ...files, '--queue', 'nats://127.0.0.1:1');
  expect(code).toBe(74);
  expect(stderr).toContain('s3://bucket/y.npy is an object, and workers of a queue write files alone');
  expect(stderr).toContain(
    'hint: write to a file that all of them see, or compute each piece without a queue: --shard 1/10',
  );
});

describe.runIf(hasServer)('with a server', () => {
  const host = useServer();
  let server: OwnServer;
  beforeAll(async () => {
    server = await OwnServer.start();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const fir = join(root, 'examples/fir.ts');
  const bytes = npy(numbers(10_007));

  /** A folder, what one process writes there, and a run of pieces that waits for workers. */
  async function dealt(url: string) {
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    writeFileSync(at('x.npy'), bytes);
    expect((await runHere('run', fir, at('x.npy'), at('whole.npy'), '--quiet')).code).toBe(0);
    const running = runHere('run', fir, url, at('y.npy'), '--queue', server.url, '--pieces', '5', '--json');
    const connection = await connect(server.url);
    await until(async () => (await connection.streams.streams.names(allPieces).next()).length > 0);
    await connection[Symbol.asyncDispose]();
    return { folder, at, running };
  }
  const worker = (...more: string[]) =>
    runHere('worker', server.url, '--within', '/', '--idle', '0.5s', '--threads', '1', ...more);

  test('pieces of a URL are put together to what one process writes of the file', async () => {
    const url = host.serve('/data/x.npy', bytes);
    const { folder, at, running } = await dealt(url);
    const refusing = await worker();
    expect(refusing.stderr).toContain(`WS5019: ${url} is none of the URLs that this worker reads`.slice(8));
    expect(refusing.stderr).toContain(`if it may, start it with --from ${host.origin}/data/`);
    expect(refusing.stderr).toMatch(/\n0 pieces\n$/);
    host.asked = [];
    const worked = await worker('--from', 'https://elsewhere', '--from', `${host.origin}/data/`);
    expect(worked.stderr).toMatch(/5 pieces\n$/);
    const ran = await running;
    expect(ran.code, ran.stderr).toBe(0);
    expect(readFileSync(at('y.npy')).equals(readFileSync(at('whole.npy')))).toBe(true);
    expect(namesIn(folder).sort()).toEqual(['whole.npy', 'x.npy', 'y.npy']);
    // By ranges: no request asks for all of it.
    expect(host.asked.length).toBeGreaterThan(5);
    expect(host.asked.filter(({ range }) => range === undefined)).toEqual([]);
  });

  test('workers of the command itself read it too', async () => {
    const url = host.serve('/data/x.npy', bytes);
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    const line = ['run', fir, url, at('y.npy'), '--queue', '--workers', '1', '--pieces', '2'];
    const ran = await runHere(...line);
    expect(ran.code, ran.stderr).toBe(0);
    writeFileSync(at('x.npy'), bytes);
    expect((await runHere('run', fir, at('x.npy'), at('whole.npy'), '--quiet')).code).toBe(0);
    expect(readFileSync(at('y.npy')).equals(readFileSync(at('whole.npy')))).toBe(true);
  });

  test('a worker that sees another version leaves the pieces alone', async () => {
    const url = host.serve('/data/x.npy', bytes);
    const { folder, running } = await dealt(url);
    host.serve('/data/x.npy', npy(numbers(10_007).map((each) => each + 1)), { tag: '"2"' });
    const other = await worker('--from', host.origin);
    expect(other.stderr).toMatch(
      /refused\. input 'x' is version "2", \d+ bytes here, and version "1", \d+ bytes where the run began/,
    );
    expect(namesIn(folder).sort()).toEqual(['whole.npy', 'x.npy']);
    host.serve('/data/x.npy', bytes);
    expect((await worker('--from', host.origin)).stderr).toMatch(/5 pieces\n$/);
    expect((await running).code).toBe(0);
  });

  const sums = `import { reduce } from 'warpstage';
    export const sums = reduce({ sum: 'f64', x: 'f32' }, ({ x }) => x);`;

  test.each([
    ['a reduction', (at: (name: string) => string) => [at('sums.ts'), '--journal', at('sums')], 'sums.sum'],
    ['rows', (at: (name: string) => string) => [fir, at('y.npy')], 'y.npy'],
  ])('%s whose URL changes between two pieces ends with an error', async (kind, words, piece) => {
    const url = host.serve('/data/x.npy', bytes);
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    writeFileSync(at('sums.ts'), sums);
    host.instead = () => {
      if (existsSync(at(`${piece}.1-of-3`))) host.serve('/data/x.npy', bytes, { tag: '"2"' });
      return false;
    };
    const [module, ...more] = words(at);
    const line = ['run', module!, url, ...more, '--queue', '--workers', '1', '--pieces', '3', '--tries', '1'];
    const { code, stderr } = await runHere(...line);
    expect(code, stderr).not.toBe(0);
    const message =
      kind === 'rows'
        ? /WS5015: \S+y\.npy\.2-of-3 is of another work: input 'x' is version "2", .*, and here version "1"/
        : /WS5018: piece 2 of 3 failed: WS5015, input 'x' is version "2", .*, and the other pieces are of version "1"/;
    expect(stderr).toMatch(message);
    expect(existsSync(at('y.npy'))).toBe(false);
  });

  test('and what may be a secret never gets to the server', async () => {
    const folder = temporaryDirectory();
    const secret = `${host.serve('/x.npy', bytes)}?token=geheim`;
    const line = ['run', fir, secret, join(folder, 'y.npy'), '--queue', server.url];
    const { code, stderr } = await runHere(...line);
    expect(code).not.toBe(0);
    expect(stderr).toContain('WS5005');
    expect(stderr).not.toContain('geheim');
    expect(namesIn(folder)).toEqual([]);
    const stores = readdirSync(tmpdir()).filter((name) => name.startsWith('warpstage-queue'));
    expect(stores.length).toBeGreaterThan(0);
    for (const store of stores) expect(filesWith(join(tmpdir(), store), 'geheim')).toEqual([]);
    const wrong = await runHere('worker', server.url, '--from', 'ftp://host/');
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringMatching(
        /--from ftp:\/\/host\/ is no URL.*\n {2}hint: for example --from https:\/\/host\/data\n/,
      ),
    ]);
  });
});
