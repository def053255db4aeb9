// Decodes and encodes a picture as a whole.

import { decode, encode } from 'fast-png';
import type { TypedArray } from '../kernel/types.ts';
import type { ByteReader } from './bytes.ts';
import { newArray, setElements } from './typed-arrays.ts';

/** Bytes that are read at once. */
const pieceBytes = 1 << 20;

/** The numbers of a picture whose head was read; the rest comes from the file. */
export async function decodePicture(
  head: Uint8Array,
  file: ByteReader,
  elements: number,
): Promise<Uint8Array | Uint16Array> {
  const pieces = [head];
  for (;;) {
    const piece = new Uint8Array(pieceBytes);
    const read = await file.read(piece);
    pieces.push(piece.subarray(0, read));
    if (read < pieceBytes) break;
  }
  const { data } = decode(Buffer.concat(pieces), { checkCrc: true });
  if (data.length !== elements) throw new Error(`it has ${data.length} numbers, which are ${elements}`);
  return data instanceof Uint16Array ? data : new Uint8Array(data.buffer, data.byteOffset, data.length);
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
