// Deadlocks in words: who waits at a barrier or for other lanes, who has not come, and where those are instead.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Barrier, type Kernel, kernel } from 'warpstage';
import { check } from 'warpstage/check';

const source = readFileSync(fileURLToPath(import.meta.url), 'utf8').split('\n');
const lineOf = ({ location: { line } }: { readonly location: { readonly line: number } }) =>
  /\/\/ (.*)$/.exec(source[line - 1]!)?.[1];

const schema = { out: 'i32[]' } as const;

/** The only finding: its sentence, the comment of its line and those of the lines beside it. */
function reported(made: Kernel<typeof schema>, block: number) {
  const launch = { grid: 1, block, arguments: { out: new Int32Array(block) } };
  const { findings } = check(made, launch, { schedules: 1 });
  const [finding, ...more] = findings.filter(({ code }) => code === 'WS3002');
  expect(more).toEqual([]);
  const { hint, related } = finding!;
  const message = finding!.message.replace(/^the kernel: deadlock: /, '');
  return { message, hint, at: lineOf(finding!), beside: related.map((one) => [lineOf(one), one.label]) };
}

describe('at a barrier', () => {
  test('that has the name of the variable it was assigned to', () => {
    const assigned = kernel(schema, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      let turn: Barrier | undefined;
      if (out.length > 0) turn = cuda.barrier(block);
      if (block.threadRank() === 3) return;
      turn!.arriveAndWait();
      out[block.threadRank()] = 1;
    });
    expect(reported(assigned, 4).message).toMatch(/^threads 0 to 2 wait in phase 0 of `turn`: /);
  });

  test('that a thread does not come to, for it waits elsewhere', () => {
    const parts = kernel(schema, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const barrier = cuda.barrier(block);
      if (block.threadRank() === 3)
        block.sync(); // the sync
      else barrier.arriveAndWait(); // the barrier
      out[block.threadRank()] = 1;
    });
    expect(reported(parts, 8)).toMatchObject({
      message:
        'threads 0 to 2, 4 to 7 wait in phase 0 of `barrier`: 7 of 8 arrivals have come; ' +
        'thread 3 is missing, and waits in sync of the block: 1 of 8 threads have arrived',
      at: 'the barrier',
      beside: [['the sync', 'thread 3 waits in sync of the block: 1 of 8 threads have arrived']],
    });
  });

  test('that a thread does not come to, for it has returned', () => {
    const returns = kernel(schema, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const barrier = cuda.barrier(block);
      out[block.threadRank()] = 1;
      if (block.threadRank() >= 6) return;
      barrier.arriveAndWait(); // the barrier
    });
    expect(reported(returns, 8)).toEqual({
      message:
        'threads 0 to 5 wait in phase 0 of `barrier`: 6 of 8 arrivals have come; threads 6 to 7 have returned',
      hint: expect.stringContaining('arriveAndDrop()'),
      at: 'the barrier',
      beside: [],
    });
  });

  test('but not those that have dropped out', () => {
    const drops = kernel(schema, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const barrier = cuda.barrier(block);
      const t = block.threadRank();
      out[t] = 1;
      if (t === 0) barrier.arriveAndDrop();
      else barrier.arriveAndWait();
      if (t === 1) return;
      if (t > 0) barrier.arriveAndWait(); // the barrier
    });
    expect(reported(drops, 4).message).toBe(
      'threads 2 to 3 wait in phase 1 of `barrier`: 2 of 3 arrivals have come; thread 1 has returned',
    );
  });

  test('that counts arrivals, whoever brings them', () => {
    const counts = kernel(schema, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const barrier = cuda.barrier(block, 2);
      const t = block.threadRank();
      out[t] = 1;
      if (t === 3) barrier.arrive();
      if (t >= 2)
        block.sync(); // the sync
      else barrier.waitParity(0); // the barrier
    });
    expect(reported(counts, 4)).toMatchObject({
      message:
        'threads 0 to 1 wait in phase 0 of `barrier`: 1 of 2 arrivals have come; ' +
        'thread 2 has not arrived, and waits in sync of the block: 2 of 4 threads have arrived',
      at: 'the barrier',
    });
  });

  test('that is not made by all', () => {
    const makes = kernel(schema, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      out[block.threadRank()] = 1;
      if (block.threadRank() < 2) {
        const barrier = cuda.barrier(block); // the making
        barrier.arriveAndWait();
      } else block.sync(); // the sync
    });
    expect(reported(makes, 4)).toMatchObject({
      message:
        'threads 0 to 1 wait in the making of `barrier`: 2 of 4 threads have called it; ' +
        'threads 2 to 3 are missing, and wait in sync of the block: 2 of 4 threads have arrived',
      at: 'the making',
    });
  });
});

describe('for lanes', () => {
  test('that wait for lanes of another exchange', () => {
    const votes = kernel(schema, ({ out }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      if (t < 8)
        out[t] = cuda.i32(cuda.ballotSync(0xffff, t > 2)); // the vote
      else out[t] = cuda.shflSync(0xffff, cuda.i32(t), 0); // the shuffle
    });
    expect(reported(votes, 16)).toMatchObject({
      message:
        'threads 0 to 7 wait in ballot of warp 0: lanes 0-7 arrived, lanes 8-15 did not; ' +
        'threads 8 to 15 are missing, and wait in shfl of warp 0: lanes 8-15 arrived, lanes 0-7 did not',
      hint: expect.stringContaining('the same exchange'),
      at: 'the vote',
      beside: [
        ['the shuffle', 'threads 8 to 15 wait in shfl of warp 0: lanes 8-15 arrived, lanes 0-7 did not'],
      ],
    });
  });

  test('of a second warp, which wait for their block', () => {
    const sums = kernel(schema, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const tile = cuda.tiledPartition(block, 4);
      out[t] = 0;
      if (t === 34)
        block.sync(); // the sync
      else out[t] = cuda.cg.reduce(tile, cuda.i32(t), 'plus'); // the sum
    });
    expect(reported(sums, 40)).toMatchObject({
      message:
        'threads 32 to 33, 35 wait in reduceAdd of warp 1: lanes 0-1, 3 arrived, lane 2 did not; ' +
        'thread 34 is missing, and waits in sync of the block: 1 of 4 threads have arrived; 36 threads have returned',
      at: 'the sum',
    });
  });
});
