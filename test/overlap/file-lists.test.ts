// Files that follow one another are the one file of all their rows: wherever they are cut, in every format, and whatever
// else a run does with its inputs.

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetWriteFile } from 'hyparquet-writer';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Device, type InputData, type Job, open, type RunOptions, run } from 'warpstage';
import { byCount } from '#warpstage/files/by-count.js';
import { BatchWriter } from '#warpstage/formats/arrow-writer.js';
import { merge } from '#warpstage/overlap/shards/merge.js';
import { readSums } from '#warpstage/overlap/sums.js';
import { root, runHere } from '../cli/support.ts';
import { randomRuns } from '../differential/tape.ts';
import { zip } from '../formats/zip-file.ts';
import { affine, neighbours, statistics } from './jobs.ts';
import { expectFailure, namesIn, npyFile, useFolder } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

const at = useFolder();
const numbers = (rows: number) => Int32Array.from({ length: rows }, (_, i) => Math.imul(i, 0x9e3779b1));

const npyOf = (data: Int32Array) => npyFile({ descr: '<i4', shape: [data.length], data });
const write = (path: string, bytes: Uint8Array | string) => writeFileSync(path, bytes);

function arrowOf(data: Int32Array, isFile: boolean): Buffer {
  const writer = new BatchWriter(['x'], 'i32', isFile);
  return Buffer.concat([writer.begin(), writer.add(data), writer.end()]);
}

/** Writers of files of a column x. */
const formats: Readonly<Record<string, (path: string, data: Int32Array) => void>> = {
  npy: (path, data) => write(path, npyOf(data)),
  i32: (path, data) => write(path, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)),
  'npy.gz': (path, data) => write(path, gzipSync(npyOf(data))),
  'csv.gz': (path, data) => write(path, gzipSync(`x\n${data.join('\n')}\n`)),
  arrow: (path, data) => write(path, arrowOf(data, true)),
  'arrows.gz': (path, data) => write(path, gzipSync(arrowOf(data, false))),
  csv: (path, data) => write(path, `y,x\n${Array.from(data, (value) => `0,${value}\n`).join('')}`),
  ndjson: (path, data) => write(path, Array.from(data, (value) => `{"x":${value}}\n`).join('')),
  npz: (path, data) => write(path, zip({ 'x.npy': npyOf(data) }, true)),
  parquet: (filename, data) =>
    parquetWriteFile({
      filename,
      columnData: [{ name: 'x', data: Array.from(data), type: 'INT32' }],
      rowGroupSize: 7,
    }),
};

/** Cuts data into files of a format, and gives their names. */
function cut(data: Int32Array, cuts: readonly number[], format: string): string[] {
  const ends = [...cuts.map((one) => Math.min(one, data.length)), data.length].sort((a, b) => a - b);
  return ends.map((end, i) => {
    const path = at(`part-${i}.${format}`);
    formats[format]!(path, data.slice(ends[i - 1] ?? 0, end));
    return path;
  });
}

describe('files that follow one another are the one file', () => {
  const cases = fc.record({
    rows: fc.integer({ min: 1, max: 60 }),
    cuts: fc.array(fc.nat(60), { minLength: 1, maxLength: 5 }),
    before: fc.nat(4),
    after: fc.nat(4),
    edge: fc.constantFrom('zero' as const, 'clamp' as const),
    chunk: fc.integer({ min: 1, max: 20 }),
    shards: fc.integer({ min: 1, max: 4 }),
  });

  test.each(Object.keys(formats))('%s, wherever it is cut, with neighbours and in pieces', async (format) => {
    const isText = /csv|ndjson/.test(format);
    // Where they end shows at their ends.
    const isEndless = isText || format === 'arrows.gz';
    await fc.assert(
      fc.asyncProperty(cases, async ({ rows, cuts, before, after, edge, chunk, shards }) => {
        for (const name of namesIn(at())) rmSync(at(name));
        const x = numbers(rows);
        // A text without a row says nothing of its columns.
        const some = isText
          ? cuts.filter((one, i) => one > 0 && one < rows && cuts.indexOf(one) === i)
          : cuts;
        const files = cut(x, some, format);
        const work = neighbours(before, after, edge) as Job;
        await run(work, { input: x, output: at('whole.bin'), chunk, device });
        await run(work, { input: at(`part-*.${format}`), output: at('all.bin'), chunk, device });
        expect(readFileSync(at('all.bin')).equals(readFileSync(at('whole.bin')))).toBe(true);
        if (isEndless) return;
        for (let n = 1; n <= shards; n++)
          await run(work, { input: files, output: at('cut.bin'), shard: [n, shards], chunk, device });
        await merge({ file: at('cut.bin') }, { signal: new AbortController().signal });
        expect(readFileSync(at('cut.bin')).equals(readFileSync(at('whole.bin')))).toBe(true);
      }),
      randomRuns(8),
    );
  });

  test('of rows of several numbers, with the shape of all', async () => {
    const x = Float32Array.from({ length: 30 }, (_, i) => i);
    write(at('x.npy'), npyFile({ shape: [10, 3], data: x }));
    for (const [i, [begin, end]] of (
      [
        [0, 9],
        [9, 9],
        [9, 30],
      ] as const
    ).entries())
      write(at(`x${i}.npy`), npyFile({ shape: [(end - begin) / 3, 3], data: x.subarray(begin, end) }));
    const outputOf = async (input: InputData) => {
      await run(affine as Job, { input, output: at('y.npy'), chunk: 4, device });
      return readFileSync(at('y.npy'));
    };
    const whole = await outputOf(at('x.npy'));
    expect(whole.includes('(10, 3)')).toBe(true);
    for (const input of [at('x?.npy'), [at('x0.npy'), { file: at('x[12].npy') }]])
      expect((await outputOf(input)).equals(whole)).toBe(true);
  });

  test.each(['parquet', 'csv'])('of tables, each input its column, %s', async (format) => {
    const rows = 40;
    const a = Array.from({ length: rows }, (_, i) => (i * 7) % 11);
    const b = a.map((value) => value / 4);
    const table = (name: string, begin: number, end: number) => {
      const columnData = [
        { name: 'b', data: b.slice(begin, end), type: 'DOUBLE' as const },
        { name: 'a', data: a.slice(begin, end), type: 'INT32' as const },
      ];
      if (format === 'parquet') parquetWriteFile({ filename: at(name), columnData });
      else
        write(
          at(name),
          `b,a\n${a
            .slice(begin, end)
            .map((value) => `${value / 4},${value}\n`)
            .join('')}`,
        );
    };
    table(`whole.${format}`, 0, rows);
    table(`t1.${format}`, 0, 9);
    table(`t2.${format}`, 9, 33);
    table(`t10.${format}`, 33, rows);
    const reduced = async (input: RunOptions['input']) =>
      (await run(statistics as Job, { input, chunk: 12, device })).value;
    const whole = await reduced(at(`whole.${format}`));
    expect(await reduced(at(`t*.${format}`))).toEqual(whole);
    expect(await reduced([[1, 2, 10].map((n) => at(`t${n}.${format}`))])).toEqual(whole);
  });

  test('one is open at a time, whatever their number', async () => {
    const x = numbers(200);
    const files = cut(
      x,
      Array.from({ length: 39 }, (_, i) => 5 * (i + 1)),
      'npy',
    );
    let most = 0;
    const onProgress = () => {
      if (!existsSync('/proc/self/fd')) return;
      const opened = readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return files.includes(readlinkSync(`/proc/self/fd/${fd}`));
        } catch {
          return false;
        }
      });
      most = Math.max(most, opened.length);
    };
    const { report } = await run(neighbours(1, 1, 'zero') as Job, {
      input: files,
      chunk: 3,
      device,
      onProgress,
    });
    expect(report.rows).toBe(200);
    expect(most).toBeLessThanOrEqual(1);
  });
});

test('parts are in the order in which people count', () => {
  const names = [
    'b/x1',
    'a/x10',
    'a/x9b',
    'a/x9',
    'a/x010',
    'a/y',
    'a/x',
    'a10/x',
    'a9/x',
    'a/x99999999999999999998',
  ];
  const shuffled = [...names].reverse();
  expect(shuffled.sort(byCount)).toEqual([
    ...['a/x', 'a/x9', 'a/x9b', 'a/x010', 'a/x10', 'a/x99999999999999999998', 'a/y', 'a9/x', 'a10/x', 'b/x1'],
  ]);
});

describe('what holds for a file holds for each of a list', () => {
  const x = numbers(90);
  const work = neighbours(2, 1, 'clamp') as Job;
  let files: string[];
  beforeEach(async () => {
    files = cut(x, [20, 50], 'npy');
    await run(work, { input: x, output: at('whole.npy'), device });
  });

  /** Runs it until the chunk with some row is written. */
  async function interrupted(options: Partial<RunOptions> = {}): Promise<void> {
    const stop = new AbortController();
    const onProgress = ({ rows }: { readonly rows: number }) => rows >= 60 && stop.abort();
    const failed = run(work, {
      ...{ input: files, output: at('y.npy'), chunk: 10, depth: 1, device, resume: true },
      ...{ signal: stop.signal, onProgress, ...options },
    });
    await expectFailure(failed, 'WS5009', /stopped/);
  }

  test.each(['npy', 'csv', 'npy.gz', 'parquet'])('%s: a run goes on where another ended', async (format) => {
    files = cut(x, [20, 50], format);
    await interrupted();
    const again = { input: at(`part-*.${format}`), output: at('y.npy'), chunk: 10, device, resume: true };
    const { report } = await run(work, again);
    expect(report.resumed!.rows).toBeGreaterThanOrEqual(50);
    expect(readFileSync(at('y.npy')).equals(readFileSync(at('whole.npy')))).toBe(true);
  });

  test('and not where one of them was another, or there is one more', async () => {
    await interrupted();
    const again = (input: string[]) =>
      run(work, { input, output: at('y.npy'), chunk: 10, device, resume: true });
    await expectFailure(again([...files, files[0]!]), 'WS5013', /input 'x', file 4 was not there/);
    write(files[1]!, npyOf(numbers(30)));
    await expectFailure(again(files), 'WS5013', /input 'x', file 2 was \S+part-1\.npy/);
  });

  test('with checksums, pieces of other content are of other work', async () => {
    const piece = (n: number, input: string[]) =>
      run(work, { input, output: at('z.npy'), device, shard: [n, 2], checksum: true });
    await piece(1, files);
    await piece(2, [files[0]!, files[2]!, files[1]!]);
    const { signal } = new AbortController();
    await expectFailure(
      merge({ file: at('z.npy') }, { signal }),
      'WS5015',
      /of another work than .*: input 'x', file 2 is/,
    );
  });

  test('the checksums of an output name all of them', async () => {
    await run(work, { input: files, output: at('y.npy'), device, checksum: true });
    const { inputs } = await readSums(at('y.npy'));
    expect(inputs.map(({ path }) => path)).toEqual(files);
  });

  test('one that changes while another is read is reported', async () => {
    let changed = false;
    const onProgress = () => {
      if (!changed) appendFileSync(files[2]!, 'more');
      changed = true;
    };
    const failed = run(work, { input: files, output: at('y.npy'), chunk: 10, depth: 1, device, onProgress });
    await expectFailure(failed, 'WS5003', /part-2\.npy changed while it was read/);
    expect(existsSync(at('y.npy'))).toBe(false);
  });

  test('one that is replaced by a longer one before its turn is reported', async () => {
    const onProgress = () => write(files[2]!, npyOf(numbers(70)));
    const failed = run(work, { input: files, output: at('y.npy'), chunk: 10, depth: 1, device, onProgress });
    await expectFailure(failed, 'WS5003', /part-2\.npy changed while files before it were read/);
  });

  test('none is an output as well', async () => {
    const failed = run(work, { input: at('part-*.npy'), output: files[1]!, device });
    await expectFailure(failed, 'WS5006', /part-1\.npy is an input of the job/);
  });
});

describe('refused is', () => {
  const runOn = (input: RunOptions['input']) => run(affine as Job, { input, device });
  const floats = (name: string, shape: readonly number[], descr = '<f4') => {
    const length = shape.reduce((product, extent) => product * extent, 1);
    const data = descr === '<f4' ? new Float32Array(length) : new Int32Array(length);
    write(at(name), npyFile({ descr, shape, data }));
    return at(name);
  };

  test('a pattern that no file fits', async () => {
    await expectFailure(
      runOn(at('*.npy')),
      'WS5003',
      /no file fits the name \S+\*\.npy/,
      'check the pattern',
    );
  });

  test('an empty list', async () => {
    await expectFailure(runOn([]), 'WS5005', 'the job reads 1 input (x), and 0 were given');
    await expectFailure(runOn({ x: [] }), 'WS5005', 'an input cannot be read from');
  });

  test('another type, and rows of another shape, by both files and values', async () => {
    const [a, b] = [floats('a.npy', [3]), floats('b.npy', [3], '<i4')];
    await expectFailure(runOn([a, b]), 'WS5005', `${a} holds f32, and ${b} i32: they are given as one input`);
    const [c, d] = [floats('c.npy', [3, 2]), floats('d.npy', [3, 4])];
    await expectFailure(runOn([c, d]), 'WS5005', `${c} has shape (3, 2), and ${d} shape (3, 4)`);
    await expectFailure(runOn([a, floats('e.npy', [])]), 'WS5005', 'e.npy is a single number (shape ())');
  });

  test('what is no file of its own', async () => {
    mkdirSync(at('folder.npy'));
    const a = floats('a.npy', [3]);
    await expectFailure(runOn([a, '-']), 'WS5005', 'standard input is no regular file');
    await expectFailure(runOn([a, at('folder.npy')]), 'WS5005', 'folder.npy is no regular file');
    await expectFailure(runOn([a, at('none.npy')]), 'WS5003', 'none.npy');
  });

  test('a list of files for a job of several inputs, with what to write', async () => {
    const failed = run(statistics as Job, { input: ['a.csv', 'b.csv', 'c.csv'], device });
    await expectFailure(failed, 'WS5005', 'and 3 were given', /\[\['a\.parquet', 'b\.parquet'\]\]/);
  });
});

test('a name of such letters that is a file is that file', async () => {
  formats.i32!(at('x[1].i32'), numbers(4));
  formats.i32!(at('x1.i32'), numbers(9));
  const { outputs } = await run(neighbours(0, 0, 'zero'), { input: at('x[1].i32'), device });
  expect(outputs.y).toHaveLength(4);
});

describe('on the command line', () => {
  const module = join(root, 'test/overlap/jobs.ts');
  const floats = (name: string, length: number) =>
    write(at(name), new Uint8Array(Float32Array.from({ length }, (_, i) => i).buffer));
  beforeEach(() => {
    for (const [name, length] of [
      ['x1.f32', 5],
      ['x2.f32', 6],
      ['x10.f32', 7],
    ] as const)
      floats(name, length);
  });
  const runCommand = (...files: string[]) => runHere('run', module, ...files, '--job', 'affine', '-q');
  const expected = Buffer.from(
    Float32Array.from([5, 6, 7].flatMap((length) => Array.from({ length }, (_, i) => 2 * i + 1))).buffer,
  );

  test.each<[string, () => string[]]>([
    ['a pattern in quotes', () => [at('x*.f32'), at('y.f32')]],
    ['names that a shell found', () => [...[1, 2, 10].map((n) => at(`x${n}.f32`)), at('y.f32')]],
    [
      'names of the input',
      () => [...[1, 2, 10].flatMap((n) => ['--input', `x=${at(`x${n}.f32`)}`]), at('y.f32')],
    ],
  ])('%s', async (_, files) => {
    expect(await runCommand(...files())).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(at('y.f32')).equals(expected)).toBe(true);
  });

  test('a forgotten output is no part that is lost', async () => {
    const before = readFileSync(at('x10.f32'));
    const { code, stderr } = await runCommand(...[1, 2, 10].map((n) => at(`x${n}.f32`)));
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/x10\.f32 is there already, and may be one more of the 2 files/),
    ]);
    expect(readFileSync(at('x10.f32')).equals(before)).toBe(true);
  });

  test.each([
    ['--input', 'z=a.npy', 'the job has no input `z`'],
    ['--input', 'a.npy', 'it must be name=file'],
    ['--input', 'x=', 'it must be name=file'],
  ])('%s %s is refused', async (option, value, message) => {
    const { code, stderr } = await runCommand(at('y.f32'), option, value);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('an input without a file, and too many names for several inputs, are refused', async () => {
    const several = (...files: string[]) => runHere('run', module, ...files, '--job', 'statistics');
    expect((await several('--input', 'a=a.npy')).stderr).toContain('--input names no file of `b`');
    const { stderr } = await several('1.csv', '2.csv', '3.csv');
    expect(stderr).toContain("files that follow one another are a pattern in quotes ('parts/*.npy')");
  });
});
