// PNG files: pictures as rows of pixels, and each pixel as one number, or as a number for each channel; of a palette, as
// its colour.
//
// A picture is unpacked some rows at a time, as they are read (png-chunks.ts, png-rows.ts); an interlaced one has all of
// its rows only at its end, and is decoded whole. One is encoded whole, by fast-png, which is loaded then. What is held
// is said before (the head has width, height and depth), and refused above a limit.

import { problem } from '../diagnostics/problem.ts';
import type { TypedArray } from '../kernel/types.ts';
import type { ByteReader, OpenBytes } from './bytes.ts';
import type { Contents, ElementsInUnits, Encoding, Format, OutputDescription } from './format.ts';
import type { PngChunk, PngChunks } from './png-chunks.ts';
import type { Pixels } from './png-rows.ts';

/** PNG files. */
export const png: Format = {
  name: 'png',
  endings: ['.png'],
  probe: (beginning) => signature.every((byte, i) => beginning[i] === byte),
  open,
  encode,
};

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** Of what is held at once: a row, an interlaced picture, or one that is encoded. */
const mostBytes = 2 ** 30;
/** Of a picture that is read some rows at a time. */
const mostOfAll = 2 ** 36;
/** Rows are unpacked together up to about so many bytes. */
const unitBytes = 2 ** 19;

/** Numbers of a pixel by the kind of its colours; those of a palette are the number of one. */
const samplesOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const ofPalette = 3;
const opaque = 255;
/** Bytes of the first chunk. */
const headBytes = 13;
/** What the file's bytes and unpacked ones take on their way. */
const unpackingBytes = 2 ** 22;

/** What the head of a picture says. */
interface Head extends Pick<Pixels, 'width' | 'height' | 'bits' | 'samples'> {
  readonly hasPalette: boolean;
  readonly isInterlaced: boolean;
}

async function open(file: OpenBytes): Promise<Contents> {
  const { name } = file;
  const begin = new Uint8Array(signature.length);
  if ((await file.read(begin)) < begin.length) throw problem('WS5003', `${name} ends before its picture`);
  if (!png.probe!(begin)) throw unlike(name);
  const { PngChunks } = await import('./png-chunks.ts');
  const chunks = new PngChunks(file);
  const first = await chunks.next();
  if (first.kind !== 'IHDR' || first.length !== headBytes) throw unlike(name);
  const head = headOf(name, await chunks.data(first, headBytes));
  const { palette, chunk } = await beforePicture(chunks, head.hasPalette);
  const channels = palette === undefined ? head.samples : palette.channels;
  const pixels = { ...head, palette: palette?.colours, channels };
  const { width, height, bits, isInterlaced, hasPalette } = head;
  const shape = channels === 1 ? [height, width] : [height, width, channels];
  const stored = `${bits} bits, ${channels} ${channels === 1 ? 'channel' : 'channels'}`;
  let close = async () => {};
  return {
    arrays: [
      {
        stored: hasPalette ? `${stored}, of a palette` : stored,
        dtype: bits === 16 ? 'u16' : 'u8',
        shape,
        async elements() {
          const { unpackPicture } = await import('./png-unpacked.ts');
          const picture = unpackPicture(chunks, chunk);
          close = picture.close;
          return elementsOf(picture.bytes, pixels, isInterlaced);
        },
      },
    ],
    facts: isInterlaced ? { interlaced: 'Adam7' } : {},
    close: () => close(),
  };
}

function headOf(name: string, data: Buffer): Head {
  const [width, height, bits, kind] = [data.readUInt32BE(0), data.readUInt32BE(4), data[8]!, data[9]!];
  const samples = samplesOf[kind];
  const hasPalette = kind === ofPalette;
  const known = hasPalette ? [1, 2, 4, 8] : [8, 16];
  if (samples === undefined || !known.includes(bits)) {
    throw problem(
      'WS5004',
      `${name} has ${samples === undefined ? `colours of kind ${kind}` : `${bits} bits a channel`}, which are not read`,
      `write them out first: convert ${name} -depth 8 PNG32:picture.png`,
    );
  }
  const [packing, filters, interlace] = [data[10]!, data[11]!, data[12]!];
  if (packing !== 0 || filters !== 0 || interlace > 1) {
    throw problem('WS5004', `${name} is packed, filtered or interlaced in a way that is not known`);
  }
  if (width === 0 || height === 0) throw problem('WS5004', `${name} has no pixels`);
  const isInterlaced = interlace === 1;
  // As pixels are held: a colour of a palette has four numbers at most.
  const row = width * (hasPalette ? 4 : (samples * bits) / 8);
  if ((isInterlaced ? row * height : row) > mostBytes || row * height > mostOfAll) {
    throw problem(
      'WS5004',
      `${name} is of ${width} times ${height} pixels, and ${isInterlaced ? 'an interlaced picture' : 'a row'} is decoded whole, of ${mostBytes / 2 ** 20} MiB at most`,
      'cut it into several',
    );
  }
  return { width, height, bits, samples, hasPalette, isInterlaced };
}

/** Colours, with three numbers each, or with four where some are not opaque. */
interface Palette {
  readonly colours: Uint8Array;
  readonly channels: number;
}

/** Reads up to the first chunk of the picture. */
async function beforePicture(
  chunks: PngChunks,
  hasPalette: boolean,
): Promise<{ readonly chunk: PngChunk; readonly palette: Palette | undefined }> {
  let colours: Buffer | undefined;
  let alphas: Buffer | undefined;
  for (;;) {
    const chunk = await chunks.next();
    if (chunk.kind === 'IEND') throw chunks.damaged('it ends before its picture');
    if (chunk.kind === 'IDAT') {
      if (!hasPalette) return { chunk, palette: undefined };
      if (colours === undefined) throw chunks.damaged('its palette is missing');
      return { chunk, palette: paletteOf(colours, alphas) };
    }
    if (hasPalette && chunk.kind === 'PLTE') colours = await chunks.data(chunk, 3 * 256);
    else if (hasPalette && chunk.kind === 'tRNS') alphas = await chunks.data(chunk, 256);
    else await chunks.skip(chunk);
  }
}

function paletteOf(colours: Buffer, alphas: Buffer | undefined): Palette {
  if (alphas === undefined) return { colours, channels: 3 };
  const count = Math.floor(colours.length / 3);
  const all = Array.from({ length: count }, (_, i) => [
    ...colours.subarray(3 * i, 3 * i + 3),
    alphas[i] ?? opaque,
  ]);
  return { colours: Uint8Array.from(all.flat()), channels: 4 };
}

/** The rows of a picture, in units of some of them. */
async function elementsOf(
  bytes: ByteReader,
  pixels: Pixels,
  isInterlaced: boolean,
): Promise<ElementsInUnits> {
  const { PixelRows, readInterlaced } = await import('./png-rows.ts');
  const { width, height, channels, bits } = pixels;
  const row = width * channels;
  const held = row * Math.max(1, bits / 8);
  if (isInterlaced) {
    return {
      lengths: [row * height],
      // The pixels, and some rows before they are put between the others.
      decodingBytes: height * held + 4 * Math.max(unitBytes, held) + unpackingBytes,
      decode: () => readInterlaced(bytes, pixels, unitBytes),
    };
  }
  const unitRows = Math.max(1, Math.floor(unitBytes / held));
  const rowsOf = (unit: number) => Math.min(unitRows, height - unit * unitRows);
  const rows = new PixelRows(bytes, pixels);
  let next = 0;
  return {
    lengths: Array.from({ length: Math.ceil(height / unitRows) }, (_, unit) => row * rowsOf(unit)),
    // Rows as they come, as bytes, and as numbers; and what is being unpacked.
    decodingBytes: 4 * Math.min(unitRows, height) * held + unpackingBytes,
    async decode(unit) {
      // Rows follow from those before: what is left out is decoded, too.
      while (next < unit) await rows.read(rowsOf(next++));
      const numbers = await rows.read(rowsOf(next++));
      if (next * unitRows >= height) await rows.end();
      return numbers;
    },
  };
}

function unlike(name: string): Error {
  return problem('WS5004', `${name} cannot be read as 'png': it does not begin as a PNG file does`);
}

function encode({ name, element }: OutputDescription): Encoding {
  if (element !== 'u8' && element !== 'u16') {
    throw problem(
      'WS5012',
      `${name} would be a picture, whose numbers are u8 or u16, and the kernel writes ${element}`,
      'write it as .npy, or have the kernel write u8',
    );
  }
  const parts: TypedArray[] = [];
  let held = 0;
  return {
    begin(shape) {
      extentsOf(name, shape);
      return new Uint8Array();
    },
    encode(elements) {
      held += elements.byteLength;
      if (held > mostBytes) throw tooLarge(name);
      parts.push(elements.slice() as TypedArray);
      return new Uint8Array();
    },
    heldBytes: (shape) => 4 * shape.reduce((product, extent) => product * extent, element === 'u8' ? 1 : 2),
    async end(shape) {
      const { encodePicture } = await import('./png-picture.ts');
      return encodePicture(parts, element, extentsOf(name, shape));
    },
  };
}

/** Height, width and channels. */
function extentsOf(name: string, shape: readonly number[]): readonly [number, number, number] {
  const [height = 0, width = 0, channels = 1] = shape;
  const isPicture = (shape.length === 2 || shape.length === 3) && channels >= 1 && channels <= 4;
  if (isPicture) return [height, width, channels];
  throw problem(
    'WS5012',
    `${name} would be a picture, and the output has the shape (${shape.join(', ')})`,
    'a picture has rows of pixels, and 1 to 4 channels where it has three extents; write others as .npy',
  );
}

function tooLarge(name: string): Error {
  return problem(
    'WS5006',
    `${name} would be a picture of over ${mostBytes / 2 ** 20} MiB, and pictures are encoded whole`,
    'write it as .npy',
  );
}
