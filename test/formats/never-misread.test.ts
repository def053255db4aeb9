// Files are read in the format that they have, or refused: no other file is ever taken for bare numbers.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { run } from 'warpstage';
import { dtypeBytes } from '#warpstage/formats/dtype.js';
import { Folder, runHere, run as runProgram } from '../cli/support.ts';
import { file, floats, readAll } from '../overlap/reading.ts';
import { expectFailure, npyFile, temporaryDirectory } from '../overlap/support.ts';
import { copyOf } from './jobs.ts';

const bytes = new Uint8Array(floats.buffer);
const copy = copyOf('f32');

/** What each kind of file begins with. */
const beginnings = {
  gif: 'GIF89a',
  webp: 'RIFF\x10\0\0\0WEBPVP8 ',
  h5: '\x89HDF\r\n\x1a\n',
  npz: 'PK\x03\x04',
  feather: 'FEA1\0\0',
  gz: '\x1f\x8b\x08\x08',
  zst: '\x28\xb5\x2f\xfd',
} as const;

const folder = new Folder();
afterAll(() => folder.remove());

describe('input', () => {
  test.each([
    ['txt', 'numpy.loadtxt'],
    ['md', 'name the file that holds the numbers;'],
    ['log', 'name the file that holds the numbers;'],
    ['h5', 'h5py.File'],
    ['jpg', 'PIL.Image.open'],
    ['webp', 'PIL.Image.open'],
    ['safetensors', 'safetensors.numpy'],
    ['npy.bz2', 'bunzip2 -k'],
  ])('a name that ends in .%s is refused, with what to type', async (ending, hint) => {
    const path = file(`x.${ending}`, bytes);
    const error = await expectFailure(readAll(path), 'WS5004', 'by its name, which is not read', '--raw');
    expect(error.hint).toContain(hint);
  });

  test.each(Object.entries(beginnings))(
    'that begins as .%s is refused whatever its name',
    async (_, begin) => {
      const contents = Buffer.concat([Buffer.from(begin, 'latin1'), bytes]);
      for (const name of ['x.bin', 'x.f32', 'x', 'x.dat']) {
        await expectFailure(readAll(file(name, contents)), 'WS5004', 'by how it begins', '--raw');
      }
      expect(
        (await readAll({ file: file('x.bin', contents), format: 'raw', dtype: 'u8' }, 'u8')).values,
      ).toEqual([...contents]);
    },
  );

  test('is not read as raw by any ending that does not say so', async () => {
    const said = new Set(['raw', 'bin', ...Object.keys(dtypeBytes)]);
    const readable = new Set(['npy', 'pq', 'gz']);
    const letters = fc.string({ unit: fc.constantFrom(...'abcdefgnopruy0168'), minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(letters, async (ending) => {
        const path = file(`x.${ending}`, bytes);
        if (said.has(ending)) return;
        const error = await expectFailure(readAll(path), 'WS5004', '');
        if (!readable.has(ending)) expect(error.hint).toContain('--raw');
      }),
      { numRuns: 60 },
    );
  });

  test('a .npy file is found under any name but one of bare numbers', async () => {
    const npy = npyFile({ shape: [2500], data: floats });
    expect((await readAll(file('x.out', npy))).values).toEqual([...floats]);
    await expectFailure(readAll(file('x.bin', npy)), 'WS5004', 'begins as a .npy file does', "format: 'npy'");
  });

  test('an ending names the type, which is checked', async () => {
    const path = file('x.f64', new Uint8Array(Float64Array.of(1.5, 2).buffer));
    expect((await readAll(path, 'f64')).values).toEqual([1.5, 2]);
    await expectFailure(readAll({ file: path, dtype: 'f32' }), 'WS5005', 'holds f64, and not f32', '--dtype');
  });

  test('a type that is said must be that of a .npy file', async () => {
    const path = file('x.npy', npyFile({ shape: [2500], data: floats }));
    expect((await readAll({ file: path, dtype: 'f32' })).values).toHaveLength(2500);
    await expectFailure(readAll({ file: path, dtype: 'i32' }), 'WS5005', 'holds f32, and not i32', '--dtype');
  });

  test.each([
    ['text', 'a,b\n1,2\n', 'standard input is text'],
    ['nothing at all', '', 'standard input is empty'],
    ['an image', `${beginnings.gif}12345678`, 'standard input is an image by how it begins'],
  ])('from a pipe: %s is refused', async (_, text, message) => {
    const argv = ['run', 'examples/affine.ts', '-', folder.file('left.npy')];
    const { code, stderr } = await runProgram(argv, Buffer.from(text, 'latin1'));
    expect(stderr).toContain(message);
    expect({ code, left: folder.list() }).toEqual({ code: 3, left: [] });
  });

  test('from a device that is empty is refused', async () => {
    await expectFailure(readAll('/dev/null'), 'WS5003', '/dev/null is empty', 'did the program');
  });
});

describe('output', () => {
  test.each(['y.xlsx', 'y.jpg', 'y', 'y.gz', 'y.parquet.gz', 'y.dat'])(
    'to %s is refused before anything is read',
    async (name) => {
      const directory = temporaryDirectory();
      await expectFailure(
        run(copy, { input: join(directory, 'missing.npy'), output: join(directory, name) }),
        'WS5012',
        name,
        /y(\.parquet)?\.npy.*y(\.parquet)?\.bin.*--raw/,
      );
      expect(readdirSync(directory)).toEqual([]);
    },
  );

  test('to a name of another type than the kernel writes is refused', async () => {
    const output = join(temporaryDirectory(), 'y.i16');
    await expectFailure(run(copy, { input: floats, output }), 'WS5012', 'would hold i16', /y\.f32.*y\.bin/);
  });

  test('of any name is written raw where that is said, and a device without', async () => {
    const output = join(temporaryDirectory(), 'y.dat');
    await run(copy, { input: floats, output: { file: output, format: 'raw' } });
    expect(new Uint8Array(readFileSync(output))).toEqual(bytes);
    await run(copy, { input: floats, output: '/dev/null' });
  });

  test('to a folder says that it is one', async () => {
    const output = join(temporaryDirectory(), 'folder');
    mkdirSync(output);
    await expectFailure(run(copy, { input: floats, output }), 'WS5006', 'it is a directory');
  });
});

describe('--raw', () => {
  test('reads and writes bare elements under any name, but leaves .npy what it is', async () => {
    const input = folder.file('x.dat', Buffer.from(bytes));
    const refused = await runHere('run', 'examples/affine.ts', input, folder.file('y.dat'));
    expect({ code: refused.code, left: folder.list() }).toEqual({ code: 2, left: ['x.dat'] });
    const both = await runHere('run', 'examples/affine.ts', input, folder.file('y.dat'), '--raw', '-q');
    expect({ code: both.code, stderr: both.stderr }).toEqual({ code: 0, stderr: '' });
    expect(readFileSync(folder.file('y.dat'))).toEqual(Buffer.from(bytes));
    await runHere('run', 'examples/affine.ts', input, folder.file('y.npy'), '--raw', '-q');
    expect(readFileSync(folder.file('y.npy')).subarray(1, 6).toString()).toBe('NUMPY');
  });
});
