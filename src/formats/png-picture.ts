// Encodes a picture as a whole, by fast-png, which only who writes pictures loads.

import { encode } from 'fast-png';
import type { TypedArray } from '../kernel/types.ts';
import { newArray, setElements } from './typed-arrays.ts';

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
