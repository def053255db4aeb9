// Copies of typed arrays that are issued without a wait: how much memory they are staged in.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, open } from 'warpstage';
import { StagedCopy } from '#warpstage/runtime/cuda/staging.js';
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

  test('copies parts of arrays from wherever they begin in a word', async () => {
    const length = 1000;
    for (let begin = 0; begin < 9; ++begin) {
      const data = device.alloc('u8', length);
      const bytes = Uint8Array.from({ length: length + 16 }, (_, i) => (7 * i + begin) % 251);
      const back = new Uint8Array(length + 16);
      device.defaultStream.memcpyAsync(data, bytes.subarray(begin, begin + length));
      device.defaultStream.memcpyAsync(back.subarray(9 - begin, 9 - begin + length), data);
      await device.synchronize();
      expect(back.subarray(9 - begin, 9 - begin + length)).toEqual(bytes.subarray(begin, begin + length));
      expect([back[8 - begin], back[9 - begin + length]]).toEqual([0, 0]);
      data.free();
    }
  });

  test('lies in memory as what it stands for does, so that whole words are copied', () => {
    const pool = { take: () => ({ bytes: new Uint8Array(64), address: 4096, size: 32 }), give() {} };
    const box = { width: 16, height: 1, depth: 1 };
    const layout = { row: 16, plane: 16 };
    for (let begin = 0; begin < 16; ++begin) {
      const bytes = new Uint8Array(64).subarray(begin, begin + 16).fill(1);
      const work = {
        kind: 'copy',
        direction: 'host to device',
        box,
        peer: false,
        source: { memory: { kind: 'pageable', bytes }, ...layout },
        destination: { memory: { kind: 'device', address: 256 }, ...layout },
      };
      const staged = new StagedCopy(work as never, {} as never, pool as never, () => {});
      expect(staged.from.address % 8).toBe(bytes.byteOffset % 8);
    }
  });
});
