// Work that is cut: whatever the cut, the pieces put together are what one run writes, to the byte; and what is put
// together is all of one work, whole, and as it was written.

import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Device, type Job, open, type RunOptions, run, WarpstageError } from 'warpstage';
import { merge } from '#warpstage/overlap/shards/merge.js';
import { readPiece } from '#warpstage/overlap/shards/piece.js';
import { root, runHere } from '../cli/support.ts';
import { randomRuns } from '../differential/tape.ts';
import { damage, damaged } from '../formats/damaged.ts';
import { affine, centred, groups, neighbours, statistics } from './jobs.ts';
import { expectFailure, namesIn, npyFile, temporaryDirectory } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

let folder: string;
beforeEach(() => {
  folder = temporaryDirectory();
});
const at = (name: string) => join(folder, name);
const { signal } = new AbortController();
const numbers = (rows: number) => Int32Array.from({ length: rows }, (_, i) => Math.imul(i, 0x9e3779b1));

/** Runs work whole and in so many pieces, in any order, and compares the outputs. */
async function compare(work: Job, options: Omit<RunOptions, 'output'>, outputs: string[], of: number) {
  for (const name of namesIn(folder)) if (name.startsWith('cut-')) rmSync(at(name));
  const names = (prefix: string) => outputs.map((name) => at(`${prefix}-${name}`));
  await run(work, { ...options, device, output: names('whole') });
  const order = Array.from({ length: of }, (_, i) => i + 1).reverse();
  for (const n of order) await run(work, { ...options, device, output: names('cut'), shard: [n, of] });
  for (const [i, file] of names('cut').entries()) {
    expect(existsSync(file)).toBe(false);
    const { pieces } = await merge({ file }, { signal, remove: true });
    expect(pieces).toBe(of);
    expect(readFileSync(file).equals(readFileSync(names('whole')[i]!))).toBe(true);
  }
  expect(namesIn(folder).filter((name) => name.includes('-of-') || name.startsWith('.'))).toEqual([]);
}

describe('pieces, put together, are what one run writes', () => {
  test('with neighbours before and after, however the rows are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          rows: fc.integer({ min: 1, max: 60 }),
          of: fc.integer({ min: 1, max: 9 }),
          before: fc.nat(4),
          after: fc.nat(4),
          edge: fc.constantFrom('zero' as const, 'clamp' as const),
          chunk: fc.integer({ min: 1, max: 20 }),
          inFile: fc.boolean(),
        }),
        async ({ rows, of, before, after, edge, chunk, inFile }) => {
          const x = numbers(rows);
          writeFileSync(at('x.npy'), npyFile({ descr: '<i4', shape: [rows], data: x }));
          const input = inFile ? at('x.npy') : x;
          await compare(neighbours(before, after, edge) as Job, { input, chunk }, ['y.npy'], of);
        },
      ),
      randomRuns(12),
    );
  });

  test('with rows that become fewer and more, and outputs of several names and formats', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          rows: fc.integer({ min: 1, max: 60 }),
          of: fc.integer({ min: 1, max: 9 }),
          group: fc.integer({ min: 1, max: 5 }),
          copies: fc.integer({ min: 1, max: 3 }),
          remainder: fc.constantFrom('drop' as const, 'partial' as const),
        }),
        async ({ rows, of, group, copies, remainder }) => {
          const input = numbers(rows * 3);
          const options = { input, settings: { width: 3 }, chunk: group * 2 };
          await compare(groups(group, copies, remainder) as Job, options, ['s.npy', 'p.bin'], of);
        },
      ),
      randomRuns(12),
    );
  });
});

describe('of an output of three pieces', () => {
  const rows = 1000;
  const x = Float32Array.from({ length: rows }, (_, i) => i);
  const piece = (n: number, of = 3) => at(`y.npy.${n}-of-${of}`);
  const shard = (n: number, options: Partial<RunOptions> = {}) =>
    run(affine, { input: at('x.npy'), output: at('y.npy'), device, shard: [n, 3], ...options });
  beforeEach(async () => {
    writeFileSync(at('x.npy'), npyFile({ shape: [rows], data: x }));
    for (const n of [1, 2, 3]) await shard(n);
  });
  const merged = () => merge({ file: at('y.npy') }, { signal });

  test('each says what it is of, and nothing of when and where it was computed', async () => {
    const { report } = await shard(2, { device: 'cpu', chunk: 'auto', depth: 1 });
    expect(report.rows).toBe(333);
    expect(await readPiece(piece(2))).toMatchObject({
      shard: [2, 3],
      job: 'affine',
      element: 'f32',
      shape: [rows],
      begin: 333,
      end: 666,
    });
    const before = readFileSync(piece(2));
    rmSync(piece(2));
    copyFileSync(at('x.npy'), at('copy.npy'));
    await shard(2, { input: at('copy.npy') });
    expect(readFileSync(piece(2)).equals(before)).toBe(true);
    expect((await merged()).bytes).toBe(4000);
  });

  test('a second result that is the same will do, and another is reported and left out', async () => {
    await shard(1);
    const before = readFileSync(piece(1));
    await expectFailure(
      shard(1, { settings: { a: 3 } }),
      'WS5015',
      /y\.npy\.1-of-3 is there already, and is another/,
    );
    writeFileSync(at('x.npy'), npyFile({ shape: [rows], data: x.map((value) => value + 1) }));
    await expectFailure(shard(1), 'WS5015', /is another result/);
    expect(readFileSync(piece(1)).equals(before)).toBe(true);
    expect(namesIn(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('those that are missing are named', async () => {
    rmSync(piece(2));
    await expectFailure(merged(), 'WS5016', /1 of the 3 pieces of \S+ are missing: 2$/, /--shard 2\/3/);
    for (const n of [1, 3]) rmSync(piece(n));
    await expectFailure(merged(), 'WS5016', /there are no pieces of/);
    expect(existsSync(at('y.npy'))).toBe(false);
  });

  test('those of another work, of another cut, or in another place are refused', async () => {
    rmSync(piece(2));
    await shard(2, { settings: { a: 3 } });
    await expectFailure(
      merged(),
      'WS5015',
      /2-of-3 is of another work than \S+1-of-3: setting 'a' is 3, and there 2/,
    );
    rmSync(piece(2));
    await shard(2);
    renameSync(piece(1), at('aside'));
    renameSync(piece(2), piece(1));
    renameSync(at('aside'), piece(2));
    await expectFailure(merged(), 'WS5015', /1-of-3 is not piece 1/);
    await shard(1, { shard: [1, 4] });
    await expectFailure(merged(), 'WS5015', /has pieces of cuts into [34] and [34]/);
    expect(existsSync(at('y.npy'))).toBe(false);
  });

  test('one that is damaged anywhere is refused, and never put into an output', async () => {
    await merged();
    const whole = readFileSync(at('y.npy'));
    const intact = readFileSync(piece(2));
    await fc.assert(
      fc.asyncProperty(damage, async (how) => {
        const bytes = damaged(intact, how);
        writeFileSync(piece(2), bytes);
        rmSync(at('y.npy'), { force: true });
        const error = await merged().catch((reason: unknown) => reason);
        if (existsSync(at('y.npy'))) expect(readFileSync(at('y.npy')).equals(whole)).toBe(true);
        else {
          expect(error).toBeInstanceOf(WarpstageError);
          expect((error as WarpstageError).code).toMatch(/^WS(5003|5014|5015)$/);
        }
      }),
      randomRuns(40),
    );
  });
});

test('what cannot be cut is refused before anything is written', async () => {
  const x = new Float32Array(8);
  const output = at('y.npy');
  const cut = (work: unknown, options: object) =>
    run(work as Job, { input: x, output, device, shard: [1, 2], ...options } as RunOptions);
  await expectFailure(
    cut(statistics, { input: [new Int32Array(8), new Float64Array(8)], output: undefined }),
    'WS5007',
    /accumulators/,
  );
  await expectFailure(
    cut(centred, { input: new Float64Array(8) }),
    'WS5007',
    /a sequence of jobs cannot be cut/,
  );
  await expectFailure(cut(affine, { output: undefined }), 'WS5006', /no file is named for it/);
  const stream = { stream: [new Uint8Array(32)] };
  await expectFailure(cut(affine, { input: stream }), 'WS5005', /is a stream, and a shard begins anywhere/);
  writeFileSync(at('x.f32'), x);
  await expectFailure(
    cut(affine, { input: at('x.f32'), resume: true }),
    'WS5010',
    /a shard cannot be resumed/,
  );
  for (const shard of [[0, 2], [3, 2], [1, 1e6], [1.5, 2], [1], 'x']) {
    await expectFailure(cut(affine, { shard }), 'WS5008', /a shard is the n-th of so many/);
  }
  expect(namesIn(folder)).toEqual(['x.f32']);
});

test('exit codes say to schedulers whether to try again', async () => {
  writeFileSync(at('x.npy'), npyFile({ shape: [8], data: new Float32Array(8).fill(1) }));
  const shard = (n: string, ...more: string[]) =>
    runHere('run', join(root, 'examples/affine.ts'), at('x.npy'), at('y.npy'), '-q', '--shard', n, ...more);
  expect((await shard('1/2')).code).toBe(0);
  const early = await runHere('merge', at('y.npy'));
  expect(early.stderr).toContain('WS5016: 1 of the 2 pieces');
  expect(early.code).toBe(75);
  expect((await shard('2/2')).code).toBe(0);
  expect((await shard('2/2')).code).toBe(0);
  expect((await shard('2/2', '--set', 'a=5')).code).toBe(4);
  expect((await shard('3/2')).code).toBe(2);
  const done = await runHere('merge', at('y.npy'), '--checksum', '--remove');
  expect(done.text).toBe(`${at('y.npy')}: 2 pieces, 32 B\n`);
  expect(done.code).toBe(0);
  expect(namesIn(folder)).toEqual(['x.npy', 'y.npy', 'y.npy.sums']);
  expect((await runHere('verify', at('y.npy'))).code).toBe(0);
});
