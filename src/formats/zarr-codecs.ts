// How the bytes of a Zarr chunk are packed, and unpacked again: never into more bytes than a chunk may have.
//
// gzip is Node's zlib, Zstandard is zarr-zstd.ts, and Blosc is the package numcodecs, which those install who need it.
// What zlib unpacks is unpacked in its threads, so that several chunks are at once.

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { problem } from '../diagnostics/problem.ts';
import { crc32c } from './crc32c.ts';
import { unpackZstd } from './zarr-zstd.ts';

/** What packs bytes. */
export interface Packing {
  readonly name: 'gzip' | 'zstd' | 'blosc' | 'crc32c';
  /** The bytes before they were packed. Throws where they are more than `most`, or it is damaged. */
  unpack(bytes: Uint8Array, most: number): Uint8Array | Promise<Uint8Array>;
}

const unzipped = promisify<Uint8Array, { maxOutputLength: number }, Uint8Array>(gunzip);

/** By the names that Zarr has for them. */
export const packings: Readonly<Record<string, Packing>> = {
  gzip: {
    name: 'gzip',
    async unpack(bytes, most) {
      try {
        return await unzipped(bytes, { maxOutputLength: Math.max(1, most) });
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException;
        throw code === 'ERR_BUFFER_TOO_LARGE' ? new Error(`it gives more than ${most} bytes`) : cause;
      }
    },
  },
  zstd: { name: 'zstd', unpack: unpackZstd },
  blosc: { name: 'blosc', unpack: unpackBlosc },
  crc32c: {
    name: 'crc32c',
    unpack(bytes) {
      const end = bytes.length - 4;
      if (end < 0) throw new Error('it is shorter than its checksum');
      const data = bytes.subarray(0, end);
      const sum = new DataView(bytes.buffer, bytes.byteOffset + end, 4).getUint32(0, true);
      if (crc32c(data) !== sum) throw new Error('its checksum is another');
      return data;
    },
  },
};

/** Before what is packed: versions, flags, the bytes of an element; the bytes that come out, of a block, and of all. */
const bloscHead = 16;

async function unpackBlosc(bytes: Uint8Array, most: number): Promise<Uint8Array> {
  if (bytes.length < bloscHead) throw new Error('it is shorter than the head of Blosc');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [unpacked, block, packed] = [4, 8, 12].map((at) => view.getUint32(at, true)) as [
    number,
    number,
    number,
  ];
  // The library believes what the head says.
  if (packed !== bytes.length) throw new Error(`it has ${bytes.length} bytes, and its head says ${packed}`);
  if (unpacked > most) throw new Error(`it gives more than ${most} bytes`);
  if (block > unpacked) throw new Error(`its blocks have ${block} bytes, and all have ${unpacked}`);
  if (unpacked === 0) return new Uint8Array();
  const Blosc = await loadBlosc();
  return new Blosc().decode(bytes);
}

async function loadBlosc() {
  try {
    return (await import('numcodecs/blosc')).default;
  } catch (cause) {
    throw problem(
      'WS5004',
      'chunks that Blosc has packed need a package that is not installed',
      'npm install numcodecs@0.3',
      cause,
    );
  }
}
