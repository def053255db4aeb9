// Unpacks a picture as it is read, and encodes one as a whole.

import { pipeline } from 'node:stream/promises';
import { createInflate } from 'node:zlib';
import { encode } from 'fast-png';
import type { TypedArray } from '../kernel/types.ts';
import type { ByteReader } from './bytes.ts';
import type { PngChunk, PngChunks } from './png-chunks.ts';
import { StreamBytes } from './stream-bytes.ts';
import { newArray, setElements } from './typed-arrays.ts';

/** Bytes that are unpacked at once. */
const pieceBytes = 1 << 18;

/** What the chunks of a picture have, unpacked: rows, each behind its filter. `first`: the first of these chunks. */
export function unpackPicture(
  chunks: PngChunks,
  first: PngChunk,
): { readonly bytes: ByteReader; readonly close: () => Promise<void> } {
  const unpacking = createInflate({ chunkSize: pieceBytes });
  // Its errors are those of who reads what it gives.
  const ended = pipeline(chunks.picture(first), unpacking).catch(() => {});
  const bytes = new StreamBytes(chunks.name, unpacking).begin();
  const close = async () => {
    await bytes.close();
    unpacking.destroy();
    await ended;
  };
  return { bytes, close };
}

/** A picture as a file. */
export function encodePicture(
  parts: readonly TypedArray[],
  element: 'u8' | 'u16',
  [height, width, channels]: readonly [number, number, number],
): Uint8Array {
  const data = newArray(element, height * width * channels) as Uint8Array | Uint16Array;
  let at = 0;
  for (const part of parts) {
    setElements(data, part, at);
    at += part.length;
  }
  return encode({ width, height, data, channels, depth: element === 'u8' ? 8 : 16 });
}
