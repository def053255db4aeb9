// Zarr stores below URLs that nobody lists, where another run must know them again: resumed, in pieces, and by their
// checksums. What comes out is what the same files in a folder give; another version of any file is never mixed in.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type Job, open, type RunOptions, run } from 'warpstage';
import { merge } from '#warpstage/overlap/shards/merge.js';
import { runHere } from '../cli/support.ts';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { filesWith } from '../queue/support.ts';
import { neighbours } from './jobs.ts';
import { expectFailure, namesIn, useFolder } from './support.ts';
import { answer, useServer } from './url-server.ts';

const host = useServer();
let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

const at = useFolder();
const { signal } = new AbortController();
const stencil = neighbours(2, 1, 'clamp') as Job;
const whole = 'whole.npy';
const same = (a: string) => expect(readFileSync(at(a)).equals(readFileSync(at(whole)))).toBe(true);

interface Store {
  readonly rows: number;
  readonly chunk: number;
  readonly isPacked: boolean;
  /** Chunks that are missing. */
  readonly missing: readonly number[];
  /** Whether the array is one of a group. */
  readonly isInside: boolean;
}

/** The files of a store. */
function filesOf({ rows, chunk, isPacked, missing, isInside }: Store): Map<string, Buffer> {
  const array = {
    ...{ zarr_format: 3, node_type: 'array', shape: [rows], data_type: 'int32', fill_value: 5 },
    chunk_grid: { name: 'regular', configuration: { chunk_shape: [chunk] } },
    chunk_key_encoding: { name: 'default' },
    codecs: [
      { name: 'bytes', configuration: { endian: 'little' } },
      ...(isPacked ? [{ name: 'gzip', configuration: { level: 1 } }] : []),
    ],
  };
  const files = new Map<string, Buffer>();
  const below = isInside ? 'x/' : '';
  files.set(`${below}zarr.json`, Buffer.from(JSON.stringify(array)));
  if (isInside) {
    const group = { zarr_format: 3, node_type: 'group', consolidated_metadata: { metadata: { x: array } } };
    files.set('zarr.json', Buffer.from(JSON.stringify(group)));
  }
  for (let i = 0; i * chunk < rows; i++) {
    if (missing.includes(i)) continue;
    const numbers = Int32Array.from({ length: chunk }, (_, at) => Math.imul(i * chunk + at, 7919));
    const bytes = Buffer.from(numbers.buffer);
    files.set(`${below}c/${i}`, isPacked ? gzipSync(bytes) : bytes);
  }
  return files;
}

/** Has the server have a store, and a folder too; its URL. */
function serve(store: Store, about: object = { tag: '"1"' }): string {
  for (const [path, bytes] of filesOf(store)) {
    host.serve(`/x.zarr/${path}`, bytes, about);
    mkdirSync(dirname(at(`x.zarr/${path}`)), { recursive: true });
    writeFileSync(at(`x.zarr/${path}`), bytes);
  }
  return `${host.origin}/x.zarr?key=secret`;
}

/** Runs until so many rows are through, and stops. */
async function stopped(options: RunOptions, rows: number) {
  const controller = new AbortController();
  const onProgress = (progress: { readonly rows: number }) => {
    if (progress.rows >= rows) controller.abort();
  };
  const how = { device, chunk: 10, depth: 1, resume: true, signal: controller.signal, onProgress };
  await expectFailure(run(stencil, { ...how, ...options }), 'WS5009', 'what it has written is kept');
}

const stores = fc.record({
  rows: fc.integer({ min: 30, max: 500 }),
  chunk: fc.integer({ min: 7, max: 90 }),
  isPacked: fc.boolean(),
  missing: fc.array(fc.nat(6), { maxLength: 3 }),
  isInside: fc.boolean(),
});
const abouts = fc.constantFrom({ tag: '"1"' }, { modified: 'Thu, 26 Nov 2026 00:00:00 GMT' });
const some: Store = { rows: 100, chunk: 20, isPacked: false, missing: [3], isInside: false };

test('give what folders give: stopped and gone on with, in pieces, and with their checksums', {
  timeout: randomLimit(8),
}, async () => {
  const cases = fc.record({
    store: stores,
    about: abouts,
    stop: fc.nat(100),
    of: fc.integer({ min: 1, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ store, about, stop, of }) => {
      const url = serve(store, about);
      await run(stencil, { input: at('x.zarr'), output: at(whole), device, checksum: true });
      await run(stencil, { input: url, output: at('y.npy'), device, checksum: true });
      same('y.npy');
      // Files and URLs of the same names and bytes have the same checksum.
      const sumOf = (name: string) => JSON.parse(readFileSync(at(`${name}.sums`), 'utf8')).inputs[0].sum;
      expect(sumOf('y.npy')).toBe(sumOf(whole));

      await stopped({ input: url, output: at('r.npy') }, 1 + ((store.rows - 12) * stop) / 100);
      expect(filesWith(at(), 'secret')).toEqual([]);
      const again = { input: url, output: at('r.npy'), device, chunk: 10, resume: true };
      expect((await run(stencil, again)).report.resumed!.rows).toBeGreaterThan(0);
      same('r.npy');

      for (let n = 1; n <= of; n++)
        await run(stencil, { input: url, output: at('s.npy'), device, shard: [n, of] });
      await merge({ file: at('s.npy') }, { signal, remove: true });
      same('s.npy');
      for (const name of namesIn(at())) rmSync(at(name), { recursive: true });
      host.served.clear();
    }),
    randomRuns(8),
  );
});

describe('another version', () => {
  const changes: readonly (readonly [what: string, change: () => void])[] = [
    ['of a chunk', () => host.serve('/x.zarr/c/4', Buffer.alloc(80), { tag: '"2"' })],
    ['of what says what it is', () => Object.assign(host.served.get('/x.zarr/zarr.json')!, { tag: '"2"' })],
    ['in which a chunk is there that was missing', () => host.serve('/x.zarr/c/3', Buffer.alloc(80))],
    ['in which a chunk is missing', () => host.served.delete('/x.zarr/c/4')],
    ['in which a chunk is longer', () => host.serve('/x.zarr/c/4', Buffer.alloc(84))],
  ];
  test.each(changes)('%s is not gone on with, and its pieces are not put together', async (what, change) => {
    const url = serve(some);
    await stopped({ input: url, output: at('y.npy') }, 30);
    await run(stencil, { input: url, output: at('s.npy'), device, shard: [1, 2] });
    change();
    const again = run(stencil, { input: url, output: at('y.npy'), device, chunk: 10, resume: true });
    await expectFailure(again, 'WS5013', /input 'x' was http.*version .*, and is http.*version /);
    const second = run(stencil, { input: url, output: at('s.npy'), device, shard: [2, 2] });
    // One that is longer than a chunk may be is damaged.
    const isDamaged = await second.then(
      () => false,
      ({ code }) => code === 'WS5003',
    );
    expect(isDamaged).toBe(what.endsWith('longer'));
    if (isDamaged) return;
    const merged = merge({ file: at('s.npy') }, { signal, remove: true });
    await expectFailure(merged, 'WS5015', /computed from another file/);
  });

  test.each(changes)('%s that comes while it is read is an error, and nothing is left', async (_, change) => {
    const url = serve(some);
    host.asked = [];
    // Each is asked for its version, and then for what it has.
    let isRead = false;
    host.instead = (request) => {
      if (!isRead && request.url!.startsWith('/x.zarr/c/0') && request.headers.range !== 'bytes=0-0')
        change();
      isRead ||= request.url!.startsWith('/x.zarr/c/0') && request.headers.range !== 'bytes=0-0';
      return false;
    };
    const shard = { input: url, output: at('s.npy'), device, chunk: 10, shard: [1, 1] } as const;
    const ended = await run(stencil, shard).then(
      () => 'done',
      (error) => error.code,
    );
    // What says what it is was read before.
    const isBefore = host.served.get('/x.zarr/zarr.json')!.tag === '"2"';
    expect(ended).toBe(isBefore ? 'done' : 'WS5003');
    expect(namesIn(at())).toEqual(isBefore ? ['s.npy.1-of-1', 'x.zarr'] : ['x.zarr']);
  });
});

describe('a store that another run cannot know again is refused', () => {
  const again: readonly Partial<RunOptions>[] = [{ resume: true }, { shard: [1, 2] }, { checksum: true }];

  test('where its server says no version, or gives no ranges', async () => {
    for (const about of [{}, { tag: 'W/"1"' }, { tag: '"1"', ranges: false }]) {
      const url = serve(some, about);
      for (const more of again) {
        await expectFailure(
          run(stencil, { input: url, output: at('y.npy'), device, ...more }),
          'WS5005',
          /zarr\.json\?… is to be read more than once, and its server has no ranges, or says no version/,
          'save it to a file first',
        );
      }
      await run(stencil, { input: url, output: at('y.npy'), device });
      rmSync(at('y.npy'));
    }
    expect(namesIn(at())).toEqual(['x.zarr']);
  });

  test('where one of its files says none, or cannot be had', async () => {
    for (const status of [403, 500]) {
      const url = serve(some);
      host.instead = (request, response) => {
        const isIt = request.url!.startsWith('/x.zarr/c/2');
        if (isIt) response.writeHead(status).end();
        return isIt;
      };
      const resumed = run(stencil, { input: url, output: at('y.npy'), device, resume: true });
      await expectFailure(
        resumed,
        status === 403 ? 'WS5003' : 'WS5020',
        new RegExp(`c/2.* cannot be read: the server answers ${status}`),
      );
      host.instead = answer;
      host.serve('/x.zarr/c/2', Buffer.alloc(80), {});
      for (const more of again) {
        const refused = run(stencil, { input: url, output: at('y.npy'), device, ...more });
        await expectFailure(refused, 'WS5005', /c\/2.*says no version/);
      }
    }
    expect(namesIn(at())).toEqual(['x.zarr']);
  });

  test('where it may have too many files', async () => {
    const files = filesOf({ ...some, isInside: true });
    const vast = { ...JSON.parse(files.get('x/zarr.json')!.toString()), shape: [10 ** 9] };
    const url = serve({ ...some, isInside: true });
    host.serve('/x.zarr/x/zarr.json', Buffer.from(JSON.stringify(vast)));
    await expectFailure(
      run(stencil, { input: url, output: at('y.npy'), device, resume: true }),
      'WS5005',
      /x\.zarr\?… may have more than 100,000 files, each of which would be asked for its version/,
      'name the folder of one array of it, or save it to a folder first',
    );
  });
});

test('a command verifies what it was computed from', async () => {
  const url = serve(some).replace(/\?.*/, '');
  await run(stencil, { input: url, output: at('y.npy'), device, checksum: true });
  expect((await runHere('verify', at('y.npy'), '--inputs')).code).toBe(0);
  host.serve('/x.zarr/c/1', Buffer.alloc(80), { tag: '"2"' });
  const other = await runHere('verify', at('y.npy'), '--inputs');
  expect([other.code, other.stderr]).toEqual([
    4,
    expect.stringMatching(/WS5014.*x\.zarr are not what they were/),
  ]);
});
