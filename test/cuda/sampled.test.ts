// A recorder that hears of a sample: with a driver of the tests' own.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Device, job, kernel, open, run, type Span } from 'warpstage';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';
import { gpus } from '../support/gpu.ts';

const double = job({
  kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = 2 * x[i]!;
  }),
  inputs: { x: {} },
  outputs: { y: {} },
});

describe.skipIf(!canFake || gpus > 0)('a recorder of a sample', () => {
  let fake: FakeCuda;
  let device: Device;
  beforeAll(async () => {
    fake = installFakeCuda();
    fake.reset();
    device = await open('cuda');
  });
  beforeEach(() => {
    device.recording = {};
    device.recorder = null;
  });
  afterAll(async () => {
    await device.close();
    fake.remove();
  });

  test('hears of the first of every eight operations of an engine', async () => {
    const spans: Span[] = [];
    device.recorder = (span) => spans.push(span);
    device.recording = { every: 8 };
    const data = device.alloc('i32', 20);
    const host = device.allocPinned('i32', 20);
    for (let i = 1; i <= 20; ++i) {
      device.defaultStream.memsetAsync(data.subarray(0, i), 0);
      device.defaultStream.memcpyAsync(host.subarray(0, i), data.subarray(0, i));
    }
    await device.synchronize();
    const lengths = (engine: string) =>
      spans.filter((span) => span.engine === engine).map(({ bytes }) => bytes! / 4);
    expect(lengths('copy out')).toEqual([1, 9, 17]);
    expect(lengths('compute')).toEqual([1, 9, 17]);
    device.recording = {};
    device.defaultStream.memsetAsync(data, 0);
    await device.synchronize();
    expect(lengths('compute')).toEqual([1, 9, 17, 20]);
  });

  test('is asked for by a count', () => {
    for (const every of [0, 1.5, -1, Number.NaN, '8' as never]) {
      expect(() => {
        device.recording = { every };
      }).toThrow(`WS4007: recording: \`every\` must be a whole number from 1, and is ${every}`);
    }
  });

  test('is that of a long job, whose report has all operations', async () => {
    const options = { input: new Float32Array(64 * 1000), device, chunk: 1000, depth: 3 };
    const { report, spans } = await run(double, { ...options, trace: false });
    expect(spans).toEqual([]);
    for (const name of ['copy in', 'compute', 'copy out']) {
      const stage = report.stages.find((each) => each.name === name)!;
      expect(stage.operations).toBe(64);
      expect(stage.bytes).toBe(name === 'compute' ? 0 : 256_000);
      expect(stage.busy).toBeGreaterThan(0);
    }
    expect(device.recording).toEqual({ every: 1 });
    expect((await run(double, { ...options, trace: true })).spans.length).toBeGreaterThanOrEqual(3 * 64);
    let heard = 0;
    device.recorder = () => ++heard;
    await run(double, options);
    expect(heard).toBe(3 * 64);
  });
});
