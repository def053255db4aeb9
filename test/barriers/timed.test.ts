// Waits at barriers that may time out, on every target.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { runEverywhere } from '../support/everywhere.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

sayWithoutGpu();

const results = (made: Parameters<typeof runEverywhere>[0], block: number, length = block) => {
  const run = runEverywhere(made, { grid: 1, block, arguments: { out: new Int32Array(length) } });
  expect(run.fault).toBeNull();
  return [...(run.arguments.out as Int32Array)];
};

describe('a wait that may time out', () => {
  test('expires where nobody arrives, and changes nothing', () => {
    const expires = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const barrier = cuda.barrier(block);
      const t = block.threadRank();
      if (t === 0) {
        const token = barrier.arrive();
        out[0] = barrier.tryWaitFor(token, 1000) ? 1 : 2;
        const late = barrier.tryWaitUntil(token, cuda.globaltimer() + 1000);
        out[1] = late ? 1 : 2;
        block.sync();
        barrier.wait(token);
        out[2] = barrier.tryWaitFor(token, 0) ? 1 : 2;
      } else {
        block.sync();
        barrier.arrive();
      }
    });
    expect(results(expires, 4, 3)).toEqual([2, 2, 1]);
  });

  test('ends as soon as the phase is over', () => {
    const ends = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 1);
      const barrier = cuda.barrier(block);
      const t = block.threadRank();
      if (t === 3) shared[0] = 5;
      const token = barrier.arrive();
      const isOver = t % 2 === 0 ? barrier.tryWaitFor(token, 1e15) : barrier.tryWaitUntil(token, 1e300);
      out[t] = isOver ? shared[0]! : -1;
    });
    expect(results(ends, 6)).toEqual(Array(6).fill(5));
  });

  test.each([0, -1])('looks once with a duration of %i, and lets others go on', (duration) => {
    const looks = kernel({ out: 'i32[]', duration: 'f64' }, ({ out, duration }, cuda) => {
      const block = cuda.thisThreadBlock();
      const barrier = cuda.barrier(block, 1);
      const t = block.threadRank();
      out[t] = barrier.tryWaitParityFor(0, duration) ? 1 : 2;
      block.sync();
      if (t === 0) barrier.arrive();
      while (!barrier.tryWaitParityFor(0, duration));
      out[t] = out[t]! * 10;
    });
    const run = runEverywhere(looks, { grid: 1, block: 4, arguments: { out: new Int32Array(4), duration } });
    expect(run.fault).toBeNull();
    expect([...(run.arguments.out as Int32Array)]).toEqual([20, 20, 20, 20]);
  });

  test('knows the parity of a phase that is over', () => {
    const parity = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const barrier = cuda.barrier(cuda.thisThreadBlock());
      const t = cuda.threadIdx.x;
      barrier.arriveAndWait();
      const first = barrier.tryWaitParityFor(0, 100);
      const second = barrier.tryWaitParityUntil(1, 0);
      out[t] = (first ? 1 : 0) + (second ? 2 : 0);
    });
    expect(results(parity, 4)).toEqual([1, 1, 1, 1]);
  });

  test('delivers the copies of the phase', () => {
    const copies = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', block.size());
      const barrier = cuda.barrier(block);
      const t = block.threadRank();
      cuda.memcpyAsync(block, shared, input, block.size(), barrier);
      const token = barrier.arrive();
      while (!barrier.tryWaitFor(token, 10));
      out[t] = shared[block.size() - 1 - t]!;
    });
    const input = Int32Array.from([1, 2, 3, 4, 5]);
    const run = runEverywhere(copies, { grid: 1, block: 5, arguments: { out: new Int32Array(5), input } });
    expect(run.fault).toBeNull();
    expect([...(run.arguments.out as Int32Array)]).toEqual([5, 4, 3, 2, 1]);
  });

  test('without an end is a deadlock where the phase can never be over', () => {
    const stuck = kernel({}, (_, cuda) => {
      const barrier = cuda.barrier(cuda.thisThreadBlock(), 9);
      const token = barrier.arrive();
      barrier.tryWaitFor(token, Number.POSITIVE_INFINITY);
    });
    expect(runEverywhere(stuck, { grid: 1, block: 4, arguments: {} }).fault).toMatchObject({
      kind: 'deadlock',
      waiting: [{ what: 'phase 0 of `barrier`: 4 of 9 arrivals have come', threads: [0, 1, 2, 3] }],
    });
  });
});
