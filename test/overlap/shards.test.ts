// Work that is cut: whatever the cut, the pieces put together are what one run writes, to the byte; and what is put
// together is all of one work, whole, and as it was written.

import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Device, type Job, open, type RunOptions, run, WarpstageError } from 'warpstage';
import { merge } from '#warpstage/overlap/shards/merge.js';
import { inputsText, type Piece, pieceEnding, readPiece } from '#warpstage/overlap/shards/piece.js';
import { root, runHere } from '../cli/support.ts';
import { randomRuns } from '../differential/tape.ts';
import { damage, damaged } from '../formats/damaged.ts';
import { affine, centred, groups, neighbours, statistics } from './jobs.ts';
import { expectFailure, namesIn, npyFile, useFolder } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

const at = useFolder();
const { signal } = new AbortController();
const numbers = (rows: number) => Int32Array.from({ length: rows }, (_, i) => Math.imul(i, 0x9e3779b1));

/** Runs work whole and in so many pieces, in any order, and compares the outputs. */
async function compare(work: Job, options: Omit<RunOptions, 'output'>, outputs: string[], of: number) {
  for (const name of namesIn(at())) if (name.startsWith('cut-')) rmSync(at(name));
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
  expect(namesIn(at()).filter((name) => name.includes('-of-') || name.startsWith('.'))).toEqual([]);
}

const refusedPiece =
  /remove \S+ and the others of that file, and run their shards again; if its numbers are the same: --ignore-inputs/;

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
    await shard(2, { device: 'cpu', chunk: 100 });
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
    expect(namesIn(at()).filter((name) => name.startsWith('.'))).toEqual([]);
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

describe('pieces are of the same files', () => {
  const rows = 96;
  const numbered = (first: number) => {
    const data = Float32Array.from({ length: rows }, (_, i) => first + i);
    return npyFile({ shape: [rows], data });
  };
  const shard = (n: number, input = at('x.npy'), options: Partial<RunOptions> = {}) =>
    run(affine, { input, output: at('y.npy'), device, shard: [n, 3], ...options });
  const merged = (ignoreInputs = false) => merge({ file: at('y.npy') }, { signal, ignoreInputs });
  const long = 1_700_000_000.5;
  /** Numbers what happens: rights and copies are each time others. */
  let happened = 0;
  const copied = () => {
    happened += 1;
    const copy = at(`copy-${happened}.npy`);
    copyFileSync(at('x.npy'), copy);
    return copy;
  };
  const begin = () => {
    happened = 0;
    for (const name of namesIn(at())) rmSync(at(name));
    writeFileSync(at('x.npy'), numbered(0));
    utimesSync(at('x.npy'), long, long);
  };
  /** Does something that moves the time of the last change, however coarse the clock of the disk. */
  const change = (path: string, how: () => void) => {
    const { ctimeNs } = statSync(path, { bigint: true });
    do how();
    while (statSync(path, { bigint: true }).ctimeNs === ctimeNs);
  };

  /** What may happen to x.npy between two runs: which file the next reads, and whether that is still the same. */
  const events = {
    nothing: { isSame: true, happens: () => at('x.npy') },
    'other rights': {
      isSame: true,
      happens() {
        happened += 1;
        chmodSync(at('x.npy'), 0o600 + happened);
        return at('x.npy');
      },
    },
    'a copy with its time': {
      isSame: true,
      happens() {
        const copy = copied();
        utimesSync(copy, long, long);
        return copy;
      },
    },
    'a copy with whole seconds': {
      isSame: true,
      happens() {
        const copy = copied();
        utimesSync(copy, Math.floor(long), Math.floor(long));
        return copy;
      },
    },
    'a copy of its own time': {
      isSame: false,
      happens() {
        const copy = copied();
        utimesSync(copy, long + 2, long + 2);
        return copy;
      },
    },
    'other numbers': {
      isSame: false,
      happens() {
        writeFileSync(at('x.npy'), numbered(7));
        utimesSync(at('x.npy'), long + 1.25, long + 1.25);
        return at('x.npy');
      },
    },
    'other numbers with the old time': {
      isSame: false,
      happens() {
        change(at('x.npy'), () => {
          writeFileSync(at('x.npy'), numbered(7));
          utimesSync(at('x.npy'), long, long);
        });
        return at('x.npy');
      },
    },
  };

  test('whatever happens between their runs, and before they are put together', async () => {
    const event = fc.constantFrom(...Object.keys(events)) as fc.Arbitrary<keyof typeof events>;
    await fc.assert(
      fc.asyncProperty(event, event, event, async (...happening) => {
        begin();
        await shard(1);
        for (const [i, name] of happening.slice(0, 2).entries()) await shard(i + 2, events[name].happens());
        // A copy that nobody reads changes nothing.
        const [last] = happening.slice(2);
        const isSeen = events[last!].happens() === at('x.npy');
        const used = isSeen ? happening : happening.slice(0, 2);
        if (used.every((name) => events[name].isSame)) expect((await merged()).pieces).toBe(3);
        else await expectFailure(merged(), 'WS5015', /file/, refusedPiece);
      }),
      {
        ...randomRuns(30),
        examples: Object.keys(events).map((name) => ['nothing', name, 'nothing'] as never),
      },
    );
  });

  test('the error names the pieces, the file and both times', async () => {
    begin();
    for (const n of [1, 2]) await shard(n);
    events['other numbers'].happens();
    await shard(3);
    await expectFailure(
      merged(),
      'WS5015',
      /3-of-3 was computed from another file than \S+1-of-3: input 'x', \S+x\.npy, was written \S+:21\.75\d+Z, and there was written \S+:20\.5\d+Z$/,
      /remove \S+1-of-3 and the others of that file/,
    );
    expect(existsSync(at('y.npy'))).toBe(false);
    expect((await merged(true)).pieces).toBe(3);
    rmSync(at('y.npy.1-of-3'));
    rmSync(at('y.npy.2-of-3'));
    for (const n of [1, 2]) await shard(n);
    await merged();
    await run(affine, { input: at('x.npy'), output: at('whole.npy'), device });
    expect(readFileSync(at('y.npy')).equals(readFileSync(at('whole.npy')))).toBe(true);
  });

  test('a file that is another one by now is named; one that is not to be seen is not missed', async () => {
    begin();
    for (const n of [1, 2, 3]) await shard(n);
    writeFileSync(at('x.npy'), numbered(7));
    await expectFailure(
      merged(),
      'WS5015',
      /x\.npy is not the file any more that \S+1-of-3 was computed from/,
    );
    expect((await merged(true)).pieces).toBe(3);
    rmSync(at('x.npy'));
    expect((await merged()).pieces).toBe(3);
  });

  test('those of files that are known by their content may be of any copy', async () => {
    begin();
    const known = { checksum: true };
    for (const n of [1, 2]) await shard(n, at('x.npy'), known);
    await shard(3, events['a copy of its own time'].happens(), known);
    expect((await readPiece(at('y.npy.3-of-3'))).inputs).toEqual({});
    expect((await merged()).pieces).toBe(3);
    rmSync(at('y.npy.3-of-3'));
    events['other numbers with the old time'].happens();
    await shard(3, at('x.npy'), known);
    await expectFailure(merged(), 'WS5015', /of another work .* input 'x' is .*checksum/);
  });

  test('a second result from a copy will do, and the first one stays', async () => {
    begin();
    await shard(2);
    const before = readFileSync(at('y.npy.2-of-3'));
    await shard(2, events['a copy of its own time'].happens());
    expect(readFileSync(at('y.npy.2-of-3')).equals(before)).toBe(true);
  });

  test('notes that are nothing of the kind make no piece', async () => {
    begin();
    await shard(1);
    const { inputs, ...about } = await readPiece(at('y.npy.1-of-3'));
    const good = inputs["input 'x'"]!;
    const bytes = readFileSync(at('y.npy.1-of-3')).subarray(0, (rows / 3) * 4);
    const rewritten = (notes: unknown) => {
      const piece = { ...about, inputs: notes } as Piece;
      writeFileSync(at('y.npy.1-of-3'), Buffer.concat([bytes, inputsText(piece), pieceEnding(piece)]));
      return readPiece(at('y.npy.1-of-3'));
    };
    expect((await rewritten({ x: good })).inputs).toEqual({ x: good });
    for (const bad of [
      null,
      'x',
      { ...good, bytes: 128 },
      { ...good, written: '' },
      { ...good, written: '1e3' },
      { ...good, changed: '9'.repeat(20) },
      { ...good, path: 7 },
      { ...good, inode: undefined },
      { ...good, outside: undefined },
    ])
      await expectFailure(rewritten({ x: bad }), 'WS5003', /is no piece of an output, or a damaged one/);
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
    /a sequence of jobs cannot be cut into shards: each pass begins with what all rows of the one before/,
    /^let workers compute it pass by pass: --workers 2 in place of --shard; or run each pass as a job that the module exports: --job mean, and the next with what it found, by --set$/,
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
  expect(namesIn(at())).toEqual(['x.f32']);
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
  expect(namesIn(at())).toEqual(['x.npy', 'y.npy', 'y.npy.sums']);
  expect((await runHere('verify', at('y.npy'))).code).toBe(0);
});
