// Barriers as CUDA C++: what the hardware gets, and that it compiles for every architecture.

import { describe, expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { generateCuda } from '#warpstage/targets/cuda/generate.js';
import { producerConsumer } from '../../examples/guide/barrier-producer-consumer.ts';
import { splitArrive } from '../../examples/guide/barrier-split-arrive.ts';
import { testCompiling } from '../support/nvcc.ts';

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

const specialised = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index' },
  ({ out, input, batches }, cuda) => {
    const block = cuda.thisThreadBlock();
    const warp = cuda.tiledPartition(block, 32);
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
      for (let batch = 0; batch < batches; batch++) {
        const stage = batch % 2;
        filled[stage]!.arriveAndWait();
        out[batch * size + t - 32] = shared[stage * size + t - 32]!;
        ready[stage]!.arrive();
      }
    }
  },
);

const everything = kernel(
  { out: 'i32[]', input: 'readonly i32[]', n: 'index' },
  ({ out, input, n }, cuda) => {
    const block = cuda.thisThreadBlock();
    const tile = cuda.tiledPartition(block, 16);
    const shared = cuda.sharedArray('i32', block.size());
    const bytes = cuda.sharedArray('u8', 16);
    const total = cuda.sharedArray('i32', 1);
    const t = block.threadRank();
    const completes = cuda.barrier(block, n, () => {
      total[0] = total[0]! + 1;
    });
    const tiles = cuda.barrierArray(tile, 3, n);
    const pipeline = cuda.makePipeline();
    cuda.memcpyAsync(shared.subarray(t), input.subarray(t), 1, pipeline);
    for (let i = 0; i < n; i++) {
      const again = cuda.barrier(block, 8);
      cuda.pipelineProducerCommit(pipeline, again);
      cuda.pipelineArriveOn(completes);
      cuda.memcpyAsync(tile, shared, input, 16, again);
      cuda.memcpyAsync(shared.subarray(t), input.subarray(t), 1, completes);
      cuda.memcpyAsync(bytes.subarray(t), bytes.subarray(15 - t), 1, again);
      let token = again.arrive(2);
      if (again.tryWait(token)) token = again.arrive();
      again.wait(token);
      again.waitParity(i & 1);
      if (again.tryWaitParity(1) || again.tryWaitFor(token, 50)) again.arriveAndDrop();
      if (completes.tryWaitParityUntil(0, cuda.globaltimer() + 9)) continue;
      tiles[i % 3]!.arriveAndWait();
      completes.arriveAndWait();
      completes.wait(completes.arrive(2));
      if (i === 3) completes.arriveAndDrop();
      while (!completes.tryWaitParity(i & 1));
    }
    out[t] = shared[t]!;
  },
);

function generate(of: Kernel, architecture: number, block = 64): string {
  const { program } = specialise(of, {
    block: [block, 1, 1],
    indexType: 'i32',
    constants: {},
    functions: {},
  });
  const { text } = generateCuda(program, {
    architecture,
    alignments: program.parameters.map(() => 16),
    blockUniform: () => false,
    lineDirective: () => null,
  });
  return text;
}

/** What stands in the kernel itself, without its declarations of variables. */
function body(text: string): string[] {
  const lines = text.slice(text.indexOf('extern "C"')).split('\n');
  return lines
    .filter((line) => /\b(b_|ws_copy|ws_bulk|ws_fence|ws_finish|__sync)/.test(line))
    .map((line) => line.trim());
}

describe('lowering', () => {
  test('sm_90: the copy engine fills the stage, and arrives at the barrier', () => {
    expect(body(generate(staged, 90))).toMatchInlineSnapshot(`
      [
        "ws_fence_async_shared();",
        "__syncthreads();",
        "ws_fence_async_shared();",
        "ws_bulk_copy(s_shared_0 + 0, g_input_1 + first_0, (unsigned)64 * 4u, m_barrier_0);",
      ]
    `);
  });

  test('sm_80: each thread copies, and its copies arrive at the barrier', () => {
    expect(body(generate(staged, 80))).toMatchInlineSnapshot(`
      [
        "__syncthreads();",
        "ws_copy_async<16>(s_shared_0 + 0, g_input_1 + first_0, (unsigned long long)64 * 4u, ws_thread_rank, 64u);",
        "ws_finish_copies();",
      ]
    `);
  });

  test('sm_75: a counter in shared memory', () => {
    expect(body(generate(staged, 75))).toMatchInlineSnapshot(`
      [
        "__syncthreads();",
        "ws_copy_async<16>(s_shared_0 + 0, g_input_1 + first_0, (unsigned long long)64 * 4u, ws_thread_rank, 64u);",
        "ws_finish_copies();",
      ]
    `);
  });

  test('a pair of barriers a stage', () => {
    expect(body(generate(specialised, 90, 96))).toMatchInlineSnapshot(`
      [
        "__syncthreads();",
        "ws_fence_async_shared();",
        "__syncthreads();",
        "ws_fence_async_shared();",
        "ws_bulk_copy(s_shared_0 + (stage_1 * 64), g_input_1 + (int)((unsigned)batch_0 * (unsigned)64), (unsigned)64 * 4u, &m_filled_1[stage_1]);",
      ]
    `);
  });

  test('a completion is run by a counter on every architecture, and a barrier made again is discarded first', () => {
    expect(body(generate(everything, 90))).toMatchInlineSnapshot(`
      [
        "ws_fence_async_shared();",
        "__syncthreads();",
        "ws_copy_async<4>(s_shared_0 + (int)ws_thread_rank, g_input_1 + (int)ws_thread_rank, (unsigned long long)1 * 4u, 0, 1u);",
        "ws_fence_async_shared();",
        "__syncthreads();",
        "ws_fence_async_shared();",
        "ws_fence_async_shared();",
        "__syncthreads();",
        "ws_finish_copies();",
        "ws_fence_async_shared();",
        "ws_bulk_copy(s_shared_0 + 0, g_input_1 + 0, (unsigned)16 * 4u, m_again_2);",
        "ws_copy_async<4>(s_shared_0 + (int)ws_thread_rank, g_input_1 + (int)ws_thread_rank, (unsigned long long)1 * 4u, 0, 1u);",
        "ws_finish_copies();",
        "ws_copy(s_bytes_1 + (int)ws_thread_rank, s_bytes_1 + (15 - (int)ws_thread_rank), 1, 0, 1u);",
        "ws_fence_async_shared();",
        "ws_fence_async_shared();",
        "ws_fence_async_shared();",
        "ws_fence_async_shared();",
        "ws_fence_async_shared();",
        "ws_fence_async_shared();",
        "ws_fence_async_shared();",
        "ws_finish_copies();",
      ]
    `);
  });
});

testCompiling('kernels with barriers compile', (architecture) =>
  [staged, specialised, everything, splitArrive, producerConsumer].map((each) =>
    generate(each, architecture, 96),
  ),
);
