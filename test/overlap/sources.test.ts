// Where a job's numbers come from: raw and .npy files, streams of a program, and what is converted.

import { execFileSync, spawn } from 'node:child_process';
import { truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FileBytes } from '#warpstage/formats/bytes.js';
import { conversionProblem, type Dtype } from '#warpstage/formats/dtype.js';
import { npyHeader, readNpyHeader } from '#warpstage/formats/npy-header.js';
import { wantedOf } from '#warpstage/overlap/input-data.js';
import { OpenInputs } from '#warpstage/overlap/inputs.js';
import { MemoryBytes } from '#warpstage/overlap/memory-bytes.js';
import type { InputData } from '#warpstage/overlap/options.js';
import type { PlainElement } from '../support/run-program.ts';
import { arrayOf, file, floats, readAll } from './reading.ts';
import { expectFailure, npyFile, temporaryDirectory } from './support.ts';

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

  test.each(['f32', 'i32'] as const)(
    'that shrink while they are read as %s are reported',
    async (element) => {
      const path = file('x.bin', new Uint8Array(floats.buffer));
      const inputs = new OpenInputs();
      try {
        const source = await inputs.open(
          { file: path, dtype: 'i32' },
          wantedOf('x', element, { convert: 'nearest' }),
        );
        expect(await source.read(arrayOf(element, 1000))).toBe(1000);
        truncateSync(path, 4 * 1500);
        await expectFailure(
          source.read(arrayOf(element, 1000)),
          'WS5003',
          'ended after 6,000 of 10,000 bytes',
          'shortened it while it was read',
        );
      } finally {
        await inputs.close();
      }
    },
  );

  test('are read in part from where the part begins', async () => {
    await using handle = await open(
      file(
        'x.bin',
        Uint8Array.from({ length: 100 }, (_, at) => at),
      ),
    );
    const part = new FileBytes('x.bin', handle, 50, 20);
    const inner = part.slice(5, 9);
    const into = new Uint8Array(10);
    expect([...into.subarray(0, await inner.read(into))]).toEqual([25, 26, 27, 28]);
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
      "x['a']",
    ],
    [
      { header: '{}', shape: [3] },
      'WS5004',
      'it must have the keys descr, fortran_order and shape, and has none',
      'numpy.save',
    ],
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
      import { wantedOf } from '#warpstage/overlap/input-data.js';
      import { OpenInputs } from '#warpstage/overlap/inputs.js';
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
