// The n-th request of a run whose inputs and outputs are objects fails, in each way that a store or the network can, once or from
// then on. What was there stays until a whole one takes its place, nothing else is to be seen, and no upload is left open;
// a run that is resumed gives equal bytes.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, map, open, type RunOptions, run, WarpstageError } from 'warpstage';
import { merge } from '#warpstage/overlap/shards/merge.js';
import { isInTurn } from '../support/thorough.ts';
import { type Asked, type Fault, useStore } from './s3-server.ts';
import { shardedFiles, shardedNumbers } from './sharded-store.ts';
import { useShortPauses } from './short-pauses.ts';
import { expectFailure, namesIn, npyFile, temporaryDirectory } from './support.ts';

const store = useStore();
useShortPauses();
let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 64 << 20 });
});
afterAll(() => device.close());
const warned: string[] = [];
const onWarning = ({ name }: Error) => warned.push(name);
beforeAll(() => void process.on('warning', onWarning));
afterAll(() => {
  process.off('warning', onWarning);
  expect(warned).not.toContain('MaxListenersExceededWarning');
});

const tripled = map({ y: 'i32', x: 'i32' }, ({ x }) => 3 * x);
const parts = map({ low: 'i32', high: 'i32', x: 'i32' }, ({ x }) => ({ low: x & 255, high: x >> 8 }));
const main = new URL('../../dist/cli/main.js', import.meta.url).pathname;

function putInputs(): void {
  store.put('x.npy', npyFile({ descr: '<i4', shape: [400, 400], data: shardedNumbers }));
  for (const [path, bytes] of shardedFiles()) store.put(`x.zarr/${path}`, bytes);
}
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
/** What the store has beside them. */
const outputs = () =>
  Object.fromEntries(
    [...store.objects]
      .filter(([key]) => !key.startsWith('x.'))
      .map(([key, { bytes }]) => [key, digest(bytes)]),
  );
const before = Buffer.from('from before');

interface Case {
  readonly what: string;
  readonly work: typeof tripled | typeof parts;
  readonly options: RunOptions;
  readonly isResumed: boolean;
}
const cases: readonly Case[] = [
  {
    what: 'from shards to one object',
    work: tripled,
    options: { input: 's3://data/x.zarr', output: 's3://data/y.npy' },
    isResumed: false,
  },
  {
    what: 'to two objects',
    work: parts,
    options: { input: 's3://data/x.npy', output: ['s3://data/low.npy', 's3://data/high.parquet'] },
    isResumed: false,
  },
  {
    what: 'to one that is gone on with',
    work: tripled,
    options: { input: 's3://data/x.npy', output: 's3://data/y.parquet' },
    isResumed: true,
  },
];

const faults: readonly Fault[] = [
  { status: 500, code: 'InternalError' },
  { status: 503, code: 'SlowDown' },
  { status: 403, code: 'AccessDenied' },
  'cut',
  'drop',
  'drop after',
];
/** A store that answers a request that ends an upload may say in the answer's text that it failed. */
const inTheAnswer = { status: 200, code: 'InternalError' };
const ofAll = [...faults, inTheAnswer].flatMap((fault, i) =>
  [true, false].map((isOnce, k) => ({ fault, isOnce, position: 2 * i + k })),
);

describe.each(cases)('$what', ({ work, options, isResumed }) => {
  test.each(ofAll)('$fault, once: $isOnce', { timeout: 120_000 }, async ({ fault, isOnce, position }) => {
    const journals = temporaryDirectory();
    const how = { ...options, device, chunk: 40_000, depth: 2, resume: isResumed && join(journals, 'y') };
    putInputs();
    await run(work as typeof tripled, how);
    const whole = outputs();
    const count = store.asked.length;
    const old = Object.fromEntries(Object.keys(whole).map((key) => [key, digest(before)]));
    for (let n = 1; n <= count; n++) {
      if (isInTurn && n % 4 !== position % 4) continue;
      for (const key of Object.keys(old)) store.put(key, before);
      store.asked = [];
      let failed: Asked | undefined;
      let isLost = false;
      store.fault = (asked) => {
        const { number, what } = asked;
        // What ends an upload passes; it is tried at all.
        const isIt = (isOnce ? number === n : number >= n) && what !== 'Abort';
        if (!isIt || (fault === inTheAnswer && what !== 'Complete')) return undefined;
        failed ??= asked;
        // An upload of which the answer is lost has an id that nobody knows.
        isLost ||= what === 'CreateUpload' && (fault === 'cut' || fault === 'drop after');
        return fault;
      };
      const error: unknown = await run(work as typeof tripled, how).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      store.fault = () => undefined;
      const told = `request ${n} of ${count}, ${failed?.what}: ${error}`;
      const there = outputs();
      if (error === undefined) expect(there, told).toEqual(whole);
      else {
        expect(error, told).toBeInstanceOf(WarpstageError);
        expect(['WS5003', 'WS5006', 'WS5020'], told).toContain((error as WarpstageError).code);
        expect(Object.keys(there), told).toEqual(Object.keys(old));
        for (const [key, found] of Object.entries(there))
          expect([old[key], whole[key]], told).toContain(found);
        // Where an answer is lost, it may be there all the same; of several one appears before the next.
        const isRefused = typeof fault === 'object' && Object.keys(old).length === 1;
        if (isRefused) expect(there, told).toEqual(old);
      }
      const open = () => [...store.uploads.values()].filter((one) => !isLost || one.parts.size > 0).length;
      if (!isResumed) expect(open(), told).toBe(0);
      await run(work as typeof tripled, how);
      expect(outputs(), told).toEqual(whole);
      expect(open(), told).toBe(0);
      expect(namesIn(journals), told).toEqual([]);
      store.uploads.clear();
    }
  });
});

test('a run that is stopped at any request leaves what was there, and no upload', {
  timeout: 60_000,
}, async () => {
  putInputs();
  const how = { input: 's3://data/x.npy', output: 's3://data/y.npy', device, chunk: 40_000 };
  await run(tripled, how);
  const whole = outputs();
  const count = store.asked.length;
  let stopped = 0;
  for (let n = 1; n <= count; n++) {
    store.put('y.npy', before);
    store.asked = [];
    const controller = new AbortController();
    store.fault = ({ number }) => {
      if (number === n) controller.abort();
      return undefined;
    };
    const error: unknown = await run(tripled, { ...how, signal: controller.signal }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const told = `request ${n} of ${count}, ${store.asked[n - 1]?.what}: ${error}`;
    expect(store.uploads.size, told).toBe(0);
    if (error === undefined) expect(outputs(), told).toEqual(whole);
    else {
      stopped++;
      expect(error, told).toMatchObject({ code: 'WS5009' });
      expect(outputs(), told).toEqual({ 'y.npy': digest(before) });
    }
  }
  expect(stopped).toBeGreaterThan(count / 2);
});

describe('an upload that is ended from elsewhere', () => {
  test.each([false, true])(
    'is an error that says so, and the next run gives equal bytes (resumed: %s)',
    async (resumed) => {
      putInputs();
      const resume = resumed && join(temporaryDirectory(), 'y');
      const how = { input: 's3://data/x.npy', output: 's3://data/y.npy', device, chunk: 40_000, resume };
      for (const at of ['UploadPart', 'Complete']) {
        store.fault = ({ what }) => {
          if (what === at) store.uploads.clear();
          return undefined;
        };
        await expectFailure(
          run(tripled, how),
          'WS5006',
          /y\.npy cannot be written: its upload was ended from elsewhere$/,
          'run it again, when nothing else writes it and no rule of the bucket ends uploads so soon',
        );
        expect(outputs()).toEqual({});
        store.fault = () => undefined;
        await run(tripled, how);
        const found = store.get('s3://data/y.npy')!.subarray(-4 * shardedNumbers.length);
        expect(digest(found)).toBe(digest(Buffer.from(shardedNumbers.map((x) => 3 * x).buffer)));
        expect(store.uploads.size).toBe(0);
        store.objects.delete('y.npy');
      }
    },
  );
});

test('pieces and their merging leave nothing open, whichever request fails', {
  timeout: 120_000,
}, async () => {
  putInputs();
  const how = { input: 's3://data/x.npy', output: 's3://data/y.npy', device, chunk: 40_000 } as const;
  const { signal } = new AbortController();
  const all = async () => {
    for (const n of [1, 2]) await run(tripled, { ...how, shard: [n, 2] });
    await merge({ file: how.output }, { signal, remove: true });
  };
  await run(tripled, how);
  const whole = outputs();
  store.objects.delete('y.npy');
  store.asked = [];
  await all();
  expect(outputs()).toEqual(whole);
  const count = store.asked.length;
  for (let n = 1; n <= count; n++) {
    if (isInTurn && n % 5 !== 3) continue;
    store.objects.delete('y.npy');
    store.asked = [];
    store.fault = ({ number }) => (number === n ? { status: 403, code: 'AccessDenied' } : undefined);
    const error: unknown = await all().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    store.fault = () => undefined;
    const told = `request ${n} of ${count}: ${error}`;
    if (error !== undefined) expect(error, told).toBeInstanceOf(WarpstageError);
    const { 'y.npy': merged } = outputs();
    if (merged !== undefined) {
      expect(merged, told).toBe(whole['y.npy']);
      // A merge that was stopped while it removed pieces goes on.
      if (error !== undefined) await merge({ file: how.output }, { signal, remove: true });
      expect(outputs(), told).toEqual(whole);
    }
    // What was to be forgotten, and was refused, is left.
    const isAbort = store.asked[n - 1]?.what === 'Abort';
    expect(store.uploads.size, told).toBe(isAbort ? 1 : 0);
    store.uploads.clear();
    await all();
    expect(outputs(), told).toEqual(whole);
    expect(store.uploads.size, told).toBe(0);
  }
});

describe('a run that is killed before its journal says anything', () => {
  /** Runs as a command, which is killed when it asks for something. */
  async function killedAt(directory: string, module: string, isIt: (asked: Asked) => boolean): Promise<void> {
    const args = [main, 'run', module, 's3://data/x.npy', 's3://data/y.npy', '--resume', '--chunk', '40000'];
    const child = spawn(process.execPath, args, { cwd: directory, env: process.env, stdio: 'ignore' });
    store.fault = (asked) => {
      if (!isIt(asked)) return undefined;
      child.kill('SIGKILL');
      return 'hang';
    };
    await new Promise((resolve) => child.once('close', resolve));
    expect(child.signalCode).toBe('SIGKILL');
    store.fault = () => undefined;
  }

  test('leaves an upload that the next run ends, also where its journal is gone or damaged', {
    timeout: 60_000,
  }, async () => {
    putInputs();
    const directory = temporaryDirectory();
    const module = join(directory, 'tripled.mjs');
    const index = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href);
    writeFileSync(
      module,
      `import { map } from ${index};\nexport const tripled = map({ y: 'i32', x: 'i32' }, ({ x }) => 3 * x);\n`,
    );
    const journal = join(directory, '.y.npy.journal');
    for (const harm of [
      () => {},
      () => writeFileSync(journal, readFileSync(journal).subarray(0, -1), { mode: 0o600 }),
      () => writeFileSync(join(directory, '.y.npy.state-1'), 'half', { mode: 0o600 }),
    ]) {
      await killedAt(directory, module, ({ what }) => what === 'UploadPart');
      expect(store.uploads.size).toBe(1);
      expect(store.get('s3://data/y.npy')).toBe(undefined);
      harm();
      const args = [
        'run',
        module,
        's3://data/x.npy',
        's3://data/y.npy',
        '--resume',
        '--chunk',
        '40000',
        '--quiet',
      ];
      const child = spawn(process.execPath, [main, ...args], { cwd: directory, stdio: 'inherit' });
      expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
      expect(store.uploads.size).toBe(0);
      expect(namesIn(directory)).toEqual(['tripled.mjs']);
      store.objects.delete('y.npy');
    }
  });
});
