// Compressed files: any format that is read in order, in gzip and Zstandard, in and out.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { decompress } from 'fzstd';
import { describe, expect, test } from 'vitest';
import { run } from 'warpstage';
import { FileBytes, openBytes } from '#warpstage/formats/bytes.js';
import { compressionOfName } from '#warpstage/formats/compression.js';
import { formatOfName } from '#warpstage/formats/registry.js';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { file, floats, readAll } from '../overlap/reading.ts';
import { expectFailure, npyFile, temporaryDirectory } from '../overlap/support.ts';
import { double } from './jobs.ts';

const npy = npyFile({ shape: [2500], data: floats });
/** Zstandard of blocks as they are: made here, so that every version of Node tests it. */
const zstd = packed(new Uint8Array(floats.buffer));

/** Bytes in Zstandard, as they are. */
function packed(bytes: Uint8Array): Uint8Array {
  return compressionOfName('x.zst')!.compression.store(bytes);
}

describe('a compressed file', () => {
  test('is read in the format that its name says inside', async () => {
    expect((await readAll(file('x.npy.gz', zlib.gzipSync(npy)))).values).toEqual([...floats]);
    expect((await readAll(file('x.F32.GZ', zlib.gzipSync(new Uint8Array(floats.buffer))))).values).toEqual([
      ...floats,
    ]);
    expect((await readAll(file('x.f32.zst', zstd))).values).toEqual([...floats]);
    const asRaw = { file: file('x.dat.gz', zlib.gzipSync(npy)), format: 'raw', dtype: 'u8' } as const;
    expect((await readAll(asRaw, 'u8')).values).toEqual([...npy]);
  });

  test('is recognised by how it and what is in it begin', async () => {
    const contents = zlib.gzipSync(npy);
    for (const name of ['x', 'x.gz', 'x.other'])
      expect((await readAll(file(name, contents))).values).toEqual([...floats]);
    await expectFailure(
      readAll(file('x.gz', zlib.gzipSync('nothing known'))),
      'WS5004',
      'compressed by gzip by how it begins',
      'x.f32.gz',
    );
    await expectFailure(readAll(file('x.f32', contents)), 'WS5004', 'compressed by gzip');
  });

  test('of several members or frames is read to its end', async () => {
    const parts = [npy.subarray(0, 200), npy.subarray(200, 5000), npy.subarray(5000)];
    expect(
      (await readAll(file('x.npy.gz', Buffer.concat(parts.map((one) => zlib.gzipSync(one)))))).values,
    ).toEqual([...floats]);
    const frames = parts.map(packed);
    expect((await readAll(file('x.npy.zst', Buffer.concat(frames)))).values).toEqual([...floats]);
  });

  test('whose name is wrong, or that is cut off or damaged, is an error', async () => {
    await expectFailure(
      readAll(file('x.npy.gz', npy)),
      'WS5003',
      /x\.npy\.gz cannot be read: it is damaged, or was not compressed by gzip/,
    );
    for (const [name, whole] of [
      ['x.f32.gz', zlib.gzipSync(new Uint8Array(floats.buffer))],
      ['x.f32.zst', zstd],
    ] as const) {
      for (const length of [whole.length - 1, whole.length - 9, 30])
        await expectFailure(readAll(file(name, whole.subarray(0, length))), 'WS5003', 'x.f32');
    }
    const flipped = Buffer.from(zlib.gzipSync(new Uint8Array(floats.buffer)));
    flipped[flipped.length - 6]! ^= 1;
    await expectFailure(readAll(file('x.f32.gz', flipped)), 'WS5003', 'incorrect data check');
    // Its header says how long it is; what comes behind is checked all the same.
    const sealed = Buffer.from(zlib.gzipSync(npy));
    sealed[sealed.length - 6]! ^= 1;
    await expectFailure(readAll(file('x.npy.gz', sealed)), 'WS5003', 'incorrect data check');
  });

  test('cannot be one that is read at positions', async () => {
    await expectFailure(
      readAll(file('x.parquet.gz', zlib.gzipSync('PAR1'))),
      'WS5004',
      'its index is at its end',
      'gunzip -k',
    );
  });

  test('is closed with what reads it, and leaves no descriptor open', async () => {
    const path = file('x.npy.gz', zlib.gzipSync(Buffer.concat([npy, Buffer.alloc(1 << 22)])));
    const bytes = await openBytes(path);
    expect(bytes).toBeInstanceOf(FileBytes);
    const contents = await formatOfName(path)!.open!(bytes, { dtype: undefined });
    await contents.close!();
    await bytes.close();
  });
});

describe('an output', () => {
  test('is compressed chunk by chunk, and its header can be written anew', {
    timeout: randomLimit(4),
  }, async () => {
    const lengths = fc.array(fc.nat(300), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(lengths, fc.integer({ min: 1, max: 400 }), async (pieces, chunk) => {
        const values = pieces.map((length, k) => Float32Array.from({ length }, (_, i) => 0.5 * i + k));
        const whole = Float32Array.from(values.flatMap((one) => [...one]));
        if (whole.length === 0) return;
        const output = join(temporaryDirectory(), 'y.npy.gz');
        // The length of a stream is known at its end.
        const stream = (async function* () {
          for (const one of values) yield new Uint8Array(one.buffer);
        })();
        await run(double, { input: stream, output, chunk });
        expect((await readAll(output)).values).toEqual([...whole].map((one) => 2 * one));
        const text = zlib.gunzipSync(readFileSync(output));
        expect(text.subarray(1, 6).toString()).toBe('NUMPY');
        expect(text.toString('latin1')).toContain(`'shape': (${whole.length},)`);
      }),
      randomRuns(4),
    );
  });

  test('in Zstandard where Node has it', async () => {
    const output = join(temporaryDirectory(), 'y.f32.zst');
    const written = run(double, { input: floats, output, chunk: 1000 });
    if (!('zstdCompress' in zlib)) {
      await expectFailure(written, 'WS5012', 'Node', /22\.15.*y\.f32\.gz/);
      return;
    }
    await written;
    const unpacked = decompress(readFileSync(output));
    expect(new Float32Array(unpacked.slice().buffer)).toEqual(floats.map((one) => 2 * one));
    expect((await readAll(output)).values).toEqual([...floats.map((one) => 2 * one)]);
  });
});
