// `warpstage info` and `warpstage head`: what is in a file, as text and as JSON.

import { afterAll, describe, expect, test } from 'vitest';
import { Folder, npy, runHere } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());
const flights = 'node_modules/vega-datasets/data/flights-3m.parquet';
const matrix = folder.file('m.npy', npy(Float32Array.of(1, 2, 3.5, 4, 5, 6), [3, 2]));
const bare = folder.file('x.bin', new Uint8Array(Int16Array.of(-1, 2, 300).buffer));

describe('info', () => {
  test('says what is in a .npy file', async () => {
    const { code, text } = await runHere('info', matrix);
    expect({ code, text }).toEqual({
      code: 0,
      text: `${matrix}: npy, 152 B\n  type     f32 (<f4)\n  shape    (3, 2)\n  count    6\n  version  1.0\n`,
    });
  });

  test('lists columns, also those that are not read', async () => {
    const { text } = await runHere('info', flights);
    expect(text).toMatch(/^ {2}delay +i64 +INT64 +3,000,000 +0$/m);
    expect(text).toMatch(/^ {2}origin +no number +BYTE_ARRAY \((UTF8|STRING)\) +3,000,000/m);
  });

  test('gives JSON', async () => {
    const { text } = await runHere('info', matrix, bare, '--json');
    expect(JSON.parse(text)).toMatchObject([
      { file: matrix, format: 'npy', bytes: 152, arrays: [{ type: 'f32', shape: [3, 2], count: 6 }] },
      { file: bare, format: 'raw', bytes: 6, arrays: [{ stored: 'bytes' }] },
    ]);
  });

  test('takes the type of bare elements', async () => {
    expect((await runHere('info', bare, '--dtype', 'i16')).text).toMatch(/type +i16\n +count +3\n/);
  });

  test('refuses what a run refuses', async () => {
    const { code, stderr } = await runHere('info', folder.file('x.xlsx', 'a,b\n1,2\n'));
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('is a spreadsheet') });
  });
});

describe('head', () => {
  test('shows the first rows as a table', async () => {
    expect((await runHere('head', matrix, '-n', '2')).text).toBe(
      '  row    0  1\n    0    1  2\n    1  3.5  4\n',
    );
    expect((await runHere('head', bare, '--dtype', 'i16')).text).toBe(
      '  row  value\n    0     -1\n    1      2\n    2    300\n',
    );
  });

  test('shows columns of numbers, or those that are named', async () => {
    const { text } = await runHere('head', flights, '-n', '2');
    expect(text.split('\n')[0]).toMatch(/^ {2}row +date +delay +distance$/);
    const { text: json } = await runHere('head', flights, '--column', 'delay', '-n', '2', '--json');
    expect(JSON.parse(json)).toEqual([{ delay: 33 }, { delay: 19 }]);
  });

  test('gives rows as JSON', async () => {
    expect(JSON.parse((await runHere('head', matrix, '--json')).text)).toEqual([
      [1, 2],
      [3.5, 4],
      [5, 6],
    ]);
    expect(JSON.parse((await runHere('head', bare, '--dtype', 'i16', '--json')).text)).toEqual([-1, 2, 300]);
  });

  test.each([
    [[bare], 'the type of the elements', '--dtype f32'],
    [[flights, '--column', 'origin'], 'has no column of numbers', '`delay`'],
  ])('of %j says what is missing', async (argv, message, hint) => {
    const { code, stderr } = await runHere('head', ...argv);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
  });
});
