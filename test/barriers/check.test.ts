// The checker on kernels with barriers: the right ones are clean, and what they do not order is found.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { type CheckResult, check, expectClean } from 'warpstage/check';
import { producerConsumer } from '../../examples/guide/barrier-producer-consumer.ts';
import { splitArrive } from '../../examples/guide/barrier-split-arrive.ts';

const counting = (length: number) => Int32Array.from({ length }, (_, i) => i);

describe('no finding', () => {
  test('in the kernels of the guide', () => {
    const globalIn = counting(2 * 32 * 5);
    const globalOut = new Int32Array(globalIn.length);
    expectClean(splitArrive, { grid: 2, block: 32, arguments: { globalOut, globalIn, batchCount: 5 } });
    expectClean(producerConsumer, { grid: 2, block: 64, arguments: { globalOut, globalIn, batchCount: 5 } });
  });

  test('where a completion reads what all have written', () => {
    const completes = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const parts = cuda.sharedArray('i32', block.size());
      const total = cuda.sharedArray('i32', 1);
      const t = block.threadRank();
      const barrier = cuda.barrier(block, () => {
        let sum = 0;
        for (let i = 0; i < block.size(); i++) sum += parts[i]!;
        total[0] = sum;
      });
      for (let round = 0; round < 3; round++) {
        parts[t] = cuda.i32(t + round);
        barrier.arriveAndWait();
        out[t] = total[0]!;
      }
    });
    expectClean(completes, { grid: 1, block: 8, arguments: { out: new Int32Array(8) } });
  });
});

describe("a thread's own copies that a barrier waits for", () => {
  const bound = kernel(
    {
      out: 'i32[]',
      input: 'readonly i32[]',
      commits: 'constant bool',
      alone: 'constant bool',
      waits: 'constant bool = true',
      leaves: 'constant bool = false',
    },
    ({ out, input, commits, alone, waits, leaves }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', block.size());
      const barrier = cuda.barrier(block);
      const pipeline = cuda.makePipeline();
      const t = block.threadRank();
      for (let batch = 0; batch < 2; batch++) {
        const source = input.subarray(batch * block.size() + t);
        cuda.memcpyAsync(shared.subarray(t), source, 1, pipeline);
        if (alone) pipeline.producerCommit();
        if (commits) cuda.pipelineProducerCommit(pipeline, barrier);
        else cuda.pipelineArriveOn(barrier);
        let own = 0;
        if (alone && !leaves) {
          pipeline.consumerWait();
          own = shared[t]!;
        }
        const token = barrier.arrive();
        if (waits) barrier.wait(token);
        out[batch * block.size() + t] = shared[block.size() - 1 - t]! + own;
        block.sync();
      }
    },
  );
  const data = { out: new Int32Array(16), input: counting(16) };

  test.each([
    [true, false],
    [false, false],
    [true, true],
    [false, true],
  ])('no finding: commits %s, waits for its own alone %s', (commits, alone) => {
    expectClean(bound, { grid: 1, block: 8, arguments: { ...data, commits, alone } });
  });

  test('no finding: a batch of its own pipeline that the barrier has waited for', () => {
    const leaving = { ...data, commits: false, alone: true, leaves: true };
    expectClean(bound, { grid: 1, block: 8, arguments: leaving });
  });

  test('a finding where nobody waits for the barrier', () => {
    const launch = { grid: 1, block: 8, arguments: { ...data, commits: true, alone: false, waits: false } };
    expect(check(bound, launch).findings.map(({ code }) => code)).toContain('WS7002');
  });
});

describe('a finding', () => {
  const codes = ({ findings }: CheckResult) => findings.map(({ code }) => code);

  test('for who reads before it waits', () => {
    const early = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', block.size());
      const barrier = cuda.barrier(block);
      const t = block.threadRank();
      shared[t] = 0;
      block.sync();
      shared[t] = cuda.i32(t);
      const token = barrier.arrive();
      out[t] = shared[block.size() - 1 - t]!;
      barrier.wait(token);
    });
    expect(codes(check(early, { grid: 1, block: 8, arguments: { out: new Int32Array(8) } }))).toContain(
      'WS7001',
    );
  });

  test('for who reads a copy that the phase has not been waited for', () => {
    const early = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', block.size());
      const barrier = cuda.barrier(block);
      const t = block.threadRank();
      cuda.memcpyAsync(shared.subarray(t), input.subarray(t), 1, barrier);
      const token = barrier.arrive();
      out[t] = shared[t]!;
      barrier.wait(token);
    });
    const data = { out: new Int32Array(8), input: counting(8) };
    expect(codes(check(early, { grid: 1, block: 8, arguments: data }))).toContain('WS7002');
  });

  test('for who refills a stage that others still read', () => {
    const refills = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', block.size());
      const barrier = cuda.barrier(block);
      const t = block.threadRank();
      for (let batch = 0; batch < 2; batch++) {
        cuda.memcpyAsync(block, shared, input.subarray(batch * block.size()), block.size(), barrier);
        barrier.arriveAndWait();
        out[batch * block.size() + t] = shared[block.size() - 1 - t]!;
      }
    });
    const data = { out: new Int32Array(16), input: counting(16) };
    expect(codes(check(refills, { grid: 1, block: 8, arguments: data }))).toContain('WS7002');
  });
});
