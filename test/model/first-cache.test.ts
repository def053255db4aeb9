// The cache of each processor in a virtual device: what it holds comes sooner, and is moved once.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kernel, open } from 'warpstage';
import { workBehindFirstCache } from '#warpstage/runtime/model/first-cache.js';

const rereads = kernel({ y: 'f32[]', x: 'readonly f32[]', rounds: 'index' }, ({ y, x, rounds }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  let at = i;
  for (let k = 0; k < rounds; ++k) {
    at += 32 + (x[at]! < 0 ? 1 : 0);
    if (at >= x.length) at -= x.length;
  }
  y[i] = at;
});
/** The same, but for an array that the kernel might write. */
const rewrites = kernel({ y: 'f32[]', x: 'f32[]', rounds: 'index' }, ({ y, x, rounds }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  let at = i;
  for (let k = 0; k < rounds; ++k) {
    at += 32 + (x[at]! < 0 ? 1 : 0);
    if (at >= x.length) at -= x.length;
  }
  y[i] = at;
});

/** Milliseconds of a launch of one warp that reads an array of so many elements. */
async function timeOf(of: typeof rereads, length: number, rounds: number): Promise<number> {
  await using device = await open('model:h200', { execute: false });
  const [begin, end] = [device.createEvent(), device.createEvent()];
  const arrays = { y: device.alloc('f32', 32), x: device.alloc('f32', length) };
  device.defaultStream.record(begin);
  device.defaultStream.launch(of, { grid: 1, block: 32 }, { ...arrays, rounds });
  device.defaultStream.record(end);
  await device.synchronize();
  return end.elapsedTime(begin);
}

test('what a kernel reads again comes from it, unless that is too much or the kernel may write it', async () => {
  const rounds = 10_000;
  const fits = await timeOf(rereads, 4096, rounds);
  const exceeds = await timeOf(rereads, 2 ** 20, rounds);
  const written = await timeOf(rewrites as unknown as typeof rereads, 4096, rounds);
  expect(fits).toBeLessThan(0.5 * exceeds);
  expect(written).toBeGreaterThan(0.9 * exceeds);
});

describe('the work behind it', () => {
  const model = { multiProcessors: 4, firstCacheBytes: 1024, firstCacheLatency: 1 };
  /** Cycles are the latencies themselves: what is asked for is seen. */
  const worked = (blocks: number, readable: number, read: number, latency = 10) =>
    workBehindFirstCache(
      model,
      {
        blocks,
        readable,
        follow: (memory, own) => ({ bytes: read + 64, read, operations: memory, cycles: own }),
      },
      latency,
    );

  test('is a mean of both latencies, by what a processor fetches and reads again', () => {
    // Of four times as much as there is, a quarter is fetched.
    expect(worked(1, 256, 1024)).toEqual({ bytes: 256 + 64, read: 1024, operations: 10, cycles: 3.25 });
    // Two blocks on two processors: each fetches half of what it reads.
    expect(worked(2, 256, 1024)).toMatchObject({ bytes: 512 + 64, cycles: 5.5 });
  });

  test('is that of memory where too much is read, once, or a first cache would be no faster', () => {
    expect(worked(1, 2048, 8192)).toMatchObject({ bytes: 8192 + 64, cycles: 10 });
    expect(worked(1, 256, 256)).toMatchObject({ bytes: 256 + 64, cycles: 10 });
    expect(worked(1, 256, 1024, 0.5)).toMatchObject({ bytes: 1024 + 64, cycles: 0.5 });
  });

  test('never takes longer, nor moves more, than without it', () => {
    const size = fc.integer({ min: 1, max: 4096 });
    fc.assert(
      fc.property(size, size, size, (blocks, readable, read) => {
        const { bytes, cycles } = worked(blocks, readable, read);
        expect(cycles).toBeLessThanOrEqual(10);
        expect(cycles).toBeGreaterThanOrEqual(1);
        expect(bytes).toBeLessThanOrEqual(read + 64);
        expect(bytes).toBeGreaterThanOrEqual(64);
      }),
    );
  });
});
