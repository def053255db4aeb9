// Whether the lead of a launch goes alone: what it knows of the last launch, and what it does where that no longer holds.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kernel, open } from 'warpstage';
import { Paces } from '#warpstage/runtime/cpu/paces.js';

/** A lead in a time of its own. */
function lead() {
  const calls: number[] = [];
  let now = 0;
  const paces = new Paces(
    () => calls.push(now),
    () => now,
  );
  /** A launch whose blocks take so many milliseconds each: the ranges that the lead takes, if it takes all. */
  const launch = (blocks: number, time: number, executable = 1) => {
    const ranges: (number | null)[] = [];
    const pace = paces.begin(executable, blocks);
    for (let left = blocks; left > 0; ) {
      const { share } = pace;
      ranges.push(share);
      const count = Math.min(left, share ?? left);
      const given = pace.run(count, () => {
        now += count * time;
        return { count };
      });
      expect(given).toEqual({ count });
      left -= count;
    }
    return ranges;
  };
  return { launch, calls, paces };
}

test('a first launch is for all, and one that is expected to be over soon for the lead alone', () => {
  const { launch, calls } = lead();
  expect(launch(16, 0.001)).toEqual([null]);
  expect(launch(16, 0.001)).toEqual([1, 2, 4, 8, 16]);
  expect(launch(1000, 0.001)).toEqual([null]);
  expect(calls).toEqual([]);
});

test('where it takes longer than expected others are called, once', () => {
  const { launch, calls } = lead();
  launch(16, 0.0001);
  expect(launch(16, 0.01)).toEqual([1, 2, null]);
  expect(calls).toHaveLength(1);
  // It is known now.
  expect(launch(16, 0.0001)).toEqual([null]);
  expect(launch(16, 0.0001)).toEqual([1, 2, 4, 8, 16]);
  expect(calls).toHaveLength(1);
});

test('each executable has its own time, until no launch will name it', () => {
  const { launch, paces } = lead();
  launch(16, 0.0001, 1);
  expect(launch(16, 0.0001, 2)).toEqual([null]);
  paces.forget(1);
  expect(launch(16, 0.0001, 1)).toEqual([null]);
});

test('nobody is called twice, nor where nothing is left, nor later than a range of double length after the limit', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ blocks: fc.integer({ min: 1, max: 5000 }), time: fc.double({ min: 0, max: 0.05 }) }),
        {
          maxLength: 8,
        },
      ),
      (launches) => {
        const { launch, calls } = lead();
        for (const { blocks, time } of launches) {
          const before = calls.length;
          const ranges = launch(blocks, time);
          const alone = ranges.filter((share) => share !== null);
          const called = calls.length - before;
          expect(called).toBeLessThanOrEqual(1);
          // Called where the lead began alone and others are left.
          expect(called === 1).toBe(alone.length > 0 && ranges.includes(null));
          const taken = alone.reduce((sum, share) => sum + share, 0);
          if (called === 1) expect((taken - alone.at(-1)!) * time).toBeLessThan(0.02 + 1e-9);
        }
      },
    ),
  );
});

/** The first block waits for the last one, where it is told to, but not for ever. */
const meeting = kernel({ flags: 'i32[]', waits: 'bool' }, ({ flags, waits }, cuda) => {
  if (cuda.threadIdx.x > 0) return;
  const isLast = cuda.blockIdx.x === cuda.gridDim.x - 1;
  if (isLast) cuda.atomicExch(flags, 0, 1);
  if (!waits || cuda.blockIdx.x > 0) return;
  let seen = 0;
  for (let look = 0; look < 20_000_000 && seen === 0; look += 1) seen = cuda.atomicAdd(flags, 0, 0);
  flags[1] = seen;
});

test('who has to wait for a kernel has others called, though it was over soon before', async () => {
  await using device = await open('cpu', { threads: 2 });
  const stream = device.createStream();
  const flags = device.alloc('i32', 2);
  const left = new Int32Array(2);
  for (let round = 0; round < 5; ++round) {
    for (let launch = 0; launch < 20; ++launch) {
      stream.launch(meeting, { grid: 2, block: 32 }, { flags, waits: false });
      await stream.synchronize();
    }
    stream.memsetAsync(flags, 0);
    stream.launch(meeting, { grid: 2, block: 32 }, { flags, waits: true });
    stream.memcpyAsync(left, flags);
    await stream.synchronize();
    expect([...left]).toEqual([1, 1]);
  }
});
