// URLs as inputs: read by ranges of one version, or in one answer where a server has none.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { run } from 'warpstage';
import { openBytes } from '#warpstage/formats/bytes.js';
import { runHere } from '../cli/support.ts';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { copyOf } from '../formats/jobs.ts';
import { readAll } from './reading.ts';
import { expectFailure, npyFile, temporaryDirectory } from './support.ts';
import { answer, type Served, useServer } from './url-server.ts';

const host = useServer();

const numbers = (length: number) => Float32Array.from({ length }, (_, i) => (i * 7) % 1000);
const npyOf = (data: Float32Array) => npyFile({ shape: [data.length], data });

describe('a URL', () => {
  test('gives the bytes of a file, from wherever they are asked for', {
    timeout: randomLimit(12),
  }, async () => {
    const bytes = Buffer.from(numbers(1_500_000).buffer);
    const url = host.serve('/x.bin', bytes, { modified: 'Thu, 26 Nov 2026 00:00:00 GMT' });
    const reads = fc.array(
      fc.record({
        how: fc.constantFrom('read', 'peek', 'skip', 'readAt', 'slice'),
        at: fc.integer({ min: 0, max: bytes.length }),
        length: fc.oneof(fc.nat(300), fc.nat(2_000_000), fc.nat(6_000_000)),
      }),
      { maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(reads, async (all) => {
        const file = await openBytes(url);
        expect(file.size).toBe(bytes.length);
        let position = 0;
        for (const { how, at, length } of all) {
          const into = new Uint8Array(length);
          let read: Uint8Array = into;
          let from = position;
          if (how === 'skip') {
            const skipped = Math.min(length, bytes.length - position);
            file.skip!(skipped);
            position += skipped;
            continue;
          }
          if (how === 'peek') read = await file.peek(length);
          else if (how === 'readAt') {
            from = at;
            read = into.subarray(0, await file.readAt!(into, at));
          } else if (how === 'slice') {
            const end = Math.min(bytes.length, at + length);
            from = at;
            const part = file.slice!(at, end);
            expect(part.size).toBe(end - at);
            const more = new Uint8Array(length + 5);
            read = more.subarray(0, await part.read(more));
          } else {
            read = into.subarray(0, await file.read(into));
            position += read.length;
          }
          expect(Buffer.compare(read, bytes.subarray(from, from + length))).toBe(0);
        }
        await file.close();
      }),
      randomRuns(12),
    );
    expect(host.asked.every(({ range }) => range !== undefined)).toBe(true);
  });

  test('is an input of any format that its path names, by a program and by a command', async () => {
    const data = numbers(400_000);
    const npy = npyOf(data);
    const folder = temporaryDirectory();
    const output = join(folder, 'y.f32');
    const expected = Buffer.from(data.buffer);
    const answers = [{ tag: '"1"' }, { ranges: false }, { tag: 'W/"1"' }, {}] as Partial<Served>[];
    const csv = Buffer.from(`x\n${[...data.subarray(0, 5000)].join('\n')}\n`);
    for (const [path, bytes, wanted] of [
      ['/x.npy', npy, expected],
      ['/x.f32', expected, expected],
      ['/x.npy.gz', gzipSync(npy), expected],
      ['/x.csv', csv, expected.subarray(0, 20_000)],
      ['/no-name', npy, expected],
    ] as const) {
      for (const about of path === '/x.f32' ? answers : answers.slice(0, 2)) {
        const url = `${host.serve(path, bytes, about)}?token=secret#part`;
        host.asked = [];
        await run(copyOf('f32'), { input: url, output, chunk: 70_000 });
        expect(Buffer.compare(readFileSync(output), wanted)).toBe(0);
        // Without a version, or without ranges, it comes in one answer.
        const hasVersion = about.tag === '"1"';
        const whole = host.asked.filter(({ range }) => range === undefined).length;
        expect(whole).toBe(hasVersion || about.ranges === false ? 0 : 1);
        if (!hasVersion) expect(host.asked.length).toBe(1 + whole);
      }
    }
    const module = join(folder, 'sum.mjs');
    const index = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href);
    writeFileSync(
      module,
      `import { reduce } from ${index};\nexport const sum = reduce({ sum: 'f64', x: 'f32' }, ({ x }) => x);\n`,
    );
    const url = host.serve('/x.npy', npy);
    const ran = await runHere('run', module, url, '--json');
    expect(JSON.parse(ran.text)).toMatchObject({ value: data.reduce((sum, x) => sum + x, 0) });
    expect((await runHere('info', url)).text).toMatch(/npy.*\n +type +f32/);
  });

  test('of which the server has another version by and by is refused', async () => {
    const data = numbers(1_000_000);
    const folder = temporaryDirectory();
    const output = join(folder, 'y.f32');
    const [first, second] = ['Thu, 26 Nov 2026 00:00:00 GMT', 'Thu, 26 Nov 2026 00:00:01 GMT'];
    const other = npyOf(numbers(999_999));
    const changes: [Partial<Served>, Uint8Array, Partial<Served>][] = [
      [{ tag: '"1"' }, npyOf(data), { tag: '"2"' }],
      [{ modified: first }, npyOf(data), { modified: second }],
      [{ tag: '"1"' }, other, { tag: '"1"' }],
      [{ tag: '"1"' }, npyOf(data), {}],
    ];
    const all = changes.flatMap(([before, bytes, after]) =>
      [false, true].map((isBlind) => ({ before, bytes, after: { ...after, isBlind } })),
    );
    for (const { before, bytes, after } of all) {
      const url = host.serve('/x.npy', npyOf(data), before);
      host.asked = [];
      host.instead = (_, __, number) => {
        if (number === 3) host.serve('/x.npy', bytes, after);
        return false;
      };
      await expectFailure(
        run(copyOf('f32'), { input: url, output, chunk: 50_000, depth: 1 }),
        'WS5003',
        /x\.npy changed while it was read: it was version .* of 4000\d+ bytes/,
        'run it again when nothing writes to it, or on a copy of it',
      );
      host.instead = answer;
      expect(readdirSync(folder)).toEqual([]);
    }
  });

  test('of a server that fails for a moment is asked for again', async () => {
    const data = numbers(300_000);
    const url = host.serve('/x.npy', npyOf(data));
    let failures = 0;
    host.instead = (request, response, number) => {
      if (number % 2 === 0) return false;
      failures++;
      if (number % 4 === 1) response.writeHead(503).end('busy');
      else {
        // Cut off within what it gives.
        const { bytes } = host.served.get('/x.npy')!;
        const [begin, last] = request.headers.range!.match(/\d+/g)!.map(Number) as [number, number];
        const end = Math.min(last + 1, bytes.length);
        response.writeHead(206, {
          'content-range': `bytes ${begin}-${end - 1}/${bytes.length}`,
          'content-length': `${end - begin}`,
          etag: '"1"',
        });
        response.write(bytes.subarray(begin, begin + 100), () => request.socket.destroy());
      }
      return true;
    };
    const output = join(temporaryDirectory(), 'y.f32');
    await run(copyOf('f32'), { input: url, output });
    expect(failures).toBeGreaterThan(1);
    expect(Buffer.compare(readFileSync(output), Buffer.from(data.buffer))).toBe(0);
  });

  test('that cannot be read says why, without what is secret in it', async () => {
    const secret = (path: string) => `${host.origin.replace('//', '//user:pass%40word@')}${path}?key=secret`;
    const missing = await expectFailure(
      readAll(secret('/none.npy')),
      'WS5003',
      /\/none\.npy\?… cannot be read: the server answers 404 Not Found/,
      'check the URL, and who may read it',
    );
    expect(host.asked[0]!.who).toBe(`Basic ${Buffer.from('user:pass@word').toString('base64')}`);
    expect(`${missing.message} ${missing.hint}`).not.toMatch(/secret|pass|user/);
    host.instead = (_, response) => {
      response.writeHead(500).end();
      return true;
    };
    await expectFailure(
      readAll(`${host.origin}/x.npy`),
      'WS5020',
      'the server answers 500',
      'run it again later',
    );
    expect(host.asked.length).toBe(1 + 3);
    host.instead = answer;
    await expectFailure(
      readAll('http://127.0.0.1:1/x.npy'),
      'WS5003',
      /127\.0\.0\.1:1\/x\.npy cannot be read: /,
      'check the URL, and whether the server is up',
    );
    await expectFailure(readAll('http://:x/y.npy'), 'WS5003', 'is no URL');
    await expectFailure(readAll(host.serve('/empty.npy', Buffer.alloc(0))), 'WS5003', /empty\.npy/);
    await expectFailure(
      readAll(host.serve('/picture.jpg', Buffer.alloc(9))),
      'WS5004',
      'is an image by its name',
    );
    await expectFailure(
      readAll(host.serve('/nothing', Buffer.alloc(9))),
      'WS5004',
      'in no format that is known',
    );
    const bare = host.serve('/nothing', Buffer.alloc(9), { ranges: false });
    await expectFailure(readAll(bare), 'WS5004', 'in no format that is known');
  });

  test('that never answers ends with the signal', async () => {
    const silent = new Promise<void>((resolve) => {
      host.instead = () => {
        resolve();
        return true;
      };
    });
    const stop = new AbortController();
    const ended = run(copyOf('f32'), { input: `${host.origin}/x.npy`, signal: stop.signal });
    await silent;
    stop.abort();
    await expectFailure(ended, 'WS5009', /./);
  });

  test('that never answers is asked again, and given up', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let asked = 0;
    host.instead = () => {
      asked++;
      setImmediate(() => vi.advanceTimersByTime(60_000));
      return true;
    };
    try {
      await expectFailure(
        readAll(`${host.origin}/x.npy`),
        'WS5020',
        /x\.npy cannot be read: the server has not answered for 60 s$/,
        'check the URL, and whether the server is up',
      );
    } finally {
      vi.useRealTimers();
    }
    expect(asked).toBe(3);
  });

  test('is no output', async () => {
    const output = 'https://me:secret@example.com/y.npy?token=1';
    await expectFailure(
      run(copyOf('f32'), { input: host.serve('/x.npy', npyOf(numbers(100))), output }),
      'WS5012',
      'the output https://example.com/y.npy?… is a URL',
      'write it to a file first, and send that',
    );
  });
});
