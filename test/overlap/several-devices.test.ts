// One job over several devices: the data, what the devices found together, the report and the
// timeline, and what is refused or fails.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Device, job, kernel, open, run } from 'warpstage';
import {
  affine,
  centred,
  groups,
  groupsInJavaScript,
  lookUp,
  neighbours,
  neighboursInJavaScript,
  statistics,
} from './jobs.ts';
import { expectFailure, namesIn, npyFile, temporaryDirectory } from './support.ts';

let device: [Device, Device];
beforeAll(async () => {
  device = [await open('cpu', { threads: 1 }), await open('cpu', { threads: 1 })];
});
afterAll(async () => {
  for (const one of device) await one.close();
});
afterEach(() => {
  for (const one of device) {
    expect(one.memory.allocations, 'arrays left on a device').toBe(0);
    expect(one.recorder).toBeNull();
  }
});

const ramp = (length: number) => Float32Array.from({ length }, (_, i) => i / 8 - 1000);
const mapped = (x: Float32Array) => x.map((value) => Math.fround(2 * value + 1));

describe('data', () => {
  test('comes out in its order, whichever device had a chunk', async () => {
    const x = ramp(50_000);
    const { outputs, report } = await run(affine, { input: x, device, chunk: 777, depth: 3 });
    expect(outputs.y).toEqual(mapped(x));
    expect(report).toMatchObject({ rows: 50_000, chunks: 65, depth: 3, bytesIn: 200_000, bytesOut: 200_000 });
    const [first, second] = report.devices;
    expect([first!.name, second!.name]).toEqual(['cpu (1)', 'cpu (2)']);
    expect(first!.chunks + second!.chunks).toBe(65);
    expect(first!.rows + second!.rows).toBe(50_000);
    expect(Math.min(first!.chunks, second!.chunks)).toBeGreaterThan(0);
    for (const { chunks, rows, stages } of report.devices) {
      expect(stages.map(({ name }) => name)).toEqual(['copy in', 'compute', 'copy out']);
      expect(stages.map(({ operations }) => operations)).toEqual([chunks, chunks, chunks]);
      expect(stages[0]!.bytes).toBe(4 * rows);
    }
    const copied = report.stages.find(({ name }) => name === 'copy in')!;
    expect(copied).toMatchObject({ bytes: 200_000, operations: 65 });
    expect(copied.busy).toBe(Math.max(...report.devices.map(({ stages }) => stages[0]!.busy)));
  });

  test('with halos, ratios, widths and constant arrays', async () => {
    const x = Int32Array.from({ length: 3000 }, (_, i) => (i * 7919) % 1000);
    const near = await run(neighbours(2, 3, 'clamp'), { input: x, device, chunk: 100 });
    expect(near.outputs.y).toEqual(neighboursInJavaScript(x, 2, 3, 'clamp'));
    const grouped = await run(groups(5, 2, 'drop'), {
      input: x,
      device,
      chunk: 50,
      settings: { width: 3 },
    });
    expect(grouped.outputs).toEqual(groupsInJavaScript(x, 3, 5, 2, false));
    const bytes = Uint8Array.from({ length: 4000 }, (_, i) => i % 4);
    const table = Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    const found = await run(lookUp, { input: [bytes, table], device, chunk: 100, settings: { columns: 2 } });
    const expected = [...bytes].flatMap((b) => [table[2 * b]! * 4, table[2 * b + 1]! * 4]);
    expect([...found.outputs.y!]).toEqual(expected);
  });

  test('by names: two processors, or a processor and a virtual GPU', async () => {
    const x = ramp(20_000);
    const pair = await run(affine, { input: x, device: 'cpu, cpu', chunk: 500 });
    expect(pair.outputs.y).toEqual(mapped(x));
    expect(pair.report.device).toMatch(/^2 x /);
    const mixed = await run(affine, { input: x, device: ['cpu', 'model:h200'], chunk: 500 });
    expect(mixed.outputs.y).toEqual(mapped(x));
    expect(mixed.report.devices.map(({ name }) => name)).toEqual(['cpu', 'model']);
    expect(mixed.report.device).toMatch(/, /);
  });

  test('from file to file, and from nothing', async () => {
    const folder = temporaryDirectory();
    const data = ramp(10_000);
    writeFileSync(join(folder, 'x.npy'), npyFile({ shape: [100, 100], data }));
    await run(affine, { input: join(folder, 'x.npy'), output: join(folder, 'y.bin'), device, chunk: '1KiB' });
    expect(readFileSync(join(folder, 'y.bin'))).toEqual(Buffer.from(mapped(data).buffer));
    const { outputs } = await run(affine, { input: new Float32Array(), device });
    expect(outputs.y).toEqual(new Float32Array());
  });
});

describe('accumulators', () => {
  const summed = job({
    kernel: kernel(
      { counts: 'i32[]', extremes: 'f64[]', order: 'f64[]', x: 'readonly f32[]' },
      ({ counts, extremes, order, x }, cuda) => {
        const g = cuda.thisThreadBlock().groupIndex().x;
        for (let i = cuda.thisGrid().threadRank(); i < x.length; i += cuda.thisGrid().size()) {
          cuda.atomicAdd(counts, cuda.i32(x[i]!) & 3, 1);
          extremes[g] = Math.max(extremes[g]!, x[i]!);
          order[g] = order[g]! / 3 + x[i]!;
        }
      },
      { name: 'summed' },
    ),
    inputs: { x: {} },
    accumulators: {
      counts: { length: 4, combine: 'sum', initial: 1000 },
      extremes: { per: 'block', combine: 'max', initial: -5 },
      order: { per: 'block' },
    },
    launch: { grid: 2, block: 1 },
    finish: ({ counts, extremes, order }) => ({
      counts: [...counts],
      extreme: extremes[0]!,
      order: order[0]!,
    }),
  });
  const x = Float32Array.from({ length: 5000 }, (_, i) => i % 401);

  test('are combined over devices, the initial value once', async () => {
    const { value } = await run(summed, { input: x, device, chunk: 64, depth: 2 });
    const counts = [0, 1, 2, 3].map((bin) => 1000 + x.filter((v) => (v & 3) === bin).length);
    expect(value).toMatchObject({ counts, extreme: 400 });
  });

  test('depend on how many devices there are, and never on timing', async () => {
    const twice = [1, 2, 3].map((depth) => run(summed, { input: x, device, chunk: 64, depth }));
    const orders: number[] = [];
    for (const one of twice) orders.push((await one).value.order);
    expect(new Set(orders).size).toBe(1);
    const { report } = await run(summed, { input: x, device, chunk: 64 });
    expect(report.devices.map(({ chunks }) => chunks)).toEqual([40, 39]);
  });

  test('of a device that had no chunk do not count', async () => {
    const { value, report } = await run(summed, { input: Float32Array.of(-9), device });
    expect(report.devices.map(({ chunks }) => chunks)).toEqual([1, 0]);
    expect(value).toMatchObject({ counts: [1000, 1000, 1000, 1001], extreme: -5 });
  });

  test('in a sequence', async () => {
    const data = Float64Array.from({ length: 4000 }, (_, i) => i);
    const { outputs, report } = await run(centred, { input: data, device, chunk: 100 });
    expect(outputs.y).toEqual(data.map((value) => value - 1999.5));
    expect(report.devices.reduce((sum, { rows }) => sum + rows, 0)).toBe(8000);
  });

  test('that nobody can combine are refused', async () => {
    await expectFailure(
      run(statistics, { input: [new Int32Array(8), new Float64Array(8)], device }),
      'WS5007',
      "accumulator 'counts' of the job does not say how what several devices found becomes one result",
      /combine: 'sum', 'min', 'max' or a function/,
    );
    const listed = job({
      kernel: kernel({ n: 'i32[]', x: 'readonly f32[]' }, ({ n, x }) => {
        n[0] = n[0]! + x.length;
      }),
      name: 'listed',
      inputs: { x: {} },
      accumulators: { n: { per: 'block', combine: 'concat' } },
      launch: { grid: 1, block: 1 },
    });
    await expectFailure(
      run(listed, { input: new Float32Array(8), device }),
      'WS5007',
      /^accumulator 'n' of job `listed` leaves the elements of different blocks as they are/,
      /on one device/,
    );
    const { value } = await run(listed, { input: new Float32Array(8), device: device[0] });
    expect([...value.n]).toEqual([8]);
  });
});

describe('timeline', () => {
  test('names the device in engines and streams, and gives every operation a number of its own', async () => {
    const { spans } = await run(affine, { input: ramp(10_000), device, chunk: 500, trace: true });
    const engines = new Set(spans.map(({ engine }) => engine));
    const own = ['copy in', 'compute', 'copy out'].flatMap((task) => [`cpu (1) ${task}`, `cpu (2) ${task}`]);
    expect([...engines].sort()).toEqual([...own, 'read', 'write'].sort());
    for (const { engine, stream } of spans) {
      if (engine.startsWith('cpu')) expect(stream.slice(0, 7)).toBe(engine.slice(0, 7));
    }
    const numbered = spans.flatMap(({ id, engine }) => (id === undefined ? [] : [{ id, engine }]));
    expect(new Set(numbered.map(({ id }) => id)).size).toBe(numbered.length);
    const deviceOf = new Map(numbered.map(({ id, engine }) => [id, engine.slice(0, 7)]));
    for (const { after = [], engine } of spans) {
      for (const id of after) if (deviceOf.has(id)) expect(deviceOf.get(id)).toBe(engine.slice(0, 7));
    }
  });
});

describe('failures', () => {
  test('on one device end the whole, and leave nothing', async () => {
    const folder = temporaryDirectory();
    writeFileSync(join(folder, 'x.npy'), npyFile({ shape: [10_000], data: ramp(10_000) }));
    const closing = await open('cpu', { threads: 1 });
    const failing = run(affine, {
      input: join(folder, 'x.npy'),
      output: join(folder, 'y.npy'),
      device: [device[0], closing],
      chunk: 100,
      onProgress: () => void closing.close(),
    });
    await expect(failing).rejects.toThrow(/^WS4\d+: .*the device (was|is) closed/);
    expect(namesIn(folder)).toEqual(['x.npy']);
  });

  test('a short device makes the chunks of all smaller', async () => {
    await using small = await open('cpu', { threads: 1, memory: 65536 });
    const x = ramp(20_000);
    const options = { input: x, device: [device[0], small], chunk: 4096, depth: 2 };
    await expectFailure(run(affine, options), 'WS4001', /2 chunks of 4,096 rows take 65,536 bytes/);
    const { outputs, report } = await run(affine, { ...options, chunk: 'auto' });
    expect(outputs.y).toEqual(mapped(x));
    expect(report.chunkBytes * 2).toBeLessThanOrEqual(65536);
  });

  test('a list that makes no sense, and devices that are not there, leave nothing open', async () => {
    const input = ramp(10);
    await expectFailure(run(affine, { input, device: [] }), 'WS4003', 'the list of devices is empty');
    await expectFailure(
      run(affine, { input, device: [device[0], device[0]] }),
      'WS4003',
      /^the same device is given twice: /,
      'give each device once',
    );
    await expectFailure(run(affine, { input, device: 'cpu,tpu' }), 'WS4003', "there is no device 'tpu'");
  });
});
