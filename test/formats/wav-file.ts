// WAV files of any kind, for tests.

/** What a file has; the rest is as a program of sounds writes it. */
export interface WavParts {
  readonly data: Uint8Array;
  readonly tag?: number;
  readonly channels?: number;
  readonly bits: number;
  /** What `data` says of its length. */
  readonly size?: number;
  /** Chunks between the head and the data, and behind it. */
  readonly before?: Buffer;
  readonly behind?: Buffer;
  readonly magic?: string;
}

/** A chunk, with the byte behind one of an odd length. */
export function chunk(kind: string, bytes: Uint8Array, size = bytes.length): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(size);
  return Buffer.concat([Buffer.from(kind, 'latin1'), length, bytes, Buffer.alloc(bytes.length % 2)]);
}

export function wavFile({
  data,
  tag = 1,
  channels = 1,
  bits,
  size = data.length,
  before = Buffer.alloc(0),
  behind = Buffer.alloc(0),
  magic = 'RIFF',
}: WavParts): Buffer {
  const about = Buffer.alloc(tag === 0xfffe ? 40 : 16);
  about.writeUInt16LE(tag, 0);
  about.writeUInt16LE(channels, 2);
  about.writeUInt32LE(44_100, 4);
  about.writeUInt32LE((44_100 * channels * bits) / 8, 8);
  about.writeUInt16LE((channels * bits) / 8, 12);
  about.writeUInt16LE(bits, 14);
  if (tag === 0xfffe) about.writeUInt16LE(3, 24);
  const chunks = [before, chunk('fmt ', about), chunk('data', data, size), behind];
  const body = Buffer.concat([Buffer.from('WAVE'), ...chunks]);
  return chunk(magic, body, magic === 'RIFF' ? body.length : 0xffffffff);
}
