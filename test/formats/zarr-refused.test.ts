// What a Zarr store may not be: whatever it says, reading it ends, with an error of ours that says what is wrong and where.

import { appendFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, open, run } from 'warpstage';
import { pythonText } from '#warpstage/formats/python-text.js';
import { expectFailure, temporaryDirectory } from '../overlap/support.ts';
import { bytesCodec, chunks, copyOf, gzip, plain, read, store } from './zarr-stores.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 64 << 20 });
});
afterAll(() => device.close());

describe('what a store may not be', () => {
  const changed = (more: object) => store({ ...plain, ...more }, chunks);
  const grid = (...chunk_shape: unknown[]) => ({
    chunk_grid: { name: 'regular', configuration: { chunk_shape } },
  });
  const sharded = (index: Uint8Array, configuration: object = {}) =>
    store(
      {
        ...plain,
        ...grid(4),
        codecs: [
          {
            name: 'sharding_indexed',
            configuration: {
              chunk_shape: [2],
              codecs: [bytesCodec],
              index_codecs: [bytesCodec],
              ...configuration,
            },
          },
        ],
      },
      { 'c/0': index },
    );
  const indexOf = (...numbers: bigint[]) => new Uint8Array(BigUint64Array.from(numbers).buffer);

  test.each<[string, () => string, string, RegExp]>([
    ['no JSON', () => store('{'), 'WS5003', /it is no JSON/],
    ['a list', () => store([]), 'WS5003', /it is no object/],
    ['another version', () => changed({ zarr_format: 2 }), 'WS5003', /zarr_format is 2/],
    ['no kind', () => changed({ node_type: 'thing' }), 'WS5003', /node_type is "thing"/],
    ['no extents', () => changed({ shape: [-1] }), 'WS5003', /shape is \[-1\]/],
    ['too many elements', () => changed({ shape: [2 ** 40, 2 ** 40] }), 'WS5003', /too large/],
    ['chunks of other extents', () => changed(grid(2, 2)), 'WS5003', /1 extents, and its chunks have 2/],
    ['chunks of nothing', () => changed(grid(0)), 'WS5003', /chunk_shape is \[0\]/],
    ['chunks of 2 GiB', () => changed(grid(2 ** 29)), 'WS5004', /chunks of over 1024 MiB/],
    ['another grid', () => changed({ chunk_grid: { name: 'odd' } }), 'WS5004', /the grid "odd"/],
    ['other names', () => changed({ chunk_key_encoding: 'odd' }), 'WS5004', /by "odd"/],
    [
      'names of paths',
      () => changed({ chunk_key_encoding: { name: 'v2', configuration: { separator: '/../' } } }),
      'WS5003',
      /separator is/,
    ],
    ['another codec', () => changed({ codecs: [bytesCodec, { name: 'odd' }] }), 'WS5004', /the codec "odd"/],
    [
      'codecs in no order',
      () => changed({ codecs: [gzip, bytesCodec] }),
      'WS5003',
      /stands where it cannot be/,
    ],
    ['no codec', () => changed({ codecs: [] }), 'WS5003', /its codecs are \[\]/],
    ['a member that matters', () => changed({ masks: {} }), 'WS5004', /a member "masks"/],
    ['a fill_value of another type', () => changed({ fill_value: 'x' }), 'WS5003', /fill_value is "x"/],
    ['strings', () => changed({ data_type: 'string' }), 'WS5005', /holds string/],
    [
      'a short chunk',
      () => store(plain, { 'c/0': new Uint8Array(7) }),
      'WS5003',
      /c\/0: it has 7 bytes of numbers, which are 8/,
    ],
    [
      'a long chunk',
      () => store(plain, { 'c/0': new Uint8Array(9) }),
      'WS5003',
      /it has 9 bytes, and may have 8/,
    ],
    [
      'more than a chunk has, packed',
      () => store({ ...plain, codecs: [bytesCodec, gzip] }, { 'c/0': gzipSync(new Uint8Array(1e6)) }),
      'WS5003',
      /gzip: it gives more than 8 bytes/,
    ],
    [
      'no gzip',
      () => store({ ...plain, codecs: [bytesCodec, gzip] }, { 'c/0': new Uint8Array(30) }),
      'WS5003',
      /chunk c\/0: gzip: /,
    ],
    [
      'another checksum',
      () => store({ ...plain, codecs: [bytesCodec, { name: 'crc32c' }] }, { 'c/0': new Uint8Array(12) }),
      'WS5003',
      /crc32c: its checksum is another/,
    ],
    [
      'Blosc that says more than it has',
      () =>
        store({ ...plain, codecs: [bytesCodec, { name: 'blosc' }] }, { 'c/0': new Uint8Array(20).fill(9) }),
      'WS5003',
      /blosc: it has 20 bytes, and its head says/,
    ],
    [
      'a shard without room for its index',
      () => sharded(new Uint8Array(31)),
      'WS5003',
      /its index alone has 32/,
    ],
    [
      'a part outside of its shard',
      () => sharded(indexOf(100n, 8n, 0n, 8n)),
      'WS5003',
      /bytes 100 to 108 are to be read of 32/,
    ],
    ['a part that is too long', () => sharded(indexOf(0n, 2n ** 63n, 0n, 8n)), 'WS5003', /may have 8/],
    [
      'an index somewhere',
      () => sharded(indexOf(0n, 0n, 0n, 0n), { index_location: 'here' }),
      'WS5003',
      /index_location is "here"/,
    ],
    [
      'no fill_value for what is missing',
      () => store({ ...plain, fill_value: null }),
      'WS5003',
      /has no chunk \(0\)/,
    ],
  ])('%s', async (_, make, code, message) => {
    await expectFailure(read(make()), code, message);
  });

  test('what is not read says how it is written anew', async () => {
    const path = changed({ codecs: [bytesCodec, { name: 'odd' }] });
    const hint = `write it anew: zarr.save('plain.zarr', zarr.open(${pythonText(path)}, mode='r')[...])`;
    await expectFailure(read(path), 'WS5004', /the codec "odd"/, hint);
  });

  test('what lies elsewhere, or is no file', async () => {
    const secret = join(temporaryDirectory(), 'secret');
    writeFileSync(secret, chunks['c/0']);
    const path = store(plain, chunks);
    rmSync(join(path, 'c/1'));
    symlinkSync(secret, join(path, 'c/1'));
    await expectFailure(read(path), 'WS5003', /c\/1 leads out of the store/);
    rmSync(join(path, 'c/1'));
    symlinkSync('0', join(path, 'c/1'));
    expect(await read(path)).toEqual([1, 2, 1, 2]);
    rmSync(join(path, 'c/1'));
    mkdirSync(join(path, 'c/1'));
    await expectFailure(read(path), 'WS5003', /is no regular file/);
    rmSync(join(path, 'c/1'), { recursive: true });
    symlinkSync('nowhere', join(path, 'c/1'));
    await expectFailure(read(path), 'WS5003', /c\/1 cannot be read/);
  });

  test('a file, an empty folder, a folder of version 2', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'x.zarr');
    writeFileSync(path, 'PK');
    await expectFailure(read(path), 'WS5004', /is no folder/);
    rmSync(path);
    mkdirSync(path);
    await expectFailure(read(path), 'WS5003', /it has no zarr\.json/);
    writeFileSync(join(path, '.zarray'), '{}');
    await expectFailure(read(path), 'WS5004', /version 2/, /zarr\.save/);
    mkdirSync(join(directory, 'x.npy'));
    await expectFailure(read(join(directory, 'x.npy')), 'WS5003', /it is a directory/);
  });

  test('an array of 2^40 elements and no chunks takes no memory', async () => {
    const path = changed({ shape: [2 ** 40], ...grid(2 ** 20), fill_value: 3 });
    rmSync(join(path, 'c'), { recursive: true });
    const before = process.memoryUsage().arrayBuffers;
    const { outputs } = await run(copyOf('f32'), { input: path, device, rows: 1000, chunk: 1000 });
    expect([...new Set(outputs.y as Float32Array)]).toEqual([3]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20);
  });

  test('a store that changes while it is read', async () => {
    const path = store({ ...plain, shape: [400], ...grid(1) });
    const options = { input: path, device, chunk: 100, depth: 1 };
    const onChunk = () => appendFileSync(join(path, 'zarr.json'), ' ');
    await expectFailure(run(copyOf('f32'), { ...options, onChunk }), 'WS5003', /changed while it was read/);
    expect(existsSync(path)).toBe(true);
  });
});
