// Zarr stores that tests make and read, and a job that copies them.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { job, kernel } from 'warpstage';
import { readAll } from '../overlap/reading.ts';
import { temporaryDirectory } from '../overlap/support.ts';

export const elements = [
  'i8',
  'u8',
  'i16',
  'u16',
  'i32',
  'u32',
  'i64',
  'u64',
  'f16',
  'bf16',
  'f32',
  'f64',
] as const;
export type Numbers = (typeof elements)[number];

export const copyOf = (element: Numbers) =>
  job({
    kernel: kernel({ y: `${element}[]`, x: `readonly ${element}[]` }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = x[i]! as never;
    }),
    inputs: { x: {} },
    outputs: { y: {} },
  });

/** A store of a zarr.json, and of files. */
export function store(metadata: unknown, files: Readonly<Record<string, Uint8Array>> = {}): string {
  const path = join(temporaryDirectory(), 'x.zarr');
  mkdirSync(path);
  writeFileSync(join(path, 'zarr.json'), typeof metadata === 'string' ? metadata : JSON.stringify(metadata));
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), bytes);
  }
  return path;
}

export const bytesCodec = { name: 'bytes', configuration: { endian: 'little' } };
export const gzip = { name: 'gzip', configuration: { level: 1 } };
export const plain = {
  zarr_format: 3,
  node_type: 'array',
  shape: [4],
  data_type: 'float32',
  chunk_grid: { name: 'regular', configuration: { chunk_shape: [2] } },
  chunk_key_encoding: { name: 'default' },
  fill_value: 0,
  codecs: [bytesCodec],
};
export const chunks = {
  'c/0': new Uint8Array(Float32Array.of(1, 2).buffer),
  'c/1': new Uint8Array(Float32Array.of(3, 4).buffer),
};
export const read = (path: string) => readAll(path, 'f32').then(({ values }) => values);
