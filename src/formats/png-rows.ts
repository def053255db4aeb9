// The rows of a PNG picture, as they come unpacked: each behind a byte that says how it was filtered, that is, from which
// of its neighbours its bytes are differences. A pixel of a palette is the number of a colour, of 1 to 8 bits.
//
// An interlaced picture is seven small ones, of every eighth pixel, then of those between them, each with rows of its own.

import type { ByteReader } from './bytes.ts';

/** What the pixels of a picture are. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Of a number in the file. */
  readonly bits: number;
  /** Numbers that a pixel has in the file. */
  readonly samples: number;
  /** Colours by their numbers, `channels` bytes each; undefined where pixels have their own. */
  readonly palette: Uint8Array | undefined;
  /** Numbers that a pixel has as it is read. */
  readonly channels: number;
}

/** Reads rows in their order. */
export class PixelRows {
  readonly #bytes: ByteReader;
  readonly #pixels: Pixels;
  /** The row before, which the next may be the difference from. */
  #before: Uint8Array;
  #row = 0;

  /** `bytes`: the picture, unpacked. */
  constructor(bytes: ByteReader, pixels: Pixels) {
    this.#bytes = bytes;
    this.#pixels = pixels;
    this.#before = new Uint8Array(rowBytes(pixels));
  }

  /** The numbers of the next rows. */
  async read(rows: number): Promise<Uint8Array | Uint16Array> {
    const pixels = this.#pixels;
    const length = rowBytes(pixels);
    const packed = new Uint8Array(rows * (length + 1));
    if ((await this.#bytes.read(packed)) < packed.length) {
      throw new Error(`its rows end before the last of ${pixels.height}`);
    }
    const bytes = new Uint8Array(rows * length);
    for (let row = 0; row < rows; row++) {
      const at = row * (length + 1);
      const line = bytes.subarray(row * length, (row + 1) * length);
      line.set(packed.subarray(at + 1, at + 1 + length));
      const filter = filters[packed[at]!];
      if (filter === undefined) throw new Error(`row ${this.#row + row} has a filter ${packed[at]}`);
      filter(line, this.#before, Math.max(1, (pixels.bits * pixels.samples) >> 3));
      this.#before = line;
    }
    this.#row += rows;
    return numbersOf(bytes, rows, pixels);
  }

  /** All rows were read: nothing comes behind them, and the sums of what was unpacked are right. */
  async end(): Promise<void> {
    await expectEnd(this.#bytes);
  }
}

async function expectEnd(bytes: ByteReader): Promise<void> {
  if ((await bytes.read(new Uint8Array(1))) > 0) throw new Error('it has more rows than its head says');
}

/** Bytes of a row in the file, behind its filter. */
export function rowBytes({ width, bits, samples }: Pixels): number {
  return Math.ceil((width * bits * samples) / 8);
}

/** Turns differences into bytes. `size`: bytes of a pixel, to the left of which the one before lies. */
type Filter = (line: Uint8Array, before: Uint8Array, size: number) => void;

const filters: readonly Filter[] = [
  () => {},
  (line, _, size) => {
    for (let i = size; i < line.length; i++) line[i] = line[i]! + line[i - size]!;
  },
  (line, before) => {
    for (let i = 0; i < line.length; i++) line[i] = line[i]! + before[i]!;
  },
  (line, before, size) => {
    const first = Math.min(size, line.length);
    for (let i = 0; i < first; i++) line[i] = line[i]! + (before[i]! >> 1);
    for (let i = size; i < line.length; i++) line[i] = line[i]! + ((line[i - size]! + before[i]!) >> 1);
  },
  (line, before, size) => {
    const first = Math.min(size, line.length);
    for (let i = 0; i < first; i++) line[i] = line[i]! + before[i]!;
    for (let i = size; i < line.length; i++) {
      const [left, up, corner] = [line[i - size]!, before[i]!, before[i - size]!];
      const fromLeft = Math.abs(up - corner);
      const fromUp = Math.abs(left - corner);
      const fromCorner = Math.abs(left + up - 2 * corner);
      const nearest =
        fromLeft <= fromUp && fromLeft <= fromCorner ? left : fromUp <= fromCorner ? up : corner;
      line[i] = line[i]! + nearest;
    }
  },
];

/** The bytes of rows as numbers: those of 16 bits are big-endian in the file. */
function numbersOf(bytes: Uint8Array, rows: number, pixels: Pixels): Uint8Array | Uint16Array {
  if (pixels.palette !== undefined) return coloured(bytes, rows, pixels, pixels.palette);
  if (pixels.bits === 8) return bytes;
  // The bytes stay what the next row may be the difference from.
  const swapped = Buffer.from(new ArrayBuffer(bytes.length));
  swapped.set(bytes);
  swapped.swap16();
  return new Uint16Array(swapped.buffer);
}

function coloured(bytes: Uint8Array, rows: number, pixels: Pixels, palette: Uint8Array): Uint8Array {
  const { width, bits, channels } = pixels;
  const length = rowBytes(pixels);
  const known = palette.length / channels;
  const mask = 2 ** bits - 1;
  const result = new Uint8Array(rows * width * channels);
  let to = 0;
  for (let row = 0; row < rows; row++) {
    for (let x = 0; x < width; x++) {
      const bit = x * bits;
      const byte = bytes[row * length + (bit >> 3)]!;
      const colour = (byte >> (8 - bits - (bit & 7))) & mask;
      if (colour >= known) throw new Error(`a pixel has colour ${colour} of a palette of ${known}`);
      for (let i = 0; i < channels; i++) result[to++] = palette[colour * channels + i]!;
    }
  }
  return result;
}

/** The small pictures of an interlaced one: where the first pixel of each lies, and how far apart the next ones do. */
const passes = [
  { x: 0, y: 0, across: 8, down: 8 },
  { x: 4, y: 0, across: 8, down: 8 },
  { x: 0, y: 4, across: 4, down: 8 },
  { x: 2, y: 0, across: 4, down: 4 },
  { x: 0, y: 2, across: 2, down: 4 },
  { x: 1, y: 0, across: 2, down: 2 },
  { x: 0, y: 1, across: 1, down: 2 },
];

/** The numbers of an interlaced picture. Rows are read together up to about so many bytes. */
export async function readInterlaced(
  bytes: ByteReader,
  pixels: Pixels,
  atOnce: number,
): Promise<Uint8Array | Uint16Array> {
  const { width, height, channels, bits } = pixels;
  const length = width * height * channels;
  const whole = bits === 16 ? new Uint16Array(length) : new Uint8Array(length);
  for (const { x, y, across, down } of passes) {
    const columns = Math.ceil((width - x) / across);
    if (columns <= 0) continue;
    const rows = new PixelRows(bytes, { ...pixels, width: columns });
    const most = Math.max(1, Math.floor(atOnce / (columns * channels)));
    for (let top = y; top < height; top += most * down) {
      const some = await rows.read(Math.min(most, Math.ceil((height - top) / down)));
      for (let from = 0, row = top; from < some.length; row += down) {
        for (let column = x; column < width; column += across) {
          const to = (row * width + column) * channels;
          for (let i = 0; i < channels; i++) whole[to + i] = some[from++]!;
        }
      }
    }
  }
  await expectEnd(bytes);
  return whole;
}
