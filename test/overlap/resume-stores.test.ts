// Zarr stores as outputs of runs that are resumed. Whatever ends a run, and whatever becomes of what it left, the next one
// leaves the store that a single run leaves, file by file; until then the one that was there is there.

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Device,
  type Job,
  job,
  kernel,
  map,
  open,
  type RunOptions,
  run,
  WarpstageError,
} from 'warpstage';
import { verify } from '#warpstage/overlap/verify.js';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { FileOperations } from './file-operations.ts';
import { moments } from './moments.ts';
import { registerSmall } from './small-stores.ts';
import { expectFailure, namesIn } from './support.ts';

/** Journals flush once a second; here a second is over whenever somebody looks. */
const { now } = performance;
let ahead = 0;
let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 64 << 20 });
  performance.now = () => {
    ahead += 1000;
    return now.call(performance) + ahead;
  };
});
afterAll(async () => {
  performance.now = now;
  await device.close();
});

let directory: string;
beforeEach(() => {
  // In memory, where there is such a folder: what is flushed there is so at once.
  directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'warpstage-test-'));
  mkdirSync(at('out'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));
const at = (name: string) => join(directory, name);

/** Chunks of 105 rows of ten numbers. */
registerSmall();

/** Ten numbers for each. */
const wide = job({
  kernel: kernel({ y: 'i32[]', x: 'readonly i32[]', sums: 'i32[]', a: 'i32' }, ({ y, x, sums, a }, cuda) => {
    const grid = cuda.thisGrid();
    for (let i = grid.threadRank(); i < y.length; i += grid.size())
      y[i] = a * x[Math.trunc(i / 10)]! + (i % 10);
    if (grid.threadRank() === 0) cuda.atomicAdd(sums, 0, x[0]!);
  }),
  inputs: { x: {} },
  outputs: { y: { width: 10 } },
  accumulators: { sums: {} },
  settings: { a: 1 },
}) as Job;
const plain = job({
  kernel: kernel({ y: 'i32[]', x: 'readonly i32[]', a: 'i32' }, ({ y, x, a }, cuda) => {
    const grid = cuda.thisGrid();
    for (let i = grid.threadRank(); i < y.length; i += grid.size())
      y[i] = a * x[Math.trunc(i / 10)]! + (i % 10);
  }),
  inputs: { x: {} },
  outputs: { y: { width: 10 } },
  settings: { a: 1 },
}) as Job;
const odd = map({ y: 'i32', z: 'i32', kept: 'u8', x: 'i32' }, ({ x }) => ({ y: x, z: 3 * x, kept: x & 1 }), {
  keep: 'kept',
}) as unknown as Job;

function inputOf(rows: number): string {
  writeFileSync(
    at('x.i32'),
    new Uint8Array(Int32Array.from({ length: rows }, (_, i) => (i * 7919) % 10_007).buffer),
  );
  return at('x.i32');
}

/** All files of a store, by their names; undefined where there is none. */
function filesOf(store: string): Record<string, string> | undefined {
  if (!existsSync(store)) return undefined;
  return Object.fromEntries(
    readdirSync(store).map((name) => [name, readFileSync(join(store, name)).toString('latin1')]),
  );
}
const same = (a: string, b: string) => {
  const [left, right] = [filesOf(a), filesOf(b)];
  expect(left && Object.keys(left)).toEqual(right && Object.keys(right));
  for (const name of Object.keys(right!)) expect(left![name] === right![name], `${a}/${name}`).toBe(true);
};
const hidden = () => namesIn(at('out')).filter((name) => name.startsWith('.'));

/** Runs until so many chunks are through. Says whether it was stopped before its end. */
async function stopAfter(chunks: number, work: Job, options: RunOptions): Promise<boolean> {
  const controller = new AbortController();
  let done = 0;
  const onProgress = () => {
    if (++done === chunks) controller.abort();
  };
  try {
    await run(work, { ...options, device, resume: true, signal: controller.signal, onProgress });
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'WS5009' });
    return true;
  }
}

describe('a run that was stopped goes on', () => {
  test('whatever is computed, and whatever is written beside it', { timeout: randomLimit(60) }, async () => {
    let resumed = 0;
    const cases = fc.record({
      work: fc.constantFrom('wide' as const, 'plain' as const, 'odd' as const),
      rows: fc.integer({ min: 1, max: 700 }),
      ways: fc.tuple(
        fc.constantFrom('small', 'gz.small', 'gz.zarr'),
        fc.constantFrom('small', 'zarr', 'csv', 'npy'),
      ),
      chunk: fc.integer({ min: 5, max: 300 }),
      stops: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ work, rows, ways, chunk, stops }) => {
        const isOdd = work === 'odd';
        const length = isOdd ? rows * 10 : rows;
        const input = inputOf(length);
        const options = { input, device, chunk: isOdd ? chunk * 10 : chunk, checksum: true };
        const named = (kind: string) =>
          [at(`out/${kind}-y.${ways[0]}`), at(`out/${kind}-z.${ways[1]}`)].slice(0, isOdd ? 2 : 1);
        const outputs = (kind: string) => ({ ...options, output: named(kind) });
        const whole = await run({ wide, plain, odd }[work], outputs('whole'));
        let isStopped = true;
        for (const stop of stops)
          isStopped &&= await stopAfter(stop, { wide, plain, odd }[work], outputs('parts'));
        const { value, report } = await run({ wide, plain, odd }[work], {
          ...outputs('parts'),
          resume: true,
        });
        expect(value).toEqual(whole.value);
        for (const [i, path] of named('parts').entries()) {
          if (/zarr|small/.test(path.slice(-5))) same(path, named('whole')[i]!);
          else expect(readFileSync(path).equals(readFileSync(named('whole')[i]!))).toBe(true);
          const { differences } = await verify(path, { signal: new AbortController().signal });
          expect(differences).toEqual([]);
        }
        expect(hidden()).toEqual([]);
        // What accumulators hold is kept when it is due.
        if (isStopped && work !== 'wide') expect(report.resumed!.rows).toBeGreaterThan(0);
        if (isStopped) resumed++;
        rmSync(at('out'), { recursive: true });
        mkdirSync(at('out'));
      }),
      randomRuns(12),
    );
    expect(resumed).toBeGreaterThan(0);
  });
});

const rows = 250;
const options = (): RunOptions => ({
  input: at('x.i32'),
  output: at('out/y.small'),
  chunk: 16,
  depth: 2,
  device,
});
const settings = { a: 2 };

/** What was there before, and what is to be there. */
async function prepare(): Promise<void> {
  inputOf(rows);
  await run(plain, { ...options(), output: at('old.small'), settings: { a: 3 } });
  await run(plain, { ...options(), output: at('whole.small'), settings });
}
function begin(): void {
  rmSync(at('out'), { recursive: true });
  mkdirSync(at('out'));
  cpSync(at('old.small'), at('out/y.small'), { recursive: true });
}
/** Which of the two is there. */
function found(): 'old' | 'new' | 'neither' {
  const files = JSON.stringify(filesOf(at('out/y.small')));
  if (files === JSON.stringify(filesOf(at('whole.small')))) return 'new';
  return files === JSON.stringify(filesOf(at('old.small'))) ? 'old' : 'neither';
}
/** The run waits before each read, so that what is due meanwhile is flushed. */
const flushed = () => delay(4);
/** At which operations on files something happens, in one of three ways. */
async function momentsOf(turn: number): Promise<Generator<number>> {
  begin();
  let count = 0;
  const operations = new FileOperations((name) => {
    count++;
    return name === 'read' ? flushed() : undefined;
  });
  await operations.replace();
  await run(plain, { ...options(), settings, resume: true, checksum: turn > 0 }).finally(() =>
    operations.restore(),
  );
  return moments(count, 17, turn, 3);
}

describe('what is there is the old store, or the whole new one, and the next run gives that', () => {
  test('when the process dies before the n-th operation on files', { timeout: 120_000 }, async () => {
    await prepare();
    const counts = { old: 0, new: 0, neither: 0 };
    let mostResumed = 0;
    for (const n of await momentsOf(0)) {
      begin();
      let done = 0;
      const operations = new FileOperations((name) => {
        if (++done === n) cpSync(at('out'), at('dead'), { recursive: true });
        return name === 'read' ? flushed() : undefined;
      });
      await operations.replace();
      await run(plain, { ...options(), settings, resume: true }).finally(() => operations.restore());
      expect(found()).toBe('new');
      if (done < n) break;
      rmSync(at('out'), { recursive: true });
      renameSync(at('dead'), at('out'));
      counts[found()]++;
      const { report } = await run(plain, { ...options(), settings, resume: true });
      mostResumed = Math.max(mostResumed, report.resumed?.rows ?? 0);
      expect(found(), `${n}`).toBe('new');
      expect(
        hidden().filter((name) => !name.endsWith('.replaced')),
        `${n}`,
      ).toEqual([]);
    }
    // For a moment there is none of the name.
    expect(counts.neither).toBeLessThan(4);
    expect(counts.old).toBeGreaterThan(4);
    expect(mostResumed).toBeGreaterThan(rows / 3);
  });

  const failures = [
    [1, 1],
    [Infinity, 2],
  ] as const;
  test.each(failures)(
    'when the n-th operation on files fails (%d times)',
    { timeout: 120_000 },
    async (times, turn) => {
      await prepare();
      for (const n of await momentsOf(turn)) {
        begin();
        let done = 0;
        let failed = '';
        const operations = new FileOperations((name) => {
          done++;
          if (done < n || done >= n + times) return name === 'read' ? flushed() : undefined;
          if (done === n) failed = name;
          throw Object.assign(new Error(`EIO: i/o error, ${name}`), { code: 'EIO' });
        });
        await operations.replace();
        const how = { ...options(), settings, resume: true, checksum: true };
        const error: unknown = await run(plain, how)
          .then(
            () => undefined,
            (reason: unknown) => reason,
          )
          .finally(() => operations.restore());
        const passed = done < n;
        if (error !== undefined) expect(error).toBeInstanceOf(WarpstageError);
        if (passed) expect(error).toBeUndefined();
        const told = `${n}, ${failed}: ${error}`;
        expect(error === undefined ? 'new' : found(), told).toBe(found());
        if (times === 1) expect(found(), told).not.toBe('neither');
        await run(plain, how);
        expect(found(), told).toBe('new');
        const { differences } = await verify(at('out/y.small'), { signal: new AbortController().signal });
        expect(differences, told).toEqual([]);
        if (passed) break;
      }
    },
  );
});

describe('what a run has left', () => {
  const partial = (name = '') => at(join('out/.y.small.partial', name));
  const again = () => run(plain, { ...options(), settings, resume: true });
  /** Of a run that was stopped in the third file. */
  const leave = async () => {
    begin();
    expect(await stopAfter(14, plain, { ...options(), settings })).toBe(true);
    expect(namesIn(partial())).toEqual(['c.0.0', 'c.1.0']);
    expect(statSync(partial()).mode & 0o777).toBe(0o700);
  };
  const flip = (path: string, byte: number) => {
    const bytes = readFileSync(path);
    bytes[byte]! ^= 1;
    writeFileSync(path, bytes);
  };

  test('is gone on with, and computed anew where it is damaged or gone', { timeout: 60_000 }, async () => {
    await prepare();
    await leave();
    expect((await again()).report.resumed).toMatchObject({ chunks: 14, rows: 14 * 16 });
    expect(found()).toBe('new');
    const harms: readonly (readonly [harm: () => void, isKept?: true])[] = [
      [() => flip(partial('c.0.0'), 77)],
      [() => writeFileSync(partial('c.1.0'), readFileSync(partial('c.1.0')).subarray(0, -1))],
      [() => rmSync(partial('c.1.0'))],
      [
        () => {
          renameSync(partial('c.1.0'), at('elsewhere'));
          symlinkSync(at('elsewhere'), partial('c.1.0'));
        },
      ],
      [() => rmSync(partial(), { recursive: true })],
      // More than a journal counts does no harm.
      [() => writeFileSync(partial('c.2.0'), 'half'), true],
      [() => writeFileSync(partial('zarr.json'), '{}'), true],
      [() => mkdirSync(partial('c.3.0')), true],
      [() => flip(at('out/.y.small.state-0'), 9), true],
      [() => flip(at('out/.y.small.state-1'), 500), true],
      [
        () => {
          flip(at('out/.y.small.state-0'), 9);
          flip(at('out/.y.small.state-1'), 9);
        },
      ],
    ];
    for (const [i, [harm, isKept]] of harms.entries()) {
      await leave();
      harm();
      const { report } = await again();
      if (isKept) expect(report.resumed, `${i}`).toBeDefined();
      expect(found(), `${i}`).toBe('new');
      expect(hidden(), `${i}`).toEqual([]);
    }
    // A journal that is cut off, or damaged, anywhere.
    await leave();
    cpSync(at('out'), at('left'), { recursive: true });
    const { length } = readFileSync(at('out/.y.small.journal'));
    for (let byte = 3; byte < length; byte += Math.ceil(length / 12)) {
      for (const harm of ['cut', 'flip']) {
        rmSync(at('out'), { recursive: true });
        cpSync(at('left'), at('out'), { recursive: true });
        const path = at('out/.y.small.journal');
        if (harm === 'flip') flip(path, byte);
        else writeFileSync(path, readFileSync(path).subarray(0, byte));
        const error: unknown = await again().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        // The head says which run it is of: damaged, it is of another.
        if (error !== undefined) expect(error).toMatchObject({ code: 'WS5013' });
        expect(found(), `${harm} ${byte}`).toBe(error === undefined ? 'new' : 'old');
      }
    }
  });

  test('is refused where others could have made it, and where it is of another run', async () => {
    await prepare();
    await leave();
    chmodSync(partial(), 0o770);
    await expectFailure(again(), 'WS5013', /other users may write to it/);
    chmodSync(partial(), 0o700);
    renameSync(partial(), at('moved'));
    symlinkSync(at('moved'), partial());
    await expectFailure(again(), 'WS5013', /it is a symbolic link/);
    rmSync(partial());
    writeFileSync(partial(), 'a file');
    await expectFailure(again(), 'WS5013', /it is no directory/);
    rmSync(partial());
    renameSync(at('moved'), partial());
    const other = run(plain, { ...options(), settings: { a: 5 }, resume: true });
    await expectFailure(other, 'WS5013', /setting 'a' was 2, and is 5/);
    expect(found()).toBe('old');
    const clobbering = run(plain, { ...options(), settings, resume: true, overwrite: false });
    await expectFailure(clobbering, 'WS5006', /is there already/);
    writeFileSync(at('out/y.small/notes.txt'), 'mine');
    await expectFailure(again(), 'WS5006', /it has notes\.txt in it/);
    rmSync(at('out/y.small/notes.txt'));
    expect((await again()).report.resumed).toMatchObject({ chunks: 14 });
    expect(found()).toBe('new');
    // The mode is that of what it takes the place of.
    expect(statSync(at('out/y.small')).mode).toBe(statSync(at('old.small')).mode);
  });

  test('is one run at a time', async () => {
    await prepare();
    begin();
    let second: Promise<unknown> | undefined;
    const onProgress = () => {
      second ??= expectFailure(again(), 'WS5011', /is being written by/);
    };
    // Of many chunks: the second one looks at much before it finds the lock.
    await run(plain, { ...options(), settings, resume: true, onProgress, chunk: 1 });
    await second;
    expect(found()).toBe('new');
  });
});
