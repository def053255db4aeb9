// Tables of text: CSV, TSV and NDJSON, by their columns, whatever the blocks in which they are read; and written so that
// the same numbers are read again.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeBF16, encodeF16, job, kernel, run } from 'warpstage';
import { StreamBytes } from '#warpstage/formats/stream-bytes.js';
import { endOfRecords, TextBlocks } from '#warpstage/formats/text-blocks.js';
import { elementTexts, fieldValue } from '#warpstage/formats/text-values.js';
import { decodeHalf } from '#warpstage/kernel/half.js';
import { runHere, run as runProgram } from '../cli/support.ts';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { file, readAll } from '../overlap/reading.ts';
import { expectFailure, temporaryDirectory } from '../overlap/support.ts';
import { damage, damaged, readDamaged } from './damaged.ts';
import { copyOf } from './jobs.ts';

const text = (name: string, contents: string) => file(name, Buffer.from(contents));
const times = job({
  kernel: kernel({ y: 'f32[]', x: 'readonly f32[]', z: 'readonly i32[]' }, ({ y, x, z }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = x[i]! * cuda.f32(z[i]!);
  }),
  inputs: { x: {}, z: {} },
  outputs: { y: {} },
});

describe('CSV', () => {
  test('is read by the names in its first row', async () => {
    const path = text(
      't.csv',
      'x,z,name,flag\n0.1,1,a,true\n-2.5e3,-7,"b,\nc",false\n.5,300,"say ""x""",true\n',
    );
    expect((await readAll(path)).values).toEqual([0.1, -2500, 0.5].map(Math.fround));
    expect((await readAll(path, 'f64')).values).toEqual([0.1, -2500, 0.5]);
    expect((await readAll(path, 'i32', { column: 'z' })).values).toEqual([1, -7, 300]);
    expect((await readAll(path, 'u8', { column: 'flag' })).values).toEqual([1, 0, 1]);
    await expectFailure(readAll(path, 'f32', { column: 'name' }), 'WS5005', "column 'name'", 'numbers');
    await expectFailure(readAll(path, 'u8', { column: 'z' }), 'WS5005', 'element 1 is -7');
    await expectFailure(readAll(path, 'i32'), 'WS5005', 'fractions would be lost', '--convert nearest');
    expect((await readAll(path, 'i32', { convert: 'nearest' })).values).toEqual([0, -2500, 0]);
  });

  test.each([
    ['t.tsv', 'x\tz\r\n1\t2\r\n3\t4\r\n'],
    ['t.csv', '\uFEFFx;z\n1;2\n\n3;4'],
    ['t.csv', 'x|z\n1|2\n3|4\n'],
    ['t.csv', ' x , z \n 1 , 2\n 3 , 4\n'],
  ])('has other separators, line ends and spaces: %s %j', async (name, contents) => {
    expect((await readAll(text(name, contents))).values).toEqual([1, 3]);
    expect((await readAll(text(name, contents), 'i64' as 'i32', { column: 'z' })).values.map(Number)).toEqual(
      [2, 4],
    );
  });

  test('without names has columns by their places, or is one array', async () => {
    const path = text('t.csv', '1,2\n3,4\n');
    expect((await readAll(path, 'f32', { column: '2' })).values).toEqual([2, 4]);
    expect((await readAll(text('t.csv', '1.5\n2\n'))).values).toEqual([1.5, 2]);
  });

  test('has nulls where a field is empty, and NaN and infinity where it says so', async () => {
    const path = text('t.csv', 'x,z\n1,\nNaN,2\ninf,NA\n-Infinity,4\n');
    expect((await readAll(path)).values).toEqual([1, Number.NaN, Infinity, -Infinity]);
    expect((await readAll(path, 'i32', { column: 'z', nulls: -1 })).values).toEqual([-1, 2, -1, 4]);
    await expectFailure(readAll(path, 'i32', { column: 'z' }), 'WS5005', 'has nulls: 2 in rows 0 to 3');
  });

  test('keeps integers of 64 bits', async () => {
    const path = text('t.csv', 'x,z\n9223372036854775807,18446744073709551615\n-9223372036854775808,1\n');
    const read = async (element: 'i64' | 'u64', column: string) =>
      (await readAll(path, element as 'f64', { column })).values as unknown as bigint[];
    expect(await read('i64', 'x')).toEqual([2n ** 63n - 1n, -(2n ** 63n)]);
    expect(await read('u64', 'z')).toEqual([2n ** 64n - 1n, 1n]);
    await expectFailure(read('u64', 'x'), 'WS5005', 'element 1 is -9223372036854775808');
  });

  test('says which row is unlike the first ones', async () => {
    const rows = Array.from({ length: 60_000 }, (_, i) => `${i},${i}.5`);
    const at = (row: number, line: string) =>
      text('t.csv', ['x,z', ...rows.slice(0, row), line, ...rows.slice(row)].join('\n'));
    await expectFailure(
      readAll(at(50_000, 'abc,1')),
      'WS5005',
      "row 50,000 of column 'x' is 'abc', no number",
    );
    await expectFailure(
      readAll(at(50_000, '1.5,1'), 'i32'),
      'WS5005',
      "is '1.5', no whole number that is read exactly",
      '--convert nearest',
    );
    // Among the first rows, which tell the types of columns.
    await expectFailure(
      readAll(at(3, 'abc,1')),
      'WS5005',
      /^column 'x' of .*t.csv holds text: row 3 is 'abc', and the rows before it are whole numbers$/,
      'correct the row, or leave the field empty and say what stands for it: --nulls 0',
    );
    await expectFailure(
      readAll(at(0, 'abc,1')),
      'WS5005',
      /holds text; numbers or booleans are needed/,
      'turn it into numbers first, for example into the positions of a list of its values',
    );
    expect((await readAll(at(50_000, '1.5,1'))).values[50_000]).toBe(1.5);
    await expectFailure(
      readAll(at(50_000, '1,2,3')),
      'WS5003',
      'row 50,000 has 3 fields, and the first has 2',
    );
  });

  test.each([
    ['', 'it is empty'],
    ['\n\n', 'it has no whole row'],
  ])('%j is no table', async (contents, why) => {
    await expectFailure(readAll(text('t.csv', contents)), 'WS5004', why);
  });

  test('serves all inputs of a job: from a file, compressed, and from a pipe', async () => {
    const rows = Array.from({ length: 3000 }, (_, i) => [i / 8, i % 100] as const);
    const contents = Buffer.from(`x,z\n${rows.map((row) => row.join(',')).join('\n')}\n`);
    const wanted = rows.map(([x, z]) => x * z);
    for (const path of [file('t.csv', contents), file('t.csv.gz', gzipSync(contents))]) {
      const { outputs } = await run(times, { input: path, chunk: 700 });
      expect(Array.from(outputs.y as Float32Array)).toEqual(wanted);
    }
    const output = join(temporaryDirectory(), 'y.csv');
    const program = text(
      'm.ts',
      "import { job, kernel } from 'warpstage';\n" +
        "export const times = job({ kernel: kernel({ y: 'f32[]', x: 'readonly f32[]', z: 'readonly i32[]' }, ({ y, x, z }, cuda) => {\n" +
        '  const i = cuda.thisGrid().threadRank();\n  if (i < y.length) y[i] = x[i]! * cuda.f32(z[i]!);\n' +
        '}), inputs: { x: {}, z: {} }, outputs: { y: {} } });\n',
    );
    const { stderr, code } = await runProgram(
      ['run', program, '-', output, '--format', 'csv', '-q'],
      contents,
    );
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect((await readAll(output, 'f64', { column: 'y' })).values).toEqual(wanted);
  });

  test('is shown by info and head', async () => {
    const path = text('t.csv', 'x,name\n1,a\n2,b\n');
    const { text: info } = await runHere('info', path);
    expect(info).toMatch(/x +i64 +whole numbers/);
    expect(info).toMatch(/name +no number +text/);
    const { text: head } = await runHere('head', path, '--json');
    expect(JSON.parse(head)).toEqual([{ x: 1 }, { x: 2 }]);
  });
});

describe('NDJSON', () => {
  test('is read by the keys of its objects, or as numbers alone', async () => {
    const path = text(
      't.ndjson',
      '{"x":1.5,"z":1,"s":"a","deep":{"a":1}}\n\n{"z":2,"x":null}\n{"x":3,"z":4,"y":true}\n',
    );
    expect((await readAll(path, 'f32', { nulls: -1 })).values).toEqual([1.5, -1, 3]);
    expect((await readAll(path, 'i32', { column: 'z' })).values).toEqual([1, 2, 4]);
    expect((await readAll(path, 'i32', { column: 'y', nulls: 0 })).values).toEqual([0, 0, 1]);
    for (const column of ['s', 'deep'])
      await expectFailure(readAll(path, 'f32', { column }), 'WS5005', `column '${column}'`, 'numbers');
    expect((await readAll(text('t.jsonl', '1\n2.5\n'))).values).toEqual([1, 2.5]);
  });

  test('has floats beyond 2^53, and refuses them for integers', async () => {
    const path = text('t.ndjson', `${'{"x":1}\n'.repeat(40_000)}{"x":100000000000000000}\n`);
    expect((await readAll(path)).values[40_000]).toBe(Math.fround(1e17));
    await expectFailure(readAll(path, 'i32'), 'WS5005', /row 40,000 of column 'x' is '1000.*read exactly/);
  });

  test('says what is no JSON, or unlike the first row', async () => {
    await expectFailure(readAll(text('t.ndjson', '{"x":1}\n{"x":2\n')), 'WS5003', 'row 1 is no JSON: {"x":2');
    const many = '{"x":1}\n'.repeat(40_000);
    await expectFailure(readAll(text('t.ndjson', `${many}[1]\n`)), 'WS5003', 'row 40,000, [1], is no object');
    await expectFailure(
      readAll(text('t.ndjson', `${many}{"x":"1"}\n`)),
      'WS5005',
      "row 40,000 of column 'x' is '1', no number",
    );
    await expectFailure(
      readAll(text('t.ndjson', '{"x":1}\n{"x":9007199254740993}\n'), 'i32'),
      'WS5005',
      "column 'x'",
    );
  });
});

describe('written', () => {
  test.each(['csv', 'tsv', 'ndjson'])(
    'and read again, .%s gives the same numbers',
    { timeout: randomLimit(8) },
    async (ending) => {
      const values = fc.array(
        fc.float({ noNaN: ending === 'ndjson', noDefaultInfinity: ending === 'ndjson' }),
        { minLength: 1, maxLength: 50 },
      );
      await fc.assert(
        fc.asyncProperty(values, fc.integer({ min: 1, max: 60 }), async (numbers, chunk) => {
          const output = join(temporaryDirectory(), `y.${ending}`);
          const input = Float32Array.from(numbers);
          await run(copyOf('f32'), { input, output, chunk });
          const { values: read } = await readAll(output, 'f32', { column: 'y' });
          expect(new Uint32Array(Float32Array.from(read).buffer)).toEqual(new Uint32Array(input.buffer));
        }),
        randomRuns(8),
      );
    },
  );

  test.each([
    ['csv', 'y.0,y.1\n1,0.1\n2.5,0.25\n'],
    ['ndjson', '{"y.0":1,"y.1":0.1}\n{"y.0":2.5,"y.1":0.25}\n'],
  ])('has a column for each number of a row: .%s', async (ending, wanted) => {
    const pairs = job({
      kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i >= x.length) return;
        y[2 * i] = x[i]!;
        y[2 * i + 1] = x[i]! / 10;
      }),
      inputs: { x: {} },
      outputs: { y: { width: 2 } },
    });
    const output = join(temporaryDirectory(), `y.${ending}`);
    await run(pairs, { input: Float32Array.of(1, 2.5), output, chunk: 1 });
    expect(readFileSync(output, 'utf8')).toBe(wanted);
  });

  test('in NDJSON has null for NaN, and no infinity', async () => {
    const inverse = job({
      kernel: kernel({ y: 'f64[]', x: 'readonly f64[]' }, ({ y, x }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i < y.length) y[i] = x[i]! / x[i]!;
      }),
      inputs: { x: {} },
      outputs: { y: {} },
    });
    const output = join(temporaryDirectory(), 'y.ndjson');
    await run(inverse, { input: Float64Array.of(2, 0), output });
    expect(readFileSync(output, 'utf8')).toBe('{"y":1}\n{"y":null}\n');
    await expectFailure(
      run(copyOf('f64'), { input: Float64Array.of(1, -Infinity), output }),
      'WS5006',
      '-Infinity',
      'y.csv',
    );
  });

  test('floats have the fewest digits from which the same ones are read', () => {
    expect(elementTexts(Float32Array.of(0.1, 1 / 3, 16777216, -0, 3.4e38), 'f32')).toEqual([
      '0.1',
      '0.33333334',
      '16777216',
      '-0',
      '3.4e+38',
    ]);
    for (const [type, encode] of [
      ['f16', encodeF16],
      ['bf16', encodeBF16],
    ] as const) {
      const bits = Uint16Array.from({ length: 65_536 }, (_, i) => i).filter((one) =>
        Number.isFinite(decodeHalf(type, one)),
      );
      expect(encode(elementTexts(bits, type).map(Number))).toEqual(bits);
    }
  });

  test('an output of pieces has the column of its parameter', async () => {
    const output = join(temporaryDirectory(), 'y.csv');
    const input = file('x.f32', new Uint8Array(Float32Array.of(1, 2, 3).buffer));
    for (const shard of [1, 2] as const)
      await runHere('run', 'examples/affine.ts', input, output, '-q', '--shard', `${shard}/2`);
    await runHere('merge', output);
    expect(readFileSync(output, 'utf8')).toMatch(/^y\n/);
  });
});

describe('blocks of text', () => {
  /** Records one by one. */
  const records = (whole: string): number[] => {
    const ends: number[] = [];
    let inside = false;
    for (let i = 0; i < whole.length; i++) {
      if (whole[i] === '"') inside = !inside;
      if (whole[i] === '\n' && !inside) ends.push(i + 1);
    }
    return ends;
  };

  test('end where the last whole record does', { timeout: randomLimit(300) }, () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ',', '"', '\n'), maxLength: 40 }), (whole) => {
        expect(endOfRecords(whole, true)).toBe(records(whole).at(-1) ?? 0);
        expect(endOfRecords(whole, false)).toBe(whole.lastIndexOf('\n') + 1);
      }),
      randomRuns(300),
    );
  });

  test('give the whole text, whatever it is, in characters of several bytes', async () => {
    const line = 'Größe,"ein\nSatz"\n';
    const whole = line.repeat(60_000);
    const bytes = Buffer.from(whole);
    const blocks = new TextBlocks(
      new StreamBytes('t', Readable.from([bytes.subarray(0, 1001), bytes.subarray(1001)])),
      true,
    );
    let read = '';
    for (let block = await blocks.next(); block !== undefined; block = await blocks.next()) {
      expect(block.endsWith(line)).toBe(true);
      read += block;
    }
    expect(read === whole).toBe(true);
  });

  test('of no record end in an error', async () => {
    const endless = Readable.from(
      (function* () {
        for (let i = 0; i < 100; i++) yield Buffer.alloc(1 << 20, 'a');
      })(),
    );
    await expectFailure(
      new TextBlocks(new StreamBytes('t', endless), true).next(),
      'WS5004',
      'a record of over 16 MiB',
    );
  });
});

test('fields say numbers, nulls and truth values, or nothing of these', () => {
  expect(
    [
      '1',
      '+1',
      ' 2 ',
      '1e3',
      '.5',
      '5.',
      '-0',
      '1e',
      '0x10',
      '1,5',
      '1 2',
      'Infinity',
      'TRUE',
      '',
      'none',
      '--',
    ].map(fieldValue),
  ).toEqual([
    1,
    1,
    2,
    1000,
    0.5,
    5,
    -0,
    undefined,
    undefined,
    undefined,
    undefined,
    Infinity,
    true,
    null,
    null,
    undefined,
  ]);
  expect(fieldValue('+12345678901234567890')).toBe(12345678901234567890n);
});

test.each(['csv', 'ndjson'])(
  'a damaged .%s gives values or an error of ours',
  { timeout: randomLimit(40) },
  async (format) => {
    const line = (i: number) => (format === 'csv' ? `${i},${i / 7},"a"\n` : `{"x":${i},"z":${i / 7}}\n`);
    const whole = Buffer.from(
      (format === 'csv' ? 'x,z,s\n' : '') + Array.from({ length: 200 }, (_, i) => line(i)).join(''),
    );
    const path = join(temporaryDirectory(), `t.${format}`);
    await fc.assert(
      fc.asyncProperty(damage, async (how) => {
        await readDamaged(path, format, damaged(whole, how));
      }),
      randomRuns(40),
    );
  },
);
