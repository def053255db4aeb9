// Zarr stores as outputs in a store of objects: the same files as in a folder, of which the one that says what they are comes
// last. What fails leaves nothing, what a killed run left goes, and what is another's stays.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Device, map, open, type RunOptions, run, WarpstageError } from 'warpstage';
import { merge } from '#warpstage/overlap/shards/merge.js';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { type Asked, type Fault, useStore } from './s3-server.ts';
import { bytesOfChunk, registerSmall } from './small-stores.ts';
import { expectFailure, temporaryDirectory } from './support.ts';

registerSmall();
const store = useStore();
let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

const tripled = map({ y: 'i32', x: 'i32' }, ({ x }) => 3 * x);
const perChunk = bytesOfChunk / 4;
const output = 's3://data/out/y.small';
const inputOf = (rows: number) => Int32Array.from({ length: rows }, (_, i) => Math.imul(i, 7919));
const write = (rows: number, more: Partial<RunOptions> = {}) =>
  run(tripled, { input: inputOf(rows), output, device, chunk: 300, ...more } as RunOptions);

/** What the same run writes to a folder. */
async function expected(rows: number): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-test-'));
  try {
    await run(tripled, { input: inputOf(rows), output: join(folder, 'y.small'), device });
    const names = readdirSync(join(folder, 'y.small'));
    return Object.fromEntries(
      names.map((name) => [`out/y.small/${name}`, readFileSync(join(folder, 'y.small', name), 'hex')]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
const there = () =>
  Object.fromEntries([...store.objects].map(([key, { bytes }]) => [key, bytes.toString('hex')]));
/** Three objects and a part of one. */
const rows = Math.floor(3.4 * perChunk);
let whole: Record<string, string>;
beforeAll(async () => {
  whole = await expected(rows);
});
beforeEach(() => store.objects.clear());
const metadata = 'out/y.small/zarr.json';

test('are the files of a folder, of which the one that says what they are comes last', {
  timeout: randomLimit(8),
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 * perChunk }), fc.nat(2), async (length, junk) => {
      store.objects.clear();
      // A killed run's: of another length, perhaps.
      for (let i = 0; i < junk; i++) store.put(`out/y.small/c.${5 * i}`, Buffer.from('left'));
      store.put('out/y.small.other', Buffer.from('another'));
      store.asked = [];
      await write(length, junk === 1 ? { maxMemory: '4GiB' } : {});
      const put = store.asked.filter(({ what }) => what === 'Put').map(({ key }) => key);
      expect(put.indexOf(metadata)).toBe(put.length - 1);
      store.objects.delete('out/y.small.other');
      expect(there()).toEqual(await expected(length));
    }),
    randomRuns(6),
  );
});

describe('what fails leaves nothing', () => {
  const faults: readonly Fault[] = [{ status: 403, code: 'AccessDenied' }, 'cut', 'drop after'];
  test.each(faults)('when a request ends in %j, once or from then on', { timeout: 60_000 }, async (fault) => {
    let [failed, passed] = [0, 0];
    for (const isOnce of [true, false]) {
      for (let n = 1; n <= 9; n += 2) {
        store.objects.clear();
        let asked = 0;
        // What is to be removed is removed, if the store lets it.
        store.fault = ({ what }) => {
          const isIt = !['Delete', 'Head'].includes(what) && (isOnce ? ++asked === n : ++asked >= n);
          return isIt ? fault : undefined;
        };
        const error: unknown = await write(rows).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        store.fault = () => undefined;
        if (error === undefined) {
          passed++;
          expect(there()).toEqual(whole);
        } else {
          failed++;
          expect(error).toBeInstanceOf(WarpstageError);
          expect(['WS5003', 'WS5006', 'WS5020']).toContain((error as WarpstageError).code);
          expect(there()).toEqual({});
        }
      }
    }
    expect(failed).toBeGreaterThan(0);
    // A refusal counts, and what breaks off is tried again.
    expect(passed > 0).toBe(typeof fault === 'string');
  });

  test('when it is stopped', async () => {
    for (const after of [1, 2, 3]) {
      const controller = new AbortController();
      let puts = 0;
      store.fault = ({ what }) => {
        if (what === 'Put' && ++puts === after) controller.abort();
        return undefined;
      };
      await expectFailure(
        write(rows, { signal: controller.signal }),
        'WS5009',
        'nothing of its output is left',
      );
      expect(there()).toEqual({});
    }
  });
});

describe('what is another’s stays as it is', () => {
  const refused = async (key: string) => {
    const before = there();
    await expectFailure(
      write(rows),
      'WS5006',
      `s3://data/out/y.small is there already, with ${key} in it, and objects cannot be replaced all at once`,
      'give another name, or remove it',
    );
    expect(there()).toEqual(before);
  };

  test('a whole store, and a folder with something else in it', async () => {
    await write(2 * perChunk);
    await refused('zarr.json');
    store.objects.clear();
    store.put('out/y.small/a/c.0', Buffer.from('1'));
    await refused('a/c.0');
    store.objects.clear();
    store.put('out/y.small/notes.txt', Buffer.from('1'));
    await refused('notes.txt');
  });

  /** Does something before a request is answered, the n-th of its kind. */
  const atFirst = (is: (asked: Asked) => boolean, does: () => void) => {
    let done = false;
    store.fault = (asked) => {
      if (!done && is(asked)) {
        done = true;
        does();
      }
      return undefined;
    };
  };
  const disturbed = () =>
    expectFailure(
      write(rows),
      'WS5006',
      /y\.small cannot be completed: another process has written to it, or removed some of it, meanwhile/,
      'give each run a name of its own, and run it again',
    );

  test('an object that another run has created, which is not written over', async () => {
    atFirst(
      ({ what }) => what === 'Put',
      () => store.put('out/y.small/c.2', Buffer.from('another')),
    );
    await disturbed();
    expect(there()).toEqual({ 'out/y.small/c.2': Buffer.from('another').toString('hex') });
  });

  test('one that another program has written over', async () => {
    atFirst(
      ({ what, key }) => what === 'Put' && key.endsWith('c.3'),
      () => store.put('out/y.small/c.0', Buffer.from('another')),
    );
    await disturbed();
    expect(there()).toEqual({ 'out/y.small/c.0': Buffer.from('another').toString('hex') });
  });

  test('one that another run has removed, before the last one is created or after it', async () => {
    atFirst(
      ({ what, key }) => what === 'Put' && key.endsWith('c.3'),
      () => store.objects.delete('out/y.small/c.0'),
    );
    await disturbed();
    expect(there()).toEqual({});
    atFirst(
      ({ what, key }) => what === 'Put' && key === metadata,
      () => store.objects.delete('out/y.small/c.0'),
    );
    await disturbed();
    expect(there()).toEqual({});
  });

  test('a store that is completed while what was left is removed says nothing any more', async () => {
    store.put('out/y.small/c.0', Buffer.from('left'));
    atFirst(
      ({ what }) => what === 'Delete',
      () => store.put(metadata, Buffer.from('{}')),
    );
    await disturbed();
    expect(there()).toEqual({});
  });
});

test('pieces of one are put together', async () => {
  for (const n of [1, 2, 3]) await write(rows, { shard: [n, 3] });
  await merge({ file: output }, { signal: new AbortController().signal, remove: true });
  expect(there()).toEqual(whole);
});

test('a run that is to be resumed, or to have checksums, is refused', async () => {
  const resume = join(temporaryDirectory(), 'journal');
  await expectFailure(
    write(rows, { resume, input: store.put('x.i32', new Uint8Array(inputOf(rows).buffer)) }),
    'WS5010',
    "the run cannot be resumed: output 'y' goes to many objects, which are there in part only",
    'write it to a folder, or run it without resume',
  );
  await expectFailure(write(rows, { checksum: true }), 'WS5006', 'checksums lie in files beside outputs');
});
