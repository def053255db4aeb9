// WAV files: sound as elements in place, a row for each moment with a number for each channel.
//
// A file is a list of chunks (RIFF, or RF64 beyond 4 GiB): `fmt ` says what the numbers are, `data` has them. What a
// program writes to a pipe does not know its length, and says the greatest there is: then the end tells. Numbers of 24
// bits are none that a kernel has. An output has the rate that is said for it, or that of an input.

import { problem } from '../diagnostics/problem.ts';
import type { ByteReader, OpenBytes } from './bytes.ts';
import { type Dtype, dtypeBytes } from './dtype.ts';
import { truncated } from './element-source.ts';
import type { Contents, Encoding, Format, OutputDescription } from './format.ts';
import { isWavType, wavHead } from './wav-head.ts';

/** WAV files. */
export const wav: Format = {
  name: 'wav',
  endings: ['.wav', '.wave'],
  probe: (beginning) => isWave(Buffer.from(beginning.buffer, beginning.byteOffset, beginning.byteLength)),
  open,
  encode,
};

function isWave(beginning: Buffer): boolean {
  const magic = beginning.toString('latin1', 0, 4);
  return ['RIFF', 'RF64', 'BW64'].includes(magic) && beginning.toString('latin1', 8, 12) === 'WAVE';
}

/** What `fmt ` says. */
interface Sound {
  readonly dtype: Dtype;
  readonly stored: string;
  readonly channels: number;
  readonly rate: number;
}

/** A size that is said elsewhere, or nowhere. */
const unsaid = 0xffffffff;
/** A longer chunk before the data is none that says anything. */
const longestChunk = 1 << 26;

async function open(file: OpenBytes): Promise<Contents> {
  const { name } = file;
  if (!isWave(await exactly(file, 12))) throw unlike(name, "it does not begin with 'RIFF' and 'WAVE'");
  let sound: Sound | undefined;
  let wide: number | undefined;
  let at = 12;
  for (;;) {
    const head = await exactly(file, 8);
    const [kind, size] = [head.toString('latin1', 0, 4), head.readUInt32LE(4)];
    at += 8;
    if (kind === 'data') return contentsOf(file, name, sound, size === unsaid ? wide : size, at);
    // Chunks of an odd length have a byte behind them.
    const length = size + (size % 2);
    if (length > longestChunk) throw unlike(name, `its chunk '${kind}' has ${size} bytes`);
    const chunk = await exactly(file, length);
    at += length;
    if (kind === 'fmt ') sound = soundOf(name, chunk);
    if (kind === 'ds64' && size >= 16) wide = Number(chunk.readBigUInt64LE(8));
  }
}

function contentsOf(
  file: OpenBytes,
  name: string,
  sound: Sound | undefined,
  size: number | undefined,
  at: number,
): Contents {
  if (sound === undefined) throw unlike(name, "there is no 'fmt ' before its data");
  const { dtype, stored, channels, rate } = sound;
  const there = file.size === undefined ? undefined : file.size - at;
  const bytes = size ?? there;
  const row = dtypeBytes[dtype] * channels;
  const rows = bytes === undefined ? undefined : Math.floor(bytes / row);
  const shape = rows === undefined ? undefined : channels === 1 ? [rows] : [rows, channels];
  if (shape !== undefined && there !== undefined && there < rows! * row) {
    throw truncated(name, shape, dtype, there);
  }
  return {
    arrays: [{ stored, dtype, rate, ...(shape && { shape }), elements: () => ({ bytes: file }) }],
    facts: { rate: `${rate} Hz`, channels },
  };
}

function soundOf(name: string, chunk: Buffer): Sound {
  if (chunk.length < 16) throw unlike(name, "its 'fmt ' is too short");
  const [tag, channels, rate, bits] = [
    chunk.readUInt16LE(0),
    chunk.readUInt16LE(2),
    chunk.readUInt32LE(4),
    chunk.readUInt16LE(14),
  ];
  // Of an extensible format the first bytes of a name of 16 say what it is.
  const code = tag === 0xfffe && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag;
  const dtype = dtypes[`${code === 3 ? 'float' : code === 1 ? 'PCM' : code} ${bits}`];
  if (channels === 0) throw unlike(name, 'it has no channels');
  if (dtype === undefined) {
    const what =
      code === 1 || code === 3 ? `numbers of ${bits} bits` : `sound that is coded (format ${code})`;
    throw problem(
      'WS5004',
      `${name} holds ${what}, which are not read`,
      `convert it first: ffmpeg -i ${name} -c:a pcm_f32le float.wav`,
    );
  }
  return { dtype, stored: `${code === 3 ? 'float' : 'PCM'} of ${bits} bits`, channels, rate };
}

const dtypes: Readonly<Record<string, Dtype>> = {
  'PCM 8': 'u8',
  'PCM 16': 'i16',
  'PCM 32': 'i32',
  'float 32': 'f32',
  'float 64': 'f64',
};

/** The greatest rate that a file can say. */
const mostRate = 2 ** 32 - 1;

function encode({ name, element, rate }: OutputDescription): Encoding {
  if (!isWavType(element)) {
    throw problem(
      'WS5012',
      `${name} would be sound, whose numbers are u8, i16, i32, f32 or f64, and the kernel writes ${element}`,
      'write it as .npy, or have the kernel write f32',
    );
  }
  if (rate === undefined) {
    throw problem(
      'WS5012',
      `${name} would be sound, and nothing says how many rows a second it has`,
      "say it: --rate 48000 (output: { file: 'y.wav', rate: 48000 } in a program)",
    );
  }
  if (!Number.isInteger(rate) || rate < 1 || rate > mostRate) {
    throw problem(
      'WS5012',
      `${name} would have ${rate} rows a second`,
      'a rate of WAV is a whole number from 1 on: --rate 48000',
    );
  }
  return {
    needsShape: true,
    begin: (shape) => wavHead(name, { dtype: element, rate, shape }),
    // Behind a chunk of an odd length there is a byte.
    end: (shape) =>
      new Uint8Array((shape.reduce((product, one) => product * one, 1) * dtypeBytes[element]) % 2),
  };
}

async function exactly(file: ByteReader, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const read = await file.read(bytes);
  if (read === length) return bytes;
  throw problem('WS5003', `${file.name} ends before its data`, 'copy or download it again');
}

function unlike(name: string, why: string): Error {
  return problem('WS5004', `${name} cannot be read as 'wav': ${why}`);
}
