// Copies that a phase of a barrier waits for.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { poison } from '#warpstage/targets/interpreter/memory.js';
import { runEverywhere } from '../support/everywhere.ts';
import { interpreter } from '../support/interpreter.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { runKernel } from '../support/run-kernel.ts';

sayWithoutGpu();

const counting = (length: number) => Int32Array.from({ length }, (_, i) => i * 7 - 5);
const reversedBlocks = (array: Int32Array, block: number) =>
  array.map((_, i) => array[i - (i % block) + block - 1 - (i % block)]!);

describe('memcpyAsync with a barrier', () => {
  test('by the whole block', () => {
    const staged = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', block.size());
      const barrier = cuda.barrier(block);
      const first = block.groupIndex().x * block.size();
      cuda.memcpyAsync(block, shared, input.subarray(first), block.size(), barrier);
      const token = barrier.arrive();
      barrier.wait(token);
      out[first + block.threadRank()] = shared[block.size() - 1 - block.threadRank()]!;
    });
    const input = counting(32);
    const run = runEverywhere(staged, { grid: 2, block: 16, arguments: { out: new Int32Array(32), input } });
    expect(run.fault).toBeNull();
    expect(run.arguments.out).toEqual(reversedBlocks(input, 16));
    expect(run.mode).toBe('regions');
  });

  test('by each thread alone, in two stages', () => {
    const staged = kernel(
      { out: 'i32[]', input: 'readonly i32[]', batches: 'index' },
      ({ out, input, batches }, cuda) => {
        const block = cuda.thisThreadBlock();
        const size = block.size();
        const shared = cuda.sharedArray('i32', 2 * size);
        const barriers = cuda.barrierArray(block, 2);
        const t = block.threadRank();
        cuda.memcpyAsync(shared.subarray(t), input.subarray(t), 1, barriers[0]!);
        let token = barriers[0]!.arrive();
        for (let batch = 0; batch < batches; batch++) {
          const stage = batch % 2;
          barriers[stage]!.wait(token);
          if (batch + 1 < batches) {
            const next = barriers[1 - stage]!;
            cuda.memcpyAsync(
              shared.subarray((1 - stage) * size + t),
              input.subarray((batch + 1) * size + t),
              1,
              next,
            );
            token = next.arrive();
          }
          out[batch * size + t] = shared[stage * size + size - 1 - t]!;
          block.sync();
        }
      },
    );
    const input = counting(40);
    const run = runEverywhere(staged, {
      grid: 1,
      block: 8,
      arguments: { out: new Int32Array(40), input, batches: 5 },
    });
    expect(run.fault).toBeNull();
    expect(run.arguments.out).toEqual(reversedBlocks(input, 8));
  });

  test('by the producers of a pair of barriers a stage', () => {
    const specialised = kernel(
      { out: 'i32[]', input: 'readonly i32[]', batches: 'index' },
      ({ out, input, batches }, cuda) => {
        const block = cuda.thisThreadBlock();
        const warp = cuda.tiledPartition(block, 4);
        const size = block.size() - warp.size();
        const shared = cuda.sharedArray('i32', 2 * size);
        const ready = cuda.barrierArray(block, 2);
        const filled = cuda.barrierArray(block, 2);
        const t = block.threadRank();
        if (t < warp.size()) {
          for (let batch = 0; batch < batches; batch++) {
            const stage = batch % 2;
            ready[stage]!.arriveAndWait();
            cuda.memcpyAsync(
              warp,
              shared.subarray(stage * size),
              input.subarray(batch * size),
              size,
              filled[stage]!,
            );
            filled[stage]!.arrive();
          }
        } else {
          ready[0]!.arrive();
          ready[1]!.arrive();
          const c = t - warp.size();
          for (let batch = 0; batch < batches; batch++) {
            const stage = batch % 2;
            filled[stage]!.arriveAndWait();
            out[batch * size + c] = shared[stage * size + size - 1 - c]!;
            ready[stage]!.arrive();
          }
        }
      },
    );
    const input = counting(48);
    const run = runEverywhere(specialised, {
      grid: 1,
      block: 12,
      arguments: { out: new Int32Array(48), input, batches: 6 },
    });
    expect(run.fault).toBeNull();
    expect(run.arguments.out).toEqual(reversedBlocks(input, 8));
    expect(run.mode).toBe('states');
  });

  test('is not there before the wait', () => {
    const early = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', block.size());
      const barrier = cuda.barrier(block);
      const t = block.threadRank();
      cuda.memcpyAsync(shared.subarray(t), input.subarray(t), 1, barrier);
      const token = barrier.arrive();
      out[t] = shared[t]!;
      barrier.wait(token);
      out[t + block.size()] = shared[t]!;
    });
    const out = new Int32Array(8);
    const { fault } = runKernel(interpreter('late'), early, {
      grid: 1,
      block: 4,
      arguments: { out, input: counting(4) },
    });
    expect(fault).toBeNull();
    expect([...out]).toEqual([poison, poison, poison, poison, ...counting(4)]);
  });
});

describe("copies of a thread's own pipeline", () => {
  test.each(['commit', 'arriveOn'])('a barrier waits for them: %s', (how) => {
    const bound = kernel(
      { out: 'i32[]', input: 'readonly i32[]', commits: 'constant bool' },
      ({ out, input, commits }, cuda) => {
        const block = cuda.thisThreadBlock();
        const shared = cuda.sharedArray('i32', block.size());
        const barrier = cuda.barrier(block);
        const pipeline = cuda.makePipeline();
        const t = block.threadRank();
        cuda.memcpyAsync(shared.subarray(t), input.subarray(t), 1, pipeline);
        if (commits) cuda.pipelineProducerCommit(pipeline, barrier);
        else cuda.pipelineArriveOn(barrier);
        barrier.arriveAndWait();
        out[t] = shared[block.size() - 1 - t]!;
      },
    );
    const input = counting(8);
    const run = runEverywhere(bound, {
      grid: 1,
      block: 8,
      arguments: { out: new Int32Array(8), input, commits: how === 'commit' },
    });
    expect(run.fault).toBeNull();
    expect(run.arguments.out).toEqual(reversedBlocks(input, 8));
    expect(run.mode).toBe('regions');
  });
});
