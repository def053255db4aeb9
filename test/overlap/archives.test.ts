// Several outputs in one file: each an array of its name, in the order of the declaration, whatever the chunks and whether
// the length is known before; and the file is there whole or not at all.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type Job, open, type RunOptions, run, WarpstageError } from 'warpstage';
import { npz } from '#warpstage/formats/npz.js';
import { runHere, start } from '../cli/support.ts';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { atLength, isFirst } from '../support/thorough.ts';
import { elements, entriesOf, inputOf, numbers, ofRows, some, three } from './archive-jobs.ts';
import { FileOperations } from './file-operations.ts';
import { moments } from './moments.ts';
import { readAll } from './reading.ts';
import { expectFailure, namesIn, npyFile, useFolder } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

const at = useFolder();

describe.runIf(isFirst)('outputs in one file', () => {
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
  const ways = [
    ['of known length', three, false, false],
    ['of unknown length', three, true, false],
    ['that is to be resumed', three, false, true],
    ...(atLength ? ([['of some rows, that is to be resumed', some, false, true]] as const) : []),
  ] as const;
  const inTurn = ways.map((way, turn) => [...way, turn] as const);

  test.each(inTurn)(
    'whichever operation on files fails (a run %s)',
    async (_, work, isStream, resume, turn) => {
      const output = at('all.npz');
      const data = numbers(400);
      writeFileSync(at('x.i32'), data);
      const input = () => (resume ? at('x.i32') : inputOf(data, isStream));
      const attempt = () =>
        run(work as Job, { input: input(), output, device, chunk: 50, depth: 2, checksum: true, resume });
      await attempt();
      const whole = readFileSync(output);
      let total = 0;
      const each = new FileOperations(() => void total++);
      await each.replace();
      await attempt().finally(() => each.restore());
      expect(total).toBeGreaterThan(24);
      for (const n of moments(total, resume ? 14 : 7, turn, resume ? 5 : 3)) {
        writeFileSync(output, 'from before');
        let count = 0;
        let failed: string | undefined;
        const operations = new FileOperations((name) => {
          if (++count !== n) return;
          failed = name;
          throw Object.assign(new Error(`EIO: i/o error, ${name}`), {
            code: 'EIO',
            errno: -5,
            syscall: name,
          });
        });
        await operations.replace();
        const error = await attempt().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        operations.restore();
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
        if (failed === undefined) break;
      }
    },
  );

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
