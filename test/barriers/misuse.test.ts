// Wrong uses of barriers: refused where the text shows them, else stopped with the same words by every target.

import { describe, expect, test } from 'vitest';
import { kernel, WarpstageError } from 'warpstage';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import { staleToken } from '#warpstage/targets/barrier-misuse.js';
import { runEverywhere } from '../support/everywhere.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

sayWithoutGpu();

const launch = (block: number, data: Record<string, Int32Array | number> = {}) => ({
  grid: 1,
  block,
  arguments: data,
});

describe('while the kernel runs', () => {
  const fails = (made: Kernel, block: number, data?: Record<string, Int32Array | number>) => {
    const { fault } = runEverywhere(made, launch(block, data));
    return fault;
  };

  test.each([
    [0, '0 arrivals'],
    [-3, '-3 arrivals'],
    [2 ** 20, '1048576 arrivals'],
  ])('a barrier that expects %i', (expected, words) => {
    const made = kernel({ expected: 'index' }, ({ expected }, cuda) => {
      cuda.barrier(cuda.thisThreadBlock(), expected);
    });
    expect(fails(made, 4, { expected })).toMatchObject({
      code: 'WS3009',
      message: `\`barrier\` is made to expect ${words}`,
      hint: 'Expect 1 to 1048575 arrivals: those of one phase.',
    });
  });

  test('threads that do not agree what it expects', () => {
    const made = kernel({}, (_, cuda) => {
      const block = cuda.thisThreadBlock();
      const bar = cuda.barrier(block, block.threadRank() < 2 ? 4 : 3);
      bar.arriveAndWait();
    });
    expect(fails(made, 4)).toMatchObject({
      message: 'the threads make `bar` with different numbers of arrivals: 3, 4',
    });
  });

  test('a thread outside of the group that made it', () => {
    const made = kernel({}, (_, cuda) => {
      const block = cuda.thisThreadBlock();
      const tile = cuda.tiledPartition(block, 2);
      const make = () => cuda.barrier(tile);
      if (tile.metaGroupRank() === 0) {
        const bar = make();
        bar.arrive();
      }
    });
    expect(fails(made, 4)).toBeNull();
  });

  test.each([0, -1, 3])('an arrival that counts as %i where 2 are awaited', (count) => {
    const made = kernel({ count: 'index' }, ({ count }, cuda) => {
      const block = cuda.thisThreadBlock();
      const bars = cuda.barrierArray(block, 2);
      bars[1]!.arrive(count);
    });
    expect(fails(made, 2, { count })).toMatchObject({
      code: 'WS3009',
      message: `${count} arrivals at \`bars[1]\`, whose phase awaits 2`,
      thread: [0, 0, 0],
    });
  });

  test('a second arrival of a thread in a phase that awaits none of it', () => {
    const made = kernel({ again: 'i32[]' }, ({ again }, cuda) => {
      const block = cuda.thisThreadBlock();
      const bar = cuda.barrier(block, 1, () => {
        again[0] = again[0]! + 1;
      });
      const token = bar.arrive();
      if (block.threadRank() === 7) bar.wait(token);
    });
    // The phase is over with the first, and the next begins.
    expect(fails(made, 2, { again: new Int32Array(1) })).toBeNull();
  });

  test.each([2, -1])('a barrier with the number %i of two', (which) => {
    const made = kernel({ which: 'index' }, ({ which }, cuda) => {
      const bars = cuda.barrierArray(cuda.thisThreadBlock(), 2);
      bars[which]!.arriveAndWait();
    });
    expect(fails(made, 2, { which })).toMatchObject({
      message: `\`bars[${which}]\` is used, and there are 2 barriers`,
    });
  });

  test('a token that no arrival gave', () => {
    const made = kernel({ n: 'index' }, ({ n }, cuda) => {
      const block = cuda.thisThreadBlock();
      const bar = cuda.barrier(block);
      let token = bar.arrive();
      for (let i = 0; i < n; i++) token = bar.arrive();
      bar.wait(token);
    });
    expect(fails(made, 2, { n: 0 })).toBeNull();
    const late = kernel({ n: 'index' }, ({ n }, cuda) => {
      const block = cuda.thisThreadBlock();
      const bar = cuda.barrier(block);
      let token: ReturnType<typeof bar.arrive> | undefined;
      if (n > 0) token = bar.arrive();
      bar.wait(token!);
    });
    expect(fails(late, 2, { n: 0 })).toMatchObject({
      code: 'WS3009',
      message: 'a wait at `bar` without a token',
    });
  });

  test('a token of another barrier of the array', () => {
    const made = kernel({ n: 'index' }, ({ n }, cuda) => {
      const bars = cuda.barrierArray(cuda.thisThreadBlock(), 3);
      const token = bars[n]!.arrive();
      bars[n + 1]!.wait(token);
    });
    expect(fails(made, 2, { n: 1 })).toMatchObject({
      message: 'a wait at `bars[2]` with a token of `bars[1]`',
    });
  });

  test('a token that is too old', () => {
    const made = kernel({}, (_, cuda) => {
      const bar = cuda.barrier(cuda.thisThreadBlock());
      const token = bar.arrive();
      bar.wait(token);
      bar.arriveAndWait();
      bar.wait(token);
    });
    expect(fails(made, 2)).toMatchObject({
      code: 'WS3009',
      message: 'a wait at `bar` for phase 0, when it is in phase 2',
    });
  });

  test('a parity that was asked for before the first phase', () => {
    // Others may end the first phase, or not, before the wait has begun.
    expect(staleToken('bar', -1, 1).message).toBe(
      'a wait at `bar` for the phase before its first one, when it is in phase 1',
    );
  });
});

describe('deadlocks', () => {
  test('name the barrier, how far it has come and who has returned', () => {
    const made = kernel({}, (_, cuda) => {
      const block = cuda.thisThreadBlock();
      const bars = cuda.barrierArray(block, 2);
      bars[0]!.arriveAndWait();
      if (block.threadRank() === 5) return;
      bars[1]!.arriveAndWait();
    });
    expect(runEverywhere(made, launch(8)).fault).toMatchObject({
      kind: 'deadlock',
      waiting: [
        {
          what: 'phase 0 of `bars[1]`: 7 of 8 arrivals have come; 1 thread has returned',
          threads: [0, 1, 2, 3, 4, 6, 7],
        },
      ],
    });
  });

  test('where all wait for a phase that nobody arrives in', () => {
    const made = kernel({}, (_, cuda) => {
      const bar = cuda.barrier(cuda.thisThreadBlock());
      bar.arriveAndWait();
      bar.waitParity(1);
    });
    const run = runEverywhere(made, launch(4));
    expect(run.mode).toBe('regions');
    expect(run.fault).toMatchObject({
      waiting: [{ what: 'phase 1 of `bar`: 0 of 4 arrivals have come', threads: [0, 1, 2, 3] }],
    });
  });

  test('where not all come to make it', () => {
    const made = kernel({}, (_, cuda) => {
      const block = cuda.thisThreadBlock();
      if (block.threadRank() === 2) block.sync();
      const bar = cuda.barrier(block);
      bar.arriveAndWait();
    });
    expect(runEverywhere(made, launch(4)).fault).toMatchObject({
      waiting: [
        { what: 'the making of `bar`: 3 of 4 threads have called it', threads: [0, 1, 3] },
        { what: 'sync of the block: 1 of 4 threads have arrived', threads: [2] },
      ],
    });
  });
});

describe('in the text', () => {
  const refused: readonly (readonly [message: string, made: Kernel])[] = [
    [
      'a barrier expects 1 to 1048575 arrivals, and not 0',
      kernel({}, (_, cuda) => void cuda.barrier(cuda.thisThreadBlock(), 0)),
    ],
    [
      'a barrier expects 1 to 1048575 arrivals, and not -1',
      kernel({}, (_, cuda) => void cuda.barrier(cuda.thisThreadBlock(), -1)),
    ],
    [
      'a barrier expects 1 to 1048575 arrivals, and not 1048576',
      kernel({}, (_, cuda) => void cuda.barrier(cuda.thisThreadBlock(), 2 ** 20)),
    ],
    [
      'arrive() counts as 1 to 1048575 arrivals, and not 0',
      kernel({}, (_, cuda) => void cuda.barrier(cuda.thisThreadBlock()).arrive(0)),
    ],
    [
      'an array has 1 to 4096 barriers, and this one 0',
      kernel({}, (_, cuda) => void cuda.barrierArray(cuda.thisThreadBlock(), 0)),
    ],
    [
      "'ready' has 2 barriers, and none with the number 2",
      kernel({}, (_, cuda) => {
        const ready = cuda.barrierArray(cuda.thisThreadBlock(), 2);
        ready[2]!.arriveAndWait();
      }),
    ],
    [
      "this is a token of 'one', and 'other' gave none like it",
      kernel({}, (_, cuda) => {
        const one = cuda.barrier(cuda.thisThreadBlock());
        const other = cuda.barrier(cuda.thisThreadBlock());
        other.wait(one.arrive());
      }),
    ],
    [
      "'token' holds tokens of 'one', and cannot hold one of 'other'",
      kernel({}, (_, cuda) => {
        const one = cuda.barrier(cuda.thisThreadBlock());
        const other = cuda.barrier(cuda.thisThreadBlock());
        let token = one.arrive();
        token = other.arrive();
        one.wait(token);
      }),
    ],
    [
      "pipeline of cuda.pipelineProducerCommit must be one of the thread's own, and 'shared' has stages that its group shares",
      kernel({}, (_, cuda) => {
        const block = cuda.thisThreadBlock();
        const barrier = cuda.barrier(block);
        const shared = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
        cuda.pipelineProducerCommit(shared, barrier);
      }),
    ],
    [
      'token of barrier.wait must be what arrive() gave, and is the number 1',
      kernel({}, (_, cuda) => {
        const barrier = cuda.barrier(cuda.thisThreadBlock());
        barrier.wait(1 as never);
      }),
    ],
    [
      "a barrier has no 'arrive_and_wait'",
      kernel({}, (_, cuda) => {
        const barrier = cuda.barrier(cuda.thisThreadBlock());
        (barrier as unknown as { arrive_and_wait(): void }).arrive_and_wait();
      }),
    ],
    [
      'group of cuda.barrier must be a block, a tile, a coalesced group or a subset of a block, and is the thread group',
      kernel({}, (_, cuda) => void cuda.barrier(cuda.thisThread() as never)),
    ],
  ];

  test.each(refused)('%s', (message, made) => {
    let thrown: unknown;
    try {
      runEverywhere(made, launch(4));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(WarpstageError);
    expect((thrown as WarpstageError).issues.map((issue) => issue.message)).toEqual([message]);
  });
});
