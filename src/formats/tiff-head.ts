// The head of a TIFF file that is written: its directory, and then its rows, as one strip, uncompressed.
//
// It has the same length whatever the shape, so that it can be written again when the shape is known. Where the end lies
// beyond 4 GiB it is that of a BigTIFF file.

import { problem } from '../diagnostics/problem.ts';
import { dtypeBytes } from './dtype.ts';
import { tags } from './tiff-directory.ts';
import type { Picture } from './tiff-picture.ts';

/** Lists of 16 bits for each channel lie behind the directory; so many bytes are enough for all. */
const headBytes = 1024;
/** Programs read no more. */
const mostChannels = 64;
const longest = 2 ** 32 - 1;

const short = { type: 3, width: 2 };
const long = { type: 4, width: 4 };
const wideLong = { type: 16, width: 8 };

/** The bytes before the first number. */
export function tiffHead(name: string, dtype: Picture['dtype'], shape: readonly number[]): Uint8Array {
  const [height = 0, width = 0, samples = 1] = shape;
  const isPicture = (shape.length === 2 || shape.length === 3) && samples >= 1 && samples <= mostChannels;
  if (!isPicture || height > longest || width > longest || width * samples === 0) {
    throw problem(
      'WS5012',
      `${name} would be a picture, and the output has the shape (${shape.join(', ')})`,
      `a picture has rows of pixels, and 1 to ${mostChannels} channels where it has three extents; write others as .npy`,
    );
  }
  const bytes = height * width * samples * dtypeBytes[dtype];
  const isWide = bytes + headBytes > longest;
  const place = isWide ? wideLong : long;
  const isColour = (samples === 3 || samples === 4) && (dtype === 'u8' || dtype === 'u16');
  const each = (value: number) => Array.from({ length: samples }, () => value);
  const extra = samples - (isColour ? 3 : 1);
  const format = dtype.startsWith('u') ? 1 : dtype.startsWith('i') ? 2 : 3;
  const entries: readonly (readonly [tag: number, kind: typeof long, values: readonly number[]])[] = [
    [tags.width, long, [width]],
    [tags.height, long, [height]],
    [tags.bits, short, each(8 * dtypeBytes[dtype])],
    [tags.compression, short, [1]],
    [tags.colours, short, [isColour ? 2 : 1]],
    [tags.stripOffsets, place, [headBytes]],
    [tags.samples, short, [samples]],
    [tags.rowsPerStrip, long, [Math.max(1, height)]],
    [tags.stripBytes, place, [bytes]],
    [tags.planes, short, [1]],
    // Numbers of which nothing is said.
    ...(extra > 0 ? [[tags.extraSamples, short, Array.from({ length: extra }, () => 0)] as const] : []),
    [tags.sampleFormat, short, each(format)],
  ];
  const head = Buffer.alloc(headBytes);
  const put = (value: number, at: number, size: number) => {
    if (size === 8) head.writeBigUInt64LE(BigInt(value), at);
    else head.writeUIntLE(value, at, size);
  };
  head.write('II');
  put(isWide ? 43 : 42, 2, 2);
  if (isWide) put(8, 4, 2);
  const begin = isWide ? 16 : 8;
  put(begin, isWide ? 8 : 4, isWide ? 8 : 4);
  const [countBytes, entryBytes, inPlace] = isWide ? [8, 20, 8] : [2, 12, 4];
  put(entries.length, begin, countBytes);
  let behind = begin + countBytes + entries.length * entryBytes + inPlace;
  entries.forEach(([tag, { type, width: size }, values], i) => {
    const at = begin + countBytes + i * entryBytes;
    put(tag, at, 2);
    put(type, at + 2, 2);
    put(values.length, at + 4, inPlace);
    const isLong = values.length * size > inPlace;
    if (isLong) put(behind, at + 4 + inPlace, inPlace);
    const first = isLong ? behind : at + 4 + inPlace;
    values.forEach((value, k) => {
      put(value, first + k * size, size);
    });
    if (isLong) behind += values.length * size;
  });
  return head;
}
