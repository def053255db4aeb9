// Records cost a GPU the loads and stores that the same bytes cost as flat arrays: as many, and as wide.

import { beforeAll, describe, expect, test } from 'vitest';
import { type Kernel, kernel, struct } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { hasNvcc, inOneFile, ptxOf } from '../support/nvcc.ts';

const pair = struct({ x: 'f32', y: 'f32' });
const box = struct({ low: pair, high: pair });
const body = struct({ position: 'f32x4', velocity: 'f32x4' });
const byte = struct({ r: 'u8', g: 'u8' });

const pairsOf = {
  'a record of two numbers': [
    kernel({ to: pair.array, from: pair.readonlyArray }, ({ to, from }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      const { x, y } = from[i]!;
      to[i] = { x: x + y, y: x };
    }),
    kernel({ to: 'f32[]', from: 'readonly f32[]' }, ({ to, from }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      const x = from[2 * i]!;
      const y = from[2 * i + 1]!;
      to[2 * i] = x + y;
      to[2 * i + 1] = x;
    }),
  ],
  'one field of it': [
    kernel({ out: 'f32[]', from: pair.readonlyArray }, ({ out, from }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      out[i] = from[i]!.y;
    }),
    kernel({ out: 'f32[]', from: 'readonly f32[]' }, ({ out, from }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      out[i] = from[2 * i + 1]!;
    }),
  ],
  'records in a record': [
    kernel({ to: box.array, from: box.readonlyArray }, ({ to, from }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      const { low, high } = from[i]!;
      to[i] = { low: high, high: low };
    }),
    kernel({ to: 'f32[]', from: 'readonly f32[]' }, ({ to, from }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      const [a, b, c, d] = [from[4 * i]!, from[4 * i + 1]!, from[4 * i + 2]!, from[4 * i + 3]!];
      to[4 * i] = c;
      to[4 * i + 1] = d;
      to[4 * i + 2] = a;
      to[4 * i + 3] = b;
    }),
  ],
  'vectors in a record': [
    kernel({ to: body.array, from: body.readonlyArray }, ({ to, from }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      const { position: p, velocity: v } = from[i]!;
      to[i] = { position: cuda.add(p, v), velocity: v };
    }),
    kernel({ to: 'f32x4[]', from: 'readonly f32x4[]' }, ({ to, from }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      const p = from[2 * i]!;
      const v = from[2 * i + 1]!;
      to[2 * i] = cuda.add(p, v);
      to[2 * i + 1] = v;
    }),
  ],
  'records of bytes': [
    kernel({ to: byte.array, from: byte.readonlyArray }, ({ to, from }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      const { r, g } = from[i]!;
      to[i] = { r: g, g: r };
    }),
    kernel({ to: 'u8[]', from: 'readonly u8[]' }, ({ to, from }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      const r = from[2 * i]!;
      const g = from[2 * i + 1]!;
      to[2 * i] = g;
      to[2 * i + 1] = r;
    }),
  ],
  'records in shared memory': [
    kernel({ out: 'f32[]', from: pair.readonlyArray, pair }, ({ out, from, pair }, cuda) => {
      const tile = cuda.sharedArray(pair, 64);
      const t = cuda.threadIdx.x;
      tile[t] = from[t]!;
      cuda.syncthreads();
      out[t] = tile[63 - t]!.x + tile[63 - t]!.y;
    }),
    kernel({ out: 'f32[]', from: 'readonly f32[]' }, ({ out, from }, cuda) => {
      const tile = cuda.sharedArray('f32', 128);
      const t = cuda.threadIdx.x;
      const x = from[2 * t]!;
      const y = from[2 * t + 1]!;
      tile[2 * t] = x;
      tile[2 * t + 1] = y;
      cuda.syncthreads();
      out[t] = tile[2 * (63 - t)]! + tile[2 * (63 - t) + 1]!;
    }),
  ],
} as unknown as Readonly<Record<string, readonly [records: Kernel, flat: Kernel]>>;

/** How often each kind of access to memory stands in the PTX of kernels, by the kernel's position. */
async function accessesOf(kernels: readonly Kernel[]): Promise<Readonly<Record<string, number>>[]> {
  const texts = kernels.map((given) => {
    const { program } = specialise(given, {
      block: [64, 1, 1],
      indexType: 'i32',
      constants: {},
      functions: {},
    });
    return cudaText(program, 80);
  });
  const entries = (await ptxOf(inOneFile(texts), '80')).split('.entry').slice(1);
  return kernels.map((_, position) => {
    const [own] = entries.filter((entry) =>
      entry.slice(0, entry.indexOf('(')).includes(`kernel_${position}`),
    );
    const counts: Record<string, number> = {};
    for (const [access] of own!.matchAll(/\b(?:ld|st)\.(?:global|shared)[\w.]*/g))
      counts[access] = (counts[access] ?? 0) + 1;
    return counts;
  });
}

describe.skipIf(!hasNvcc)('nvcc', () => {
  let found: readonly Readonly<Record<string, number>>[];
  beforeAll(async () => {
    found = await accessesOf(Object.values(pairsOf).flat());
  });

  test.each([...Object.keys(pairsOf).entries()])('%i: %s has the loads and stores of flat arrays', (at) => {
    const [records, flat] = found.slice(2 * at);
    expect(Object.keys(flat!).length).toBeGreaterThan(1);
    expect(records).toEqual(flat);
  });

  test('vectors in records are loaded whole', () => {
    const accesses = found[2 * Object.keys(pairsOf).indexOf('vectors in a record')]!;
    expect(Object.keys(accesses).every((access) => access.includes('.v4.f32'))).toBe(true);
  });
});
