// What the host does to issue work: small kernels are bound by it. A driver of the tests' own counts its calls. Needs a C
// compiler.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Device, type DeviceArray, kernel, open, type Stream } from 'warpstage';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const scaled = kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32' }, ({ y, x, a }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  y[i] = a * x[i]!;
});

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;
  let device: Device;
  let [x, y]: DeviceArray<'f32'>[] = [];
  let streams: readonly Stream[];
  beforeAll(async () => {
    fake = installFakeCuda();
    fake.reset();
    // Calls are counted while they are made.
    process.env.WARPSTAGE_ISSUING_THREAD = '0';
    device = await open('cuda', { checked: false });
    [x, y] = [device.alloc('f32', 6400), device.alloc('f32', 6400)];
    streams = Array.from({ length: 16 }, () => device.createStream());
    for (let i = 0; i < 16; ++i) launch(i, streams[i]!);
    await device.synchronize();
  });
  afterAll(async () => {
    await device.close();
    fake.remove();
  });

  /** The launch of this number: each has other parts of the arrays and another number. */
  function launch(number: number, stream: Stream): void {
    const from = 64 * (number % 100);
    const parts = { y: y!.subarray(from, from + 64), x: x!.subarray(from, from + 64) };
    stream.launch(scaled, { grid: 2, block: 32 }, { ...parts, a: number });
  }

  /** The calls that an issue takes, and how often it reads the clock. */
  function costOf(issue: () => void): { readonly calls: number; readonly clock: number } {
    const clock = vi.spyOn(performance, 'now');
    try {
      const before = fake.calls();
      issue();
      return { calls: fake.calls() - before, clock: clock.mock.calls.length };
    } finally {
      clock.mockRestore();
    }
  }

  test('a launch is one call, whatever its arguments, and reads no clock', async () => {
    const cost = costOf(() => {
      for (let i = 0; i < 300; ++i) launch(i, streams[0]!);
    });
    expect(cost).toEqual({ calls: 300, clock: 0 });
    await device.synchronize();
  });

  test('a link of a chain of events through streams is a wait, a launch and a recording, and reads no clock', async () => {
    const events = streams.map(() => device.createEvent({ timing: false }));
    const chain = () => {
      for (let link = 0; link < 300; ++link) {
        const stream = streams[link % 16]!;
        if (link > 0) stream.waitEvent(events[(link - 1) % 16]!);
        launch(link, stream);
        stream.record(events[link % 16]!);
      }
    };
    // The driver's events are made once.
    chain();
    await device.synchronize();
    expect(costOf(chain)).toEqual({ calls: 3 * 300 - 1, clock: 0 });
    await device.synchronize();
  });

  test('spans have the times of their launches all the same', async () => {
    const spans: { readonly queued: number; readonly started: number }[] = [];
    device.recorder = (span) => spans.push(span);
    const begin = performance.now();
    for (let i = 0; i < 20; ++i) launch(i, streams[i % 2]!);
    const end = performance.now();
    await device.synchronize();
    device.recorder = null;
    expect(spans).toHaveLength(20);
    for (const { queued, started } of spans) {
      expect(queued).toBeGreaterThanOrEqual(begin);
      expect(queued).toBeLessThanOrEqual(end);
      expect(started).toBeGreaterThanOrEqual(queued);
    }
  });
});
