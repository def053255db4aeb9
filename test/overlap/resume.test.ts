// Runs with `resume`: what one leaves that ends before its end, the next goes on from, and the output is the
// one that a single run gives. What cannot be gone on from is refused, and stays as it is.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parquetWriteFile } from 'hyparquet-writer';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Device, type Job, job, kernel, open, type RunOptions, run } from 'warpstage';
import { readJournal } from '#warpstage/overlap/journal/text.js';
import { devices } from '../support/devices.ts';
import { affine, groups, lookUp, neighbours, statistics, twosAndThrees } from './jobs.ts';
import { expectFailure, namesIn, npyFile, temporaryDirectory } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1 });
});
afterAll(() => device.close());

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
const at = (name: string) => join(directory, name);

function given(name: string, contents: Uint8Array): string {
  writeFileSync(at(name), contents);
  return at(name);
}

const numbers = Float32Array.from({ length: 4000 }, (_, i) => i / 4);
const integers = Int32Array.from({ length: 6000 }, (_, i) => (i * 7919) % 1000);
const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Runs work until so many chunks are through, and stops it. */
async function stopAfter(chunks: number, work: Job, options: RunOptions): Promise<Error> {
  const controller = new AbortController();
  let done = 0;
  const onProgress = () => {
    if (++done === chunks) controller.abort();
  };
  const stopped = run(work, { device, ...options, resume: true, signal: controller.signal, onProgress });
  return expectFailure(
    stopped,
    'WS5009',
    'the job was stopped before its end; what it has written is kept',
    /^the first [\d,]+ rows of the output are kept: run it again with resume/,
  );
}

/** Asserts that a run that is stopped and resumed gives what one gives that is not. */
async function expectSame(work: Job, options: Omit<RunOptions, 'output'>, ending = 'npy', chunks = 3) {
  const outputs = Object.keys(work.definition.outputs!);
  const named = (kind: string) => outputs.map((name) => at(`${kind}-${name}.${ending}`));
  const whole = await run(work, { device, ...options, output: named('whole') });
  await stopAfter(chunks, work, { ...options, output: named('parts') });
  expect(namesIn(directory).filter((name) => name.startsWith('.'))).toEqual(
    [
      `.parts-${outputs[0]}.${ending}.journal`,
      ...outputs.map((name) => `.parts-${name}.${ending}.partial`),
    ].sort(),
  );
  const { report } = await run(work, { device, ...options, output: named('parts'), resume: true });
  for (const [i, path] of named('parts').entries()) {
    expect(readFileSync(path).equals(readFileSync(named('whole')[i]!)), path).toBe(true);
  }
  expect(namesIn(directory).filter((name) => name.startsWith('.'))).toEqual([]);
  expect(report.resumed!.chunks).toBeGreaterThanOrEqual(chunks);
  expect(report.resumed!.rows).toBeGreaterThan(0);
  expect(report.rows).toBe(whole.report.rows);
  expect(report.bytesOut + report.resumed!.bytes).toBe(whole.report.bytesOut);
  return report;
}

describe.each(devices)('on $name, a run that was stopped goes on', (kind) => {
  test('whatever was in flight', async () => {
    await using own = await kind.open();
    const input = given('x.npy', npyFile({ shape: [40, 100], data: numbers }));
    const report = await expectSame(affine, { input, device: own, chunk: 100 });
    expect(report.chunks + report.resumed!.chunks).toBe(40);
  });
});

describe('a run that was stopped goes on', () => {
  test('over several devices, of which one is virtual', async () => {
    const input = given('x.bin', bytesOf(numbers));
    await expectSame(affine, { input, device: ['cpu', 'cpu', 'model:c2050'], chunk: 100, depth: 3 }, 'bin');
  });

  test.each([
    [2, 3, 'zero'],
    [2, 3, 'clamp'],
    [250, 0, 'clamp'],
    [0, 5, 'zero'],
  ] as const)('with a halo of %i and %i rows, edge %s', async (before, after, edge) => {
    const input = given('x.bin', bytesOf(integers));
    await expectSame(neighbours(before, after, edge), { input, chunk: 100 });
    await expectSame(neighbours(before, after, edge), { input, chunk: 100, rows: 777 }, 'bin', 1);
  });

  test.each([['drop'], ['partial']] as const)(
    'with several outputs, widths and ratios (%s)',
    async (remainder) => {
      const input = given('x.bin', bytesOf(integers.subarray(0, 5998)));
      await expectSame(groups(4, 3, remainder), { input, chunk: 100, settings: { width: 2 } });
      await expectSame(twosAndThrees, { input, chunk: 60 }, 'bin');
    },
  );

  test('where chunk and depth are chosen while it runs', async () => {
    const large = Float32Array.from({ length: 3 << 20 }, (_, i) => i);
    await expectSame(affine, { input: given('x.bin', bytesOf(large)) }, 'bin', 2);
  });

  test('with conversions, and constant arrays from files', async () => {
    const nearest = job({ ...affine.definition, inputs: { x: { convert: 'nearest' } } } as never);
    const wide = Float64Array.from(numbers, (value) => value / 3);
    const x = given('x.npy', npyFile({ descr: '<f8', shape: [4000], data: wide }));
    await expectSame(nearest, { input: x, chunk: 300 });
    const table = given('table.npy', npyFile({ shape: [4, 2], data: Float32Array.from({ length: 8 }) }));
    const places = Uint8Array.from({ length: 1000 }, (_, i) => i % 4);
    await expectSame(lookUp, { input: [given('x.bin', places), table], chunk: 100 });
  });

  test.each([
    [3000, [700]],
    [450_000, [100_000]],
  ])('in %i rows of a Parquet file', async (rows, rowGroupSize) => {
    const filename = at('t.parquet');
    const data = Float32Array.from({ length: rows }, (_, i) => i % 5000);
    parquetWriteFile({ filename, columnData: [{ name: 'x', data, type: 'FLOAT' }], rowGroupSize });
    await expectSame(affine, { input: filename, chunk: rows / 10 }, 'bin');
  });

  test('as often as it was stopped, also behind its last chunk', async () => {
    const input = given('x.bin', bytesOf(numbers));
    const options = { input, output: at('y.bin'), chunk: 100 };
    for (let i = 0; i < 3; i++) await stopAfter(2, affine, options);
    await stopAfter(34, affine, options);
    const { report } = await run(affine, { ...options, device, resume: true });
    expect(report).toMatchObject({
      rows: 4000,
      chunks: 0,
      resumed: { rows: 4000, chunks: 40, bytes: 16_000 },
    });
    const y = numbers.map((value) => Math.fround(2 * value + 1));
    expect(readFileSync(at('y.bin')).equals(bytesOf(y))).toBe(true);
  });
});

describe('what a run leaves', () => {
  let options: RunOptions;
  beforeEach(() => {
    options = { input: given('x.bin', bytesOf(numbers)), output: at('y.bin'), chunk: 100, device };
  });
  const journal = () => {
    const { noted, end } = readJournal(readFileSync(at('.y.bin.journal')))!.lines.at(-1)!;
    return { mark: noted, length: end };
  };
  const expected = Buffer.from(bytesOf(numbers.map((value) => Math.fround(2 * value + 1))));

  async function expectResumed(rows: number) {
    const { report } = await run(affine, { ...options, resume: true });
    expect(report.resumed!.rows).toBe(rows);
    expect(readFileSync(at('y.bin')).equals(expected)).toBe(true);
    expect(namesIn(directory)).toEqual(['x.bin', 'y.bin']);
  }

  test('is nothing if it began with nothing, or wrote nothing', async () => {
    await expectResumed(0);
    const controller = new AbortController();
    const kernels = job({
      ...affine.definition,
      launch: (chunk: { rows: number }) => {
        controller.abort();
        return { grid: chunk.rows, block: 1 };
      },
    } as never);
    const stopped = run(kernels, { ...options, resume: true, signal: controller.signal });
    await expectFailure(stopped, 'WS5009', 'stopped before its end');
    expect(namesIn(directory)).toEqual(['x.bin', 'y.bin']);
  });

  test('is not looked at, nor touched, without `resume`', async () => {
    await stopAfter(5, affine, options);
    const before = readFileSync(at('.y.bin.partial'));
    const { report } = await run(affine, options);
    expect(report.resumed).toBeUndefined();
    expect(readFileSync(at('y.bin')).equals(expected)).toBe(true);
    expect(readFileSync(at('.y.bin.partial')).equals(before)).toBe(true);
    expect(journal().mark.rows).toBeGreaterThanOrEqual(500);
  });

  test('counts as far as its journal is whole', async () => {
    await stopAfter(5, affine, options);
    const { mark } = journal();
    appendFileSync(at('.y.bin.journal'), '{"rows":3900,"chu');
    await stopAfter(1, affine, options);
    expect(journal().mark.rows).toBeGreaterThan(mark.rows);
    const second = journal().mark;
    truncateSync(at('.y.bin.journal'), journal().length - 1);
    expect(journal().mark).toEqual(mark);
    truncateSync(at('.y.bin.partial'), 4 * second.rows - 1);
    appendFileSync(at('.y.bin.partial'), 'what was written behind the last mark');
    await expectResumed(mark.rows);
  });

  test('counts as far as it is what was written', async () => {
    await stopAfter(5, affine, options);
    const first = journal().mark.rows;
    await stopAfter(3, affine, options);
    const second = journal().mark.rows;
    expect(second).toBeGreaterThan(first);
    const flip = (position: number) => {
      const bytes = readFileSync(at('.y.bin.partial'));
      bytes[position]! ^= 1;
      writeFileSync(at('.y.bin.partial'), bytes);
    };
    flip(4 * second - 1);
    await expectResumed(first);
    await stopAfter(5, affine, options);
    flip(0);
    await expectResumed(0);
  });

  test('is nothing if it was removed meanwhile', async () => {
    let removed = false;
    const onProgress = () => {
      if (!removed) rmSync(at('.y.bin.partial'));
      removed = true;
    };
    await expectFailure(
      run(affine, { ...options, resume: true, onProgress }),
      'WS5006',
      /y\.bin\.partial, where it was written, was removed meanwhile/,
      'run it again',
    );
    expect(namesIn(directory)).toEqual(['x.bin']);
  });

  test('counts for nothing without its journal, or a journal without it', async () => {
    await stopAfter(5, affine, options);
    truncateSync(at('.y.bin.journal'), 10);
    await expectResumed(0);
    await stopAfter(5, affine, options);
    execFileSync('rm', [at('.y.bin.partial')]);
    await expectResumed(0);
  });

  test('is kept when the disk is full, and gone on from when it is not', async () => {
    const small = temporaryDirectory();
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12k', 'tmpfs', small]);
    if (mounted.status !== 0) return; // Mounting is not permitted here.
    onTestFinished(() => void execFileSync('umount', [small]));
    const output = join(small, 'y.bin');
    await expectFailure(
      run(affine, { ...options, output, resume: true }),
      'WS5006',
      `${output} cannot be written: no space is left on its device`,
      'rows of the output are kept: run it again with resume',
    );
    expect(namesIn(small)).toEqual(['.y.bin.journal', '.y.bin.partial']);
    execFileSync('mount', ['-o', 'remount,size=64k', small]);
    const { report } = await run(affine, { ...options, output, resume: true });
    expect(report.resumed!.rows).toBeGreaterThanOrEqual(1000);
    expect(readFileSync(output).equals(expected)).toBe(true);
  });

  test('is one run at a time', async () => {
    let second: Promise<unknown> | undefined;
    const onProgress = () => {
      second ??= expectFailure(
        run(affine, { ...options, resume: true }),
        'WS5011',
        /y\.bin is being written by another process, or another run of this one/,
        'wait for it',
      );
    };
    // Of many chunks: the second one looks at much before it finds the lock.
    await run(affine, { ...options, resume: true, onProgress, chunk: 8 });
    await second;
    expect(readFileSync(at('y.bin')).equals(expected)).toBe(true);
  });

  const another = job({
    ...affine.definition,
    kernel: kernel(
      { y: 'f32[]', x: 'readonly f32[]', a: 'f32', b: 'f32' },
      ({ y, x, a, b }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i < y.length) y[i] = a * x[i]! - b;
      },
      { name: 'affine' },
    ),
  } as never) as Job;
  const otherwise: readonly (readonly [what: string, change: () => Partial<RunOptions>, reported: RegExp])[] =
    [
      ['another setting', () => ({ settings: { a: 3 } }), /setting 'a' was 2, and is 3$/],
      ['another chunk', () => ({ chunk: 200 }), /the chunk was 100 rows, and is 200 rows$/],
      ['a chunk to be chosen', () => ({ chunk: 'auto' }), /the chunk was 100 rows, and is auto$/],
      ['fewer rows', () => ({ rows: 3000 }), /the number of rows was all, and is 3,000$/],
      [
        'an input that was changed',
        () => {
          utimesSync(at('x.bin'), 1, 1);
          return {};
        },
        /input 'x' was \S+x\.bin \(raw, f32, 16,000 bytes, inode \d+, written 20[^)]+\), and is \S+x\.bin \(raw, f32, 16,000 bytes, inode \d+, written 1970-01-01T00:00:01\.000000000Z, changed 2\S+\)$/,
      ],
      [
        'an input whose time was set back after it was changed',
        () => {
          const { atime, mtime } = statSync(at('x.bin'));
          writeFileSync(at('x.bin'), bytesOf(numbers.toReversed()));
          utimesSync(at('x.bin'), atime, mtime);
          return {};
        },
        /input 'x' was \S+x\.bin .* changed 2\S+\), and is \S+x\.bin/,
      ],
      [
        'another input',
        () => ({ input: given('z.bin', bytesOf(numbers)) }),
        /input 'x' was \S+x\.bin .* is \S+z\.bin/,
      ],
      [
        'an output in another format',
        () => ({ output: { file: at('y.bin'), format: 'npy' } }),
        /output 'y' was \S+y\.bin \(raw, f32, shape \(4000\)\), and is \S+y\.bin \(npy/,
      ],
    ];
  test.each(otherwise)('is refused to a run with %s', async (_, change, reported) => {
    await stopAfter(5, affine, options);
    const kept = ['.y.bin.journal', '.y.bin.partial'].map((name) => readFileSync(at(name)));
    const hint = new RegExp(`or delete ${at('.y.bin.journal')} and ${at('.y.bin.partial')} to begin anew`);
    await expectFailure(run(affine, { ...options, ...change(), resume: true }), 'WS5013', reported, hint);
    expect(['.y.bin.journal', '.y.bin.partial'].map((name) => readFileSync(at(name)))).toEqual(kept);
  });

  test('is refused to another kernel, and to another declaration', async () => {
    await stopAfter(5, affine, options);
    await expectFailure(
      run(another, { ...options, resume: true }),
      'WS5013',
      /the kernel's text was [0-9a-f]{16}, and is [0-9a-f]{16}$/,
    );
    const launched = job({ ...affine.definition, launch: { block: 64 } } as never);
    await expectFailure(
      run(launched, { ...options, resume: true }),
      'WS5013',
      /the job's declaration was [0-9a-f]{16}, and is [0-9a-f]{16}$/,
    );
    await expectResumed(journal().mark.rows);
  });

  test('is refused where the bytes of its input were elements, and are a header now', async () => {
    const file = given('x.npy', npyFile({ shape: [4000], data: numbers }));
    const reading = (format: 'raw' | 'npy') => ({ ...options, input: { file, format }, rows: 3000 });
    await stopAfter(5, affine, reading('raw'));
    await expectFailure(
      run(affine, { ...reading('npy'), resume: true }),
      'WS5013',
      /input 'x' was \S+x\.npy \(raw, .* is \S+x\.npy \(npy, /,
    );
  });

  test('is refused where something else stands for nulls, also what JSON cannot say', async () => {
    const input = at('x.parquet');
    const data = Array.from(numbers, (value, i) => (i % 10 === 0 ? null : value));
    parquetWriteFile({ filename: input, columnData: [{ name: 'x', data, type: 'FLOAT', nullable: true }] });
    const filling = (nulls: number) =>
      job({ ...affine.definition, inputs: { x: { nulls } } } as never) as Job;
    await stopAfter(5, filling(Infinity), { ...options, input });
    for (const nulls of [-Infinity, NaN, 0, -0]) {
      await expectFailure(
        run(filling(nulls), { ...options, input, resume: true }),
        'WS5013',
        /the job's declaration was/,
      );
    }
    const { report } = await run(filling(Infinity), { ...options, input, resume: true });
    expect(report.resumed!.rows).toBeGreaterThan(0);
  });

  test('is refused if another constant array went into it', async () => {
    const x = given(
      'places.bin',
      Uint8Array.from({ length: 1000 }, (_, i) => i % 4),
    );
    const with_ = (first: number) => ({
      input: [x, Float32Array.of(first, 2, 3, 4)],
      settings: { columns: 1 },
    });
    await stopAfter(3, lookUp, { ...options, ...with_(1) });
    await expectFailure(
      run(lookUp, { ...options, ...with_(5), resume: true }),
      'WS5013',
      /array 'table' was [0-9a-f]{16}, and is/,
    );
  });

  test('is refused if the output is shorter than the journal says, or the journal is no journal', async () => {
    await stopAfter(5, affine, options);
    truncateSync(at('.y.bin.partial'), 100);
    await expectFailure(
      run(affine, { ...options, resume: true }),
      'WS5013',
      /\.y\.bin\.partial has 100 bytes, and its journal says that [\d,]+ were written/,
    );
    writeFileSync(at('.y.bin.journal'), 'Dear diary,\n');
    await expectFailure(
      run(affine, { ...options, resume: true }),
      'WS5013',
      'the format of the journal was not there, and is 4',
    );
  });
});

describe('what cannot be resumed is refused', () => {
  const file = () => given('x.bin', bytesOf(numbers));
  test.each<[string, () => [Job, RunOptions], RegExp]>([
    [
      'a reduction whose journal has no name',
      () => [statistics as Job, { input: [file(), file()] }],
      /it has no output that its journal could lie beside/,
    ],
    ['an array as input', () => [affine, { input: numbers, output: at('y.bin') }], /input 'x' is no file/],
    [
      'a stream as input',
      () => [affine, { input: { stream: [numbers] }, output: at('y.bin') }],
      /input 'x' is no file/,
    ],
    [
      'a device as input',
      () => [affine, { input: '/dev/zero', output: at('y.bin') }],
      /input 'x' is no file/,
    ],
    ['no output', () => [affine, { input: file() }], /output 'y' goes to no file/],
    ['standard output', () => [affine, { input: file(), output: '-' }], /output 'y' goes to no file/],
    [
      'a device as output',
      () => [affine, { input: file(), output: '/dev/null' }],
      /output 'y' goes to no file/,
    ],
    [
      'page-locked memory',
      () => [affine, { input: file(), output: device.allocPinned('f32', 4000) }],
      /output 'y' goes to no file/,
    ],
  ])('%s', async (_, attempt, why) => {
    const [work, options] = attempt();
    await expectFailure(
      run(work, { device, ...options, resume: true }),
      'WS5010',
      new RegExp(`^the run cannot be resumed: ${why.source}`),
      /without resume|name it: --journal sums/,
    );
  });
});
