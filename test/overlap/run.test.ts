import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetWriteFile } from 'hyparquet-writer';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Device, open, run } from 'warpstage';
import {
  affine,
  centred,
  groups,
  groupsInJavaScript,
  lookUp,
  neighbours,
  neighboursInJavaScript,
  statistics,
  twosAndThrees,
} from './jobs.ts';
import { namesIn, npyFile, temporaryDirectory } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 2 });
});
afterAll(() => device.close());
afterEach(() => {
  expect(device.memory.allocations, 'arrays left on the device').toBe(0);
  expect(device.recorder).toBeNull();
});

const ramp = (length: number) => Float32Array.from({ length }, (_, i) => i / 8 - 1000);
const mapped = (x: Float32Array, a = 2, b = 1) => x.map((value) => Math.fround(a * value + b));

/** Pieces of data of uneven length, as a stream gives them. */
function* pieces(array: Int32Array | Float32Array, size: number) {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('map', () => {
  test('from memory to memory', async () => {
    const x = ramp(10_000);
    const { outputs, report } = await run(affine, { input: x, device, chunk: 999 });
    expect(outputs.y).toEqual(mapped(x));
    expect(report.ranOn).toEqual(['wasm (regions, vectorised)']);
    expect(report).toMatchObject({
      job: 'affine',
      rows: 10_000,
      bytesIn: 40_000,
      bytesOut: 40_000,
      chunks: 11,
      chunkRows: 999,
      chunkBytes: 7992,
      depth: expect.toSatisfy((depth: number) => depth >= 2 && depth <= 4),
      passes: 1,
    });
  });

  test('into an array of the caller’s', async () => {
    const y = new Float32Array(200);
    const { outputs } = await run(affine, { input: ramp(100), output: y, device, settings: { a: 0.5 } });
    expect(outputs.y).toEqual(mapped(ramp(100), 0.5));
    expect(outputs.y!.buffer).toBe(y.buffer);
  });

  test.each(['y.npy', 'y.bin'])('from .npy to %s', async (name) => {
    const directory = temporaryDirectory();
    const x = ramp(6000);
    writeFileSync(join(directory, 'x.npy'), npyFile({ shape: [3, 20, 100], data: x }));
    const { value, outputs } = await run(affine, {
      input: join(directory, 'x.npy'),
      output: join(directory, name),
      device,
      chunk: '1KiB',
      fsync: true,
    });
    expect(value).toEqual({});
    expect(outputs).toEqual({});
    const written = readFileSync(join(directory, name));
    const expected = npyFile({ shape: [3, 20, 100], data: mapped(x) });
    if (name === 'y.npy') expect(written.subarray(10).toString('latin1')).toContain("'shape': (3, 20, 100)");
    expect(written.subarray(written.length - 24_000)).toEqual(expected.subarray(expected.length - 24_000));
    expect(namesIn(directory)).toEqual(['x.npy', name].sort());
  });

  test('of nothing gives nothing', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'x.bin');
    writeFileSync(path, '');
    const { report } = await run(affine, { input: path, output: join(directory, 'y.npy'), device });
    expect(report).toMatchObject({ rows: 0, chunks: 0, bytesOut: 0, bound: null });
    expect(readFileSync(join(directory, 'y.npy'), 'latin1')).toContain("'shape': (0,)");
    const { outputs } = await run(affine, { input: { stream: [] }, device });
    expect(outputs.y).toEqual(new Float32Array());
  });

  test('of a stream of unknown length, to .npy as well', async () => {
    const directory = temporaryDirectory();
    const x = ramp(5000);
    const { report } = await run(affine, {
      input: { stream: pieces(x, 1234) },
      output: join(directory, 'y.npy'),
      device,
      chunk: 500,
    });
    expect(report.rows).toBe(5000);
    const written = readFileSync(join(directory, 'y.npy'));
    expect(written.toString('latin1')).toContain("'shape': (5000,)");
    expect(written.subarray(-20_000)).toEqual(Buffer.from(mapped(x).buffer));
  });

  test('equals plain JavaScript for any length, chunk and depth', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(2000),
        fc.integer({ min: 20, max: 700 }),
        fc.integer({ min: 1, max: 6 }),
        fc.boolean(),
        async (length, chunk, depth, known) => {
          const x = ramp(length);
          const input = known ? x : { stream: pieces(x, 997) };
          const { outputs, report } = await run(affine, { input, device, chunk, depth });
          expect(outputs.y).toEqual(mapped(x));
          expect(report.chunks).toBe(Math.ceil(length / Math.min(chunk, known ? length : chunk)) || 0);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('with a halo equals plain JavaScript', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(500),
        fc.integer({ min: 10, max: 90 }),
        fc.integer({ min: 1, max: 5 }),
        fc.nat(20),
        fc.nat(20),
        fc.constantFrom('zero', 'clamp'),
        fc.boolean(),
        async (length, chunk, depth, before, after, edge, known) => {
          const x = Int32Array.from({ length }, (_, i) => (i * 7919) % 1000);
          const { outputs } = await run(neighbours(before, after, edge), {
            input: known ? x : { stream: pieces(x, 97) },
            device,
            chunk,
            depth,
          });
          expect(outputs.y).toEqual(neighboursInJavaScript(x, before, after, edge));
        },
      ),
      { numRuns: 40 },
    );
  });

  test('with ratios, widths and positions equals plain JavaScript', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(200),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 60 }),
        fc.constantFrom('drop', 'partial'),
        fc.boolean(),
        async (rows, width, group, copies, chunk, remainder, known) => {
          const x = Int32Array.from({ length: rows * width }, (_, i) => (i * 31) % 97);
          const { outputs } = await run(groups(group, copies, remainder), {
            input: known ? x : { stream: pieces(x, 53) },
            settings: { width },
            device,
            chunk,
          });
          const expected = groupsInJavaScript(x, width, group, copies, remainder === 'partial');
          expect(outputs).toEqual(expected);
        },
      ),
      { numRuns: 40 },
    );
  });

  test.each([true, false])(
    'with different ratios drops rows that do not fit all (length known: %s)',
    async (known) => {
      const x = Int32Array.from({ length: 23 }, (_, i) => i);
      const { outputs, report } = await run(twosAndThrees, {
        input: known ? x : { stream: [x] },
        device,
        chunk: 7,
      });
      expect(report).toMatchObject({ rows: 18, chunkRows: 6 });
      expect([...outputs.twos!]).toEqual([1, 5, 9, 13, 17, 21, 25, 29, 33]);
      expect([...outputs.threes!]).toEqual([3, 12, 21, 30, 39, 48]);
    },
  );

  test('takes the width of a row from the file, and tells the kernel', async () => {
    const directory = temporaryDirectory();
    const x = Int32Array.from({ length: 60 }, (_, i) => i);
    writeFileSync(join(directory, 'x.npy'), npyFile({ descr: '<i4', shape: [12, 5], data: x }));
    const output = { sums: join(directory, 'sums.npy'), places: join(directory, 'places.bin') };
    await run(groups(3, 1, 'error'), { input: join(directory, 'x.npy'), output, device, chunk: 6 });
    const sums = readFileSync(output.sums);
    expect(sums.toString('latin1')).toContain("'shape': (4, 5)");
    const expected = groupsInJavaScript(x, 5, 3, 1, false);
    expect(sums.subarray(-80)).toEqual(Buffer.from(expected.sums.buffer));
    expect(readFileSync(output.places)).toEqual(Buffer.from(expected.places.buffer));
  });

  test('with constant arrays: from an operand, and from a function that knows it', async () => {
    const table = join(temporaryDirectory(), 'table.npy');
    writeFileSync(table, npyFile({ shape: [3, 2], data: Float32Array.of(1, 2, 3, 4, 5, 6) }));
    const { outputs } = await run(lookUp, { input: [Uint8Array.of(2, 0, 1, 2), table], device, chunk: 3 });
    expect([...outputs.y!]).toEqual([15, 18, 3, 6, 9, 12, 15, 18]);
  });
});

describe('reduce', () => {
  const a = Int32Array.from({ length: 1000 }, (_, i) => i * 3);
  const b = Float64Array.from({ length: 1000 }, (_, i) => Math.sin(i) * 100);
  const expected = {
    counts: [0, 1, 2, 3].map((bin) => a.filter((value) => (value & 3) === bin).length),
    least: Math.min(...b),
    seen: 1000,
    trail: a.reduce((trail, value) => (Math.imul(trail, 31) + value) | 0, 7),
    rows: 1000,
    settings: { bins: 4 },
  };

  test.each([
    [1000, 1],
    [100, 1],
    [100, 4],
    [33, 8],
    [1, 4],
  ])(
    'keeps accumulators across chunks of %i rows, %i in flight, in the order of the chunks',
    async (chunk, depth) => {
      const { value } = await run(statistics, { input: [a, b], device, chunk, depth });
      const { mean, ...rest } = value;
      expect(rest).toEqual(expected);
      expect(mean).toBeCloseTo(b.reduce((sum, value) => sum + value, 0) / 1000, 10);
    },
  );

  test('reads the columns of one Parquet file', async () => {
    const filename = join(temporaryDirectory(), 't.parquet');
    parquetWriteFile({
      filename,
      columnData: [
        { name: 'b', data: [...b], type: 'DOUBLE' },
        { name: 'a', data: [...a].map(BigInt), type: 'INT64' },
      ],
      rowGroupSize: [300, 300, 400],
    });
    const { value } = await run(statistics, { input: filename, device, chunk: 128 });
    expect(value).toMatchObject(expected);
    const other = join(temporaryDirectory(), 'a.bin');
    writeFileSync(other, new Uint8Array(a.buffer));
    const byName = await run(statistics, { input: { b: filename, a: other }, device });
    expect(byName.value).toEqual(
      value.mean === byName.value.mean ? value : { ...value, mean: byName.value.mean },
    );
  });

  test('of nothing gives what the accumulators hold at first', async () => {
    const { value } = await run(statistics, {
      input: [new Int32Array(), new Float64Array()],
      device,
    });
    expect(value).toMatchObject({ counts: [0, 0, 0, 0], least: Infinity, trail: 7, rows: 0 });
  });

  test('then map: a sequence of passes over the same file', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'x.npy'), npyFile({ descr: '<f8', shape: [1000], data: b }));
    const passes: number[] = [];
    const { outputs, report } = await run(centred, {
      input: join(directory, 'x.npy'),
      device,
      chunk: 100,
      onProgress: ({ pass, passes: all, rows, totalRows, bytes, totalBytes }) => {
        expect([all, totalRows, totalBytes, bytes]).toEqual([2, 1000, 8000, rows * 8]);
        passes.push(pass);
      },
    });
    const mean = b.reduce((sum, value) => sum + value, 0) / 1000;
    expect(outputs.y!.every((value, i) => Math.abs(value - (b[i]! - mean)) < 1e-9)).toBe(true);
    expect(passes).toEqual([...new Array(10).fill(1), ...new Array(10).fill(2)]);
    expect(report).toMatchObject({ passes: 2, rows: 1000, bytesIn: 16_000, bytesOut: 8000, chunks: 10 });
  });
});

describe('the report', () => {
  test('has every stage, what bound it, and on demand every span', async () => {
    const { report, spans } = await run(affine, {
      input: ramp(10_000),
      device,
      chunk: 1000,
      depth: 3,
      trace: true,
    });
    expect(report.stages.map(({ name, operations, bytes }) => [name, operations, bytes])).toEqual([
      ['read', 10, 40_000],
      ['copy in', 10, 40_000],
      ['compute', 10, 0],
      ['copy out', 10, 40_000],
      ['write', 10, 40_000],
    ]);
    // How long anything takes is not ours to say, but what follows from it is.
    const busiest = report.stages.reduce((a, b) => (b.busy > a.busy ? b : a));
    const nearness = Math.min(1, busiest.busy / report.wall);
    const isVirtual = device.properties.kind === 'model';
    expect(report.bound).toEqual(
      nearness < 0.5 || isVirtual ? null : { stage: busiest.name, nearness: expect.closeTo(nearness, 9) },
    );
    const ofDevice = ['copy in', 'compute', 'copy out'];
    for (const { name, virtual } of report.stages) expect(virtual).toBe(isVirtual && ofDevice.includes(name));
    expect(spans).toHaveLength(50);
    for (const engine of ['read', 'copy in', 'compute', 'copy out', 'write']) {
      const own = spans.filter((span) => span.engine === engine).sort((a, b) => a.started - b.started);
      expect(own).toHaveLength(10);
      for (const [i, span] of own.entries()) {
        expect(span.ended).toBeGreaterThanOrEqual(span.started);
        if (i > 0) expect(span.started).toBeGreaterThanOrEqual(own[i - 1]!.ended);
      }
    }
    expect((await run(affine, { input: ramp(10), device })).spans).toEqual([]);
  });

  test('shows that stages of different chunks overlap, and that a depth of 1 does not', async () => {
    const overlapping = async (depth: number) => {
      const { spans } = await run(affine, {
        input: ramp(300_000),
        device,
        chunk: 10_000,
        depth,
        trace: true,
      });
      const inOrder = (engine: string) =>
        spans.filter((span) => span.engine === engine).sort((a, b) => a.started - b.started);
      const writes = inOrder('write');
      // How many chunks were read before the one in front of them was written.
      return inOrder('read').filter((read, i) => i > 0 && read.started < writes[i - 1]!.ended).length;
    };
    expect(await overlapping(1)).toBe(0);
    expect(await overlapping(4)).toBeGreaterThan(0);
  });
});
