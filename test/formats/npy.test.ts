// Headers of .npy files: whatever they hold, they are read as NumPy means them, or refused with a WarpstageError.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WarpstageError } from 'warpstage';
import { npyHeader, readNpyHeader } from '#warpstage/formats/npy-header.js';
import { parsePythonLiteral } from '#warpstage/formats/python-literal.js';
import { MemoryBytes } from '#warpstage/overlap/memory-bytes.js';
import { file, readAll } from '../overlap/reading.ts';
import { expectFailure, npyFile } from '../overlap/support.ts';

const data = Float32Array.of(1, 2, 3, 4, 5, 6);

describe('a header', () => {
  test.each([
    ['in another order, without spaces', "{'shape':(2,3),'fortran_order':False,'descr':'<f4'}"],
    ['in double quotes', '{"descr": "<f4", "fortran_order": False, "shape": (2, 3)}'],
    ['of Python 2', "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }"],
    ['over several lines', "{'descr': '<f4',\n 'fortran_order': False,\n 'shape': (2, 3,), }"],
    ['of the native order', "{'descr': '=f4', 'fortran_order': False, 'shape': (2, 3), }"],
  ])('%s is read', async (_, header) => {
    const { source, values } = await readAll(file('x.npy', npyFile({ header, shape: [2, 3], data })));
    expect({ shape: source.shape, values }).toEqual({ shape: [2, 3], values: [1, 2, 3, 4, 5, 6] });
  });

  const rest = "'fortran_order': False, 'shape': (6,), }";
  test.each([
    ['a line break in its type', `{'descr': '<f\\n4', ${rest}`, "elements of type '<f\\n4'"],
    [
      'a type that is called as a member of objects',
      `{'descr': 'constructor', ${rest}`,
      "type 'constructor'",
    ],
    ['a type that is called __proto__', `{'descr': '__proto__', ${rest}`, "type '__proto__'"],
    ['a type that is a number', `{'descr': 4, ${rest}`, 'several fields'],
    ['a key twice', `{'descr': '<f4', 'descr': '<f8', ${rest}`, "'descr' is there twice"],
    ['a key more', `{'descr': '<f4', 'more': 1, ${rest}`, 'has descr, fortran_order, more, shape'],
    ['something behind it', `{'descr': '<f4', ${rest} x`, '"x" at position'],
    ['an end too early', "{'descr': '<f4', 'fortran_order': False", 'it ends too early'],
    ['a name', `{'descr': f4, ${rest}`, "'f4' is no literal"],
    ['a negative extent', "{'descr': '<f4', 'fortran_order': False, 'shape': (-6,), }", 'no tuple of whole'],
    [
      'a shape that is a number',
      "{'descr': '<f4', 'fortran_order': False, 'shape': (6), }",
      'no tuple of whole',
    ],
    [
      'an order that is a number',
      "{'descr': '<f4', 'fortran_order': 0, 'shape': (6,), }",
      'neither True nor',
    ],
    [
      'too many elements',
      `{'descr': '<f4', 'fortran_order': False, 'shape': (${'9999, '.repeat(9)}), }`,
      'too large',
    ],
    [
      'a shape without end',
      `{'descr': '<f4', 'fortran_order': False, 'shape': ${'('.repeat(9000)}`,
      'too deeply',
    ],
    ['a type of a page', `{'descr': '${'x'.repeat(300)}', ${rest}`, `'${'x'.repeat(40)}…'`],
  ])('with %s is refused', async (_, header, message) => {
    const path = file('x.npy', npyFile({ header, shape: [6], data }));
    const error = await expectFailure(readAll(path), 'WS5004', '');
    expect(error.issues[0]!.message).toContain(message);
  });

  test('of 200,000 bytes is read, and one of more than a mebibyte refused', async () => {
    const long = (spaces: number) =>
      npyFile({ header: `{'descr': '<f4', ${' '.repeat(spaces)}${rest}`, shape: [6], data, version: 2 });
    expect((await readAll(file('x.npy', long(200_000)))).values).toEqual([...data]);
    await expectFailure(readAll(file('x.npy', long(2 ** 20))), 'WS5004', 'its length is given as');
  });

  test.each([1, 2, 3] as const)('of version %i says where the elements begin', async (version) => {
    const bytes = npyFile({ shape: [6], data, version });
    const read = await readNpyHeader(new MemoryBytes('x.npy', bytes));
    expect(read.headerBytes).toBe(bytes.length - data.byteLength);
  });

  test('whose length takes all of its 32 bits is refused', async () => {
    const bytes = npyFile({ shape: [6], data, version: 2 });
    bytes[11] = 1;
    await expectFailure(
      readNpyHeader(new MemoryBytes('x.npy', bytes)),
      'WS5004',
      'length is given as 16,777',
    );
  });

  test.each(['>i2', '>f2', '>f4', '>u4', '>f8', '>i8'])('of elements %s is refused', async (descr) => {
    const bytes = npyFile({ descr, shape: [3], data });
    await expectFailure(readNpyHeader(new MemoryBytes('x.npy', bytes)), 'WS5004', 'big-endian elements');
  });

  test('of columns is refused, unless rows are the same', async () => {
    const read = (shape: readonly number[]) =>
      readNpyHeader(new MemoryBytes('x.npy', npyFile({ shape, fortran: true, data })));
    for (const shape of [
      [2, 3],
      [1, 2, 3],
      [2, 1, 3],
    ])
      await expectFailure(read(shape), 'WS5004', 'is stored column by column');
    for (const shape of [[6], [6, 1], [1, 6], [0, 2]]) expect((await read(shape)).shape).toEqual(shape);
  });

  test('that was changed anywhere is read or refused, and never anything else', async () => {
    const good = [1, 2, 3].map((version) =>
      npyFile({ shape: [2, 3], data, version: version as 1 | 2 | 3 }).subarray(0, version === 1 ? 128 : 192),
    );
    const pieces = fc.constantFrom(
      "'",
      '"',
      '(',
      ')',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '\\',
      '\n',
      '\0',
      'True',
      '<f8',
      '>i2',
      '-1',
      '99999999999',
      'descr',
      'é',
    );
    const change = fc.record({
      of: fc.nat(2),
      at: fc.nat(191),
      cut: fc.nat(12),
      put: fc.oneof(
        pieces.map((text) => Buffer.from(text)),
        fc.uint8Array({ maxLength: 6 }).map(Buffer.from),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        let header: Buffer = good[changes[0]!.of]!;
        for (const { at, cut, put } of changes) {
          header = Buffer.concat([header.subarray(0, at), put, header.subarray(at + cut)]);
        }
        try {
          const read = await readNpyHeader(new MemoryBytes('x.npy', header));
          expect(read.shape.reduce((a, b) => a * b, 1)).toBe(read.length);
          expect(read.headerBytes).toBeLessThanOrEqual(header.length);
        } catch (error) {
          if (!(error instanceof WarpstageError)) throw error;
          expect(error.code).toMatch(/^WS500[34]$/);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('literals of Python', () => {
  test('of any kind are read back', () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(true, false, null),
        fc.integer(),
        fc.string({ unit: fc.constantFrom(...'ab\'"\\\n {}(),:é') }),
        fc.array(tie('value'), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.boolean(), (written, lists) => {
        expect(parsePythonLiteral(inPython(written, lists))).toEqual(written);
      }),
    );
  });
});

function inPython(value: unknown, lists: boolean): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
  if (!Array.isArray(value)) return String(value);
  const items = value.map((one) => inPython(one, lists)).join(', ');
  if (lists) return `[${items}]`;
  return `(${items}${value.length === 1 ? ',' : ''})`;
}

test('a header that is written has one length for every shape of a rank', () => {
  const lengths = [[0], [1], [2 ** 52]].map((shape) => npyHeader('f32', shape).length);
  expect(new Set(lengths).size).toBe(1);
});

test('a header that is written is read back, and ends where elements may be mapped', async () => {
  const extents = fc.array(fc.nat(1000), { maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(extents, fc.constantFrom('f32', 'i8', 'u64', 'f16'), async (shape, element) => {
      const bytes = npyHeader(element, shape);
      expect(bytes.length % 64).toBe(0);
      const length = shape.reduce((product, extent) => product * extent, 1);
      const read = readNpyHeader(new MemoryBytes('x.npy', bytes));
      if (!Number.isSafeInteger(length)) await expect(read).rejects.toThrow('is too large');
      else expect(await read).toMatchObject({ shape, length, dtype: element, headerBytes: bytes.length });
    }),
  );
});
