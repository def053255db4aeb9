// Jobs on a GPU whose memory ends or that is gone meanwhile, by a driver of the tests' own. Needs a
// C compiler.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { open, run } from 'warpstage';
import { bytesOf } from '#warpstage/overlap/sinks/sink.js';
import { Tuner } from '#warpstage/overlap/tuner.js';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';
import { affine, mean } from './jobs.ts';
import { namesIn, npyFile, temporaryDirectory } from './support.ts';

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;

  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(() => fake.reset());
  afterAll(() => {
    fake.remove();
  });

  test.each([
    ['at a launch', 'cuLaunchKernelEx', 3],
    ['at a copy', 'cuMemcpyAsync', 7],
    ['while it is waited for', 'cuStreamQuery', 2],
  ])('a GPU that is gone %s fails the job, and leaves nothing', async (_, call, successes) => {
    const folder = temporaryDirectory();
    const data = Float32Array.from({ length: 100_000 }, (_value, i) => i);
    writeFileSync(join(folder, 'x.npy'), npyFile({ shape: [data.length], data }));
    const device = await open('cuda');
    fake.fail(call, 719, successes);
    // What failed once fails for good.
    const failing = run(affine, {
      input: join(folder, 'x.npy'),
      output: join(folder, 'y.npy'),
      device,
      chunk: 4096,
    });
    await expect(failing).rejects.toThrow(/^WS4006: .*CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure/);
    expect(namesIn(folder)).toEqual(['x.npy']);
    fake.reset();
    await device.close();
  });

  test('a fault of a checked kernel fails the job with its line, and leaves nothing; the device goes on', async () => {
    const folder = temporaryDirectory();
    const data = Float32Array.from({ length: 100_000 }, (_value, i) => i);
    writeFileSync(join(folder, 'x.npy'), npyFile({ shape: [data.length], data }));
    await using device = await open('cuda', { checked: true });
    const files = { input: join(folder, 'x.npy'), output: join(folder, 'y.npy'), device, chunk: 4096 };
    fake.fault(0, 5, 2, 9999, 4096, 0, 0);
    const failing = run(affine, files);
    await expect(failing).rejects.toThrow(
      /^WS3001: kernel `affine` reads `x\[9999\]`, but `x` has 4096 elements/,
    );
    expect(namesIn(folder)).toEqual(['x.npy']);
    expect(device.memory.allocations).toBe(0);
    const { report } = await run(affine, files);
    expect(report.rows).toBe(data.length);
    expect(namesIn(folder)).toEqual(['x.npy', 'y.npy']);
    expect(device.memory.allocations).toBe(0);
  });

  test('every GPU by one name; a failure of one ends the whole', async () => {
    fake.devices(2);
    const folder = temporaryDirectory();
    const data = new Float32Array(50_000);
    writeFileSync(join(folder, 'x.npy'), npyFile({ shape: [data.length], data }));
    const files = { input: join(folder, 'x.npy'), output: join(folder, 'y.npy'), chunk: 1000 };
    const { report, spans } = await run(affine, { ...files, device: 'cuda:*', trace: true });
    expect(report.devices.map(({ name }) => name)).toEqual(['cuda:0', 'cuda:1']);
    expect(report.devices.map(({ chunks }) => chunks > 0)).toEqual([true, true]);
    expect(spans.map(({ engine }) => engine)).toEqual(expect.arrayContaining(['cuda:1 copy in']));
    rmSync(files.output);
    fake.fail('cuStreamQuery', 719, 20);
    await expect(run(affine, { ...files, device: 'cuda:0,cuda:1' })).rejects.toThrow(/^WS4006: /);
    expect(namesIn(folder)).toEqual(['x.npy']);
    fake.reset();
    fake.devices(0);
    await expect(run(affine, { ...files, device: 'cuda:*' })).rejects.toThrow(
      'WS4003: the NVIDIA driver sees no GPU\n  hint: check with nvidia-smi, or open("cpu")',
    );
    fake.reset();
  });

  test('what one GPU has locked, all copy from and to without a copy on the host', async () => {
    fake.devices(2);
    const devices = [await open('cuda:0'), await open('cuda:1')];
    const [x, y] = [devices[0]!.allocPinned('f32', 4000), devices[0]!.allocPinned('f32', 4000)];
    const locked = fake.locks();
    const { report } = await run(affine, { input: x, output: y, device: devices, chunk: 100 });
    expect(report.devices.map(({ chunks }) => chunks > 0)).toEqual([true, true]);
    expect(fake.locks()).toBe(locked);
    for (const device of devices) await device.close();
    fake.reset();
  });

  test('memory that is shorter than it was said to be makes the chunks smaller', async () => {
    await using device = await open('cuda');
    fake.largest(20_000);
    const { report } = await run(affine, { input: new Float32Array(100_000), device, chunk: 8192, depth: 3 });
    expect(report).toMatchObject({ rows: 100_000, chunkRows: 4096, chunks: 25, depth: 3 });
    expect(report.chunkBytes).toBe(2 * 4 * 4096);
    expect(device.memory.allocations).toBe(0);
  });

  test('long typed arrays are copied by the pool, whole, beside the main thread', async () => {
    await using device = await open('cuda');
    const elements = 3 * 2 ** 20 + 5;
    const input = new Float32Array(elements).fill(1);
    const output = new Float32Array(elements).fill(2);
    const { report } = await run(affine, { input, output, device, chunk: '4MiB', depth: 2 });
    // The tests' driver launches nothing: what comes back is the device's zeros, down to the last element.
    expect(output.findIndex((value) => value !== 0)).toBe(-1);
    expect(report).toMatchObject({
      rows: elements,
      chunks: 4,
      bytesIn: 4 * elements,
      bytesOut: 4 * elements,
    });
    expect(report.stages.find(({ name }) => name === 'read')).toMatchObject({ bytes: 4 * elements });
  });

  test('a run over typed arrays that is stopped leaves no copy behind that writes', async () => {
    await using device = await open('cuda');
    const input = new Float32Array(2 ** 22).fill(1);
    const output = new Float32Array(2 ** 22).fill(2);
    const controller = new AbortController();
    const running = run(affine, {
      input,
      output,
      device,
      chunk: '1MiB',
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    await expect(running).rejects.toThrow('WS5009');
    const before = output.slice();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(Buffer.compare(bytesOf(output), bytesOf(before))).toBe(0);
    expect(before.at(-1)).toBe(2);
    expect(device.memory.allocations).toBe(0);
  });

  test('page-locked memory is taken as chunks need it, once for what comes in and goes out, and kept', async () => {
    await using device = await open('cuda');
    const before = fake.locks();
    const input = new Float32Array(8192);
    await run(affine, { input, device, chunk: 4096, depth: 4 });
    expect(fake.locks() - before).toBe(2);
    await run(affine, { input: new Float32Array(100_000), device, chunk: 4096, depth: 3 });
    expect(fake.locks() - before).toBe(3);
    await run(affine, { input, device, chunk: 2048, depth: 1 });
    expect(fake.locks() - before).toBe(4);
    await run(affine, { input, device, chunk: 2048, depth: 1 });
    expect(fake.locks() - before).toBe(4);
  });

  test('page-locked memory that ends makes fewer chunks go at a time', async () => {
    await using device = await open('cuda');
    const input = Float32Array.from({ length: 100_000 }, (_, i) => i);
    fake.fail('cuMemHostRegister_v2', 2, 2);
    const { report } = await run(affine, { input, device, chunk: 4096, depth: 5 });
    expect(report).toMatchObject({ rows: 100_000, chunks: 25 });
    fake.reset();
    fake.fail('cuMemHostRegister_v2', 2, 0);
    await expect(run(affine, { input, device, chunk: 1, depth: 2 })).rejects.toThrow(
      'WS4001: a page-locked array of',
    );
    fake.reset();
    expect(device.memory.allocations).toBe(0);
  });

  test.each([1, 3])(
    'fewer chunks in flight than there was memory for, and then %i wanted: all get through',
    async (wanted) => {
      let through = 0;
      vi.spyOn(Tuner.prototype, 'complete').mockImplementation(() => void ++through);
      vi.spyOn(Tuner.prototype, 'depth', 'get').mockImplementation(() => (through < 6 ? 5 : wanted));
      try {
        await using device = await open('cuda');
        const input = Float32Array.from({ length: 100_000 }, (_, i) => i);
        fake.fail('cuMemHostRegister_v2', 2, 2);
        const { report } = await run(affine, { input, device, chunk: 4096, depth: 5 });
        expect(report).toMatchObject({ rows: 100_000, chunks: 25 });
      } finally {
        vi.restoreAllMocks();
      }
    },
  );

  test('device memory that ends makes fewer chunks go at a time; where they go round, it is had from the start', async () => {
    fake.devices(2);
    const devices = [await open('cuda:0'), await open('cuda:1')];
    const input = new Float32Array(100_000);
    fake.fail('cuMemAllocAsync', 2, 7);
    const { report } = await run(affine, { input, device: devices[0]!, chunk: 4096, depth: 5 });
    expect(report).toMatchObject({ rows: 100_000, chunks: 25 });
    fake.reset();
    fake.fail('cuMemHostRegister_v2', 2, 3);
    await expect(run(mean, { input, device: devices, chunk: 4096, depth: 3 })).rejects.toThrow(
      /^WS4001: a page-locked array of/,
    );
    fake.reset();
    for (const device of devices) {
      expect(device.memory.allocations).toBe(0);
      await device.close();
    }
    fake.reset();
  });

  test('memory that is not to be had at all is a clear error', async () => {
    await using device = await open('cuda');
    fake.fail('cuMemAllocAsync', 2, 0);
    await expect(run(affine, { input: new Float32Array(10_000), device })).rejects.toThrow(
      /^WS4001: an array of \d+ elements? of f32 needs .* of the device's/,
    );
    fake.reset();
    expect(device.memory.allocations).toBe(0);
  });
});
