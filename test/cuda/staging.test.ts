// Copies of typed arrays that are issued without a wait: how much memory they are staged in.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, open } from 'warpstage';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';
import { gpus } from '../support/gpu.ts';

const MiB = 2 ** 20;

describe.skipIf(!canFake || gpus > 0)('staging memory', () => {
  let fake: FakeCuda;
  let device: Device;
  beforeAll(async () => {
    fake = installFakeCuda();
    fake.reset();
    fake.lag(200, 3);
    device = await open('cuda');
  });
  afterAll(async () => {
    await device.close();
    fake.remove();
  });

  const taken = () => process.memoryUsage().arrayBuffers;

  test('is bounded, whatever is issued, and what is copied arrives', async () => {
    const length = 4 * MiB;
    const data = device.alloc('i32', length);
    const source = new Int32Array(length);
    const results = Array.from({ length: 4 }, () => new Int32Array(length));
    const before = taken();
    for (let i = 0; i < 32; ++i) {
      source.fill(i);
      device.defaultStream.memcpyAsync(data, source);
      device.defaultStream.memcpyAsync(results[i % 4]!, data);
    }
    expect((taken() - before) / MiB).toBeLessThan(300);
    await device.synchronize();
    expect(results.map((result) => [result[0], result.at(-1)])).toEqual(
      [28, 29, 30, 31].map((value) => [value, value]),
    );
  });

  test('of what a host function holds back is not waited for', async () => {
    const length = 4 * MiB;
    const data = device.alloc('i32', length);
    let done = () => {};
    device.defaultStream.launchHostFunction(
      () =>
        new Promise<void>((resolve) => {
          done = resolve;
        }),
    );
    const source = new Int32Array(length);
    for (let i = 0; i < 20; ++i) {
      source.fill(i);
      device.defaultStream.memcpyAsync(data, source);
    }
    const result = new Int32Array(length);
    device.defaultStream.memcpyAsync(result, data);
    await new Promise((resolve) => setTimeout(resolve, 10));
    done();
    await device.synchronize();
    expect([result[0], result.at(-1)]).toEqual([19, 19]);
  });
});
