// PNG files of any kind, for tests: with each filter, interlaced, of palettes, in chunks of any length.

import { crc32, deflateSync } from 'node:zlib';

/** What a file has. */
export interface PngParts {
  readonly width: number;
  readonly height: number;
  readonly bits: number;
  /** As the head says it: 0 grey, 2 colours, 3 of a palette, 4 grey with alpha, 6 colours with alpha. */
  readonly kind: number;
  /** Numbers of the pixels as the file has them; of a palette those of colours. */
  readonly numbers: ArrayLike<number>;
  /** Of each row: its filter. */
  readonly filterOf?: (row: number) => number;
  readonly interlaced?: boolean;
  /** Bytes of a chunk of the picture, at most. */
  readonly chunkBytes?: number;
  /** Chunks between the head and the picture. */
  readonly before?: readonly Buffer[];
  /** Bytes behind the packed picture, in its last chunk. */
  readonly behind?: Buffer;
}

export const samplesOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** A chunk with its checksum. */
export function pngChunk(kind: string, data: Uint8Array): Buffer {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

export function pngFile(parts: PngParts): Buffer {
  const { width, height, bits, kind, interlaced = false, chunkBytes = 8192, before = [], behind } = parts;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([bits, kind, 0, 0, interlaced ? 1 : 0], 8);
  const rows = interlaced ? passes.flatMap(({ first, step }) => rowsOf(parts, first, step)) : rowsOf(parts);
  const packed = Buffer.concat([deflateSync(Buffer.concat(rows)), behind ?? Buffer.alloc(0)]);
  const picture: Buffer[] = [];
  for (let at = 0; at < packed.length; at += chunkBytes) {
    picture.push(pngChunk('IDAT', packed.subarray(at, at + chunkBytes)));
  }
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  const end = pngChunk('IEND', Buffer.alloc(0));
  return Buffer.concat([signature, pngChunk('IHDR', head), ...before, ...picture, end]);
}

const passes = [
  { first: [0, 0], step: [8, 8] },
  { first: [4, 0], step: [8, 8] },
  { first: [0, 4], step: [4, 8] },
  { first: [2, 0], step: [4, 4] },
  { first: [0, 2], step: [2, 4] },
  { first: [1, 0], step: [2, 2] },
  { first: [0, 1], step: [1, 2] },
] as const;

type Pair = readonly [x: number, y: number];

/** The rows of the pixels from `first` on, `step` apart, each behind its filter. */
function rowsOf(
  { width, height, bits, kind, numbers, filterOf = () => 0 }: PngParts,
  [x0, y0]: Pair = [0, 0],
  [dx, dy]: Pair = [1, 1],
): Buffer[] {
  const samples = samplesOf[kind]!;
  const rows: Buffer[] = [];
  if (x0 >= width) return rows;
  const size = Math.max(1, (bits * samples) / 8);
  let above = Buffer.alloc(0);
  for (let y = y0; y < height; y += dy) {
    let text = '';
    for (let x = x0; x < width; x += dx) {
      for (let i = 0; i < samples; i++) {
        text += numbers[(y * width + x) * samples + i]!.toString(2).padStart(bits, '0');
      }
    }
    const line = Buffer.from(text.match(/.{1,8}/g)!.map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));
    const filter = filterOf(rows.length);
    const filtered = line.map((byte, i) => {
      const [left, up, corner] = [line[i - size] ?? 0, above[i] ?? 0, above[i - size] ?? 0];
      return byte - predicted(filter, left, up, corner);
    });
    rows.push(Buffer.concat([Buffer.from([filter]), filtered]));
    above = line;
  }
  return rows;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 4) {
    const distance = (one: number) => Math.abs(left + up - corner - one);
    const nearest = Math.min(distance(left), distance(up), distance(corner));
    return [left, up, corner].find((one) => distance(one) === nearest)!;
  }
  return [0, left, up, (left + up) >> 1][filter] ?? 0;
}
