import { execFileSync, spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetWriteFile } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hostArrays } from '#warpstage/kernel/types.js';
import { conversionProblem, type Dtype } from '#warpstage/overlap/dtype.js';
import { OpenInputs, wantedOf } from '#warpstage/overlap/inputs.js';
import type { InputDeclaration } from '#warpstage/overlap/job.js';
import { npyHeader, readNpyHeader } from '#warpstage/overlap/npy-header.js';
import type { InputData } from '#warpstage/overlap/options.js';
import { MemoryBytes } from '#warpstage/overlap/sources/bytes.js';
import { ThreadedColumn } from '#warpstage/overlap/sources/threaded-column.js';
import type { NumberArray, PlainElement } from '../support/run-program.ts';
import { expectFailure, npyFile, temporaryDirectory } from './support.ts';

const arrayOf = (element: PlainElement, length: number): NumberArray =>
  new (hostArrays[element] as new (length: number) => NumberArray)(length);

/** Reads all of an input in requests of a few elements. */
async function readAll(
  data: InputData,
  element: PlainElement = 'f32',
  declaration: InputDeclaration = {},
  request = 1000,
) {
  const inputs = new OpenInputs();
  try {
    const source = await inputs.open(data, wantedOf('x', element, declaration));
    const values: number[] = [];
    for (;;) {
      const into = arrayOf(element, request);
      const got = await source.read(into);
      for (const value of into.subarray(0, got)) values.push(value);
      if (got < request) return { source, values };
    }
  } finally {
    await inputs.close();
  }
}

function file(name: string, contents: Uint8Array): string {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, contents);
  return path;
}

const floats = Float32Array.from({ length: 2500 }, (_, i) => i / 4 - 100);

describe('raw files', () => {
  test('have the kernel’s element type', async () => {
    const { source, values } = await readAll(file('x.bin', new Uint8Array(floats.buffer)));
    expect(source.length).toBe(2500);
    expect(values).toEqual([...floats]);
  });

  test('or the one that is named', async () => {
    const path = file('x.bin', new Uint8Array(Int16Array.of(-1, 0, 32767).buffer));
    expect((await readAll({ file: path, dtype: 'i16' })).values).toEqual([-1, 0, 32767]);
  });

  test('may be empty', async () => {
    expect((await readAll(file('x.bin', new Uint8Array()))).values).toEqual([]);
  });

  test('larger than two requests side by side arrive in order', async () => {
    const large = Int32Array.from({ length: 3 << 18 }, (_, i) => i * 3);
    const path = file('x.bin', new Uint8Array(large.buffer));
    const inputs = new OpenInputs();
    const source = await inputs.open(path, wantedOf('x', 'i32', {}));
    const into = new Int32Array(new SharedArrayBuffer(large.byteLength + 400));
    expect(await source.read(into)).toBe(large.length);
    expect(Buffer.compare(Buffer.from(into.buffer, 0, large.byteLength), Buffer.from(large.buffer))).toBe(0);
    await inputs.close();
  });

  test('must be whole elements', async () => {
    const path = file('x.bin', new Uint8Array(10));
    await expectFailure(
      readAll(path),
      'WS5003',
      `${path} has 10 bytes, which is no whole number of f32 elements (4 bytes each)`,
      '--dtype',
    );
  });

  test('that are missing, or a directory, are named', async () => {
    const directory = temporaryDirectory();
    await expectFailure(
      readAll(join(directory, 'no.bin')),
      'WS5003',
      'no.bin cannot be read: it does not exist',
      'path',
    );
    await expectFailure(readAll(directory), 'WS5003', `${directory} cannot be read: it is a directory`);
  });
});

describe('.npy files', () => {
  test.each([1, 2, 3] as const)('of version %i are read', async (version) => {
    const path = file('x.npy', npyFile({ shape: [50, 50], data: floats, version }));
    const { source, values } = await readAll(path);
    expect(source.shape).toEqual([50, 50]);
    expect(values).toEqual([...floats]);
  });

  test('of shape () have one element, and of shape (0,) none', async () => {
    const scalar = file('x.npy', npyFile({ shape: [], data: Float32Array.of(7) }));
    expect((await readAll(scalar)).values).toEqual([7]);
    const empty = file('x.npy', npyFile({ shape: [0], data: new Float32Array() }));
    expect((await readAll(empty)).values).toEqual([]);
  });

  test('in fortran order of one dimension are in C order as well', async () => {
    const path = file('x.npy', npyFile({ shape: [2500, 1], fortran: true, data: floats }));
    expect((await readAll(path)).values).toEqual([...floats]);
  });

  test.each([
    ['', 'WS5003', 'is empty; a .npy file has at least a header', 'numpy.save'],
    ['not an array at all', 'WS5004', 'is no .npy file: it does not begin as one', 'numpy.save'],
    ['\x93NUMPY', 'WS5003', 'is truncated: its header takes 10 bytes, and 6 are there', 'again'],
    [
      '\x93NUMPY\x01\0\x76\0{',
      'WS5003',
      'is truncated: its header takes 128 bytes, and 11 are there',
      'again',
    ],
    ['\x93NUMPY\x09\0\x76\0{', 'WS5004', 'has version 9 of the .npy format', 'numpy.save'],
  ])('that begin with %j are refused', async (text, code, message, hint) => {
    await expectFailure(readAll(file('x.npy', Buffer.from(text, 'latin1'))), code, message, hint);
  });

  test.each([
    [{ fortran: true, shape: [50, 50] }, 'WS5004', 'column by column (fortran_order)', 'ascontiguousarray'],
    [{ descr: '>f4', shape: [2500] }, 'WS5004', "big-endian elements ('>f4')", "x.astype('<f4')"],
    [{ descr: '<c8', shape: [1250] }, 'WS5004', "elements of type '<c8'", 'astype'],
    [{ descr: '|O', shape: [3] }, 'WS5004', "elements of type '|O'", 'astype'],
    [
      { header: "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }", shape: [3] },
      'WS5004',
      'several fields',
      "x['field']",
    ],
    [{ header: '{}', shape: [3] }, 'WS5004', "it lacks 'descr'", 'numpy.save'],
    [
      { shape: [2501] },
      'WS5003',
      'is truncated: its header announces 10,004 bytes of data (shape (2501), f32), and 10,000 are there',
      'again',
    ],
    [
      { descr: '<f8', shape: [1250] },
      'WS5005',
      "holds f64, and parameter 'x' of the kernel is f32[]: values would be rounded",
      "convert: 'nearest'",
    ],
    [{ descr: '<f4', shape: [2500], element: 'i32' }, 'WS5005', 'fractions would be lost', 'nearest'],
  ] as const)('with %j are refused', async (parts, code, message, hint) => {
    const path = file('x.npy', npyFile({ data: floats, ...parts }));
    await expectFailure(readAll(path, 'element' in parts ? parts.element : 'f32'), code, message, hint);
  });

  test('come through standard input', () => {
    const input = npyFile({ shape: [2500], data: floats });
    const script = `
      import { OpenInputs, wantedOf } from '#warpstage/overlap/inputs.js';
      const inputs = new OpenInputs();
      const source = await inputs.open('-', wantedOf('x', 'f32', {}));
      const into = new Float32Array(3000);
      console.log(source.name, source.length, await source.read(into), into[2499]);
    `;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      input,
      encoding: 'utf8',
    });
    expect(output).toBe('standard input 2500 2500 524.75\n');
  });

  test('headers that are written are read back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<PlainElement>('i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'f32', 'f64'),
        fc.array(fc.nat(100_000), { maxLength: 3 }),
        async (element, shape) => {
          const bytes = npyHeader(element, shape);
          expect(bytes.length % 64).toBe(0);
          expect(bytes.length).toBe(
            npyHeader(
              element,
              shape.map(() => 0),
            ).length,
          );
          const header = await readNpyHeader(new MemoryBytes('x.npy', bytes));
          expect(header).toMatchObject({ dtype: element, shape, headerBytes: bytes.length });
        },
      ),
    );
  });
});

describe('conversion', () => {
  test('keeps what fits, and names the first value that does not', async () => {
    const good = file(
      'x.npy',
      npyFile({ descr: '<i8', shape: [3], data: BigInt64Array.of(-1n, 0n, 2147483647n) }),
    );
    expect((await readAll(good, 'i32')).values).toEqual([-1, 0, 2147483647]);
    const bad = file(
      'x.npy',
      npyFile({ descr: '<i8', shape: [3], data: BigInt64Array.of(1n, 2147483648n, 5n) }),
    );
    await expectFailure(
      readAll(bad, 'i32'),
      'WS5005',
      "element 1 is 2147483648, which is no value of i32 (-2147483648 to 2147483647), the type of parameter 'x'",
      'wider type',
    );
    const huge = file(
      'x.npy',
      npyFile({ descr: '<u8', shape: [1], data: BigUint64Array.of(2n ** 63n + 1n) }),
    );
    await expectFailure(readAll(huge, 'f64'), 'WS5005', 'element 0 is 9223372036854775809');
    expect((await readAll(huge, 'f64', { convert: 'nearest' })).values).toEqual([2 ** 63]);
  });

  test('reads halves', async () => {
    const halves = Uint16Array.of(0x3c00, 0xc000, 0x7bff, 0x0001, 0x7c00, 0x8000);
    const path = file('x.npy', npyFile({ descr: '<f2', shape: [6], data: halves }));
    expect((await readAll(path)).values).toEqual([1, -2, 65504, 2 ** -24, Infinity, -0]);
  });

  test('rounds where it is asked to', async () => {
    const path = file(
      'x.npy',
      npyFile({ descr: '<f8', shape: [5], data: Float64Array.of(0.1, 0.5, 1.5, -2.5, 9) }),
    );
    expect((await readAll(path, 'f32', { convert: 'nearest' })).values).toEqual([
      Math.fround(0.1),
      0.5,
      1.5,
      -2.5,
      9,
    ]);
    expect((await readAll(path, 'i8', { convert: 'nearest' })).values).toEqual([0, 0, 2, -2, 9]);
    const nan = file('x.npy', npyFile({ descr: '<f8', shape: [1], data: Float64Array.of(NaN) }));
    await expectFailure(readAll(nan, 'i8', { convert: 'nearest' }), 'WS5005', 'element 0 is NaN');
  });

  test('agrees with JavaScript for all pairs of types', async () => {
    const types = ['i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'f32', 'f64'] as const satisfies PlainElement[];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...types),
        fc.constantFrom(...types),
        fc.array(fc.oneof(fc.integer(), fc.double(), fc.integer({ min: -300, max: 300 })), { maxLength: 50 }),
        fc.integer({ min: 1, max: 20 }),
        async (from, to, numbers, request) => {
          const stored = arrayOf(from, numbers.length);
          stored.set(numbers);
          const path: InputData = stored;
          const target = arrayOf(to, numbers.length);
          target.set(stored);
          const exact = stored.every((value, i) => Object.is(value, target[i]));
          if (conversionProblem(from as Dtype, to, 'exact') !== null) {
            await expectFailure(readAll(path, to, {}, request), 'WS5005', `holds ${from}`);
          } else if (exact) {
            expect((await readAll(path, to, {}, request)).values).toEqual([...target]);
          } else {
            const first = stored.findIndex((value, i) => !Object.is(value, target[i]));
            await expectFailure(
              readAll(path, to, {}, request),
              'WS5005',
              `element ${first} is ${stored[first]}`,
            );
          }
        },
      ),
    );
  });
});

describe('streams of a program', () => {
  async function* pieces() {
    for (let at = 0; at < floats.byteLength; at += 777)
      yield new Uint8Array(floats.buffer).slice(at, at + 777);
  }

  test('may come in pieces of any size', async () => {
    const { source, values } = await readAll(pieces());
    expect(source.length).toBeUndefined();
    expect(values).toEqual([...floats]);
  });

  test('may give elements, which must be of the stream’s type', async () => {
    expect((await readAll({ stream: [floats.subarray(0, 10), floats.subarray(10)] })).values).toEqual([
      ...floats,
    ]);
    await expectFailure(
      readAll({ stream: [new Int32Array(3)] }),
      'WS5005',
      'gave elements of type i32, and f32',
    );
    expect((await readAll({ stream: [Int8Array.of(-3, 4)], dtype: 'i8' })).values).toEqual([-3, 4]);
  });

  test('that end within an element, fail, or give no bytes are reported', async () => {
    await expectFailure(
      readAll({ stream: [new Uint8Array(7)] }),
      'WS5003',
      'has 7 bytes, which is no whole number',
    );
    const failing = (async function* () {
      yield new Uint8Array(4);
      throw new Error('the line is dead');
    })();
    await expectFailure(
      readAll(failing),
      'WS5003',
      "the stream given for 'x' cannot be read: the line is dead",
    );
    await expectFailure(
      readAll({ stream: ['text' as never] }),
      'WS5003',
      'it gave a string instead of bytes',
    );
  });

  test('may be a Buffer of bytes', async () => {
    const { source, values } = await readAll(Buffer.from(floats.buffer));
    expect(source.length).toBe(2500);
    expect(values).toEqual([...floats]);
  });

  test('that never give anything can be closed', async () => {
    const inputs = new OpenInputs();
    const silent = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const source = await inputs.open({ stream: silent }, wantedOf('x', 'f32', {}));
    const read = source.read(new Float32Array(4));
    await inputs.close();
    await expectFailure(read, 'WS5003', 'it was closed');
  });

  test('through a named pipe are read to their end', async () => {
    const pipe = join(temporaryDirectory(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('sh', ['-c', `sleep 0.05; head -c 10000 /dev/zero > ${pipe}`]);
    const closed = new Promise((resolve) => writer.on('close', resolve));
    expect((await readAll(pipe, 'u8')).values).toEqual(new Array(10000).fill(0));
    await closed;
  });
});

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
    ['name', 'f32', "column 'name' of .* holds (UTF8|STRING); a column of numbers"],
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
      const { values, source } = await readAll(filename, 'i32', {}, 99_999);
      expect(source).toBeInstanceOf(ThreadedColumn);
      expect(values).toEqual(Array.from({ length: rows }, (_, i) => i));
      const inputs = new OpenInputs();
      const again = await inputs.open(filename, wantedOf('x', 'f32', {}));
      const into = new Float32Array(new SharedArrayBuffer(4 * rows), 40, 1000);
      expect(await again.read(into)).toBe(1000);
      expect([into[0], into[999], new Float32Array(into.buffer)[9]]).toEqual([0, 999, 0]);
      await inputs.close();
    });

    test('with the same errors', async () => {
      const hint = 'declare the parameter with a wider type';
      await expectFailure(
        readAll(filename, 'u16'),
        'WS5005',
        'element 65,536 is 65536, which is no value of u16',
        hint,
      );
      const gaps = readAll(filename, 'i32', { column: 'gaps' });
      await expectFailure(
        gaps,
        'WS5005',
        /column 'gaps' of .* has nulls: 1 in rows 200,000 to 249,999/,
        'nulls: 0',
      );
    });

    test('which ends with the run', async () => {
      const inputs = new OpenInputs();
      const source = await inputs.open(filename, wantedOf('x', 'i32', {}));
      const read = source.read(new Int32Array(rows));
      const failed = expectFailure(read, 'WS5003', /column 'x' of .* cannot be read: its decoding was ended/);
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
