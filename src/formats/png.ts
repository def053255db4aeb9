// PNG files: pictures as rows of pixels, and each pixel as one number, or as a number for each channel.
//
// A picture is decoded and encoded whole: what it takes is said before (its head has width, height and depth), and one
// that would take more than a limit is refused. What does so (fast-png) is loaded when a picture is opened.

import { problem } from '../diagnostics/problem.ts';
import type { TypedArray } from '../kernel/types.ts';
import type { OpenBytes } from './bytes.ts';
import type { Contents, Encoding, Format, OutputDescription } from './format.ts';
import { packageFile } from './package-file.ts';

/** PNG files. */
export const png: Format = {
  name: 'png',
  endings: ['.png'],
  probe: (beginning) => signature.every((byte, i) => beginning[i] === byte),
  open,
  encode,
  get module() {
    return packageFile('formats/png.js', import.meta.url);
  },
};

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** Bytes before what a picture holds: the signature, and the chunk that says what it is. */
const headBytes = 33;
/** Of a picture's numbers. */
const mostBytes = 2 ** 30;

/** Channels by the kind of colours; those of a palette are none. */
const channelsOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 4: 2, 6: 4 };

async function open(file: OpenBytes): Promise<Contents> {
  const { name } = file;
  const head = Buffer.alloc(headBytes);
  if ((await file.read(head)) < headBytes) throw problem('WS5003', `${name} ends before its picture`);
  if (!png.probe!(head) || head.toString('latin1', 12, 16) !== 'IHDR') {
    throw problem('WS5004', `${name} cannot be read as 'png': it does not begin as a PNG file does`);
  }
  const [width, height, depth, kind] = [head.readUInt32BE(16), head.readUInt32BE(20), head[24]!, head[25]!];
  const channels = channelsOf[kind];
  if (channels === undefined || (depth !== 8 && depth !== 16)) {
    throw problem(
      'WS5004',
      `${name} has ${channels === undefined ? 'colours of a palette' : `${depth} bits a channel`}, which are not read`,
      `write them out first: convert ${name} -depth 8 PNG32:picture.png`,
    );
  }
  const elements = width * height * channels;
  if (elements === 0 || elements * (depth / 8) > mostBytes) {
    throw problem(
      'WS5004',
      `${name} is of ${width} times ${height} pixels, and a picture is decoded whole, of ${mostBytes / 2 ** 20} MiB at most`,
      'cut it into several',
    );
  }
  return {
    arrays: [
      {
        stored: `${depth} bits, ${channels} ${channels === 1 ? 'channel' : 'channels'}`,
        dtype: depth === 8 ? 'u8' : 'u16',
        shape: channels === 1 ? [height, width] : [height, width, channels],
        elements: () => ({
          lengths: [elements],
          // The file, its pixels unpacked, and as they are.
          decodingBytes: 3 * elements * (depth / 8),
          async decode() {
            const { decodePicture } = await import('./png-picture.ts');
            return decodePicture(head, file, elements);
          },
        }),
      },
    ],
  };
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
