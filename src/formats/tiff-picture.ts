// The numbers of a TIFF picture, some rows of it at a time: its strips or tiles are unpacked, brought into this machine's
// byte order, and put where they belong among the rows.
//
// Nothing is allocated for rows before their strips' and tiles' bytes were found to be enough for them.

import { problem } from '../diagnostics/problem.ts';
import { decodeHalf } from '../kernel/half.ts';
import type { TypedArray } from '../kernel/types.ts';
import type { OpenBytes } from './bytes.ts';
import { type Dtype, dtypeBytes } from './dtype.ts';
import { bytesAt } from './tiff-directory.ts';
import type { Unpacking } from './tiff-unpack.ts';
import { viewElements } from './typed-arrays.ts';

/** What is known of a picture. Blocks are strips, as wide as the picture, or tiles. */
export interface Picture {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Numbers of a pixel. */
  readonly samples: number;
  readonly dtype: Exclude<Dtype, 'bool'>;
  readonly littleEndian: boolean;
  readonly unpacking: Unpacking;
  /** 1: numbers as they are; 2: each is the difference to the one before; 3: so are the bytes of floats, the highest first. */
  readonly predictor: 1 | 2 | 3;
  readonly isTiled: boolean;
  readonly blockWidth: number;
  readonly blockHeight: number;
  /** Whether each number of a pixel has blocks of its own. */
  readonly isPlanar: boolean;
  readonly offsets: readonly number[];
  readonly bytes: readonly number[];
}

/** How blocks lie: columns and rows of them, and planes. */
export function blocksOf({ width, height, samples, blockWidth, blockHeight, isPlanar }: Picture) {
  const across = Math.ceil(width / blockWidth);
  const down = Math.ceil(height / blockHeight);
  const perPixel = isPlanar ? 1 : samples;
  return { across, down, planes: isPlanar ? samples : 1, perPixel };
}

/** Rows from one to before another, which begin and end with blocks. */
export async function decodeRows(
  file: OpenBytes,
  picture: Picture,
  begin: number,
  end: number,
): Promise<TypedArray> {
  const { width, samples, dtype, blockWidth, blockHeight } = picture;
  const { across, down, planes, perPixel } = blocksOf(picture);
  const size = dtypeBytes[dtype];
  const blocks = [];
  for (let plane = 0; plane < planes; plane++)
    for (let top = begin; top < end; top += blockHeight)
      for (let left = 0; left < width; left += blockWidth) {
        const block = (plane * down + top / blockHeight) * across + left / blockWidth;
        const rows = Math.min(blockHeight, end - top);
        const needed = rows * blockWidth * perPixel * size;
        if (picture.bytes[block]! * picture.unpacking.ratio < needed) throw tooFew(picture, block);
        blocks.push({ block, plane, top, left, rows, needed });
      }
  const whole = new Uint8Array((end - begin) * width * samples * size);
  for (const { block, plane, top, left, rows, needed } of blocks) {
    const packed = await bytesAt(file, picture.offsets[block]!, picture.bytes[block]!);
    const blockBytes = blockHeight * blockWidth * perPixel * size;
    const unpacked = picture.unpacking.unpack(packed, needed, blockBytes);
    if (unpacked.length < needed) throw tooFew(picture, block);
    const bytes = inOrder(unpacked, picture, blockWidth * perPixel, perPixel);
    const columns = Math.min(blockWidth, width - left);
    for (let row = 0; row < rows; row++) {
      const from = row * blockWidth * perPixel * size;
      const to = (((top - begin + row) * width + left) * samples + plane) * size;
      if (perPixel === samples) whole.set(bytes.subarray(from, from + columns * samples * size), to);
      else
        for (let x = 0; x < columns; x++)
          copyOne(bytes, from + x * size, whole, to + x * samples * size, size);
    }
  }
  const values = viewElements(dtype, whole.buffer, 0, whole.length / size);
  return dtype === 'f16'
    ? Float32Array.from(values as Uint16Array, (bits) => decodeHalf('f16', bits))
    : values;
}

function copyOne(from: Uint8Array, at: number, to: Uint8Array, into: number, size: number): void {
  for (let i = 0; i < size; i++) to[into + i] = from[at + i]!;
}

/** A block's bytes as its numbers lie in memory. `rowLength` and `step`: numbers of a row, and from one pixel to the next. */
function inOrder(given: Uint8Array, picture: Picture, rowLength: number, step: number): Uint8Array {
  const { dtype, predictor, littleEndian } = picture;
  const size = dtypeBytes[dtype];
  // Of its own, so that it may be changed and begins where numbers do.
  const bytes = predictor !== 1 || !littleEndian ? new Uint8Array(given) : given;
  // The bytes of floats that are differences have an order of their own.
  if (predictor === 3) {
    for (let row = 0; row < bytes.length; row += rowLength * size) {
      addUp(bytes.subarray(row, row + rowLength * size), step);
      joinFloats(bytes.subarray(row, row + rowLength * size), size);
    }
    return bytes;
  }
  if (!littleEndian) swap(bytes, size);
  if (predictor === 2) {
    const count = bytes.length / size;
    const numbers =
      size === 1
        ? bytes
        : size === 2
          ? new Uint16Array(bytes.buffer, 0, count)
          : size === 4
            ? new Uint32Array(bytes.buffer, 0, count)
            : new BigUint64Array(bytes.buffer, 0, count);
    for (let row = 0; row < count; row += rowLength) addUp(numbers.subarray(row, row + rowLength), step);
  }
  return bytes;
}

/** Adds to each number the one that is `step` before it. */
function addUp(numbers: Uint8Array | Uint16Array | Uint32Array | BigUint64Array, step: number): void {
  if (numbers instanceof BigUint64Array) {
    for (let i = step; i < numbers.length; i++) numbers[i]! += numbers[i - step]!;
  } else for (let i = step; i < numbers.length; i++) numbers[i]! += numbers[i - step]!;
}

/** A row has the highest bytes of all its floats, then the next lower ones, and so on. */
function joinFloats(row: Uint8Array, size: number): void {
  const apart = row.slice();
  const count = row.length / size;
  for (let i = 0; i < count; i++)
    for (let byte = 0; byte < size; byte++) row[i * size + byte] = apart[(size - 1 - byte) * count + i]!;
}

function swap(bytes: Uint8Array, size: number): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (size === 2) buffer.swap16();
  else if (size === 4) buffer.swap32();
  else if (size === 8) buffer.swap64();
}

function tooFew({ name, isTiled }: Picture, block: number): Error {
  const what = `${isTiled ? 'tile' : 'strip'} ${block}`;
  return problem(
    'WS5003',
    `${name} is damaged: ${what} has fewer bytes than its rows take`,
    'copy or download it again',
  );
}
