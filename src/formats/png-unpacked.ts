// Unpacks the rows of a picture as its chunks are read.

import { pipeline } from 'node:stream/promises';
import { createInflate } from 'node:zlib';
import type { ByteReader } from './bytes.ts';
import type { PngChunk, PngChunks } from './png-chunks.ts';
import { StreamBytes } from './stream-bytes.ts';

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
