// What the driver keeps of graphs: one for each graph that can still be launched. A driver of the tests' own stands in.
// Needs a C compiler.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DeviceArray, open, type Stream } from 'warpstage';
import { collectGarbage } from '#warpstage/runtime/cpu/garbage.js';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const illegalAddress = 700;

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;
  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(() => fake.reset());
  afterAll(() => fake.remove());

  const graphOf = (stream: Stream, y: DeviceArray, byte: number) =>
    stream.capture(() => stream.memsetAsync(y, byte));

  /** Launches graphs that nothing refers to afterwards. */
  async function launchMany(stream: Stream, y: DeviceArray): Promise<void> {
    for (let byte = 0; byte < 10; ++byte) graphOf(stream, y, byte).launch(stream);
    await stream.synchronize();
  }

  /** Until so many are kept; as many turns as garbage may take. */
  async function collectedTo(count: number): Promise<void> {
    for (let turns = 0; turns < 50 && fake.graphs() > count; ++turns) {
      collectGarbage();
      await new Promise((done) => setImmediate(done));
    }
    expect(fake.graphs()).toBe(count);
  }

  test('a graph is made once, kept as long as it can be launched, and then given back', async () => {
    const before = fake.graphs();
    const device = await open('cuda');
    const stream = device.createStream();
    const y = device.alloc('i32', 4);
    const kept = [graphOf(stream, y, 1), graphOf(stream, y, 2)] as const;
    for (let i = 0; i < 3; ++i) for (const graph of kept) graph.launch(stream);
    expect(fake.graphs()).toBe(before + 2);
    await launchMany(stream, y);
    expect(fake.graphs()).toBe(before + 12);
    // The stream's last command names the graph that it launched.
    kept[1].launch(stream);
    await stream.synchronize();
    await collectedTo(before + 2);
    const result = new Int32Array(4);
    for (const [byte, graph] of kept.entries()) {
      graph.launch(stream);
      stream.memcpyAsync(result, y as DeviceArray<'i32'>);
      await stream.synchronize();
      expect(result[0]).toBe((byte + 1) * 0x01010101);
    }
    await device.close();
    expect(fake.graphs()).toBe(before);
  });

  test('of a GPU that stopped none is given back: they went with it', async () => {
    const device = await open('cuda');
    const stream = device.createStream();
    await launchMany(stream, device.alloc('i32', 4));
    const before = fake.graphs();
    fake.lose(illegalAddress);
    await device.close().catch(() => {});
    for (let turns = 0; turns < 5; ++turns) {
      collectGarbage();
      await new Promise((done) => setImmediate(done));
    }
    expect(fake.graphs()).toBe(before);
  });
});
