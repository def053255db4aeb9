// Several outputs in one file: each an array of its name, in the order of the declaration, whatever the chunks and whether
// the length is known before; and the file is there whole or not at all.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Device, type Job, map, open, type RunOptions, run, WarpstageError } from 'warpstage';
import { npz } from '#warpstage/formats/npz.js';
import { merge } from '#warpstage/overlap/shards/merge.js';
import { runHere, start } from '../cli/support.ts';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { atLength } from '../support/thorough.ts';
import { FileOperations } from './file-operations.ts';
import { groups } from './jobs.ts';
import { readAll } from './reading.ts';
import { expectFailure, namesIn, npyFile, useFolder } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

const at = useFolder();

const three = map({ twice: 'f64', odd: 'u8', half: 'f32', x: 'i32' }, ({ x }) => ({
  twice: 2 * x,
  odd: x & 1,
  half: x / 2,
}));
const some = map(
  { twice: 'f64', half: 'f32', kept: 'u8', x: 'i32' },
  ({ x }) => ({ twice: 2 * x, half: x / 2, kept: x & 1 }),
  { keep: 'kept' },
);
const ofRows = groups(3, 2, 'partial');
const elements = { twice: 'f64', odd: 'u8', half: 'f32', sums: 'i32', places: 'i32' } as const;

const numbers = (rows: number) => Int32Array.from({ length: rows }, (_, i) => Math.imul(i, 7919) % 1000);

/** An input as an array, whose length is known, or as a stream. */
function inputOf(data: Int32Array, isStream: boolean) {
  const bytes = new Uint8Array(data.buffer);
  return isStream ? { stream: [bytes.subarray(0, 40), bytes.subarray(40)] } : data;
}

/** The names in the index of an archive, in its order. */
function entriesOf(path: string): string[] {
  const bytes = readFileSync(path);
  const names: string[] = [];
  for (
    let i = bytes.indexOf('PK\x01\x02', 'latin1');
    i >= 0;
    i = bytes.indexOf('PK\x01\x02', i + 4, 'latin1')
  )
    names.push(bytes.toString('latin1', i + 46, i + 46 + bytes.readUInt16LE(i + 28)));
  return names;
}

describe('outputs in one file', () => {
  test('are what each is by itself, whatever the chunks', { timeout: randomLimit(12) }, async () => {
    const cases = fc.record({
      work: fc.constantFrom('three', 'some', 'ofRows'),
      rows: fc.integer({ min: 1, max: 600 }),
      chunk: fc.integer({ min: 1, max: 80 }),
      isStream: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ work: name, rows, chunk, isStream }) => {
        const work = { three, some, ofRows }[name] as unknown as Job;
        const data = numbers(name === 'ofRows' ? 4 * rows : rows);
        const options: RunOptions = {
          input: inputOf(data, isStream),
          device,
          ...(name === 'ofRows' && { settings: { width: 4 } }),
        };
        const alone = await run(work, { ...options, input: data });
        const path = at('all.npz');
        await run(work, { ...options, chunk: 3 * chunk, output: path, checksum: true });
        const names = Object.keys(work.definition.outputs!);
        expect(entriesOf(path)).toEqual(names.map((one) => `${one}.npy`));
        for (const one of names) {
          const element = elements[one as keyof typeof elements];
          const { values, source } = await readAll(path, element, { column: one });
          const expected = [...(alone.outputs as Record<string, Float64Array>)[one]!];
          expect(values, one).toEqual(expected);
          expect(source.shape).toEqual(one === 'sums' ? [expected.length / 4, 4] : [expected.length]);
        }
        expect((await runHere('verify', path)).code).toBe(0);
        const bytes = readFileSync(path);
        await run(work, { ...options, input: data, output: path });
        expect(readFileSync(path).equals(bytes)).toBe(true);
        expect(namesIn(at())).toEqual(['all.npz']);
      }),
      randomRuns(12),
    );
  });

  test('are named by a program, beside others, and by a command', async () => {
    writeFileSync(at('x.npy'), npyFile({ descr: '<i4', shape: [100], data: numbers(100) }));
    const output = { half: at('some.npz'), odd: at('odd.npy'), twice: at('some.npz') };
    await run(three, { input: at('x.npy'), output, device });
    expect(entriesOf(at('some.npz'))).toEqual(['twice.npy', 'half.npy']);
    writeFileSync(
      at('three.ts'),
      `import { map } from 'warpstage';
export const three = map({ twice: 'f64', odd: 'u8', half: 'f32', x: 'i32' }, ({ x }) => ({ twice: 2 * x, odd: x & 1, half: x / 2 }));\n`,
    );
    const line = (...files: string[]) => runHere('run', at('three.ts'), ...files, '--quiet');
    expect((await line(at('x.npy'), at('all.npz'))).code).toBe(0);
    await run(three, { input: at('x.npy'), output: at('same.npz'), device });
    expect(readFileSync(at('all.npz')).equals(readFileSync(at('same.npz')))).toBe(true);
    expect((await line('--input', `x=${at('x.npy')}`, at('by-name.npz'))).code).toBe(0);
    expect(readFileSync(at('by-name.npz')).equals(readFileSync(at('same.npz')))).toBe(true);
    expect((await line(at('x.npy'), at('a'), '--format', 'npz')).code).toBe(0);
    expect(readFileSync(at('a')).equals(readFileSync(at('same.npz')))).toBe(true);
    const planned = await runHere('plan', at('three.ts'), at('x.npy'), at('none.npz'));
    expect(planned.code, planned.stderr).toBe(0);
    const { code, stderr } = await line(at('x.npy'), at('y.npy'));
    expect([code, stderr]).toEqual([2, expect.stringContaining('writes `twice`, `odd`, `half`; 2 files')]);
    expect(namesIn(at()).filter((name) => /^\.|none/.test(name))).toEqual([]);
  });

  test('begin beyond 4 GiB where that is so', () => {
    const archive = npz.archive!();
    const part = archive.part({ name: 'a.npz', parameter: 'y', element: 'f32' });
    part.begin!([0]);
    part.end!([0]);
    const index = Buffer.from(archive.index([5_000_000_000], 5_000_000_300));
    expect(index.readUInt32LE(42)).toBe(0xffffffff);
    expect([index.readUInt16LE(30), index.readUInt16LE(46 + 5), index.readUInt16LE(46 + 5 + 2)]).toEqual([
      12, 1, 8,
    ]);
    expect(index.readBigUInt64LE(46 + 5 + 4)).toBe(5_000_000_000n);
  });

  test('are refused where they cannot be', async () => {
    const input = at('x.npy');
    writeFileSync(input, npyFile({ descr: '<i4', shape: [100], data: numbers(100) }));
    const output = at('all.npz');
    const options = { input, output, device };
    await expectFailure(
      run(three, { ...options, output: { file: '/dev/null', format: 'npz' } }),
      'WS5006',
      'which is no file: they are written at once, each to its place',
      'write them to a file, or each to one of its own',
    );
    await expectFailure(
      run(three, { ...options, output: at('y.npy') }),
      'WS5006',
      'and 1 were given',
      'give one for each, or a .npz file that holds all',
    );
    const twice = { twice: at('a.npy'), half: at('a.npy') };
    await expectFailure(run(three, { ...options, output: twice }), 'WS5006', 'is given for two outputs');
    await expectFailure(
      run(three, { ...options, output: at('none/all.npz') }),
      'WS5006',
      'cannot be written',
    );
    writeFileSync(output, 'from before');
    await expectFailure(run(three, { ...options, overwrite: false }), 'WS5006', 'is there already');
    await expectFailure(run(three, { ...options, input: output }), 'WS5006', 'is an input of the job');
    expect(namesIn(at())).toEqual(['all.npz', 'x.npy']);
    expect(readFileSync(output, 'latin1')).toBe('from before');
  });
});

describe('a file of several outputs is whole or as it was before', () => {
  const stride = atLength ? 1 : 7;

  test.each([
    ['of known length', three, false, false],
    ['of unknown length', three, true, false],
    ['that is to be resumed', three, false, true],
    ...(atLength ? ([['of some rows, that is to be resumed', some, false, true]] as const) : []),
  ] as const)('whichever operation on files fails (a run %s)', async (_, work, isStream, resume) => {
    const output = at('all.npz');
    const data = numbers(400);
    writeFileSync(at('x.i32'), data);
    const input = () => (resume ? at('x.i32') : inputOf(data, isStream));
    const attempt = () =>
      run(work as Job, { input: input(), output, device, chunk: 50, depth: 2, checksum: true, resume });
    await attempt();
    const whole = readFileSync(output);
    let n = 0;
    for (let passed = false; !passed; ) {
      n += resume ? 2 * stride : stride;
      writeFileSync(output, 'from before');
      let count = 0;
      let failed: string | undefined;
      const operations = new FileOperations((name) => {
        if (++count !== n) return;
        failed = name;
        throw Object.assign(new Error(`EIO: i/o error, ${name}`), { code: 'EIO', errno: -5, syscall: name });
      });
      await operations.replace();
      const error = await attempt().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      operations.restore();
      passed = failed === undefined;
      const told = `the ${n}th operation, ${failed}, failed; ${String(error)}`;
      const left = readFileSync(output);
      if (error === undefined) expect(left.equals(whole), told).toBe(true);
      else {
        expect(error, told).toBeInstanceOf(WarpstageError);
        if (!left.equals(whole)) expect(left.toString(), told).toBe('from before');
      }
      const hidden = () => namesIn(at()).filter((name) => name.startsWith('.'));
      if (resume) {
        await attempt();
        expect(readFileSync(output).equals(whole), told).toBe(true);
      }
      if (failed !== 'rm') expect(hidden(), told).toEqual([]);
      for (const name of hidden()) rmSync(at(name));
    }
    expect(n).toBeGreaterThan(24);
  });

  test('when it is stopped, and when its process is killed', async () => {
    const output = at('all.npz');
    writeFileSync(output, 'from before');
    const controller = new AbortController();
    const onProgress = () => controller.abort();
    const options = {
      input: numbers(10_000),
      output,
      device,
      chunk: 100,
      signal: controller.signal,
      onProgress,
    };
    await expectFailure(run(three, options), 'WS5009', 'nothing of its output is left');
    expect(namesIn(at())).toEqual(['all.npz']);
    if (!atLength) return;
    writeFileSync(
      at('some.mjs'),
      `import { map } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
export const some = map({ a: 'f64', b: 'f32', x: 'f32' }, ({ x }) => ({ a: x, b: x }));\n`,
    );
    const child = start(['run', at('some.mjs'), '-', output, '--dtype', 'f32', '--chunk', '1000', '--quiet']);
    child.stdin!.write(new Uint8Array(100_000));
    while (readdirSync(at()).filter((name) => name.startsWith('.all.npz.')).length < 2)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const ended = new Promise((resolve) => child.on('close', resolve));
    child.kill('SIGKILL');
    await ended;
    expect(readFileSync(output, 'latin1')).toBe('from before');
    await run(three, { input: numbers(100), output, device });
    expect(namesIn(at())).toEqual(['all.npz', 'some.mjs']);
  });
});

/** Journals flush once a second; in a test a second is a millisecond. */
function hurry(): void {
  const { now } = performance;
  performance.now = () => 1000 * now.call(performance);
  onTestFinished(() => {
    performance.now = now;
  });
}

describe('outputs in one file, of a run that goes on behind another', () => {
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
    for (const chunks of ['25', 'before', ...(atLength ? ['after', '2', '11', '39'] : [])]) {
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
