// Pictures: pixels of each kind, read and written so that another decoder finds the same ones.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { decode, encode } from 'fast-png';
import { expect, test } from 'vitest';
import { job, kernel, run } from 'warpstage';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { file, readAll } from '../overlap/reading.ts';
import { expectFailure, npyFile, temporaryDirectory } from '../overlap/support.ts';
import { damage, damaged, readDamaged } from './damaged.ts';
import { copyOf } from './jobs.ts';

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

test('palettes, few bits, and more pixels than are decoded at once are refused', async () => {
  const whole = Buffer.from(encode({ width: 2, height: 2, data: new Uint8Array(4), channels: 1 }));
  const changed = (at: number, value: number) => {
    const bytes = Buffer.from(whole);
    bytes[at] = value;
    return file('x.png', bytes);
  };
  await expectFailure(readAll(changed(25, 3), 'u8'), 'WS5004', 'colours of a palette', 'PNG32');
  await expectFailure(readAll(changed(24, 4), 'u8'), 'WS5004', '4 bits a channel');
  await expectFailure(readAll(changed(16, 0x7f), 'u8'), 'WS5004', 'is decoded whole');
  await expectFailure(readAll(changed(19, 3), 'u8'), 'WS5003', 'x.png');
  // With rows that are not there, and a checksum that agrees.
  const taller = Buffer.from(whole);
  taller.writeUInt32BE(5, 20);
  taller.writeUInt32BE(crc32(taller.subarray(12, 29)), 29);
  await expectFailure(readAll(file('x.png', taller), 'u8'), 'WS5003', 'cannot be decoded');
  await expectFailure(readAll(file('x.png', whole.subarray(0, 20)), 'u8'), 'WS5003', 'ends before');
  await expectFailure(readAll(file('x.png', whole.subarray(0, 50)), 'u8'), 'WS5003', 'x.png');
});

test('a damaged picture gives values or an error of ours', { timeout: randomLimit(60) }, async () => {
  const data = Uint8Array.from({ length: 3000 }, (_, i) => i * i);
  const whole = encode({ width: 50, height: 20, data, channels: 3 });
  const path = join(temporaryDirectory(), 'x.png');
  await fc.assert(
    fc.asyncProperty(damage, async (how) => {
      await readDamaged(path, 'png', damaged(whole, how));
    }),
    randomRuns(60),
  );
});
