// TIFF files, GeoTIFF among them: pictures as rows of pixels, and each pixel as one number, or as several.
//
// A picture lies in strips or tiles, which are unpacked some rows at a time (tiff-picture.ts); a run that is resumed begins
// at those that it needs. What lies one row behind the other as in memory is read in place. So are outputs written: one
// strip, uncompressed, behind a head of fixed length, as BigTIFF where classic offsets do not reach.

import { problem } from '../diagnostics/problem.ts';
import type { OpenBytes } from './bytes.ts';
import { dtypeBytes } from './dtype.ts';
import type { Contents, Elements, Encoding, Format, OutputDescription } from './format.ts';
import { packageFile } from './package-file.ts';
import { type Directory, readDirectory, tags, tiffKind } from './tiff-directory.ts';
import { tiffHead } from './tiff-head.ts';
import { blocksOf, decodeRows, type Picture } from './tiff-picture.ts';
import { otherCompressions, unpackings } from './tiff-unpack.ts';

/** TIFF files. */
export const tiff: Format = {
  name: 'tiff',
  endings: ['.tif', '.tiff'],
  probe: (beginning) => tiffKind(beginning) !== undefined,
  seeks: 'its directory may lie behind its picture',
  open,
  encode,
  get module() {
    return packageFile('formats/tiff.js', import.meta.url);
  },
};

/** Of the rows that are unpacked at once, and of a block of them. */
const mostBytes = 2 ** 30;
/** Rows are unpacked together up to about so many bytes. */
const unitBytes = 2 ** 18;

async function open(file: OpenBytes): Promise<Contents> {
  const directory = await readDirectory(file);
  const picture = pictureOf(file.name, directory);
  const { name, width, height, samples, dtype, blockWidth, blockHeight, isTiled, unpacking } = picture;
  const { across, down, planes, perPixel } = blocksOf(picture);
  const blocks = across * down * planes;
  if (picture.offsets.length < blocks || picture.bytes.length < blocks) {
    throw damaged(
      name,
      `its directory names ${picture.offsets.length} of ${blocks} ${isTiled ? 'tiles' : 'strips'}`,
    );
  }
  const rowBytes = width * samples * dtypeBytes[dtype];
  const blockBytes = blockHeight * blockWidth * perPixel * dtypeBytes[dtype];
  if (!(Math.max(rowBytes * Math.min(blockHeight, height), blockBytes) <= mostBytes)) {
    throw problem(
      'WS5004',
      `${name} is of ${width} times ${height} pixels, and ${blockHeight} rows of it are unpacked at once, of ${mostBytes / 2 ** 20} MiB at most`,
      `write it with smaller strips: tiffcp -r 16 ${name} strips.tif`,
    );
  }
  const unitRows = blockHeight * Math.max(1, Math.floor(unitBytes / (rowBytes * blockHeight)));
  const lengths = Array.from(
    { length: Math.ceil(height / unitRows) },
    (_, unit) => Math.min(unitRows, height - unit * unitRows) * width * samples,
  );
  const begin = inPlace(picture);
  const elements = (): Elements =>
    begin !== undefined
      ? { bytes: file.slice!(begin, begin + rowBytes * height) }
      : {
          lengths,
          // The rows, a block as it is stored, unpacked, and in order.
          decodingBytes:
            rowBytes * Math.min(unitRows, height) +
            2 * blockBytes +
            picture.bytes.reduce((most, one) => Math.max(most, one), 0),
          decode: (unit) =>
            decodeRows(file, picture, unit * unitRows, Math.min(height, (unit + 1) * unitRows)),
        };
  if (begin !== undefined && begin + rowBytes * height > file.size!) {
    throw damaged(name, `it has ${file.size} bytes, and its rows end at ${begin + rowBytes * height}`);
  }
  const stored = `${dtype}, ${samples} ${samples === 1 ? 'channel' : 'channels'}, ${unpacking.name}`;
  return {
    arrays: [{ stored, dtype, shape: samples === 1 ? [height, width] : [height, width, samples], elements }],
    facts: { blocks: isTiled ? `tiles of ${blockHeight} by ${blockWidth}` : `strips of ${blockHeight} rows` },
  };
}

/** Where rows begin that lie in a file as in memory; undefined where they do not. */
function inPlace(picture: Picture): number | undefined {
  const { offsets, bytes, width, height, samples, dtype, unpacking, isPlanar, isTiled, blockHeight } =
    picture;
  const isSwapped = !picture.littleEndian && dtypeBytes[dtype] > 1;
  if (isTiled || isPlanar || isSwapped || unpacking.ratio !== 1) return undefined;
  const stripBytes = blockHeight * width * samples * dtypeBytes[dtype];
  const { down } = blocksOf(picture);
  for (let i = 0; i < down; i++) {
    const size = Math.min(blockHeight, height - i * blockHeight) * width * samples * dtypeBytes[dtype];
    if (offsets[i] !== offsets[0]! + i * stripBytes || bytes[i] !== size) return undefined;
  }
  return offsets[0];
}

const dtypes: Readonly<Record<string, Picture['dtype']>> = {
  'unsigned 8': 'u8',
  'unsigned 16': 'u16',
  'unsigned 32': 'u32',
  'unsigned 64': 'u64',
  'signed 8': 'i8',
  'signed 16': 'i16',
  'signed 32': 'i32',
  'signed 64': 'i64',
  'float 16': 'f16',
  'float 32': 'f32',
  'float 64': 'f64',
};
const kinds = ['unsigned', 'unsigned', 'signed', 'float', 'unsigned'];
/** Colours whose numbers are those of pixels: white is 0, black is 0, RGB, CMYK. */
const plainColours = [0, 1, 2, 5];

function pictureOf(name: string, { littleEndian, numbers }: Directory): Picture {
  const one = (tag: number, otherwise?: number): number => {
    const value = numbers(tag)?.[0] ?? otherwise;
    if (value === undefined || (value === 0 && otherwise === undefined))
      throw damaged(name, `tag ${tag} of its directory is missing`);
    return value;
  };
  const [width, height, samples] = [one(tags.width), one(tags.height), one(tags.samples, 1)];
  const isTiled = numbers(tags.tileOffsets) !== undefined;
  const isPlanar = one(tags.planes, 1) === 2 && samples > 1;
  const compression = one(tags.compression, 1);
  const unpacking = unpackings[compression];
  const predictor = one(tags.predictor, 1);
  const [bits = 1, ...otherBits] = numbers(tags.bits) ?? [];
  const [format = 1, ...otherFormats] = numbers(tags.sampleFormat) ?? [];
  const dtype = dtypes[`${kinds[format]} ${bits}`];
  const colours = one(tags.colours, 1);
  const isMixed = otherBits.some((other) => other !== bits) || otherFormats.some((other) => other !== format);
  if (samples === 0 || samples > 2 ** 12) throw damaged(name, `its pixels have ${samples} numbers`);
  if (unpacking === undefined) {
    const what = otherCompressions[compression] ?? `method ${compression}`;
    throw unread(name, `is compressed by ${what}`, `tiffcp -c zip ${name} deflated.tif`);
  }
  if (isMixed)
    throw unread(name, 'has channels of several types', `tiffsplit, or convert ${name} -depth 16 same.tif`);
  if (dtype === undefined) {
    const what = kinds[format] === undefined ? `of format ${format}` : `(${kinds[format]})`;
    throw unread(name, `has numbers of ${bits} bits ${what}`, `convert ${name} -depth 8 bytes.tif`);
  }
  if (!plainColours.includes(colours)) {
    const what = colours === 3 ? 'colours of a palette' : `colours of kind ${colours}`;
    throw unread(name, `has ${what}`, `convert ${name} -type TrueColor colours.tif`);
  }
  if (one(tags.fillOrder, 1) !== 1)
    throw unread(name, 'has its bits in reverse', `tiffcp -f msb2lsb ${name} bits.tif`);
  const isFloat = dtype.startsWith('f');
  if ((predictor !== 1 && predictor !== 2 && predictor !== 3) || (predictor === 3 && !isFloat)) {
    throw unread(
      name,
      `has differences of kind ${predictor} in place of numbers`,
      `tiffcp -c zip:1 ${name} plain.tif`,
    );
  }
  const isPacked = compression === 5 || unpacking.name === 'Deflate';
  return {
    name,
    width,
    height,
    samples,
    dtype,
    littleEndian,
    unpacking,
    // Of what is not LZW or Deflate, no program takes differences.
    predictor: isPacked ? predictor : 1,
    isTiled,
    isPlanar,
    blockWidth: isTiled ? one(tags.tileWidth) : width,
    blockHeight: isTiled ? one(tags.tileHeight) : Math.min(height, one(tags.rowsPerStrip, height) || height),
    offsets: numbers(isTiled ? tags.tileOffsets : tags.stripOffsets) ?? [],
    bytes: numbers(isTiled ? tags.tileBytes : tags.stripBytes) ?? [],
  };
}

function encode({ name, element }: OutputDescription): Encoding {
  const dtype = Object.values(dtypes).find((one) => one === element);
  if (dtype === undefined) {
    throw problem(
      'WS5012',
      `${name} would be a picture of ${element}, which TIFF does not have`,
      'write it as .npy, or have the kernel write f32',
    );
  }
  return {
    needsShape: true,
    begin: (shape) => tiffHead(name, dtype, shape),
  };
}

function unread(name: string, what: string, command: string): Error {
  return problem('WS5004', `${name} ${what}, which is not read`, `write it out first: ${command}`);
}

function damaged(name: string, why: string): Error {
  return problem('WS5003', `${name} is damaged: ${why}`, 'copy or download it again');
}
