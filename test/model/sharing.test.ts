// What kernels that run at the same time leave each other.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  hasPlace,
  type KernelLoad,
  type RunningKernel,
  speedsOf,
  together,
} from '#warpstage/runtime/model/sharing.js';

const processors = 132;

/** A kernel of so many blocks of 256 threads: 8 on a processor. */
function kernelOf({
  blocks,
  latency,
  issue,
  memory,
  priority,
}: {
  readonly blocks: number;
  readonly latency: number;
  readonly issue: number;
  readonly memory: number;
  readonly priority: number;
}): RunningKernel {
  const places = 8 * processors;
  const load: KernelLoad = {
    share: Math.min(1, blocks / places),
    blockShare: 1 / places,
    blocks: Math.min(blocks, places),
    waves: blocks / places,
    latency,
    issue,
    memory,
  };
  const duration = 0.001 + together(latency, issue, memory);
  return { load, duration, left: duration, priority };
}

const times = fc.double({ min: 0, max: 10, noNaN: true });
const kernels = fc
  .record({
    blocks: fc.integer({ min: 1, max: 8000 }),
    latency: times,
    issue: times,
    memory: times,
    priority: fc.constantFrom(-1, 0),
  })
  .map(kernelOf);
const several = fc.array(kernels, { minLength: 1, maxLength: 6 });

describe('kernels at the same time', () => {
  test('none is faster than alone, and of none before', () => {
    fc.assert(
      fc.property(several, (list) => {
        for (const speed of speedsOf(list, processors)) {
          expect(speed).toBeGreaterThanOrEqual(0);
          expect(speed).toBeLessThanOrEqual(1 + 1e-9);
        }
      }),
    );
  });

  test('memory moves no more than it can', () => {
    fc.assert(
      fc.property(several, (list) => {
        const speeds = speedsOf(list, processors);
        const moved = list.reduce(
          (sum, { load, duration }, i) => sum + (speeds[i]! * load.memory) / duration,
          0,
        );
        expect(moved).toBeLessThanOrEqual(1 + 1e-6);
      }),
    );
  });

  test('another kernel makes none faster', () => {
    fc.assert(
      fc.property(several, kernels, (list, more) => {
        const before = speedsOf(list, processors);
        const after = speedsOf([...list, { ...more, priority: 1 }], processors);
        for (const [i, speed] of before.entries()) expect(after[i]!).toBeLessThanOrEqual(speed + 1e-9);
      }),
    );
  });

  test('those that wait for themselves, with places for all, are as fast as alone', () => {
    const waiting = kernelOf({ blocks: 16, latency: 1, issue: 0.01, memory: 0, priority: 0 });
    for (const speed of speedsOf([waiting, waiting, waiting, waiting], processors))
      expect(speed).toBeGreaterThan(0.999);
  });

  test('two that fill the processors take twice as long', () => {
    const busy = kernelOf({ blocks: 528, latency: 0, issue: 1, memory: 0, priority: 0 });
    for (const speed of speedsOf([busy, busy], processors)) expect(speed).toBeCloseTo(0.5, 2);
  });

  test('one of several waves leaves no place before its last, but to a higher priority', () => {
    const long = kernelOf({ blocks: 8000, latency: 8, issue: 0, memory: 0, priority: 0 });
    const next = (priority: number) => kernelOf({ blocks: 16, latency: 1, issue: 0, memory: 0, priority });
    expect(hasPlace([long], next(0))).toBe(false);
    expect(hasPlace([long], next(-1))).toBe(true);
    // 8000 blocks are 7 waves of 1056 and one of 608.
    expect(hasPlace([{ ...long, left: long.duration / 8 }], next(0))).toBe(true);
  });
});
