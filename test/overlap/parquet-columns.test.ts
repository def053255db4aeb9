import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteFile } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ThreadedSource } from '#warpstage/formats/threaded-source.js';
import { wantedOf } from '#warpstage/overlap/input-data.js';
import { OpenInputs } from '#warpstage/overlap/inputs.js';
import { file, readAll } from './reading.ts';
import { expectFailure, temporaryDirectory } from './support.ts';

describe('Parquet columns', () => {
  const days = { f64: [0.5, 1.5, -2], whole: [1, 2, 300], yes: [true, false, true], name: ['a', 'b', 'c'] };

  function table(rowGroupSize?: number[]): string {
    const path = join(temporaryDirectory(), 't.parquet');
    parquetWriteFile({
      filename: path,
      columnData: [
        { name: 'f64', data: days.f64, type: 'DOUBLE' },
        { name: 'whole', data: days.whole, type: 'INT32' },
        { name: 'long', data: [1n, -(2n ** 40n), 3n], type: 'INT64' },
        { name: 'yes', data: days.yes, type: 'BOOLEAN' },
        { name: 'name', data: days.name, type: 'STRING' },
        { name: 'gaps', data: [1, null, null], type: 'INT32' },
        { name: 'when', data: [new Date(1000), new Date(2000), new Date(0)], type: 'TIMESTAMP' },
      ],
      ...(rowGroupSize === undefined ? {} : { rowGroupSize }),
    });
    return path;
  }

  test.each([[undefined], [[2, 1]], [[1, 1, 1]]])('of row groups %j are read', async (groups) => {
    const path = table(groups);
    expect((await readAll(path, 'f64', { column: 'f64' })).values).toEqual(days.f64);
    expect((await readAll(path, 'i16', { column: 'whole' }, 2)).values).toEqual(days.whole);
    expect((await readAll(path, 'f64', { column: 'long' })).values).toEqual([1, -(2 ** 40), 3]);
    expect((await readAll(path, 'u8', { column: 'yes' })).values).toEqual([1, 0, 1]);
    expect((await readAll(path, 'i32', { column: 'gaps', nulls: -1 }, 1)).values).toEqual([1, -1, -1]);
  });

  test('are named by their parameter unless the job says otherwise', async () => {
    await expectFailure(
      readAll(table(), 'f64'),
      'WS5005',
      "has no column 'x'",
      'its columns are f64, whole, long',
    );
  });

  test('give times as the integers that are stored', async () => {
    const { values, source } = await readAll(table(), 'f64', { column: 'when' });
    expect(source.dtype).toBe('i64');
    expect(values).toEqual([1000, 2000, 0]);
  });

  test.each([
    ['name', 'f32', "column 'name' of .* holds BYTE_ARRAY .(UTF8|STRING).; numbers or booleans are needed"],
    ['whole', 'u8', 'element 2 is 300, which is no value of u8'],
    ['long', 'i32', 'element 1 is -1099511627776, which is no value of i32'],
    ['f64', 'f32', 'holds f64, and parameter .x. of the kernel is f32'],
    ['gaps', 'i32', "column 'gaps' of .* has nulls: 2 (of 3 rows|in rows 0 to 2)"],
  ] as const)('%s as %s is refused', async (column, element, message) => {
    await expectFailure(readAll(table(), element, { column }), 'WS5005', new RegExp(message));
  });

  test('of what is no Parquet file, or a broken one, are refused', async () => {
    await expectFailure(
      readAll(file('t.parquet', Buffer.from('PAR1 and nothing'))),
      'WS5004',
      'cannot be read as a Parquet file',
    );
    await expectFailure(
      readAll(file('t.parquet', Buffer.alloc(0))),
      'WS5004',
      'cannot be read as a Parquet file',
    );
    const standardInput = readAll({ file: '-', format: 'parquet' });
    await expectFailure(standardInput, 'WS5004', 'its index is at its end', 'save it to a file first');
    await expectFailure(readAll('no.parquet'), 'WS5003', 'no.parquet cannot be read: it does not exist');
    await expectFailure(
      readAll({ file: temporaryDirectory(), format: 'parquet' }),
      'WS5003',
      'it is a directory',
    );
  });

  describe('that are long are decoded in a thread', () => {
    const rows = 250_000;
    const filename = join(tmpdir(), `warpstage-long-${process.pid}.parquet`);
    beforeAll(() => {
      const data = Array.from({ length: rows }, (_, i) => i);
      const columnData = [
        { name: 'x', data, type: 'INT32' as const },
        {
          name: 'gaps',
          data: data.map((i) => (i === 240_000 ? null : i)),
          type: 'INT32' as const,
          statistics: false,
        },
      ];
      parquetWriteFile({ filename, columnData, rowGroupSize: 100_000, statistics: false });
    });
    afterAll(() => rmSync(filename));

    test('and arrive in order, in memory that is shared or not', async () => {
      const { values, source } = await readAll(filename, 'i32', {}, 99_999, 0);
      expect(source).toBeInstanceOf(ThreadedSource);
      expect(values).toEqual(Array.from({ length: rows }, (_, i) => i));
      const inputs = new OpenInputs(undefined, 0);
      const again = (await inputs.open(filename, wantedOf('x', 'f32', {}))) as ThreadedSource;
      await expect.poll(() => again.isReady).toBe(true);
      const into = new Float32Array(new SharedArrayBuffer(4 * rows), 40, 1000);
      expect(await again.read(into)).toBe(1000);
      expect([into[0], into[999], new Float32Array(into.buffer)[9]]).toEqual([0, 999, 0]);
      await inputs.close();
    });

    test.each([1, 100_000, 150_001])('once it has started: %i elements are decoded before', async (first) => {
      const inputs = new OpenInputs(undefined, 0);
      const source = (await inputs.open(filename, wantedOf('x', 'i32', {}))) as ThreadedSource;
      const into = new Int32Array(rows);
      expect(await source.read(into.subarray(0, first))).toBe(first);
      await expect.poll(() => source.isReady).toBe(true);
      expect(await source.read(into.subarray(first))).toBe(rows - first);
      expect(source.readHere).toBe(first);
      expect(into.every((value, i) => value === i)).toBe(true);
      expect(await source.read(new Int32Array(1))).toBe(0);
      await inputs.close();
    });

    test('unless that takes but a moment', async () => {
      const inputs = new OpenInputs(undefined, Infinity);
      const source = (await inputs.open(filename, wantedOf('x', 'i32', {}))) as ThreadedSource;
      const into = new Int32Array(rows + 1);
      expect(await source.read(into)).toBe(rows);
      expect([source.readHere, source.isReady]).toEqual([rows, false]);
      await inputs.close();
    });

    test('with the same errors', async () => {
      const hint = 'declare the parameter with a wider type';
      await expectFailure(
        readAll(filename, 'u16', {}, 1000, 0),
        'WS5005',
        'element 65,536 is 65536, which is no value of u16',
        hint,
      );
      const gaps = readAll(filename, 'i32', { column: 'gaps' }, 1000, 0);
      await expectFailure(
        gaps,
        'WS5005',
        /column 'gaps' of .* has nulls: 1 in rows 200,000 to 249,999/,
        'nulls: 0',
      );
    });

    test.each([false, true])('which ends with the run, once it has started: %s', async (started) => {
      const inputs = new OpenInputs(undefined, 0);
      const source = (await inputs.open(filename, wantedOf('x', 'i32', {}))) as ThreadedSource;
      if (started) await expect.poll(() => source.isReady).toBe(true);
      const read = source.read(new Int32Array(rows));
      const failed = expectFailure(read, 'WS5003', /column 'x' of .* cannot be read: its decoding was ended/);
      // Until the thread has been asked; its answer is heard in none of these turns.
      for (let turn = 0; turn < 20; turn += 1) await null;
      await inputs.close();
      await failed;
      await expectFailure(source.read(new Int32Array(1)), 'WS5003', 'its decoding was ended');
    });
  });

  test('of real flights come with their values', async () => {
    const path = 'node_modules/vega-datasets/data/flights-3m.parquet';
    const { values, source } = await readAll(path, 'i32', { column: 'delay' }, 1 << 20);
    expect(source.length).toBe(3_000_000);
    expect(values.reduce((sum, value) => sum + value, 0)).toBe(20_003_603);
  });
});
