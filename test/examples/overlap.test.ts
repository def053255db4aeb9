// The post's program on the CPU: each schedule computes the same, to the bit what JavaScript does.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, open } from 'warpstage';
import { blockSize, elements, measure, schedules, streamCount } from '../../examples/overlap/program.ts';
import { devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

const n = blockSize * streamCount * 8;
const { fround, sin, cos, sqrt } = Math;

/** What the kernel adds to element i, every operation rounded to f32. */
function addend(i: number): number {
  const [s, c] = [fround(sin(i)), fround(cos(i))];
  return fround(sqrt(fround(fround(s * s) + fround(c * c))));
}

test('the sizes are the post’s', () => {
  expect(elements).toBe(4 * 1024 * 256 * 4);
});

describe.each(['wasm', 'interpreter'] as const)('on %s', (target) => {
  let device: Device;
  beforeAll(async () => {
    device = await open('cpu', { target, threads: 2 });
  });
  afterAll(() => device.close());

  test.each(Object.entries(schedules))('%s', async (_name, schedule) => {
    using host = device.allocPinned('f32', n);
    using data = device.alloc('f32', n);
    const streams = Array.from({ length: streamCount }, () => device.createStream());
    host.array.forEach((_, i) => {
      host.array[i] = i % 3;
    });
    schedule({ host, data }, streams);
    await device.synchronize();
    expect(host.array).toEqual(Float32Array.from({ length: n }, (_, i) => fround((i % 3) + addend(i))));
    for (const stream of streams) await stream.destroy();
  });
});

sayWithoutGpu();

describe.each(devices)('$name', ({ open: openDevice }) => {
  test('measures all three', async () => {
    await using device = await openDevice();
    const measurements = await measure(device, n);
    expect(measurements.map(({ schedule }) => schedule)).toEqual(['sequential', 'V1', 'V2']);
    for (const { milliseconds, maxError } of measurements) {
      expect(milliseconds).toBeGreaterThan(0);
      expect(maxError).toBeLessThan(2.4e-7);
    }
  });
});
