// Sound: numbers of each width, by channels, whatever chunks lie around them.

import { describe, expect, test } from 'vitest';
import { StreamBytes } from '#warpstage/formats/stream-bytes.js';
import { wav } from '#warpstage/formats/wav.js';
import { runHere } from '../cli/support.ts';
import { file, readAll } from '../overlap/reading.ts';
import { expectFailure } from '../overlap/support.ts';
import { chunk, wavFile } from './wav-file.ts';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const shorts = Int16Array.of(1, -2, 300, -32_768, 32_767, 6);

describe('a WAV file', () => {
  test.each([
    ['u8', 1, 8, Uint8Array.of(0, 128, 255)],
    ['i16', 1, 16, shorts],
    ['i32', 1, 32, Int32Array.of(-5, 2 ** 30)],
    ['f32', 3, 32, Float32Array.of(0.5, -0.25)],
    ['f32', 0xfffe, 32, Float32Array.of(0.5, -0.25)],
    ['f64', 3, 64, Float64Array.of(0.1, -1)],
  ] as const)('of %s (format %i, %i bits) is read', async (element, tag, bits, data) => {
    const path = file('x.wav', wavFile({ data: bytesOf(data), tag, bits }));
    expect((await readAll(path, element)).values).toEqual([...data]);
  });

  test('has a row for each moment, and other chunks around its data', async () => {
    const before = Buffer.concat([chunk('JUNK', Buffer.alloc(27)), chunk('bext', Buffer.alloc(602))]);
    const whole = wavFile({
      data: bytesOf(shorts),
      channels: 2,
      bits: 16,
      before,
      behind: chunk('LIST', Buffer.from('INFOISFT')),
    });
    for (const name of ['x.wav', 'x', 'x.WAVE']) {
      const { source, values } = await readAll(file(name, whole), 'i16');
      expect(values).toEqual([...shorts]);
      expect(source.shape).toEqual([3, 2]);
    }
    const { text } = await runHere('info', file('x.wav', whole));
    expect(text).toMatch(/i16 \(PCM of 16 bits\)/);
    expect(text).toMatch(/rate +44100 Hz/);
  });

  test('of more than 4 GiB says its length elsewhere, and one from a pipe nowhere', async () => {
    const sizes = Buffer.alloc(28);
    sizes.writeBigUInt64LE(8n, 8);
    const wide = wavFile({
      data: bytesOf(shorts),
      bits: 16,
      size: 0xffffffff,
      magic: 'RF64',
      before: chunk('ds64', sizes),
    });
    expect((await readAll(file('x.wav', wide), 'i16')).values).toEqual([...shorts.subarray(0, 4)]);
    const piped = wavFile({ data: bytesOf(shorts), bits: 16, size: 0xffffffff });
    expect((await readAll(file('x.wav', piped), 'i16')).values).toEqual([...shorts]);
    const { arrays } = await wav.open!(new StreamBytes('pipe', [piped]), { dtype: undefined });
    expect(arrays[0]!.shape).toBeUndefined();
  });

  test.each([
    ['numbers of 24 bits', wavFile({ data: new Uint8Array(6), bits: 24 }), 'WS5004', 'numbers of 24 bits'],
    [
      'coded sound',
      wavFile({ data: new Uint8Array(6), tag: 85, bits: 0 }),
      'WS5004',
      'coded \\(format 85\\)',
    ],
    ['no channels', wavFile({ data: new Uint8Array(6), channels: 0, bits: 16 }), 'WS5004', 'no channels'],
    ['too few bytes', wavFile({ data: new Uint8Array(6), bits: 16, size: 60 }), 'WS5003', 'truncated'],
    ['no data', wavFile({ data: new Uint8Array(0), bits: 16 }).subarray(0, 36), 'WS5003', 'before its data'],
    ['another file', Buffer.from('not a sound at all'), 'WS5004', "begin with 'RIFF'"],
  ])('of %s is refused', async (_, whole, code, message) => {
    await expectFailure(readAll(file('x.wav', whole)), code, new RegExp(message));
  });
});
