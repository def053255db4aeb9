// Sound: numbers of each width, by channels, whatever chunks lie around them.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { job, kernel, plan, run } from 'warpstage';
import { StreamBytes } from '#warpstage/formats/stream-bytes.js';
import { wav } from '#warpstage/formats/wav.js';
import { wavHead } from '#warpstage/formats/wav-head.js';
import { runHere } from '../cli/support.ts';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { arrayOf, file, readAll } from '../overlap/reading.ts';
import { expectFailure, npyFile, temporaryDirectory } from '../overlap/support.ts';
import { hasTool } from '../support/tools.ts';
import { chunk, wavFile } from './wav-file.ts';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const shorts = Int16Array.of(1, -2, 300, -32_768, 32_767, 6);

describe('a WAV file', () => {
  test.each([
    ['u8', 1, 8, Uint8Array.of(0, 128, 255)],
    ['i16', 1, 16, shorts],
    ['i32', 1, 32, Int32Array.of(-5, 2 ** 30)],
    ['f32', 3, 32, Float32Array.of(0.5, -0.25)],
    ['f32', 0xfffe, 32, Float32Array.of(0.5, -0.25)],
    ['f64', 3, 64, Float64Array.of(0.1, -1)],
  ] as const)('of %s (format %i, %i bits) is read', async (element, tag, bits, data) => {
    const path = file('x.wav', wavFile({ data: bytesOf(data), tag, bits }));
    expect((await readAll(path, element)).values).toEqual([...data]);
  });

  test('has a row for each moment, and other chunks around its data', async () => {
    const before = Buffer.concat([chunk('JUNK', Buffer.alloc(27)), chunk('bext', Buffer.alloc(602))]);
    const whole = wavFile({
      data: bytesOf(shorts),
      channels: 2,
      bits: 16,
      before,
      behind: chunk('LIST', Buffer.from('INFOISFT')),
    });
    for (const name of ['x.wav', 'x', 'x.WAVE']) {
      const { source, values } = await readAll(file(name, whole), 'i16');
      expect(values).toEqual([...shorts]);
      expect(source.shape).toEqual([3, 2]);
    }
    const { text } = await runHere('info', file('x.wav', whole));
    expect(text).toMatch(/i16 \(PCM of 16 bits\)/);
    expect(text).toMatch(/rate +44100 Hz/);
  });

  test('of more than 4 GiB says its length elsewhere, and one from a pipe nowhere', async () => {
    const sizes = Buffer.alloc(28);
    sizes.writeBigUInt64LE(8n, 8);
    const wide = wavFile({
      data: bytesOf(shorts),
      bits: 16,
      size: 0xffffffff,
      magic: 'RF64',
      before: chunk('ds64', sizes),
    });
    expect((await readAll(file('x.wav', wide), 'i16')).values).toEqual([...shorts.subarray(0, 4)]);
    const piped = wavFile({ data: bytesOf(shorts), bits: 16, size: 0xffffffff });
    expect((await readAll(file('x.wav', piped), 'i16')).values).toEqual([...shorts]);
    const { arrays } = await wav.open!(new StreamBytes('pipe', [piped]), { dtype: undefined });
    expect(arrays[0]!.shape).toBeUndefined();
  });

  test.each([
    ['numbers of 24 bits', wavFile({ data: new Uint8Array(6), bits: 24 }), 'WS5004', 'numbers of 24 bits'],
    [
      'coded sound',
      wavFile({ data: new Uint8Array(6), tag: 85, bits: 0 }),
      'WS5004',
      'coded \\(format 85\\)',
    ],
    ['no channels', wavFile({ data: new Uint8Array(6), channels: 0, bits: 16 }), 'WS5004', 'no channels'],
    ['too few bytes', wavFile({ data: new Uint8Array(6), bits: 16, size: 60 }), 'WS5003', 'truncated'],
    ['no data', wavFile({ data: new Uint8Array(0), bits: 16 }).subarray(0, 36), 'WS5003', 'before its data'],
    ['another file', Buffer.from('not a sound at all'), 'WS5004', "begin with 'RIFF'"],
  ])('of %s is refused', async (_, whole, code, message) => {
    await expectFailure(readAll(file('x.wav', whole)), code, new RegExp(message));
  });
});

const elements = ['u8', 'i16', 'i32', 'f32', 'f64'] as const;
type Numbers = (typeof elements)[number];

/** Gives what it is given; of several rows, the first of so many. */
const firstOf = (element: Numbers | 'u16', step = 1, width = 1) =>
  job({
    kernel: kernel({ y: `${element}[]`, x: `readonly ${element}[]` }, ({ y, x }, cuda) => {
      const every = cuda.i32(x.length / y.length);
      for (let i = cuda.thisGrid().threadRank(); i < y.length; i += cuda.thisGrid().size())
        y[i] = x[i * every]!;
    }),
    inputs: { x: { width } },
    outputs: { y: { width, ratio: [1, step] } },
  });

/** Sound in a file of bare numbers with a shape. */
function numbersOf(element: Numbers, shape: readonly number[], seed = 0) {
  const data = arrayOf(
    element,
    shape.reduce((product, extent) => product * extent, 1),
  );
  for (let i = 0; i < data.length; i++) {
    const number = Math.imul(i + seed, 0x9e3779b1) >>> 3;
    data[i] = element.startsWith('f') ? (number % 2000) / 1024 - 1 : number;
  }
  return data;
}

function npyOf(element: Numbers, shape: readonly number[], data: ReturnType<typeof numbersOf>): string {
  const descr = { u8: '|u1', i16: '<i2', i32: '<i4', f32: '<f4', f64: '<f8' }[element];
  return file('x.npy', npyFile({ descr, shape: [...shape], data: data as never }));
}

/** What a file's chunks say that all readers want. */
function headOf(bytes: Buffer) {
  const kinds: string[] = [];
  let at = 12;
  for (; at < bytes.length; ) {
    const [kind, size] = [bytes.toString('latin1', at, at + 4), bytes.readUInt32LE(at + 4)];
    kinds.push(kind);
    at += 8 + size + (size % 2);
  }
  const about = bytes.indexOf('fmt ') + 8;
  return {
    riff: bytes.readUInt32LE(4),
    kinds,
    ends: at,
    channels: bytes.readUInt16LE(about + 2),
    rate: bytes.readUInt32LE(about + 4),
  };
}

const hasSox = hasTool('sox');

/** What another program finds in a file: bare elements, and its rate, channels and rows. */
function soxReads(path: string, element: Numbers): { bytes: Buffer; facts: number[] } {
  const encoding = {
    u8: ['unsigned-integer', '8'],
    i16: ['signed-integer', '16'],
    i32: ['signed-integer', '32'],
    f32: ['floating-point', '32'],
    f64: ['floating-point', '64'],
  }[element]; // prettier-ignore
  const out = ['-t', 'raw', '-e', encoding[0]!, '-b', encoding[1]!, '-L', '-'];
  const quiet = { stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 26 };
  const ask = (what: string) => Number(execFileSync('sox', ['--i', what, path], quiet));
  return {
    bytes: execFileSync('sox', ['-D', path, ...out], quiet),
    facts: [ask('-r'), ask('-c'), ask('-s')],
  };
}

describe('sound that is written', () => {
  const sound = fc.record({
    element: fc.constantFrom(...elements),
    channels: fc.constantFrom(1, 2, 3, 6),
    rows: fc.integer({ min: 1, max: 3000 }),
    chunk: fc.integer({ min: 1, max: 3000 }),
    rate: fc.constantFrom(1, 8000, 44_100, 192_000),
    seed: fc.nat(),
  });

  test('is read as it was, by this package and by another program', {
    timeout: randomLimit(10),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(sound, async ({ element, channels, rows, chunk, rate, seed }) => {
        const shape = channels === 1 ? [rows] : [rows, channels];
        const data = numbersOf(element, shape, seed);
        const path = join(temporaryDirectory(), 'y.wav');
        const input = npyOf(element, shape, data);
        await run(firstOf(element, 1, channels), { input, output: { file: path, rate }, chunk });
        const { source, values } = await readAll(path, element);
        expect(values).toEqual([...data]);
        expect([source.shape, source.rate]).toEqual([shape, rate]);
        const bytes = readFileSync(path);
        const format = ['JUNK', 'fmt ', 'data'];
        const head = { kinds: format, riff: bytes.length - 8, ends: bytes.length, channels, rate };
        expect(headOf(bytes)).toEqual(head);
        if (!hasSox) return;
        const read = soxReads(path, element);
        expect(read.facts).toEqual([rate, channels, rows]);
        // It holds numbers as 32 bits.
        if (element !== 'f64') expect(Buffer.compare(read.bytes, bytesOf(data))).toBe(0);
      }),
      randomRuns(10),
    );
  });

  test('has the rate of its input, by the ratio of rows, or the one that is said', async () => {
    const data = Int16Array.from({ length: 900 }, (_, i) => i);
    const input = file('x.wav', wavFile({ data: bytesOf(data), bits: 16 }));
    const folder = temporaryDirectory();
    const rateOf = async (work: ReturnType<typeof firstOf>, rate?: number) => {
      const output = { file: join(folder, 'y.wav'), ...(rate === undefined ? {} : { rate }) };
      await run(work, { input, output });
      return headOf(readFileSync(output.file)).rate;
    };
    expect(await rateOf(firstOf('i16'))).toBe(44_100);
    expect(await rateOf(firstOf('i16', 2))).toBe(22_050);
    expect(await rateOf(firstOf('i16', 2), 9)).toBe(9);
    // 44,100 / 8 is no whole number.
    const eighth = firstOf('i16', 8);
    await expectFailure(
      run(eighth, { input: { x: new Int16Array(800) }, output: join(folder, 'z.wav') }),
      'WS5012',
      'nothing says how many rows a second it has',
      "say it: --rate 48000 (output: { file: 'y.wav', rate: 48000 } in a program)",
    );
    const whole = file('w.wav', wavFile({ data: bytesOf(data.subarray(0, 800)), bits: 16 }));
    await expectFailure(
      run(eighth, { input: whole, output: join(folder, 'z.wav') }),
      'WS5012',
      'nothing says',
    );
    expect(readdirSync(folder)).toEqual(['y.wav']);
  });

  test('is planned, resumed and put together from pieces as other outputs are', async () => {
    const data = numbersOf('f32', [5000, 2]);
    const input = npyOf('f32', [5000, 2], data);
    const folder = temporaryDirectory();
    const work = firstOf('f32', 1, 2);
    const output = { file: join(folder, 'y.wav'), rate: 48_000 };
    await run(work, { input, output });
    const whole = readFileSync(output.file);
    await plan(work, { input, output });
    const stopped = new AbortController();
    const half = { file: join(folder, 'half.wav'), rate: 48_000 };
    const given = { input, output: half, chunk: 100, resume: true };
    const onProgress = ({ rows }: { rows: number }) => {
      if (rows >= 2000) stopped.abort();
    };
    await expect(run(work, { ...given, signal: stopped.signal, onProgress })).rejects.toThrow();
    await expectFailure(
      run(work, { ...given, output: { ...half, rate: 44_100 } }),
      'WS5013',
      /wav, 48000 rows a second.*wav, 44100 rows a second/,
    );
    const { report } = await run(work, given);
    expect(report.resumed!.rows).toBeGreaterThan(0);
    expect(Buffer.compare(readFileSync(half.file), whole)).toBe(0);

    const module = join(folder, 'same.mjs');
    const index = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href);
    writeFileSync(
      module,
      `import { job, kernel } from ${index};
export const same = job({
  kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
    for (let i = cuda.thisGrid().threadRank(); i < y.length; i += cuda.thisGrid().size()) y[i] = x[i];
  }),
  inputs: { x: { width: 2 } },
  outputs: { y: { width: 2 } },
});
`,
    );
    const pieces = join(folder, 'pieces.wav');
    const failed = await runHere('run', module, input, pieces, '--shard', '1/2');
    expect(failed.stderr).toMatch(/^WS5012.*nothing says how many rows a second/);
    for (const shard of ['1/2', '2/2']) {
      const ran = await runHere('run', module, input, pieces, '--shard', shard, '--rate', '48000');
      expect([ran.code, ran.stderr]).toEqual([0, expect.any(String)]);
    }
    expect((await runHere('merge', pieces)).code).toBe(0);
    expect(Buffer.compare(readFileSync(pieces), whole)).toBe(0);
    expect((await runHere('merge', pieces, '--rate', '8000')).code).toBe(0);
    expect(headOf(readFileSync(pieces)).rate).toBe(8000);
    expect(readdirSync(dirname(pieces)).filter((name) => name.includes('plan'))).toEqual([]);
  });

  test('from a pipe has its length at the end, and one beyond 4 GiB says it in 64 bits', async () => {
    const data = Uint8Array.from({ length: 999 }, (_, i) => i);
    const output = { file: join(temporaryDirectory(), 'y.wav'), rate: 8000 };
    const pieces = [data.subarray(0, 600), data.subarray(600)];
    await run(firstOf('u8'), { input: { stream: pieces }, output, chunk: 100 });
    const bytes = readFileSync(output.file);
    expect(headOf(bytes)).toMatchObject({ riff: bytes.length - 8, ends: bytes.length });
    // A byte behind the data, which is of an odd length.
    expect(bytes.length % 2).toBe(0);
    expect((await readAll(output.file, 'u8')).values).toEqual([...data]);
    const shape = [3_000_000_000, 2];
    const head = Buffer.from(wavHead('y.wav', { dtype: 'f32', rate: 8000, shape }));
    expect(head.toString('latin1', 0, 16)).toBe('RF64\xff\xff\xff\xffWAVEds64');
    expect(head.length).toBe(wavHead('y.wav', { dtype: 'f32', rate: 8000, shape: [1, 2] }).length);
    const sizes = [0, 8, 16].map((at) => head.readBigUInt64LE(20 + at));
    expect(sizes).toEqual([24_000_000_000n + BigInt(head.length - 8), 24_000_000_000n, 3_000_000_000n]);
  });

  test('is refused where it is none', async () => {
    const folder = temporaryDirectory();
    const path = join(folder, 'y.wav');
    const output = { file: path, rate: 8000 };
    await expectFailure(
      run(firstOf('u16'), { input: new Uint16Array(4), output }),
      'WS5012',
      'the kernel writes u16',
      'have the kernel write f32',
    );
    for (const rate of [0, -1, 0.5, 2 ** 32, Number.NaN]) {
      const wrong = run(firstOf('i16'), { input: shorts, output: { file: path, rate } });
      await expectFailure(
        wrong,
        'WS5012',
        `would have ${rate} rows a second`,
        'a rate of WAV is a whole number from 1 on: --rate 48000',
      );
    }
    const cube = file('x.npy', npyFile({ descr: '<i2', shape: [1, 2, 3], data: shorts }));
    await expectFailure(run(firstOf('i16'), { input: cube, output }), 'WS5012', 'the shape (1, 2, 3)');
    expect(readdirSync(folder)).toEqual([]);
  });
});
