// The head of a WAV file that is written: what its numbers are, and how many.
//
// It has the same length whatever the number of rows, so that it can be written again when that is known: room for the
// sizes of 64 bits that a file beyond 4 GiB says (RF64), which programs pass over in a smaller one.

import { problem } from '../diagnostics/problem.ts';
import { type Dtype, dtypeBytes } from './dtype.ts';
import { u16, u32 } from './little-endian.ts';

/** The numbers that there are, by how they are coded: 1 is whole numbers, 3 is floats. */
const codes: { readonly [K in Dtype]?: 1 | 3 } = { u8: 1, i16: 1, i32: 1, f32: 3, f64: 3 };
/** The end of the name that an extensible format has, behind its code. */
const formatName = '000000001000800000aa00389b71';
const longest = 2 ** 32 - 1;
const mostOfRow = 2 ** 16 - 1;

/** What a file has. */
export interface WavHead {
  readonly dtype: Dtype;
  /** Rows a second. */
  readonly rate: number;
  readonly shape: readonly number[];
}

/** Whether a type of numbers can be written. */
export function isWavType(dtype: string): dtype is Dtype {
  return Object.hasOwn(codes, dtype);
}

/** The bytes before the first number. */
export function wavHead(name: string, { dtype, rate, shape }: WavHead): Uint8Array {
  const [rows = 0, channels = 1] = shape;
  const row = channels * dtypeBytes[dtype];
  if (shape.length < 1 || shape.length > 2 || channels < 1 || row > mostOfRow) {
    throw problem(
      'WS5012',
      `${name} would be sound, and the output has the shape (${shape.join(', ')})`,
      `sound has rows of 1 to ${Math.floor(mostOfRow / dtypeBytes[dtype])} numbers, one for each channel; write others as .npy`,
    );
  }
  const bytes = rows * row;
  const format = formatChunk(dtype, rate, channels);
  const length = 12 + 36 + format.length + 8;
  const size = length - 8 + bytes + (bytes % 2);
  const isWide = size > longest;
  const sizes = Buffer.alloc(28);
  if (isWide) {
    sizes.writeBigUInt64LE(BigInt(size), 0);
    sizes.writeBigUInt64LE(BigInt(bytes), 8);
    sizes.writeBigUInt64LE(BigInt(rows), 16);
  }
  return Buffer.concat([
    Buffer.from(isWide ? 'RF64' : 'RIFF'),
    u32(isWide ? longest : size),
    Buffer.from('WAVE'),
    chunk(isWide ? 'ds64' : 'JUNK', sizes),
    format,
    Buffer.from('data'),
    u32(isWide ? longest : bytes),
  ]);
}

/** What the numbers are; programs want a longer form for many channels, and for long whole numbers. */
function formatChunk(dtype: Dtype, rate: number, channels: number): Buffer {
  const code = codes[dtype]!;
  const bits = 8 * dtypeBytes[dtype];
  const row = channels * dtypeBytes[dtype];
  const isExtensible = channels > 2 || (code === 1 && bits > 16);
  const about = Buffer.alloc(16);
  about.writeUInt16LE(isExtensible ? 0xfffe : code, 0);
  about.writeUInt16LE(channels, 2);
  about.writeUInt32LE(rate, 4);
  about.writeUInt32LE(Math.min(longest, rate * row), 8);
  about.writeUInt16LE(row, 12);
  about.writeUInt16LE(bits, 14);
  if (!isExtensible) return chunk('fmt ', code === 1 ? about : Buffer.concat([about, u16(0)]));
  // All bits are used, and no channel has a place in a room.
  const name = Buffer.concat([u16(code), Buffer.from(formatName, 'hex')]);
  return chunk('fmt ', Buffer.concat([about, u16(22), u16(bits), u32(0), name]));
}

function chunk(kind: string, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(kind, 'latin1'), u32(bytes.length), bytes]);
}
