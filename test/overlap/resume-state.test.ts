// Runs whose accumulators go from chunk to chunk, with `resume`: killed at any chunk, the next run gives the value and the
// outputs that one gives that is not, to the bit; and what was damaged is found.
//
// What a killed process leaves is what its files hold at that moment. So files are copied aside at each chunk of one
// run, and each copy is put back for a run that goes on. At length, processes are killed too.

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Device, type Job, open, type RunOptions, run, WarpstageError } from 'warpstage';
import { root } from '../cli/support.ts';
import { randomRuns } from '../differential/tape.ts';
import { damage, damaged } from '../formats/damaged.ts';
import { atLength, isInTurn } from '../support/thorough.ts';
import { chunk, chunks, works } from './accumulating-works.ts';
import { FileOperations } from './file-operations.ts';
import { expectFailure, namesIn, npyFile, temporaryDirectory } from './support.ts';

const rows = chunk * chunks - 7;
const a = Int32Array.from({ length: rows }, (_, i) => (i * 7919) % 1000);
const b = Float64Array.from({ length: rows }, (_, i) => Math.sin(i));

let devices: Device[];
beforeAll(async () => {
  const slow = () => open('cpu', { target: 'interpreter', memory: 16 << 20 });
  devices = await Promise.all([slow(), slow(), slow()]);
});
afterAll(() => Promise.all(devices.map((device) => device.close())));

let directory: string;
let aside: string;
beforeEach(() => {
  directory = temporaryDirectory();
  aside = temporaryDirectory();
  writeFileSync(at('a.npy'), npyFile({ descr: '<i4', shape: [rows], data: a }));
  writeFileSync(at('b.npy'), npyFile({ descr: '<f8', shape: [rows], data: b }));
});
const at = (name: string) => join(directory, name);
const kept = (folder = directory) => namesIn(folder).filter((name) => name.startsWith('.'));

/** What a run gives: its value, and its output. */
async function resultOf(work: Job, options: RunOptions) {
  const { value, report } = await run(work, { chunk, depth: 2, ...options });
  const output = options.output === undefined ? undefined : readFileSync(options.output as string, 'hex');
  return { result: { value, output }, report };
}

/** A clock on which a second goes by when the test says so: then what is due every second is due. */
function clock(): Disposable & { readonly tick: () => void } {
  const { now } = performance;
  let ahead = 0;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + ahead);
  const tick = () => {
    ahead += 1000;
  };
  return { tick, [Symbol.dispose]: () => spy.mockRestore() };
}

/** Runs work, and keeps aside what a process would leave that is killed at each chunk. Gives how many. */
async function keepAtEachChunk(work: Job, options: RunOptions): Promise<number> {
  using seconds = clock();
  let count = 0;
  const onProgress = () => {
    // Behind even and odd numbers of chunks.
    if ([1, 4, 5, 8, 11, 12, 13, 14].includes(count % chunks)) seconds.tick();
    const folder = join(aside, `${count++}`);
    mkdirSync(folder);
    for (const name of kept()) copyFileSync(at(name), join(folder, name));
  };
  // What is due is written before the next chunk is through.
  const files = new FileOperations((name) => (name === 'read' ? setTimeout(10) : undefined));
  await files.replace();
  try {
    await run(work, { chunk, depth: 2, ...options, onProgress });
  } finally {
    files.restore();
  }
  expect(kept()).toEqual([]);
  return count;
}

function putBack(count: number): void {
  for (const name of kept()) rmSync(at(name));
  for (const name of kept(join(aside, `${count}`))) copyFileSync(join(aside, `${count}`, name), at(name));
}

/** After how many chunks processes are killed, each work's in turn: a process takes longer than all its run. */
const kills = [1, 4, 7, 10, 13, 16];

const inTurn = Object.keys(works).map((name, position) => [name, position] as const);

describe.each(inTurn)('%s', (name, position) => {
  const given = () => works[name]!(directory, devices);

  test('goes on from where it was killed, whichever chunk that was, and never with what was damaged', async () => {
    const [work, options] = given();
    const { result: whole } = await resultOf(work, { ...options, resume: false });
    const count = await keepAtEachChunk(work, options);
    const from = new Set<number>();
    const places = Array.from({ length: count }, (_, killed) => killed);
    const some = places.filter((killed) => atLength || killed % 3 === 0 || killed === chunks - 1);
    for (const killed of some) {
      putBack(killed);
      if (options.output !== undefined) rmSync(options.output as string, { force: true });
      const { result, report } = await resultOf(work, options);
      expect(result, `killed at ${killed}`).toEqual(whole);
      expect(kept()).toEqual([]);
      const { resumed } = report;
      expect(resumed!.rows % chunk === 0 || resumed!.rows >= rows).toBe(true);
      from.add(resumed!.rows);
    }
    // It did go on, and not always from the same place.
    expect(from.size, [...from].join()).toBeGreaterThan(2);

    // What was damaged is found, or computed again.
    await fc.assert(
      fc.asyncProperty(fc.nat(count - 1), fc.nat(9), damage, async (killed, which, how) => {
        putBack(killed);
        const names = kept();
        if (names.length === 0) return;
        const file = at(names[which % names.length]!);
        writeFileSync(file, damaged(readFileSync(file), how), { mode: 0o600 });
        const outcome = await resultOf(work, options).catch((error: unknown) => error);
        if (outcome instanceof WarpstageError) expect(outcome.code).toBe('WS5013');
        else expect((outcome as { result: unknown }).result).toEqual(whole);
      }),
      randomRuns(6),
    );
  });

  test.runIf(atLength)('of processes that are killed', { timeout: 240_000 }, async () => {
    const [work, options] = given();
    const { result: whole } = await resultOf(work, { ...options, resume: false });
    const start = (killed?: number) => {
      const script = join(root, 'test/overlap/killed-run.ts');
      const args = ['--import', 'tsx', script, JSON.stringify({ name, directory, killed })];
      const env = { ...process.env, TSX_TSCONFIG_PATH: 'tsconfig.build.json' };
      return spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env });
    };
    for (const killed of kills.filter((_, i) => !isInTurn || i % inTurn.length === position)) {
      if (options.output !== undefined) rmSync(options.output as string, { force: true });
      const { signal, stderr } = start(killed);
      expect(signal, stderr).toBe('SIGKILL');
      const { stdout } = start();
      expect(JSON.parse(stdout), `killed at ${killed}`).toEqual(JSON.parse(JSON.stringify(whole.value)));
      if (options.output !== undefined)
        expect(readFileSync(options.output as string, 'hex')).toBe(whole.output);
      expect(kept()).toEqual([]);
    }
  });
});

test('what accumulators hold depends on chunks and devices: a run with others is refused', async () => {
  const [work, options] = works['a reduction over three devices']!(directory, devices);
  await keepAtEachChunk(work, options);
  const other = async (more: Partial<RunOptions>, differs: RegExp) => {
    putBack(chunks - 2);
    const before = kept();
    await expectFailure(run(work, { chunk, depth: 2, ...options, ...more }), 'WS5013', differs);
    expect(kept()).toEqual(before);
  };
  await other({ device: devices[0]! }, /the number of devices was 3, and is 1/);
  await other({ chunk: 50 }, /the chunk was 100 rows, and is 50 rows/);
  await other({ settings: {}, rows: 500 }, /the number of rows was all, and is 500/);
});

test('a run that is stopped says that what it found is kept', async () => {
  const [work, options] = works['a reduction']!(directory, devices);
  const { result: whole } = await resultOf(work, { ...options, resume: false });
  {
    using seconds = clock();
    const controller = new AbortController();
    let done = 0;
    const onProgress = () => {
      seconds.tick();
      if (++done === 12) controller.abort();
    };
    await expectFailure(
      run(work, { chunk, depth: 1, ...options, onProgress, signal: controller.signal }),
      'WS5009',
      'the job was stopped before its end; what it has written is kept',
      /^what was found in the first [\d,]+ rows is kept: run it again with resume/,
    );
  }
  const { result, report } = await resultOf(work, { ...options, depth: 1 });
  expect(result).toEqual(whole);
  expect(report.resumed!.rows).toBeGreaterThan(0);
});
