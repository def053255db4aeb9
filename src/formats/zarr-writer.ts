// How an output is written as a Zarr array: chunks of whole rows, and a zarr.json that says so.
//
// A chunk has about 4 MiB whatever the job's chunks are. Names end in `.gz.zarr` or `.zst.zarr` where chunks are to be
// compressed. What is replaced is an array alone: a group, or a folder with anything else in it, stays.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { problem } from '../diagnostics/problem.ts';
import type { ElementType } from '../kernel/types.ts';
import { dtypeBytes, isDtype } from './dtype.ts';
import type { FolderEncoding, OutputDescription } from './format.ts';
import { longestMetadata, markName } from './zarr-limits.ts';
import { nameOfDtype } from './zarr-types.ts';

/** Bytes of a chunk, where a row has no more. */
const chunkBytes = 2 ** 22;
/** Of a row: no longer chunks are read here either. */
const mostBytes = 2 ** 30;

interface Packing {
  readonly codec: { readonly name: string; readonly configuration: object };
  compress(bytes: Uint8Array): Promise<Uint8Array>;
}

/** The folder of an output. Throws WS5012 where there is no such array. */
export function zarrFolder({ name, element }: OutputDescription): FolderEncoding {
  const dtype = typeOf(name, element);
  const packing = packingOf(name);
  const rowBytes = (shape: readonly number[]) =>
    shape.slice(1).reduce((product, extent) => product * extent, dtypeBytes[dtype]);
  return {
    unitBytes(shape) {
      const bytes = rowBytes(shape);
      if (bytes > mostBytes) {
        throw problem(
          'WS5012',
          `${name} would have chunks of whole rows, and a row has ${bytes} bytes, of ${mostBytes} at most`,
          'write it as .npy',
        );
      }
      return Math.max(1, Math.floor(chunkBytes / Math.max(1, bytes))) * bytes;
    },
    nameOf: (unit, shape) => ['c', unit, ...shape.slice(1).map(() => 0)].join('.'),
    ...(packing && { encode: packing.compress }),
    end(shape, unitBytes) {
      const rows = Math.max(1, Math.round(unitBytes / Math.max(1, rowBytes(shape))));
      const metadata = {
        zarr_format: 3,
        node_type: 'array',
        shape,
        data_type: nameOfDtype[dtype],
        chunk_grid: {
          name: 'regular',
          configuration: { chunk_shape: [rows, ...shape.slice(1).map((extent) => Math.max(1, extent))] },
        },
        chunk_key_encoding: { name: 'default', configuration: { separator: '.' } },
        fill_value: 0,
        codecs: [
          { name: 'bytes', configuration: { endian: 'little' } },
          ...(packing === undefined ? [] : [packing.codec]),
        ],
        attributes: {},
      };
      return [markName, Buffer.from(`${JSON.stringify(metadata, undefined, 2)}\n`)];
    },
    isPart: (path) => ofArray.test(path),
    keeps,
  };
}

function typeOf(name: string, element: ElementType) {
  if (isDtype(element)) return element;
  throw problem(
    'WS5012',
    `${name} would be a Zarr array of ${element}, and these are of numbers`,
    'write it raw, to a file that ends in .bin, or have the kernel write f32',
  );
}

const gzipped = promisify<Uint8Array, Uint8Array>(zlib.gzip);

function packingOf(name: string): Packing | undefined {
  const [, way] = /\.(gz|zst)\.zarr[\\/]?$/i.exec(name) ?? [];
  if (way === undefined) return undefined;
  if (way.toLowerCase() === 'gz') {
    // As numcodecs does, and with the level that zlib has when nobody says one.
    return {
      codec: { name: 'gzip', configuration: { level: 6 } },
      compress: (bytes) => gzipped(bytes),
    };
  }
  // Since Node 22.15.
  const { zstdCompress } = zlib as {
    zstdCompress?: (bytes: Uint8Array, done: zlib.CompressCallback) => void;
  };
  if (zstdCompress === undefined) {
    throw problem(
      'WS5012',
      `${name} would be compressed by zstd, which Node ${process.versions.node} cannot`,
      `use Node 22.15 or later, or name it ${name.replace(/\.zst(\.zarr)/i, '.gz$1')}`,
    );
  }
  return {
    codec: { name: 'zstd', configuration: { level: 3, checksum: false } },
    compress: promisify(zstdCompress) as Packing['compress'],
  };
}

/** Files of an array, by their names: chunks in one folder, or each extent in a folder of its own. */
const ofArray = /^(zarr\.json|c|c([./]\d+)+|\d+(\.\d+)*)$/;

function keeps(folder: string, names: readonly string[]): string | undefined {
  const other = names.find((name) => !ofArray.test(name));
  if (other !== undefined) return `it has ${other} in it, which is no part of an array`;
  if (names.length > 0 && !names.includes(markName)) return 'it is no Zarr array';
  try {
    const file = join(folder, markName);
    if (names.length === 0 || statSync(file).size > longestMetadata) return undefined;
    const about = JSON.parse(readFileSync(file, 'utf8')) as { node_type?: unknown } | null;
    return about?.node_type === 'group' ? 'it is a group of arrays' : undefined;
  } catch {
    // Damaged as it is, nobody reads it.
    return undefined;
  }
}
