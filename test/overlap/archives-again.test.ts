// Several outputs in one file, of runs that are stopped and resumed, and of runs cut into pieces: the file is what one run
// writes.

import { spawnSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Device, type Job, map, open, type RunOptions, run } from 'warpstage';
import { merge } from '#warpstage/overlap/shards/merge.js';
import { runHere } from '../cli/support.ts';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { atLength, isInTurn } from '../support/thorough.ts';
import { entriesOf, numbers, ofRows, some, three } from './archive-jobs.ts';
import { expectFailure, namesIn, useFolder } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

const at = useFolder();

/** Journals flush once a second; in a test a second is a millisecond. */
function hurry(): void {
  const { now } = performance;
  performance.now = () => 1000 * now.call(performance);
  onTestFinished(() => {
    performance.now = now;
  });
}

describe('outputs in one file, of a resumed run', () => {
  test('are what one run writes, wherever it was stopped', { timeout: randomLimit(12) }, async () => {
    hurry();
    const cases = fc.record({
      work: fc.constantFrom('three', 'some', 'ofRows'),
      rows: fc.integer({ min: 200, max: 900 }),
      chunks: fc.integer({ min: 12, max: 40 }),
      stops: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 }),
      checksum: fc.boolean(),
    });
    let continued = 0;
    await fc.assert(
      fc.asyncProperty(cases, async ({ work: name, rows, chunks, stops, checksum }) => {
        const work = { three, some, ofRows }[name] as unknown as Job;
        const isOfRows = name === 'ofRows';
        writeFileSync(at('x.i32'), numbers(isOfRows ? 4 * rows : rows));
        const options: RunOptions = {
          ...{ input: at('x.i32'), device, chunk: Math.floor(rows / chunks), checksum },
          ...(isOfRows && { settings: { width: 4 } }),
        };
        const named = (kind: string) =>
          isOfRows ? at(`${kind}.npz`) : { half: at(`${kind}.npz`), twice: at(`${kind}.npz`) };
        const more = (kind: string) => (name === 'three' ? { odd: at(`${kind}.npy`) } : {});
        const outputs = (kind: string) =>
          isOfRows ? named(kind) : { ...(named(kind) as object), ...more(kind) };
        await run(work, { ...options, output: outputs('whole') });
        const again = { ...options, output: outputs('parts'), resume: true };
        let isStopped = true;
        for (const stop of stops) {
          if (!isStopped) break;
          const controller = new AbortController();
          let done = 0;
          const onProgress = () => {
            if (++done === stop) controller.abort();
          };
          isStopped = await run(work, { ...again, signal: controller.signal, onProgress }).then(
            () => false,
            () => true,
          );
        }
        const { report } = await run(work, again);
        if (isStopped && report.resumed!.rows > 0) continued++;
        const names = namesIn(at()).filter((one) => one.startsWith('parts.'));
        expect(names).toHaveLength((name === 'three' ? 2 : 1) * (checksum ? 2 : 1));
        for (const one of names.filter((each) => !each.endsWith('.sums')))
          expect(readFileSync(at(one)).equals(readFileSync(at(one.replace('parts', 'whole')))), one).toBe(
            true,
          );
        if (checksum) expect((await runHere('verify', at('parts.npz'))).code).toBe(0);
        expect(namesIn(at()).filter((one) => one.startsWith('.'))).toEqual([]);
        for (const one of namesIn(at())) rmSync(at(one));
      }),
      randomRuns(12),
    );
    expect(continued).toBeGreaterThan(3);
  });

  test('when its process was killed, at any chunk or when they were put together', {
    timeout: 60_000,
  }, async () => {
    const index = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href);
    writeFileSync(at('x.i32'), numbers(4000));
    writeFileSync(
      at('killed.mjs'),
      `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const [chunks, output] = process.argv.slice(2);
const kill = () => process.kill(process.pid, 'SIGKILL');
const { renameSync } = fs;
fs.renameSync = (...names) => { if (chunks === 'before') kill(); renameSync(...names); if (chunks === 'after') kill(); };
syncBuiltinESMExports();
const { map, run } = await import(${index});
const now = performance.now.bind(performance);
performance.now = () => 1000 * now();
let done = 0;
const slowly = () => { const end = now() + 10; while (now() < end); };
const three = map({ twice: 'f64', odd: 'u8', half: 'f32', x: 'i32' }, ({ x }) => ({ twice: 2 * x, odd: x & 1, half: x / 2 }));
const { report } = await run(three, {
  input: 'x.i32', output, resume: true, chunk: 100, depth: 1,
  onProgress: () => { slowly(); if (++done === Number(chunks)) kill(); },
});
console.log(report.resumed.rows);\n`,
    );
    const spawned = (chunks: string, output: string) =>
      spawnSync(process.execPath, [at('killed.mjs'), chunks, output], { cwd: at(), encoding: 'utf8' });
    expect(spawned('never', 'whole.npz').stdout).toBe('0\n');
    const whole = readFileSync(at('whole.npz'));
    for (const chunks of [
      '25',
      'before',
      ...(atLength ? ['after', '39'] : []),
      ...(isInTurn ? [] : ['2', '11']),
    ]) {
      writeFileSync(at('all.npz'), 'from before');
      expect(spawned(chunks, 'all.npz').signal).toBe('SIGKILL');
      const left = readFileSync(at('all.npz'));
      if (chunks === 'after') expect(left.equals(whole)).toBe(true);
      else expect(left.toString()).toBe('from before');
      // Nothing of an archive that is not complete counts but its parts.
      const { stdout, stderr } = spawned('never', 'all.npz');
      if (chunks !== '2') expect(Number(stdout), chunks + stderr).toBeGreaterThan(0);
      expect(readFileSync(at('all.npz')).equals(whole), chunks).toBe(true);
      expect(namesIn(at())).toEqual(['all.npz', 'killed.mjs', 'whole.npz', 'x.i32']);
    }
  });

  test('count as far as each of them is whole, and none waits where an input lies', async () => {
    hurry();
    writeFileSync(at('x.i32'), numbers(4000));
    const options = { input: at('x.i32'), output: at('all.npz'), device, chunk: 100, resume: true };
    const stop = async () => {
      const controller = new AbortController();
      let done = 0;
      const onProgress = () => {
        if (++done === 30) controller.abort();
      };
      const stopped = run(three, { ...options, signal: controller.signal, onProgress });
      await expectFailure(stopped, 'WS5009', 'what it has written is kept');
    };
    await run(three, { ...options, output: at('whole.npz') });
    await stop();
    expect(namesIn(at()).filter((name) => name.includes('partial'))).toEqual(
      ['half', 'odd', 'twice'].map((name) => `.all.npz.partial-${name}`),
    );
    const odd = readFileSync(at('.all.npz.partial-odd'));
    odd[odd.length >> 1]! ^= 1;
    writeFileSync(at('.all.npz.partial-odd'), odd);
    const { report } = await run(three, options);
    expect(report.resumed!.rows).toBeLessThan(1600);
    expect(readFileSync(at('all.npz')).equals(readFileSync(at('whole.npz')))).toBe(true);
    renameSync(at('x.i32'), at('.all.npz.partial-half'));
    const input = { file: at('.all.npz.partial-half'), format: 'raw' };
    await expectFailure(
      run(three, { ...options, input }),
      'WS5006',
      'and cannot be where its output waits until it is complete as well',
    );
  });
});

describe('pieces of outputs in one file', () => {
  test('are put together to what one run writes', { timeout: randomLimit(8) }, async () => {
    const cases = fc.record({
      work: fc.constantFrom('three', 'ofRows'),
      rows: fc.integer({ min: 1, max: 300 }),
      of: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ work: name, rows, of }) => {
        const isOfRows = name === 'ofRows';
        const work = (isOfRows ? ofRows : three) as unknown as Job;
        const options: RunOptions = {
          ...{ input: numbers(isOfRows ? 4 * rows : rows), device },
          ...(isOfRows && { settings: { width: 4 } }),
        };
        await run(work, { ...options, output: at('whole.npz') });
        for (let n = of; n > 0; n--) await run(work, { ...options, output: at('all.npz'), shard: [n, of] });
        const { signal } = new AbortController();
        const merged = await merge({ file: at('all.npz') }, { signal, remove: true, checksum: true });
        expect(merged.pieces).toBe(of);
        expect(readFileSync(at('all.npz')).equals(readFileSync(at('whole.npz')))).toBe(true);
        expect((await runHere('verify', at('all.npz'))).code).toBe(0);
        expect(namesIn(at())).toEqual(['all.npz', 'all.npz.sums', 'whole.npz']);
        for (const one of namesIn(at())) rmSync(at(one));
      }),
      randomRuns(8),
    );
  });

  test('are all there, of each output, and of one work', async () => {
    const { signal } = new AbortController();
    const cut = (data: Int32Array, n: number, of: number, file = 'all.npz') =>
      run(three, { input: data, device, output: at(file), shard: [n, of] });
    const merging = (file = 'all.npz') => merge({ file: at(file) }, { signal });
    await expectFailure(merging(), 'WS5016', 'there are no pieces of');
    await cut(numbers(100), 1, 2);
    await cut(numbers(100), 2, 2);
    expect(namesIn(at())).toEqual(
      ['half', 'odd', 'twice'].flatMap((name) => [1, 2].map((n) => `all.npz.${name}.${n}-of-2`)),
    );
    rmSync(at('all.npz.odd.2-of-2'));
    await expectFailure(merging(), 'WS5016', /1 of the 2 pieces of \S+all\.npz\.odd are missing: 2/);
    await cut(numbers(101), 2, 2, 'other.npz');
    renameSync(at('other.npz.odd.2-of-2'), at('all.npz.odd.2-of-2'));
    await expectFailure(merging(), 'WS5015', 'is of another work than');
    for (const n of [1, 2]) {
      await cut(numbers(101), n, 2, 'other.npz');
      renameSync(at(`other.npz.odd.${n}-of-2`), at(`all.npz.odd.${n}-of-2`));
    }
    await expectFailure(merging(), 'WS5015', 'is of another work than');
    // What begins as the file's name may be another output.
    const one = map({ y: 'f32', x: 'i32' }, ({ x }) => x);
    const alone = { file: at('all.npz'), format: 'npz' };
    await run(one, { input: numbers(10), device, output: alone, shard: [1, 1] });
    await expectFailure(merging(), 'WS5015', 'has pieces of one output', 'remove those that are not wanted');
    for (const name of namesIn(at()))
      if (/\.(half|odd|twice)\./.test(name) && name.startsWith('all')) rmSync(at(name));
    renameSync(at('other.npz.half.2-of-2'), at('all.npz.old.2-of-2'));
    await merging();
    expect(entriesOf(at('all.npz'))).toEqual(['y.npy']);
  });
});
