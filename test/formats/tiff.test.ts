// TIFF files: what libtiff writes, in each of its ways, is read to the bit, and libtiff reads what is written here.
//
// The files in tiff/ are of its tiffcp; where that is installed, random ways of it are tried too.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, job, kernel, open, run } from 'warpstage';
import { type Elements, lengthOf } from '#warpstage/formats/format.js';
import { npyHeader } from '#warpstage/formats/npy-header.js';
import { openFile } from '#warpstage/formats/open-file.js';
import { tiffHead } from '#warpstage/formats/tiff-head.js';
import { wantedOf } from '#warpstage/overlap/input-data.js';
import { OpenInputs } from '#warpstage/overlap/inputs.js';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { arrayOf, file, readAll } from '../overlap/reading.ts';
import { expectFailure, temporaryDirectory } from '../overlap/support.ts';
import { damage, damaged, readDamaged } from './damaged.ts';

const elements = ['u8', 'i16', 'u16', 'u32', 'f32', 'f64'] as const;
type Numbers = (typeof elements)[number];

const copyOf = (element: Numbers) =>
  job({
    kernel: kernel({ y: `${element}[]`, x: `readonly ${element}[]` }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = x[i]!;
    }),
    inputs: { x: {} },
    outputs: { y: {} },
  });

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1 });
});
afterAll(() => device.close());

/** Numbers of runs and of none, so that every compression has something to do. */
function numbersOf(element: Numbers, shape: readonly number[], seed = 0) {
  const data = arrayOf(
    element,
    shape.reduce((product, extent) => product * extent, 1),
  );
  const isFloat = element.startsWith('f');
  for (let i = 0; i < data.length; i++) {
    const number = ((i + seed) * 7919) >> (i % 9);
    data[i] = isFloat ? number / 8 - 100 : number;
  }
  return data;
}

async function written(element: Numbers, shape: readonly number[], seed: number, chunk = 1000) {
  const data = numbersOf(element, shape, seed);
  const bytes = new Uint8Array(data.buffer);
  const input = file('x.npy', Buffer.concat([npyHeader(element, shape), bytes]));
  const output = join(temporaryDirectory(), 'y.tif');
  await run(copyOf(element), { input, output, chunk, device });
  return { data, output };
}

const { error } = spawnSync('tiffcp', ['-h']);
const isExpected = (process.env.WARPSTAGE_EXPECT_TOOLS ?? '').split(',').includes('tiffcp');
if (error !== undefined && isExpected) throw new Error('tiffcp is expected here, and cannot be run');

async function elementsOf(path: string): Promise<Elements> {
  const opened: { close(): Promise<void> }[] = [];
  const { contents } = await openFile({ file: path }, undefined, (one) => opened.push(one));
  try {
    const [array] = contents.arrays;
    expect(lengthOf(array!)).toBeGreaterThan(0);
    return await array!.elements();
  } finally {
    for (const one of opened) await one.close();
  }
}

/** A picture of 3 by 4 bytes, with some tags of its directory changed. */
function changed(...values: readonly (readonly [tag: number, value: number])[]): string {
  const head = Buffer.from(tiffHead('x', 'u8', [3, 4]));
  for (const [tag, value] of values) {
    const entries = Array.from({ length: head.readUInt16LE(8) }, (_, i) => 10 + 12 * i);
    const entry = entries.find((at) => head.readUInt16LE(at) === tag)!;
    if (head.readUInt16LE(entry + 2) === 3) head.writeUInt16LE(value, entry + 8);
    else head.writeUInt32LE(value, entry + 8);
  }
  return file('x.tif', Buffer.concat([head, Buffer.from('abcdefghijkl')]));
}

describe('a TIFF file', () => {
  const folder = join(import.meta.dirname, 'tiff');

  test.each(readdirSync(folder))('%s, which tiffcp wrote, is read, also from its midst', async (name) => {
    // Its name: the element, the channels, and how it was written.
    const [element, channels] = name.split('-') as [Numbers, string];
    const shape = channels === '1' ? [37, 53] : [37, 53, Number(channels)];
    const data = numbersOf(element, shape);
    const { source, values } = await readAll(join(folder, name), element);
    expect(source.shape).toEqual(shape);
    expect(values).toEqual([...data]);
    for (const begin of [1, 500, data.length - 1]) {
      const inputs = new OpenInputs();
      const part = await inputs.open(join(folder, name), wantedOf('x', element, {}));
      expect(await part.skip!(begin)).toBe(begin);
      const into = arrayOf(element, data.length);
      const read = await part.read(into);
      expect([...into.subarray(0, read)]).toEqual([...data.subarray(begin)]);
      await inputs.close();
    }
  });

  test('that lies as in memory is read in place, and any other in units', async () => {
    const { output } = await written('u16', [30, 20], 1);
    expect(await elementsOf(output)).toHaveProperty('bytes');
    expect(await elementsOf(join(folder, 'u8-1-packbits.tif'))).toHaveProperty('decode');
    expect(await elementsOf(join(folder, 'u16-1-big-endian.tif'))).toHaveProperty('decode');
  });

  test('is found under any name but one of bare numbers', async () => {
    const whole = readFileSync(changed());
    expect((await readAll(file('x.out', whole), 'u8')).values).toEqual([...Buffer.from('abcdefghijkl')]);
    await expectFailure(readAll(file('x.bin', whole), 'u8'), 'WS5004', 'begins as a .tif file does');
  });

  test('whose strips lie in another order is read in that of its rows', async () => {
    const head = Buffer.from(tiffHead('x', 'u8', [2, 3]));
    const entry = (tag: number) => {
      for (let at = 10; ; at += 12) if (head.readUInt16LE(at) === tag) return at;
    };
    head.writeUInt32LE(1, entry(278) + 8);
    for (const [tag, list, values] of [
      [273, 900, [head.length + 3, head.length]],
      [279, 908, [3, 3]],
    ] as const) {
      head.writeUInt32LE(2, entry(tag) + 4);
      head.writeUInt32LE(list, entry(tag) + 8);
      values.forEach((value, i) => {
        head.writeUInt32LE(value, list + 4 * i);
      });
    }
    const { values } = await readAll(file('x.tif', Buffer.concat([head, Buffer.of(4, 5, 6, 1, 2, 3)])), 'u8');
    expect(values).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('is written of any numbers and shape, in chunks of any size', {
    timeout: randomLimit(12),
  }, async () => {
    const shape = fc.oneof(
      fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 })),
      fc.tuple(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 2, max: 64 }),
      ),
    );
    const about = [
      fc.constantFrom(...elements),
      shape,
      fc.nat(1000),
      fc.integer({ min: 1, max: 999 }),
    ] as const;
    await fc.assert(
      fc.asyncProperty(...about, async (element, extents, seed, chunk) => {
        const { data, output } = await written(element, extents, seed, chunk);
        const { source, values } = await readAll(output, element);
        expect(source.shape).toEqual(extents);
        expect(values).toEqual([...data]);
      }),
      randomRuns(12),
    );
  });

  test('of more than 4 GiB has the offsets of BigTIFF, in a head of the same length', () => {
    const [small, large] = [tiffHead('x', 'f32', [2, 2]), tiffHead('x', 'f32', [40_000, 40_000])];
    expect(large.length).toBe(small.length);
    const view = new DataView(large.buffer, large.byteOffset);
    expect([view.getUint16(2, true), view.getBigUint64(8, true)]).toEqual([43, 16n]);
    const entries = Array.from({ length: Number(view.getBigUint64(16, true)) }, (_, i) => 24 + 20 * i);
    const bytes = entries.find((at) => view.getUint16(at, true) === 279)!;
    expect(view.getBigUint64(bytes + 12, true)).toBe(6_400_000_000n);
  });

  test('of any way of tiffcp is read, and ours are by tiffcp', { timeout: randomLimit(12) }, async ({
    skip,
  }) => {
    if (error !== undefined) skip('no tiffcp');
    const way = fc.record({
      element: fc.constantFrom(...elements),
      channels: fc.constantFrom(1, 3, 5),
      seed: fc.nat(1000),
      order: fc.constantFrom<string[]>(['-L'], ['-B'], ['-8', '-L'], ['-8', '-B']),
      blocks: fc.constantFrom(
        ['-s'],
        ['-r', '5'],
        ['-t', '-w', '16', '-l', '32'],
        ['-t', '-w', '48', '-l', '16'],
      ),
      packed: fc.constantFrom('none', 'packbits', 'lzw', 'zip', 'lzw:2', 'zip:2', 'lzw:3', 'zip:3'),
      isPlanar: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(way, async ({ element, channels, seed, order, blocks, packed, isPlanar }) => {
        const isFloat = element.startsWith('f');
        // libtiff 4.5 writes differences of floats with their bytes reversed where those of the file are.
        const hasDifferences = isFloat && !order.includes('-B');
        const compression = hasDifferences ? packed : packed.replace(':3', ':2');
        const shape = channels === 1 ? [41, 35] : [41, 35, channels];
        const { data, output } = await written(element, shape, seed);
        const made = join(temporaryDirectory(), 'z.tif');
        // It turns no others into planes.
        const planes = isPlanar && element === 'u8' && channels > 1 ? ['-p', 'separate'] : [];
        execFileSync('tiffcp', [...order, ...blocks, ...planes, '-c', compression, output, made], {
          stdio: 'pipe',
        });
        const { source, values } = await readAll(made, element);
        expect(source.shape).toEqual(shape);
        expect(values).toEqual([...data]);
      }),
      randomRuns(12),
    );
  });

  test('that names more than it has is refused before memory is taken for it', async () => {
    await expectFailure(
      readAll(changed([256, 2 ** 31 - 1], [257, 9], [278, 9]), 'u8'),
      'WS5004',
      'are unpacked at once',
    );
    await expectFailure(readAll(changed([257, 2 ** 24], [278, 2 ** 24]), 'u8'), 'WS5003', 'x.tif is damaged');
    await expectFailure(
      readAll(changed([257, 2 ** 24], [278, 2 ** 24], [259, 8]), 'u8'),
      'WS5003',
      'fewer bytes than its rows take',
    );
    await expectFailure(readAll(changed([257, 2 ** 24])), 'WS5003', 'names 1 of 5592406 strips');
    await expectFailure(readAll(changed([273, 2 ** 30]), 'u8'), 'WS5003', 'x.tif is damaged');
    // A tile of which one row is there, and of which 1 GiB is not.
    const tile = readFileSync(join(folder, 'u8-3-lzw-tiles.tif'));
    const directory = tile.readUInt32LE(4);
    for (let i = 0, at = directory + 2; i < tile.readUInt16LE(directory); i++, at += 12) {
      const tag = tile.readUInt16LE(at);
      if (tag === 257) tile.writeUInt16LE(1, at + 8);
      if (tag === 322 || tag === 323) tile.writeUInt16LE(32_000, at + 8);
    }
    const before = process.memoryUsage().arrayBuffers;
    await expectFailure(readAll(file('x.tif', tile), 'u8'), 'WS5003', 'x.tif');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 26);
    const whole = readFileSync(changed());
    await expectFailure(
      readAll(file('x.tif', whole.subarray(0, whole.length - 1)), 'u8'),
      'WS5003',
      'its rows end at 1036',
    );
    await expectFailure(readAll(file('x.tif', whole.subarray(0, 20)), 'u8'), 'WS5003', 'it has 20 bytes');
  });

  test('that holds no rows of numbers is refused with what makes some of it', async () => {
    for (const [tag, value, message] of [
      [259, 7, 'compressed by JPEG'],
      [259, 99, 'compressed by method 99'],
      [262, 3, 'colours of a palette'],
      [258, 4, 'numbers of 4 bits'],
      [339, 9, 'of format 9'],
    ] as const) {
      await expectFailure(readAll(changed([tag, value]), 'u8'), 'WS5004', message, 'write it out first');
    }
    await expectFailure(readAll(file('x', Buffer.from('II*\0')), 'u8'), 'WS5003', 'x is damaged');
    // A second picture: the same directory once more.
    const twice = Buffer.from(readFileSync(changed()));
    twice.writeUInt32LE(8, 10 + 12 * twice.readUInt16LE(8));
    await expectFailure(readAll(file('x.tif', twice), 'u8'), 'WS5004', 'has several pictures', 'tiffcp');
    const output = join(temporaryDirectory(), 'y.tif');
    await expectFailure(run(copyOf('u8'), { input: new Uint8Array(4), output }), 'WS5012', 'the shape (4)');
    expect(existsSync(output)).toBe(false);
  });

  test.each(['u8-3-lzw-tiles.tif', 'f32-1-zip-floats.tif', 'u8-1-packbits.tif'])(
    '%s that is damaged gives values or an error of ours',
    { timeout: randomLimit(25) },
    async (name) => {
      const whole = readFileSync(join(folder, name));
      const path = join(temporaryDirectory(), 'x.tif');
      await fc.assert(
        fc.asyncProperty(damage, async (how) => {
          await readDamaged(path, 'tiff', damaged(whole, how));
        }),
        randomRuns(25),
      );
    },
  );
});
