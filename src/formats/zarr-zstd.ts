// Zstandard within bounds (RFC 8878): a frame at a time, none of which may give more than was left, or ask for a window
// that is larger than anybody's.
//
// Node's own unpacks them, where there is one, and fzstd otherwise. Neither says where a frame ends, so they are walked through
// here, from block to block: what is cut off is found that way.

import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

const magic = 0xfd2fb528;
const skippable = 0x184d2a50;
/** The window of the highest level that zstd has without `--ultra` and `--long`. */
const longestWindow = 2 ** 27;

type Native = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;

/** Unpacks all frames. Throws an Error where they give more than `most` bytes, or are damaged. */
export async function unpackZstd(bytes: Uint8Array, most: number): Promise<Uint8Array> {
  const { zstdDecompress } = zlib as { zstdDecompress?: Parameters<typeof promisify>[0] };
  const native = zstdDecompress && (promisify(zstdDecompress) as Native);
  const parts: Uint8Array[] = [];
  let left = most;
  for (const frame of framesOf(bytes, most)) {
    const part = await (native === undefined
      ? unpackHere(frame, left)
      : native(frame, { maxOutputLength: Math.max(1, left) }));
    left -= part.length;
    if (left < 0) throw tooMany(most);
    parts.push(part);
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

async function unpackHere(frame: Uint8Array, most: number): Promise<Uint8Array> {
  const { Decompress } = await import('fzstd');
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const decompress = new Decompress((part) => {
    bytes += part.length;
    if (bytes > most) throw tooMany(most);
    // What is not the library's own memory any more.
    parts.push(part.slice());
  });
  decompress.push(frame, true);
  return Buffer.concat(parts);
}

function framesOf(bytes: Uint8Array, most: number): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const kind = view.getUint32(at, true);
    if ((kind & 0xfffffff0) >>> 0 === skippable) {
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    if (kind !== magic) throw new Error('it is no Zstandard');
    const end = endOfFrame(view, at, most);
    if (end > bytes.length) throw new Error('it is cut off');
    frames.push(bytes.subarray(at, end));
    at = end;
  }
  return frames;
}

function endOfFrame(view: DataView, begin: number, most: number): number {
  const flags = view.getUint8(begin + 4);
  const isSegment = (flags & 0x20) !== 0;
  const sizeBytes = flags >> 6 === 0 ? Number(isSegment) : 1 << (flags >> 6);
  const dictionaryBytes = [0, 1, 2, 4][flags & 3]!;
  const atSize = begin + 5 + Number(!isSegment) + dictionaryBytes;
  const size =
    sizeBytes === 8
      ? Number(view.getBigUint64(atSize, true))
      : sizeBytes === 4
        ? view.getUint32(atSize, true)
        : sizeBytes === 2
          ? view.getUint16(atSize, true) + 256
          : sizeBytes === 1
            ? view.getUint8(atSize)
            : 0;
  if (size > most) throw tooMany(most);
  if (!isSegment) {
    const window = view.getUint8(begin + 5);
    const base = 2 ** (10 + (window >> 3));
    if (base + (base / 8) * (window & 7) > longestWindow) {
      throw new Error(`it needs a window of over ${longestWindow} bytes`);
    }
  }
  let at = atSize + sizeBytes;
  for (let isLast = false; !isLast; ) {
    const head = view.getUint8(at) | (view.getUint16(at + 1, true) << 8);
    isLast = (head & 1) === 1;
    // A block of one byte that is repeated has that byte.
    at += 3 + (((head >> 1) & 3) === 1 ? 1 : head >> 3);
  }
  return at + ((flags & 4) !== 0 ? 4 : 0);
}

function tooMany(most: number): Error {
  return new Error(`it gives more than ${most} bytes`);
}
