// What is recorded by events, on a driver of the tests' own whose streams take time. Needs a C compiler.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { open, type Span } from 'warpstage';
import { checkAnyOrder } from '../runtime/any-order.ts';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;

  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(() => {
    fake.reset();
  });
  afterAll(() => {
    fake.reset();
    fake.remove();
  });

  test('spans are reported while later operations run', async () => {
    fake.lag(500, 1);
    await using device = await open('cuda');
    const reported: { readonly at: number; readonly span: Span }[] = [];
    device.recorder = (span) => reported.push({ at: performance.now(), span });
    const y = device.alloc('i32', 16);
    for (let i = 0; i < 40; ++i) device.defaultStream.memsetAsync(y, i);
    await device.synchronize();
    expect(reported.map(({ span }) => span.id)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    expect(reported[0]!.at).toBeLessThan(reported.at(-1)!.span.ended);
    // Each ended when its own event was reached.
    expect(new Set(reported.map(({ span }) => span.ended)).size).toBe(40);
  });

  test('in any order, an operation begins when all that it waited for has ended', async () => {
    for (let seed = 1; seed <= 3; ++seed) {
      fake.lag(1, seed);
      await using device = await open('cuda');
      const spans = new Map<number, Span>();
      device.recorder = (span) => {
        expect(spans.has(span.id!)).toBe(false);
        spans.set(span.id!, span);
      };
      await checkAnyOrder(device, null, 10);
      for (const span of spans.values()) {
        expect(span.ended).toBeGreaterThanOrEqual(span.started);
        if (span.engine === 'host') continue;
        for (const id of span.after!) {
          const before = spans.get(id)!;
          // Functions of the host have the host's clock.
          if (before.engine !== 'host') expect(span.started).toBeGreaterThanOrEqual(before.ended - 0.01);
        }
      }
      expect([...spans.keys()].sort((a, b) => a - b)).toEqual(Array.from(spans, (_, i) => i + 1));
    }
  });

  test('a recorder may issue operations, also for streams whose last one is only just known to be complete', async () => {
    await using device = await open('cuda');
    const streams = [device.createStream(), device.createStream()];
    const y = device.alloc('i32', 16);
    let more = 20;
    const spans: Span[] = [];
    device.recorder = (span) => {
      spans.push(span);
      if (more-- > 0) device.defaultStream.memsetAsync(y, more); // waits for the streams, as they wait for it
    };
    for (let i = 0; i < 10; ++i) for (const stream of streams) stream.memsetAsync(y, i);
    while (spans.length < 40) await device.synchronize();
    expect(spans).toHaveLength(40);
  });
});
