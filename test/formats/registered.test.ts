// Formats of one's own: registered in a few lines, read, written, converted and resumed as the others are.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Format, registerFormat, run, WarpstageError } from 'warpstage';
import { formatOfName } from '#warpstage/formats/registry.js';
import { Folder, runHere } from '../cli/support.ts';
import { file, readAll } from '../overlap/reading.ts';
import { expectFailure, temporaryDirectory } from '../overlap/support.ts';
import { double } from './jobs.ts';

/** Elements of f32 behind four letters. */
const vec: Format = {
  name: 'test-vec',
  endings: ['.vect'],
  probe: (beginning) => Buffer.from(beginning.subarray(0, 4)).equals(Buffer.from('TVEC')),
  async open(bytes) {
    await bytes.read(new Uint8Array(4));
    const length = bytes.size === undefined ? {} : { length: (bytes.size - 4) / 4 };
    return { arrays: [{ stored: 'f32', dtype: 'f32', ...length, elements: () => ({ bytes }) }] };
  },
  encode: () => ({ begin: () => Buffer.from('TVEC') }),
};

const decoded: number[] = [];
/** Lines of numbers, a column each, cut into units of two rows. */
const table = (lengths: boolean): Format => ({
  name: `test-table-${lengths}`,
  endings: [lengths ? '.counted' : '.lines'],
  columns: true,
  async open(bytes) {
    const text = new Uint8Array(10_000);
    const lines = Buffer.from(text.subarray(0, await bytes.read(text)))
      .toString()
      .trim()
      .split('\n');
    const names = lines[0]!.split(' ');
    const rows = lines.slice(1).map((line) => line.split(' '));
    return {
      arrays: names.map((name, column) => ({
        name,
        stored: 'text',
        dtype: 'f64',
        ...(lengths ? { shape: [rows.length] } : {}),
        elements: () => ({
          ...(lengths
            ? { lengths: rows.flatMap((_, i) => (i % 2 ? [] : [Math.min(2, rows.length - i)])) }
            : {}),
          async decode(unit) {
            decoded.push(unit);
            const values = rows.slice(2 * unit, 2 * unit + 2).map((row) => row[column]!);
            return values.length === 0 ? undefined : values.map((one) => (one === '-' ? null : Number(one)));
          },
        }),
      })),
    };
  },
  encode: () => ({
    encode: (elements) => Buffer.from(Array.from(elements as Float32Array, (one) => `${one}\n`).join('')),
    end: ([rows]) => Buffer.from(`# ${rows}\n`),
  }),
});

for (const format of [vec, table(true), table(false)]) registerFormat(format);

describe('a format with elements in place', () => {
  const contents = Buffer.concat([Buffer.from('TVEC'), Buffer.from(Float32Array.of(1, 2, 3).buffer)]);

  test('is read by its name, and by how it begins, and written', async () => {
    for (const name of ['x.vect', 'x.other'])
      expect((await readAll(file(name, contents))).values).toEqual([1, 2, 3]);
    const output = join(temporaryDirectory(), 'y.vect');
    await run(double, { input: file('x.vect', contents), output });
    expect(readFileSync(output).subarray(0, 4).toString()).toBe('TVEC');
    expect((await readAll(output)).values).toEqual([2, 4, 6]);
  });

  test('is converted, and its values checked, as those of others', async () => {
    const path = file('x.vect', contents);
    await expectFailure(readAll(path, 'i32'), 'WS5005', 'holds f32', '--convert nearest');
    expect((await readAll(path, 'i32', { convert: 'nearest' })).values).toEqual([1, 2, 3]);
    await expectFailure(readAll(file('x.bin', contents)), 'WS5004', 'begins as a .vect file does');
  });
});

describe.each([true, false])('a format that is decoded (lengths known: %s)', (lengths) => {
  const name = lengths ? 'x.counted' : 'x.lines';
  const text = Buffer.from('x z\n1 10\n2 20\n3 -\n4 40\n5 50\n');

  test('is read by its columns, with nulls', async () => {
    const path = file(name, text);
    expect((await readAll(path, 'f64')).values).toEqual([1, 2, 3, 4, 5]);
    expect((await readAll(path, 'f64', { column: 'z', nulls: 0 }, 2)).values).toEqual([10, 20, 0, 40, 50]);
    await expectFailure(
      readAll(path, 'f64', { column: 'z' }),
      'WS5005',
      /column 'z' of .* has nulls: 1 in rows 2 to 3/,
    );
    await expectFailure(readAll(path, 'f64', { column: 'w' }), 'WS5005', "no column 'w'", 'x, z');
  });

  test('is written by what encodes it, to its end', async () => {
    const output = join(temporaryDirectory(), lengths ? 'y.counted' : 'y.lines');
    await run(double, { input: file(name, text), output, convert: 'nearest' });
    expect(readFileSync(output, 'utf8')).toBe('2\n4\n6\n8\n10\n# 5\n');
    const again = { input: file(name, text), output, convert: 'nearest', resume: true } as const;
    await expectFailure(run(double, again), 'WS5010', 'only be written from the beginning');
  });

  test('skips what a former run has read', async () => {
    const { wantedOf } = await import('#warpstage/overlap/input-data.js');
    const { OpenInputs } = await import('#warpstage/overlap/inputs.js');
    for (let begin = 0; begin <= 5; begin++) {
      const inputs = new OpenInputs();
      const source = await inputs.open(file(name, text), wantedOf('x', 'f64', {}));
      decoded.length = 0;
      await source.skip!(begin);
      const into = new Float64Array(9);
      const read = await source.read(into);
      expect([...into.subarray(0, read)]).toEqual([1, 2, 3, 4, 5].slice(begin));
      if (lengths) expect(decoded[0] ?? 3).toBeGreaterThanOrEqual(Math.floor(begin / 2));
      await inputs.close();
    }
  });
});

test('of several endings that fit a name the longest decides', () => {
  registerFormat({ ...vec, name: 'test-vec-bin', endings: ['.vect.bin'] });
  const named = ['a.vect.bin', 'A.VECT.BIN', 'a.vect', 'a.bin', 'vect.bin'].map(
    (name) => formatOfName(name)?.name,
  );
  expect(named).toEqual(['test-vec-bin', 'test-vec-bin', 'test-vec', 'raw', 'raw']);
});

test('what decodes or opens badly is reported with the file', async () => {
  const broken = (open: Format['open']) =>
    registerFormat({ name: 'test-broken', endings: ['.broken'], open: open! });
  const path = file('x.broken', Buffer.from('1'));
  broken(async () => {
    throw new Error('no index');
  });
  await expectFailure(readAll(path), 'WS5004', "x.broken cannot be read as 'test-broken': no index");
  const elements = (values: (unit: number) => number[]) => async () => ({
    arrays: [
      {
        stored: 'x',
        dtype: 'f32' as const,
        length: 4,
        elements: () => ({ lengths: [2, 2], decode: async (unit: number) => values(unit) }),
      },
    ],
  });
  broken(elements((unit) => (unit === 0 ? [1, 2] : [3])));
  await expectFailure(readAll(path), 'WS5003', 'has 1 values in rows 2 to 4');
  broken(elements((unit) => (unit === 0 ? [1, 2] : [3, 4, 5])));
  await expectFailure(readAll(path), 'WS5003', 'has 3 values in rows 2 to 4');
  broken(
    elements(() => {
      throw new Error('bad bits');
    }),
  );
  await expectFailure(readAll(path), 'WS5003', 'cannot be decoded in rows 0 to 2: bad bits');
});

test('what is skipped behind the last unit counts no element', async () => {
  const { wantedOf } = await import('#warpstage/overlap/input-data.js');
  const { OpenInputs } = await import('#warpstage/overlap/inputs.js');
  registerFormat({
    name: 'test-short',
    endings: ['.short'],
    open: async () => ({
      arrays: [
        {
          stored: 'x',
          dtype: 'f32',
          length: 8,
          elements: () => ({
            lengths: [2, 2],
            decode: async (unit) =>
              [
                [1, 2],
                [3, 4],
              ][unit],
          }),
        },
      ],
    }),
  });
  const inputs = new OpenInputs();
  const source = await inputs.open(file('x.short', Buffer.from('1')), wantedOf('x', 'f32', {}));
  await source.skip!(7);
  await expectFailure(source.read(new Float32Array(1)), 'WS5003', 'ended after 4 of 8 elements');
  await inputs.close();
});

test('decoded booleans are 1 where they are true', async () => {
  registerFormat({
    name: 'test-yes',
    endings: ['.yes'],
    open: async () => ({
      arrays: [
        {
          stored: 'yes or no',
          dtype: 'bool',
          elements: () => ({
            decode: async (unit) => (unit === 0 ? [true, false, false, true] : undefined),
          }),
        },
      ],
    }),
  });
  expect((await readAll(file('x.yes', Buffer.from('1')), 'i32')).values).toEqual([1, 0, 0, 1]);
});

test.each([
  [null, 'it is null'],
  [{ name: '', endings: [] }, 'it has no name'],
  [{ name: 'a', endings: ['vec'] }, 'its endings'],
  [{ name: 'a', endings: ['.vect'] }, 'neither be read'],
])('%j is no format', (format, message) => {
  expect(() => registerFormat(format as unknown as Format)).toThrow(WarpstageError);
  expect(() => registerFormat(format as unknown as Format)).toThrow(message);
});

test('one that its module does not export cannot be decoded in a thread', async () => {
  const rows = 4_000_000;
  const text = (exported: string) => `
    ${exported} { name: 'test-apart', endings: ['.apart'], columns: true, open: async () => ({
      arrays: [{ name: 'x', stored: 'ones', dtype: 'f64', shape: [${rows}], elements: () => ({
        lengths: [${rows / 2}, ${rows / 2}],
        decode: async () => new Float64Array(${rows / 2}).fill(1),
      }) }],
    }) };`;
  const module = (exported: string) => `data:text/javascript,${encodeURIComponent(text(exported))}`;
  const { apart } = (await import(module('export const apart ='))) as { readonly apart: Format };
  const path = file('x.apart', Buffer.from('1'));
  const read = async (exported: string) => {
    registerFormat({ ...apart, module: module(exported) });
    return (await readAll(path, 'f64', {}, 1000, 0)).values.length;
  };
  await expectFailure(
    read('const apart ='),
    'WS5004',
    "exports no format 'test-apart'",
    /^export what registerFormat is given from the format's `module`$/,
  );
  expect(await read('export const apart =')).toBe(rows);
});

test('a module registers one for the command line', async () => {
  const folder = new Folder();
  try {
    const module = folder.file(
      'vec8.mjs',
      "import { registerFormat } from 'warpstage';\nregisterFormat({ name: 'vec8', endings: ['.vec8'], open: async (bytes) => ({ arrays: [{ stored: 'byte', dtype: 'u8', length: bytes.size, elements: () => ({ bytes }) }] }) });\n",
    );
    const { text } = await runHere(
      'head',
      folder.file('x.vec8', Uint8Array.of(7, 8)),
      '--import',
      module,
      '--json',
    );
    expect(JSON.parse(text)).toEqual([7, 8]);
  } finally {
    folder.remove();
  }
});
