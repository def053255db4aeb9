// What a strip or tile of a TIFF file is before it was compressed: as many of its bytes as are needed, and no memory for more.
//
// Deflate is Node's. LZW and PackBits are written here, as the libraries that have them put no limit on what comes out.

import { inflateSync } from 'node:zlib';

/** How bytes are unpacked. */
export interface Unpacking {
  readonly name: string;
  /** The most bytes that come of one. */
  readonly ratio: number;
  /** The first `needed` bytes, or fewer if there are no more; `whole` is what a strip or tile has at most. */
  unpack(bytes: Uint8Array, needed: number, whole: number): Uint8Array;
}

/** By the number of the compression. */
export const unpackings: Readonly<Record<number, Unpacking>> = {
  1: { name: 'uncompressed', ratio: 1, unpack: (bytes, needed) => bytes.subarray(0, needed) },
  5: { name: 'LZW', ratio: 4096, unpack: unpackLzw },
  8: { name: 'Deflate', ratio: 1040, unpack: inflate },
  32773: { name: 'PackBits', ratio: 64, unpack: unpackBits },
  32946: { name: 'Deflate', ratio: 1040, unpack: inflate },
};

/** What is not unpacked, for messages. */
export const otherCompressions: Readonly<Record<number, string>> = {
  2: 'CCITT',
  3: 'CCITT',
  4: 'CCITT',
  6: 'JPEG',
  7: 'JPEG',
  34712: 'JPEG 2000',
  34887: 'LERC',
  34925: 'LZMA',
  50000: 'Zstandard',
  50001: 'WebP',
};

function inflate(bytes: Uint8Array, needed: number, whole: number): Uint8Array {
  return inflateSync(bytes, { maxOutputLength: whole }).subarray(0, needed);
}

/** Runs: a byte that says how many follow as they are, or how often the next is repeated. */
function unpackBits(bytes: Uint8Array, most: number): Uint8Array {
  const out = new Uint8Array(most);
  let filled = 0;
  for (let at = 0; at < bytes.length && filled < most; ) {
    const head = bytes[at++]!;
    if (head === 128) continue;
    if (head < 128) {
      const run = bytes.subarray(at, at + Math.min(head + 1, most - filled));
      out.set(run, filled);
      filled += run.length;
      at += head + 1;
    } else if (at < bytes.length) {
      const end = Math.min(filled + 257 - head, most);
      out.fill(bytes[at++]!, filled, end);
      filled = end;
    }
  }
  return out.subarray(0, filled);
}

const clear = 256;
const end = 257;
const tableLength = 4096;

/**
 * Codes of 9 to 12 bits, the highest first. A code above 257 stands for a string that came before: where in the output it
 * began, and how long it is. The table grows by one with each code; codes get longer a code early, as all programs write them.
 */
function unpackLzw(bytes: Uint8Array, most: number): Uint8Array {
  const out = new Uint8Array(most);
  const begins = new Uint32Array(tableLength);
  const lengths = new Uint32Array(tableLength);
  let next = end + 1;
  let width = 9;
  let held = 0;
  let heldBits = 0;
  let filled = 0;
  /** Where the string of the code before lies in the output; none behind a clear. */
  let before = -1;
  let beforeLength = 0;
  for (let at = 0; filled < most; ) {
    while (heldBits < width && at < bytes.length) {
      held = ((held << 8) | bytes[at++]!) & 0xffffff;
      heldBits += 8;
    }
    if (heldBits < width) break;
    const code = (held >> (heldBits - width)) & ((1 << width) - 1);
    heldBits -= width;
    if (code === end) break;
    if (code === clear) {
      next = end + 1;
      width = 9;
      before = -1;
      continue;
    }
    if (before >= 0 && next < tableLength) {
      // The string before with the first byte of this one, which follows it in the output.
      begins[next] = before;
      lengths[next] = beforeLength + 1;
      next++;
    }
    if (code >= next && code >= clear) throw new Error(`its LZW codes are wrong: ${code} of ${next}`);
    const begin = filled;
    if (code < clear) out[filled++] = code;
    else {
      // One byte after the other: the string may end with a byte that it writes itself.
      const from = begins[code]!;
      const length = Math.min(lengths[code]!, most - filled);
      for (let i = 0; i < length; i++) out[filled++] = out[from + i]!;
    }
    before = begin;
    beforeLength = filled - begin;
    if (next + 1 >= 1 << width && width < 12) width++;
  }
  return out.subarray(0, filled);
}
