// Page-locked arrays of the caller as inputs and outputs: the device copies from and to them, and
// nothing is read or written.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Device, job, kernel, open, run } from 'warpstage';
import { affine, groups, groupsInJavaScript, neighbours, neighboursInJavaScript } from './jobs.ts';
import { expectFailure } from './support.ts';

let devices: [Device, Device];
beforeAll(async () => {
  devices = [await open('cpu', { threads: 1 }), await open('cpu', { threads: 1 })];
});
afterAll(async () => {
  for (const device of devices) await device.close();
});
afterEach(() => {
  for (const device of devices) expect(device.memory.allocations, 'arrays left on a device').toBe(0);
});

const mapped = (x: Float32Array) => x.map((value) => Math.fround(2 * value + 1));

test.each([1, 2])('are copied from and to where they lie, by %i devices', async (count) => {
  using x = devices[0].allocPinned('f32', 10_000);
  using y = devices[0].allocPinned('f32', 10_001);
  x.array.forEach((_, i) => {
    x.array[i] = i / 4;
  });
  y.array.fill(-1);
  const device = devices.slice(0, count);
  const { outputs, report, spans } = await run(affine, {
    input: x,
    output: y,
    device,
    chunk: 999,
    trace: true,
  });
  expect(y.array.subarray(0, 10_000)).toEqual(mapped(x.array));
  expect(y.array[10_000]).toBe(-1);
  expect(outputs.y).toEqual(mapped(x.array));
  expect(outputs.y!.buffer).toBe(y.array.buffer);
  expect(report).toMatchObject({ rows: 10_000, chunks: 11, bytesIn: 40_000, bytesOut: 40_000 });
  expect(spans.filter(({ engine }) => engine === 'read' || engine === 'write')).toEqual([]);
  expect(report.stages.find(({ name }) => name === 'copy in')).toMatchObject({
    bytes: 40_000,
    operations: 11,
  });
});

test('one of several inputs may be', async () => {
  const sum = job({
    kernel: kernel({ y: 'f32[]', a: 'readonly f32[]', b: 'readonly f32[]' }, ({ y, a, b }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = a[i]! + b[i]!;
    }),
    inputs: { a: {}, b: {} },
    outputs: { y: {} },
  });
  using a = devices[0].allocPinned('f32', 1000);
  a.array.fill(2);
  const stream = [Float32Array.from({ length: 1000 }, (_, i) => i)];
  const { outputs, report } = await run(sum, { input: { a, b: { stream } }, device: devices, chunk: 64 });
  expect(outputs.y).toEqual(Float32Array.from({ length: 1000 }, (_, i) => i + 2));
  expect(report.stages[0]).toMatchObject({ name: 'read', bytes: 4000 });
  await expectFailure(
    run(sum, { input: { a, b: { stream: [new Float32Array(999)] } }, device: devices, chunk: 64 }),
    'WS5005',
    /ends after 999 rows, and the array given for 'a' has more/,
  );
});

test('with widths, ratios and the first rows alone; with halos and conversions they are read', async () => {
  using x = devices[0].allocPinned('i32', 3000);
  using sums = devices[0].allocPinned('i32', 600);
  x.array.forEach((_, i) => {
    x.array[i] = (i * 7919) % 1000;
  });
  const settings = { width: 3 };
  const { outputs } = await run(groups(5, 2, 'drop'), {
    input: x,
    output: { sums },
    device: devices,
    chunk: 50,
    settings,
  });
  expect(outputs).toEqual(groupsInJavaScript(x.array, 3, 5, 2, false));
  const first = await run(groups(5, 2, 'drop'), {
    input: x,
    device: devices,
    chunk: 50,
    settings,
    rows: 100,
  });
  expect(first.outputs).toEqual(groupsInJavaScript(x.array.slice(0, 300), 3, 5, 2, false));
  const near = await run(neighbours(1, 1, 'zero'), { input: x, device: devices, chunk: 100 });
  expect(near.outputs.y).toEqual(neighboursInJavaScript(x.array, 1, 1, 'zero'));
  using halves = devices[0].allocPinned('i16', 100);
  const converted = await run(affine, { input: halves, device: devices });
  expect(converted.outputs.y).toEqual(new Float32Array(100).fill(1));
});

test('that are too short, of another type or freed are refused', async () => {
  using x = devices[0].allocPinned('f32', 100);
  using short = devices[0].allocPinned('f32', 99);
  using whole = devices[0].allocPinned('i32', 100);
  await expectFailure(
    run(affine, { input: x, output: short, device: devices[0] }),
    'WS5006',
    "the page-locked array given for 'y' has 99 elements, and the output has more",
    'leave the output away to have an array made',
  );
  await expectFailure(
    run(affine, { input: x, output: whole, device: devices[0] }),
    'WS5006',
    "the page-locked array given for 'y' holds i32, and the kernel writes f32",
  );
  const freed = devices[0].allocPinned('f32', 100);
  freed.free();
  await expectFailure(run(affine, { input: freed, device: devices[0] }), 'WS4002', /was freed/);
});
