// Zarr stores at URLs: what a folder gives they give, whole or in parts, and nothing from anywhere else. What changes
// while it is read is an error.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, job, kernel, open, type RunOptions, run } from 'warpstage';
import { contentOf } from '#warpstage/files/content.js';
import { pythonText } from '#warpstage/formats/python-text.js';
import { merge } from '#warpstage/overlap/shards/merge.js';
import { verify } from '#warpstage/overlap/verify.js';
import { runHere } from '../cli/support.ts';
import { readAll } from '../overlap/reading.ts';
import { useStore } from '../overlap/s3-server.ts';
import { expectFailure, temporaryDirectory } from '../overlap/support.ts';
import { useServer } from '../overlap/url-server.ts';
import { copyOf } from './jobs.ts';

const host = useServer();
const objects = useStore();
let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1 });
});
afterAll(() => device.close());

const folder = join(import.meta.dirname, 'zarr');
const stores = readdirSync(folder).filter((name) => !name.endsWith('.py'));
const { signal } = new AbortController();

/** Files of a store, by their paths. */
type Files = Readonly<Record<string, Uint8Array>>;
function filesIn(path: string, below = ''): Files {
  return Object.fromEntries(
    readdirSync(join(path, below)).flatMap((name) => {
      const inner = below === '' ? name : `${below}/${name}`;
      const isFolder = statSync(join(path, inner)).isDirectory();
      return isFolder ? Object.entries(filesIn(path, inner)) : [[inner, readFileSync(join(path, inner))]];
    }),
  );
}
const served = (files: Files, name = 'x.zarr', about?: Parameters<typeof host.serve>[2]) => {
  for (const [path, bytes] of Object.entries(files)) host.serve(`/${name}/${path}`, bytes, about);
  return `${host.origin}/${name}`;
};
const stored = (files: Files, name = 'x.zarr') => {
  for (const [path, bytes] of Object.entries(files)) objects.put(`${name}/${path}`, bytes);
  return `s3://data/${name}`;
};

const bytesCodec = { name: 'bytes', configuration: { endian: 'little' } };
const json = (value: object) => Buffer.from(JSON.stringify(value));
const array = (length: number, chunk: number, more: object = {}) => ({
  zarr_format: 3,
  node_type: 'array',
  shape: [length],
  data_type: 'float32',
  chunk_grid: { name: 'regular', configuration: { chunk_shape: [chunk] } },
  chunk_key_encoding: { name: 'default' },
  fill_value: 0,
  codecs: [bytesCodec],
  ...more,
});
const floats = (...values: number[]) => Buffer.from(Float32Array.from(values).buffer);
const plain: Files = { 'zarr.json': json(array(4, 2)), 'c/0': floats(1, 2), 'c/1': floats(3, 4) };
/** A shard of two parts, each of 100,000 numbers, and its index. */
const part = Buffer.alloc(400_000, 1);
const index = Buffer.from(BigUint64Array.from([0n, 400_000n, 400_000n, 400_000n]).buffer);
const sharded: Files = {
  'zarr.json': json(
    array(200_000, 200_000, {
      codecs: [
        {
          name: 'sharding_indexed',
          configuration: { chunk_shape: [100_000], codecs: [bytesCodec], index_codecs: [bytesCodec] },
        },
      ],
    }),
  ),
  'c/0': Buffer.concat([part, part, index]),
};
const read = (url: string, column?: string) =>
  readAll(url, 'f32', column === undefined ? {} : { column }, 100_000).then(({ values }) => values);

describe('a store at a URL', () => {
  test.each(stores)('%s has what its folder has', async (name) => {
    const [type] = name.split('-') as [string];
    const element = type === 'bool' || type.endsWith('f16') ? 'f64' : (type as 'f32');
    const how = { convert: 'nearest' } as const;
    const { values, source } = await readAll(join(folder, name), element, how);
    const files = filesIn(join(folder, name));
    const urls = [served(files), `${served(files)}/?key=of+it`, stored(files), `${stored(files)}/`];
    if (!/shards|start|nested/.test(name)) {
      host.served.clear();
      urls.push(served(files, 'y.zarr', { ranges: false }));
      served(files);
    }
    for (const url of urls) {
      const there = await readAll(url, element, how, 7);
      expect(there.values).toEqual(values);
      expect(there.source.shape).toEqual(source.shape);
    }
    expect(host.asked.every(({ path }) => /^\/[xy]\.zarr\//.test(path))).toBe(true);
    expect(objects.asked.every(({ key }) => key === '' || key.startsWith('x.zarr/'))).toBe(true);
  });

  test('is an input of a job and of commands, also in a list, and by its format', async () => {
    const expected = [1, 2, 3, 4];
    for (const url of [served(plain), stored(plain)]) {
      const { outputs } = await run(copyOf('f32'), { input: [[url, url]], device });
      expect([...outputs.y!]).toEqual([...expected, ...expected]);
      expect((await runHere('head', url, '--json')).text).toBe('[1,2,3,4]\n');
      expect((await runHere('info', url)).text).toMatch(/zarr\n.*f32 \(float32\)\n.*\(4\)/);
    }
    const url = served(plain, 'nameless');
    expect((await readAll({ file: url, format: 'zarr' })).values).toEqual(expected);
  });

  test('reads of a shard what is wanted of it, and asks for its index once', async () => {
    for (const url of [served(sharded), stored(sharded)]) {
      const { outputs } = await run(copyOf('f32'), { input: url, device, rows: 1000 });
      expect(Buffer.from(outputs.y!.buffer).every((byte) => byte === 1)).toBe(true);
    }
    const ranges = host.asked.filter(({ path }) => path.endsWith('c/0'));
    expect(ranges.length).toBeLessThan(8);
  });

  test('has what stands for a chunk that is missing, and not for one that is refused', async () => {
    const { 'c/1': _, ...rest } = plain;
    expect(await read(served(rest))).toEqual([1, 2, 0, 0]);
    expect(await read(stored(rest))).toEqual([1, 2, 0, 0]);
    for (const status of [401, 403, 410, 500]) {
      host.instead = ({ url }, response) => {
        if (url!.endsWith('c/1')) response.writeHead(status).end();
        return url!.endsWith('c/1');
      };
      const refused = new RegExp(`x\\.zarr/c/1 cannot be read: the server answers ${status}`);
      await expectFailure(read(served(plain)), status === 500 ? 'WS5020' : 'WS5003', refused);
    }
    objects.fault = ({ key }) => (key.endsWith('c/1') ? { status: 403, code: 'AccessDenied' } : undefined);
    await expectFailure(read(stored(plain)), 'WS5003', /x\.zarr\/c\/1 cannot be read: access is denied/);
  });

  test('that is none says so', async () => {
    await expectFailure(read(`${host.origin}/x.zarr`), 'WS5003', /is no Zarr store: it has no zarr\.json/);
    await expectFailure(read('s3://data/x.zarr'), 'WS5003', /is no Zarr store/);
    const old = served({ '.zarray': json({}) });
    const again = `write it as version 3: zarr.save('new.zarr', zarr.open(${pythonText(old)}, mode='r')[...])`;
    await expectFailure(read(old), 'WS5004', /version 2/, again);
    const { 'zarr.json': about } = plain;
    await expectFailure(
      read(served({ 'zarr.json': about!, 'c/0': Buffer.alloc(100_000) }, 'y.zarr', { ranges: false })),
      'WS5003',
      /y\.zarr\/c\/0 has more than 8 bytes/,
    );
    await expectFailure(read(served(sharded, 'z.zarr', { ranges: false })), 'WS5004', /to be read in parts/);
    objects.fault = () => ({ status: 403, code: 'AccessDenied' });
    await expectFailure(
      read(stored(plain)),
      'WS5003',
      /^s3:\/\/data\/x\.zarr cannot be read: access is denied/,
    );
  });
});

describe('a group at a URL', () => {
  const node = (name: string): Files =>
    Object.fromEntries(Object.entries(plain).map(([path, bytes]) => [`${name}/${path}`, bytes]));
  const group = (metadata?: object) =>
    json({ zarr_format: 3, node_type: 'group', ...(metadata && { consolidated_metadata: { metadata } }) });
  const inside = { ...node('a'), ...node('deep/b'), 'deep/zarr.json': group() };

  test('has the arrays that it lists, or that its store lists, and none from elsewhere', async () => {
    served(plain, 'secret');
    stored(plain, 'x.zarr/../secret');
    const wild = [
      '../secret',
      'a/../../secret',
      '/secret',
      'a//b',
      '.',
      '%2e%2e/secret',
      '..\\secret',
      'a?b#c',
    ];
    const names = ['a', 'deep', 'deep/b', ...wild];
    const url = served({
      ...inside,
      'zarr.json': group(Object.fromEntries(names.map((name) => [name, {}]))),
    });
    for (const one of [url, stored({ ...inside, 'zarr.json': group() })]) {
      expect(await read(one, 'deep/b')).toEqual([1, 2, 3, 4]);
      expect(await read(`${one}/deep/b`)).toEqual([1, 2, 3, 4]);
      await expectFailure(read(one, '../secret'), 'WS5005', /no column '\.\.\/secret'/, /are a, deep\/b;/);
    }
    expect(host.asked.every(({ path }) => path.startsWith('/x.zarr/'))).toBe(true);
    expect(host.asked.map(({ path }) => path)).toContain('/x.zarr/a%3Fb%23c/zarr.json');
    expect(objects.asked.every(({ key }) => key === '' || /^x\.zarr\/(?!\.\.)/.test(key))).toBe(true);
  });

  test('that nobody lists is refused', async () => {
    const url = served({ ...inside, 'zarr.json': group() });
    const hint = `name an array of it: ${url}/…; or have it list them: zarr.consolidate_metadata(…)`;
    await expectFailure(read(url), 'WS5004', /is a group, and neither its server/, hint);
  });
});

describe('what changes while it is read', () => {
  const two = job({
    kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = x[i]!;
    }),
    inputs: { x: {} },
    outputs: { y: {} },
  });
  const twice = (url: string) => run(two, { input: [[url, url]], device, chunk: 2, depth: 1 });

  test('is an error: a part of a shard', async () => {
    const url = served(sharded);
    let asked = 0;
    host.instead = ({ url }) => {
      if (url!.endsWith('c/0') && ++asked === 2) served({ 'c/0': sharded['c/0']! }, 'x.zarr', { tag: '"2"' });
      return false;
    };
    await expectFailure(
      run(two, { input: url, device }),
      'WS5003',
      /x\.zarr\/c\/0 changed while it was read/,
    );
    expect(asked).toBeGreaterThan(1);
    const object = stored(sharded);
    objects.fault = ({ key, what }) => {
      if (key.endsWith('c/0') && what === 'Get') stored({ 'c/0': Buffer.alloc(800_032) });
      return undefined;
    };
    await expectFailure(
      run(two, { input: object, device }),
      'WS5003',
      /x\.zarr\/c\/0 changed while it was read/,
    );
  });

  test.each<[string, (path: string) => void]>([
    ['a chunk', (path) => host.serve(`/x.zarr/${path}`, floats(7, 8), { tag: '"2"' })],
    ['one that is gone', (path) => host.served.delete(`/x.zarr/${path}`)],
  ])('is an error where it is read again: %s', async (_, change) => {
    const url = served(plain);
    let asked = 0;
    host.instead = ({ url }) => {
      if (url!.endsWith('c/1') && ++asked === 2) change('c/1');
      return false;
    };
    await expectFailure(twice(url), 'WS5003', /x\.zarr\/c\/1 changed while it was read/);
  });

  test('is an error where it is read again: one that was missing', async () => {
    const { 'c/1': last, ...rest } = plain;
    const url = served(rest);
    let asked = 0;
    host.instead = ({ url }) => {
      if (url!.endsWith('c/1') && ++asked === 2) served({ 'c/1': last! });
      return false;
    };
    await expectFailure(twice(url), 'WS5003', /x\.zarr\/c\/1 changed while it was read/);
    // Of objects there is a list, and another one at the second time.
    const object = stored(rest);
    objects.fault = ({ key }) => {
      if (key.endsWith('c/0')) stored({ 'c/1': last! });
      return undefined;
    };
    await expectFailure(twice(object), 'WS5003', /x\.zarr changed while it was read/);
    // A server that says no versions cannot be asked twice.
    await expectFailure(twice(served(plain, 'z.zarr', {})), 'WS5005', /is to be read more than once/);
  });
});

describe('a run over a store at a URL', () => {
  const long: Files = {
    'zarr.json': json(array(1000, 100)),
    ...Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => [
        `c/${i}`,
        floats(...Array.from({ length: 100 }, (_, j) => 100 * i + j)),
      ]),
    ),
  };
  const expected = Array.from({ length: 1000 }, (_, i) => i);
  const newOutput = () => join(temporaryDirectory(), 'y.f32');
  const valuesOf = (path: string) => [...new Float32Array(new Uint8Array(readFileSync(path)).buffer)];

  test('is resumed of objects, which are the same or an error', async () => {
    const output = newOutput();
    const options: RunOptions = { input: stored(long), output, device, chunk: 50, depth: 1, resume: true };
    const stop = async () => {
      const controller = new AbortController();
      let chunks = 0;
      const onProgress = () => {
        if (++chunks === 7) controller.abort();
      };
      await expectFailure(
        run(copyOf('f32'), { ...options, signal: controller.signal, onProgress }),
        'WS5009',
        /stopped/,
      );
    };
    await stop();
    const { report } = await run(copyOf('f32'), options);
    expect(report.resumed).toMatchObject({ rows: 350 });
    expect(valuesOf(output)).toEqual(expected);
    await stop();
    stored({ 'c/9': floats(...Array(100).fill(0)) });
    await expectFailure(
      run(copyOf('f32'), options),
      'WS5013',
      /input 'x' was s3:\/\/data\/x\.zarr \(zarr, f32, [\d,]+ bytes, version "/,
    );
  });

  test('is cut into shards of objects', async () => {
    const output = newOutput();
    const input = stored(long);
    for (const n of [1, 2, 3] as const) {
      await run(copyOf('f32'), { input, output, device, chunk: 50, shard: [n, 3] });
    }
    await merge({ file: output }, { signal, remove: true });
    expect(valuesOf(output)).toEqual(expected);
  });

  test('knows objects by their content, as those of a folder', async () => {
    const output = newOutput();
    const input = stored(filesIn(join(folder, 'f32-40x6-blosc')));
    await run(copyOf('f32'), { input, output, device, checksum: true });
    const { inputs } = JSON.parse(readFileSync(`${output}.sums`, 'utf8')) as {
      inputs: { bytes: number; sum: string }[];
    };
    const { bytes, sum } = (await contentOf(join(folder, 'f32-40x6-blosc'), signal))!;
    expect(inputs).toMatchObject([{ path: input, bytes, sum }]);
    expect((await verify(output, { inputs: true, signal })).differences).toEqual([]);
    stored({ 'zarr.json': json({}) });
    expect((await verify(output, { inputs: true, signal })).differences).toMatchObject([
      { path: input, kind: 'changed' },
    ]);
  });

  test('ends when it is stopped, also where the server hangs', async () => {
    const url = served(plain);
    const controller = new AbortController();
    host.instead = ({ url }) => {
      if (!url!.endsWith('c/1')) return false;
      controller.abort();
      return true;
    };
    await expectFailure(
      run(copyOf('f32'), { input: url, device, signal: controller.signal }),
      'WS5009',
      /stopped/,
    );
  });
});
