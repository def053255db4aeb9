// Zarr stores: what TensorStore wrote (zarr/make.py) is read, and what is written here zarrita reads. An output appears
// whole or not at all.

import { execSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, job, kernel, open, run, WarpstageError } from 'warpstage';
import * as zarrita from 'zarrita';
import { wantedOf } from '#warpstage/overlap/input-data.js';
import { OpenInputs } from '#warpstage/overlap/inputs.js';
import { merge } from '#warpstage/overlap/shards/merge.js';
import { verify } from '#warpstage/overlap/verify.js';
import { FileOperations } from '../overlap/file-operations.ts';
import { arrayOf, readAll } from '../overlap/reading.ts';
import { expectFailure, namesIn, temporaryDirectory } from '../overlap/support.ts';
import { chunks, copyOf, elements, plain, read, store } from './zarr-stores.ts';

const folder = join(import.meta.dirname, 'zarr');
const stores = readdirSync(folder).filter((name) => !name.endsWith('.py'));

const sum = job({
  kernel: kernel({ y: 'f32[]', a: 'readonly f32[]', b: 'readonly f32[]' }, ({ y, a, b }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = a[i]! + 100 * b[i]!;
  }),
  inputs: { a: {}, b: {} },
  outputs: { y: {} },
});

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 64 << 20 });
});
afterAll(() => device.close());

/** The numbers that make.py wrote, and what stands for those that it did not. */
function numbersOf(name: string): number[] {
  const [element, extents] = name.split('-') as [string, string];
  const shape = extents.split('x').map(Number);
  const count = shape.reduce((product, extent) => product * extent, 1);
  const [absent, fill] =
    { 'i32-9x10-shards': [4, -5], 'f16-3x4x5-first': [1, NaN], 'u64-12-missing': [7, 2 ** 64] }[name] ?? [];
  const there = absent === undefined ? count : ((shape[0]! - absent) * count) / shape[0]!;
  return Array.from({ length: count }, (_, i) => {
    if (i >= there) return fill!;
    const number = ((7 * i) % 100) - (element.startsWith('u') ? 0 : 20);
    return element === 'bool' ? Number(number > 30) : number;
  });
}

describe('a store that TensorStore wrote', () => {
  test.each(stores)('%s is read, also from its midst', async (name) => {
    const [stored, extents] = name.split('-') as [string, string];
    const element = stored === 'bool' || stored.endsWith('f16') ? 'f64' : (stored as 'f32');
    const expected = numbersOf(name);
    const { source, values } = await readAll(join(folder, name), element, { convert: 'nearest' }, 7);
    expect(source.shape).toEqual(extents.split('x').map(Number));
    expect(values.map(Number)).toEqual(expected);
    for (const begin of [1, 11, expected.length - 1]) {
      const inputs = new OpenInputs();
      const part = await inputs.open(join(folder, name), wantedOf('x', element, { convert: 'nearest' }));
      expect(await part.skip!(begin)).toBe(begin);
      const into = arrayOf(element, expected.length);
      const got = await part.read(into);
      expect([...into.subarray(0, got)].map(Number)).toEqual(expected.slice(begin));
      await inputs.close();
    }
  });

  test('the greatest number of 64 bits stands for what is missing as it is', async () => {
    const { values } = await readAll(join(folder, 'u64-12-missing'), 'u64' as 'f32');
    expect(values.at(-1)).toBe(2n ** 64n - 1n);
  });
});

describe('an output', () => {
  test.each(elements.flatMap((element) => ['', '.gz'].map((way) => [element, way] as const)))(
    'of %s%s is what zarrita and a job read',
    async (element, way) => {
      const directory = temporaryDirectory();
      const x = arrayOf(element as 'f32', 1234);
      const isWide = element.endsWith('64') && !element.startsWith('f');
      for (let i = 0; i < x.length; i++) x[i] = (isWide ? BigInt(i * 37) : (i * 37) % 120) as never;
      const output = join(directory, `y${way}.zarr`);
      await run(copyOf(element), { input: x, output, device, chunk: 100 });
      const { values } = await readAll(output, element as 'f32');
      expect(values).toEqual([...x]);
      const metadata = JSON.parse(readFileSync(join(output, 'zarr.json'), 'utf8'));
      expect(metadata).toMatchObject({ shape: [1234], node_type: 'array', zarr_format: 3 });
      expect(namesIn(output)).toEqual(['c.0', 'zarr.json']);
      // Its numbers of 16 bits need a newer Node.
      if (element.endsWith('f16')) return;
      const files = { get: async (key: string) => new Uint8Array(readFileSync(join(output, key))) };
      const array = await zarrita.open.v3(files, { kind: 'array' });
      const { data } = await array.getChunk([0]);
      expect([...(data as Iterable<number>)]).toEqual([...x]);
    },
  );

  test('of several chunks and extents is the same whatever the chunks of the job are', async () => {
    const directory = temporaryDirectory();
    const rows = job({
      kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
        const grid = cuda.thisGrid();
        for (let i = grid.threadRank(); i < y.length; i += grid.size()) y[i] = x[i]!;
      }),
      inputs: { x: { width: 1000 } },
      outputs: { y: { width: 1000 } },
    });
    const x = Float32Array.from({ length: 2_500_000 }, (_, i) => i % 1013);
    const read: unknown[] = [];
    for (const [i, chunk] of [130, 700].entries()) {
      const output = join(directory, `${i}.gz.zarr`);
      await run(rows, { input: x, output, device, chunk });
      expect(namesIn(output)).toEqual(['c.0.0', 'c.1.0', 'c.2.0', 'zarr.json']);
      read.push(namesIn(output).map((name) => readFileSync(join(output, name)).toString('base64')));
      const { source, values } = await readAll(output, 'f32', {}, 100_000);
      expect(source.shape).toEqual([2500, 1000]);
      expect(Float32Array.from(values).every((value, at) => value === x[at])).toBe(true);
    }
    expect(read[0]).toEqual(read[1]);
  });

  test('takes the place of an array, and of nothing else', async () => {
    const directory = temporaryDirectory();
    const output = join(directory, 'y.zarr');
    const options = { input: Float32Array.of(1, 2, 3), output, device };
    await run(copyOf('f32'), options);
    await run(copyOf('f32'), { ...options, input: Float32Array.of(5) });
    expect(await read(output)).toEqual([5]);
    expect(namesIn(directory)).toEqual(['y.zarr']);
    await expectFailure(run(copyOf('f32'), { ...options, overwrite: false }), 'WS5006', /is there already/);
    writeFileSync(join(output, 'notes.txt'), 'mine');
    await expectFailure(run(copyOf('f32'), options), 'WS5006', /it has notes\.txt in it/);
    rmSync(join(output, 'notes.txt'));
    writeFileSync(join(output, 'zarr.json'), '{"zarr_format":3,"node_type":"group"}');
    await expectFailure(run(copyOf('f32'), options), 'WS5006', /it is a group of arrays/);
    rmSync(output, { recursive: true });
    writeFileSync(output, 'a file');
    await expectFailure(run(copyOf('f32'), options), 'WS5006', /is no folder/);
    expect(namesIn(directory)).toEqual(['y.zarr']);
  });

  test('of a run that fails leaves what was there, and nothing else', async () => {
    const directory = temporaryDirectory();
    const output = join(directory, 'y.zarr');
    await run(copyOf('f32'), { input: Float32Array.of(7), output, device });
    const failing = async function* () {
      yield new Float32Array(3_000_000);
      throw new Error('no more');
    };
    await expect(run(copyOf('f32'), { input: failing(), output, device, chunk: 500_000 })).rejects.toThrow(
      'no more',
    );
    expect(namesIn(directory)).toEqual(['y.zarr']);
    expect(await read(output)).toEqual([7]);
    // Of a length that is known at its end.
    const some = async function* () {
      yield Float32Array.of(1, 2);
      yield Float32Array.of(3);
    };
    await run(copyOf('f32'), { input: some(), output, device });
    expect(await read(output)).toEqual([1, 2, 3]);
  });

  test.each([1, Infinity])(
    'appears whole or stays what it was, whichever operation on files fails (%d times)',
    async (times) => {
      const directory = temporaryDirectory();
      const output = join(directory, 'y.zarr');
      const input = store(plain, chunks);
      const options = { input, output, device, chunk: 2, fsync: true };
      await run(copyOf('f32'), options);
      let givenBack = 0;
      for (let n = 1, passed = false; !passed; n++) {
        let done = 0;
        const operations = new FileOperations((name) => {
          done++;
          if (done < n || done >= n + times) return;
          throw Object.assign(new Error(`EIO: i/o error, ${name}`), { code: 'EIO' });
        });
        await operations.replace();
        const error: unknown = await run(copyOf('f32'), options).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        operations.restore();
        passed = done < n;
        if (error !== undefined) expect(error).toBeInstanceOf(WarpstageError);
        if (passed) expect(error).toBeUndefined();
        // Where what was there could not get its name back, the error says how it does.
        const left = namesIn(directory).filter((name) => !name.startsWith('.'));
        if (left.length === 0) {
          expect(times).toBeGreaterThan(1);
          const hint = (error as WarpstageError).issues[0]!.hint!;
          expect(hint).toMatch(/^mv '.*\.replaced' '.*y\.zarr'$/);
          execSync(hint);
          givenBack += 1;
        }
        expect(await read(output)).toEqual([1, 2, 3, 4]);
        for (const name of namesIn(directory)) {
          if (name.startsWith('.')) rmSync(join(directory, name), { recursive: true });
        }
      }
      expect(givenBack).toBe(times > 1 ? 1 : 0);
    },
  );

  test('of a process that was killed is removed by the next run, and what it was to replace is there again', async () => {
    const directory = temporaryDirectory();
    const [input, output] = [store(plain, chunks), join(directory, 'y.zarr')];
    const before = join(temporaryDirectory(), 'before.zarr');
    await run(copyOf('f32'), { input: Float32Array.of(5, 6), output: before, device });
    const script = `
      import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
      import { join } from 'node:path';
      import { unfinishedName, replacedName } from ${JSON.stringify(new URL('../../dist/internals/files/leftovers.js', import.meta.url).href)};
      const partial = unfinishedName(${JSON.stringify(output)});
      mkdirSync(partial);
      writeFileSync(join(partial, 'c.0'), 'half');
      cpSync(${JSON.stringify(before)}, replacedName(${JSON.stringify(output)}), { recursive: true });
      process.kill(process.pid, 'SIGKILL');`;
    spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    expect(namesIn(directory).length).toBe(2);
    const refused = run(copyOf('f32'), { input, output, device, overwrite: false });
    await expect(refused).rejects.toThrow(/y\.zarr is there already/);
    expect(await read(output)).toEqual([5, 6]);
    await run(copyOf('f32'), { input, output, device });
    expect(namesIn(directory)).toEqual(['y.zarr']);
    expect(await read(output)).toEqual([1, 2, 3, 4]);
  });

  test('is written and read by commands', async () => {
    const directory = temporaryDirectory();
    const at = (name: string) => join(directory, name);
    writeFileSync(
      at('job.mjs'),
      `import { job, kernel } from 'warpstage';
      export const twice = job({
        kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
          const i = cuda.thisGrid().threadRank();
          if (i < y.length) y[i] = x[i] * 2;
        }),
        inputs: { x: {} }, outputs: { y: {} },
      });`,
    );
    mkdirSync(at('node_modules'));
    symlinkSync(join(import.meta.dirname, '../..'), at('node_modules/warpstage'));
    cpSync(store(plain, chunks), at('parts-1.zarr'), { recursive: true });
    cpSync(store(plain, chunks), at('parts-2.zarr'), { recursive: true });
    const main = join(import.meta.dirname, '../../dist/cli/main.js');
    const command = (...given: string[]) =>
      spawnSync(process.execPath, [main, ...given], { cwd: directory, encoding: 'utf8' });
    const ran = command('run', 'job.mjs', 'parts-*.zarr', 'y.gz.zarr');
    expect(ran.stderr).not.toMatch(/WS\d/);
    expect(ran.status).toBe(0);
    expect(command('info', 'y.gz.zarr').stdout).toMatch(/zarr\n.*f32 \(float32\)\n.*\(8\)[\s\S]*bytes, gzip/);
    expect(command('head', 'y.gz.zarr', '--json').stdout).toBe('[2,4,6,8,2,4,6,8]\n');
    expect(command('plan', 'job.mjs', 'parts-1.zarr', 'y.gz.zarr').status).toBe(0);
    const refused = command('run', 'job.mjs', directory, 'z.zarr');
    expect(refused.stderr).toMatch(/WS5003: .* it is a directory/);
    expect(namesIn(directory).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('of a run that is resumed is the same, and it goes to no pipe', async () => {
    const directory = temporaryDirectory();
    const path = store(plain, chunks);
    const output = join(directory, 'y.zarr');
    await run(copyOf('f32'), { input: path, output, device, resume: true });
    expect(await read(output)).toEqual([1, 2, 3, 4]);
    expect(namesIn(directory)).toEqual(['y.zarr']);
    rmSync(output, { recursive: true });
    const file = { file: '-', format: 'zarr' };
    await expectFailure(
      run(copyOf('f32'), { input: path, output: file, device }),
      'WS5006',
      /standard output/,
    );
    const packed = join(directory, 'y.zarr.gz');
    await expectFailure(run(copyOf('f32'), { input: path, output: packed, device }), 'WS5012', /not written/);
    expect(namesIn(directory)).toEqual([]);
  });

  test('has checksums of all its files, and is put together of pieces', async () => {
    const directory = temporaryDirectory();
    const [input, output] = [store(plain, chunks), join(directory, 'y.zarr')];
    await run(copyOf('f32'), { input, output, device, checksum: true });
    const { signal } = new AbortController();
    expect((await verify(output, { inputs: true, signal })).differences).toEqual([]);
    writeFileSync(join(input, 'c/1'), new Uint8Array(8));
    const kinds = async () =>
      (await verify(output, { inputs: true, signal })).differences.map(({ kind, path }) => [kind, path]);
    expect(await kinds()).toEqual([['changed', input]]);
    const bytes = readFileSync(join(output, 'c.0'));
    bytes[3]! ^= 1;
    writeFileSync(join(output, 'c.0'), bytes);
    expect(await kinds()).toEqual([
      ['changed', output],
      ['changed', input],
    ]);
    for (const n of [1, 2] as const) {
      await run(copyOf('f32'), { input, output, device, shard: [n, 2], chunk: 1 });
    }
    await merge({ file: output }, { signal });
    expect(await read(output)).toEqual([1, 2, 0, 0]);
    // A chunk that changes between pieces is another input.
    await run(copyOf('f32'), { input, output: join(directory, 'z.zarr'), device, shard: [1, 2] });
    writeFileSync(join(input, 'c/1'), chunks['c/1']);
    await run(copyOf('f32'), { input, output: join(directory, 'z.zarr'), device, shard: [2, 2] });
    await expectFailure(merge({ file: join(directory, 'z.zarr') }, { signal }), 'WS5015', /another file/);
  });
});

test('arrays of a group are columns by their paths', async () => {
  const group = store({ zarr_format: 3, node_type: 'group', attributes: { a: 1 } });
  cpSync(store(plain, chunks), join(group, 'a'), { recursive: true });
  mkdirSync(join(group, 'deep'));
  writeFileSync(join(group, 'deep', 'zarr.json'), '{"zarr_format":3,"node_type":"group"}');
  cpSync(store(plain, chunks), join(group, 'deep/b'), { recursive: true });
  cpSync(store({ ...plain, data_type: 'string', codecs: [{ name: 'vlen-utf8' }] }), join(group, 'names'), {
    recursive: true,
  });
  // A link that leads round is not followed.
  symlinkSync(group, join(group, 'deep', 'round'));
  expect((await readAll(group, 'f32', { column: 'deep/b' })).values).toEqual([1, 2, 3, 4]);
  expect(await read(join(group, 'deep/b'))).toEqual([1, 2, 3, 4]);
  await expectFailure(
    readAll(group, 'f32', { column: '../x' }),
    'WS5005',
    /no column '\.\.\/x'/,
    /a, deep\/b|a, names/,
  );
  await expectFailure(readAll(group, 'f32', { column: 'names' }), 'WS5005', /holds string/);
  renameSync(join(group, 'deep/b'), join(group, 'b'));
  const { outputs } = await run(sum, { input: group, device });
  expect([...outputs.y!]).toEqual([101, 202, 303, 404]);
  // One array is not the data of two inputs.
  await expectFailure(run(sum, { input: join(group, 'a'), device }), 'WS5005', /1 was given/);
});
