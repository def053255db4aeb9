// Pictures: pixels of each kind, read and written so that another decoder finds the same ones.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { convertIndexedToRgb, decode, encode } from 'fast-png';
import { describe, expect, test } from 'vitest';
import { job, kernel, run } from 'warpstage';
import { wantedOf } from '#warpstage/overlap/input-data.js';
import { OpenInputs } from '#warpstage/overlap/inputs.js';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { file, readAll } from '../overlap/reading.ts';
import { expectFailure, npyFile, temporaryDirectory } from '../overlap/support.ts';
import { hasTool } from '../support/tools.ts';
import { damage, damaged, readDamaged } from './damaged.ts';
import { copyOf } from './jobs.ts';
import { pngChunk, pngFile, samplesOf } from './png-file.ts';

const negative = (element: 'u8' | 'u16') =>
  job({
    kernel: kernel({ y: `${element}[]`, x: `readonly ${element}[]` }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = ~x[i]!;
    }),
    inputs: { x: {} },
    outputs: { y: {} },
  });

const picture = fc.record({
  width: fc.integer({ min: 1, max: 9 }),
  height: fc.integer({ min: 1, max: 9 }),
  channels: fc.constantFrom(1, 2, 3, 4),
  depth: fc.constantFrom(8 as const, 16 as const),
  seed: fc.nat(1000),
});

test('pixels are read, and what a kernel makes of them is written', {
  timeout: randomLimit(12),
}, async () => {
  await fc.assert(
    fc.asyncProperty(picture, fc.integer({ min: 1, max: 9 }), async ({ seed, ...about }, chunk) => {
      const { width, height, channels, depth } = about;
      const length = width * height * channels;
      const numbers = Array.from({ length }, (_, i) => (i + seed) * 7919);
      const data = depth === 8 ? Uint8Array.from(numbers) : Uint16Array.from(numbers);
      const input = file('x.png', encode({ ...about, data }));
      const output = join(temporaryDirectory(), 'y.png');
      const element = depth === 8 ? 'u8' : 'u16';
      const { source, values } = await readAll(input, element);
      expect(values).toEqual([...data]);
      expect(source.shape).toEqual(channels === 1 ? [height, width] : [height, width, channels]);
      await run(negative(element), { input, output, chunk });
      const made = decode(readFileSync(output), { checkCrc: true });
      expect([made.width, made.height, made.channels, made.depth]).toEqual([width, height, channels, depth]);
      expect([...made.data]).toEqual([...data.map((one) => ~one)]);
    }),
    randomRuns(12),
  );
});

test('what is no picture is refused, and nothing is left of it', async () => {
  const folder = temporaryDirectory();
  const output = join(folder, 'y.png');
  await expectFailure(run(negative('u8'), { input: new Uint8Array(4), output }), 'WS5012', 'the shape (4)');
  const floats = file('x.npy', npyFile({ shape: [2, 2], data: new Float32Array(4) }));
  await expectFailure(run(copyOf('f32'), { input: floats, output }), 'WS5012', 'the kernel writes f32');
  expect(readdirSync(folder)).toEqual([]);
});

const kinds = fc.constantFrom<[kind: number, bits: number]>(
  [0, 8],
  [0, 16],
  [2, 8],
  [2, 16],
  [4, 8],
  [4, 16],
  [6, 8],
  [6, 16],
  [3, 1],
  [3, 2],
  [3, 4],
  [3, 8],
);

/** A picture of any kind, with what its pixels are. */
const anyPicture = fc
  .record({
    kind: kinds,
    width: fc.integer({ min: 1, max: 70 }),
    height: fc.integer({ min: 1, max: 40 }),
    interlaced: fc.boolean(),
    filters: fc.array(fc.nat(4), { minLength: 1, maxLength: 5 }),
    chunkBytes: fc.integer({ min: 1, max: 300 }),
    opaque: fc.nat(256),
    seed: fc.nat(),
  })
  .map(({ kind: [kind, bits], width, height, interlaced, filters, chunkBytes, opaque, seed }) => {
    let state = seed;
    const next = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 12;
    };
    const colours = Uint8Array.from({ length: 3 * 2 ** bits }, next).subarray(0, 3 * 256);
    const alphas = Uint8Array.from({ length: Math.min(opaque, colours.length / 3) }, next);
    const isOpaque = alphas.length === 0;
    const length = width * height * samplesOf[kind]!;
    const numbers = Array.from({ length }, () => (next() >> (next() % 5)) % 2 ** bits);
    const before = kind === 3 ? [pngChunk('PLTE', colours)] : [];
    if (kind === 3 && !isOpaque) before.push(pngChunk('tRNS', alphas));
    before.splice(next() % (before.length + 1), 0, pngChunk('tIME', Buffer.alloc(7)));
    const filterOf = (row: number) => filters[row % filters.length]!;
    const ofColour = (one: number) => [
      ...colours.subarray(3 * one, 3 * one + 3),
      ...(isOpaque ? [] : [alphas[one] ?? 255]),
    ];
    return {
      about: { kind, bits, isInterlaced: interlaced },
      bytes: pngFile({ width, height, bits, kind, numbers, interlaced, filterOf, chunkBytes, before }),
      numbers,
      expected: kind === 3 ? numbers.flatMap(ofColour) : numbers,
      extents: [height, width, kind === 3 ? (isOpaque ? 3 : 4) : samplesOf[kind]!],
    };
  });

test('every kind of pixels, filter and order is read as it was written, and as another decoder does', {
  timeout: randomLimit(60),
}, async () => {
  await fc.assert(
    fc.asyncProperty(anyPicture, async ({ about, bytes, numbers, expected, extents }) => {
      const { kind, bits, isInterlaced } = about;
      const { source, values } = await readAll(file('x.png', bytes), bits === 16 ? 'u16' : 'u8');
      expect(values).toEqual(expected);
      expect(source.shape).toEqual(extents[2] === 1 ? extents.slice(0, 2) : extents);
      // It takes pixels of less than a byte for one byte where they are interlaced.
      if (isInterlaced && bits < 8) return;
      const other = decode(bytes, { checkCrc: true });
      if (kind !== 3) expect([...other.data]).toEqual(numbers);
      else expect([...convertIndexedToRgb(other)]).toEqual(expected);
    }),
    randomRuns(60),
  );
});

test('is read from any row on, though rows follow from those before', async () => {
  const [width, height] = [500, 4000];
  const numbers = Array.from({ length: width * height }, (_, i) => (i * i) & 255);
  const about = { width, height, bits: 8, kind: 0, numbers };
  for (const interlaced of [false, true]) {
    const path = file('x.png', pngFile({ ...about, interlaced, filterOf: (row) => row % 5 }));
    for (const begin of [1, 700_000, 1_048_500, numbers.length - 1]) {
      const inputs = new OpenInputs();
      const source = await inputs.open(path, wantedOf('x', 'u8', {}));
      expect(await source.skip!(begin)).toBe(begin);
      const into = new Uint8Array(numbers.length);
      expect(await source.read(into)).toBe(numbers.length - begin);
      expect(
        Buffer.compare(into.subarray(0, numbers.length - begin), Buffer.from(numbers.slice(begin))),
      ).toBe(0);
      await inputs.close();
    }
  }
});

const hasNetpbm = hasTool('pnmtopng');

describe.skipIf(!hasNetpbm)('libpng', () => {
  const netpbm = (tool: string, args: readonly string[], input: Uint8Array) =>
    execFileSync(tool, args, { input, maxBuffer: 1 << 26, stdio: ['pipe', 'pipe', 'ignore'] });
  const pixels = (width: number, height: number, colours: number) =>
    Buffer.concat([
      Buffer.from(`P6 ${width} ${height} 255\n`),
      Buffer.from(
        Array.from({ length: width * height }, (_, i) => {
          const colour = ((i * 7) ^ (i >> 5)) % colours;
          return [colour * 3, 255 - colour, (colour * 11) & 255];
        }).flat(),
      ),
    ]);

  test.each([
    [2, []],
    [4, []],
    [16, []],
    [200, []],
    [16, ['-interlace']],
    [3, ['-interlace']],
    [200, ['-transparent', '=#00ff00']],
    [250, ['-force', '-paeth']],
    [5, ['-interlace', '-force']],
  ] as const)('writes %i colours (%j), which are read', async (colours, args) => {
    const picture = pixels(61, 47, colours);
    const bytes = netpbm('pnmtopng', args, picture);
    const isOpaque = !args.includes('-transparent' as never);
    if (!args.includes('-force' as never)) expect(bytes[25]).toBe(3);
    const { source, values } = await readAll(file('x.png', bytes), 'u8');
    const expected = [...picture.subarray(-61 * 47 * 3)];
    expect(source.shape).toEqual([47, 61, isOpaque ? 3 : 4]);
    if (isOpaque) expect(values).toEqual(expected);
    else expect(values.filter((_, i) => i % 4 < 3)).toEqual(expected);
    const alphas = isOpaque ? [] : values.filter((_, i) => i % 4 === 3);
    // The first colour is the transparent one.
    const isFirst = (i: number) => expected[3 * i] === 0 && expected[3 * i + 1] === 255;
    expect(alphas).toEqual(alphas.map((_, i) => (isFirst(i) ? 0 : 255)));
  });

  test('reads what is written', async () => {
    const picture = pixels(61, 47, 256);
    const input = file('x.png', netpbm('pnmtopng', ['-force'], picture));
    const output = join(temporaryDirectory(), 'y.png');
    await run(negative('u8'), { input, output, chunk: 10 });
    const read = netpbm('pngtopam', [output], Buffer.alloc(0));
    const expected = picture.subarray(-61 * 47 * 3).map((byte) => ~byte);
    expect(Buffer.compare(read.subarray(-expected.length), expected)).toBe(0);
  });
});

test('few bits, unknown kinds, and more pixels than are held at once are refused', async () => {
  const whole = Buffer.from(encode({ width: 2, height: 2, data: new Uint8Array(4), channels: 1 }));
  const changed = (at: number, value: number) => {
    const bytes = Buffer.from(whole);
    bytes[at] = value;
    bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
    return file('x.png', bytes);
  };
  await expectFailure(readAll(changed(25, 5), 'u8'), 'WS5004', 'colours of kind 5', 'PNG32');
  await expectFailure(readAll(changed(24, 4), 'u8'), 'WS5004', '4 bits a channel', 'PNG32');
  await expectFailure(readAll(changed(28, 2), 'u8'), 'WS5004', 'in a way that is not known');
  await expectFailure(readAll(changed(19, 0), 'u8'), 'WS5004', 'has no pixels');
  await expectFailure(readAll(changed(16, 0x7f), 'u8'), 'WS5004', 'a row is decoded whole', 'cut it');
  const wide = Buffer.from(whole);
  wide.writeUInt32BE(70_000, 16);
  wide.writeUInt32BE(70_000, 20);
  wide[28] = 1;
  wide.writeUInt32BE(crc32(wide.subarray(12, 29)), 29);
  const interlaced = readAll(file('x.png', wide), 'u8');
  await expectFailure(interlaced, 'WS5004', 'an interlaced picture is decoded whole');
});

test('what is damaged, or has rows too few or too many, is refused', async () => {
  const data = Uint8Array.from({ length: 4000 }, (_, i) => i * i);
  const whole = Buffer.from(encode({ width: 20, height: 50, data }));
  const sum = whole.subarray(0, -12).length - 4;
  for (const [at, kind] of [
    [19, 'IHDR'],
    [29, 'IHDR'],
    [100, 'IDAT'],
    [sum, 'IDAT'],
    [whole.length - 1, 'IEND'],
  ] as const) {
    const bytes = Buffer.from(whole);
    bytes[at]! ^= 1;
    await expectFailure(readAll(file('x.png', bytes), 'u8'), 'WS5003', /x\.png/);
    if (kind !== 'IDAT' || at === sum) {
      const message = `the checksum of its chunk ${kind} is another`;
      await expectFailure(readAll(file('x.png', bytes), 'u8'), 'WS5003', message, 'download it again');
    }
  }
  for (const end of [7, 20, 50, 300, whole.length - 1]) {
    await expectFailure(readAll(file('x.png', whole.subarray(0, end)), 'u8'), 'WS5003', /ends before/);
  }
  const rows = (height: number) => {
    const bytes = Buffer.from(whole);
    bytes.writeUInt32BE(height, 20);
    bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
    return readAll(file('x.png', bytes), 'u8');
  };
  await expectFailure(rows(51), 'WS5003', 'cannot be decoded in rows 0 to 4,080: its rows end before');
  await expectFailure(rows(49), 'WS5003', 'it has more rows than its head says');
  const about = { width: 3, height: 1, bits: 8, kind: 3, numbers: [0, 1, 5] };
  const before = [pngChunk('PLTE', Buffer.alloc(9))];
  await expectFailure(
    readAll(file('x.png', pngFile({ ...about, before })), 'u8'),
    'WS5003',
    'a pixel has colour 5 of a palette of 3',
  );
  await expectFailure(readAll(file('x.png', pngFile(about)), 'u8'), 'WS5003', 'its palette is missing');
  const filterOf = () => 5;
  const odd = readAll(file('x.png', pngFile({ ...about, before, filterOf })), 'u8');
  await expectFailure(odd, 'WS5003', 'row 0 has a filter 5');
  const none = Buffer.concat([whole.subarray(0, 33), pngChunk('IEND', Buffer.alloc(0))]);
  await expectFailure(readAll(file('x.png', none), 'u8'), 'WS5003', 'it ends before its picture');
  await expectFailure(
    readAll(file('x.png', Buffer.concat([whole.subarray(0, 33), Buffer.alloc(20)])), 'u8'),
    'WS5003',
    'no chunk begins',
  );
  // Bytes behind what is packed, which writers leave now and then.
  const numbers = [0, 1, 2];
  const more = pngFile({ ...about, before, numbers, behind: Buffer.alloc(1000), chunkBytes: 7 });
  expect((await readAll(file('x.png', more), 'u8')).values).toEqual(Array(9).fill(0));
});

test('a damaged picture gives values or an error of ours', { timeout: randomLimit(60) }, async () => {
  const data = Uint8Array.from({ length: 3000 }, (_, i) => i * i);
  const whole = encode({ width: 50, height: 20, data, channels: 3 });
  const path = join(temporaryDirectory(), 'x.png');
  await fc.assert(
    fc.asyncProperty(fc.option(anyPicture), damage, async (picture, how) => {
      await readDamaged(path, 'png', damaged(picture?.bytes ?? whole, how));
    }),
    randomRuns(60),
  );
});
