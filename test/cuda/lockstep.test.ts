// What the steady state of the unified kernel looks like in CUDA C++: rounds whose copies run late, prefetches
// that run early, and as few barriers as that allows.

import { describe, expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { generateCuda } from '#warpstage/targets/cuda/generate.js';
import { asyncPrelude } from '#warpstage/targets/cuda/prelude-async.js';
import { blockUniformPipelines } from '#warpstage/targets/legalise/synchronisation.js';
import { withSingleStage } from '../../examples/guide/single-stage.ts';
import { withStagingScopeThread } from '../../examples/guide/staging-scope-thread.ts';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';

interface Choice {
  readonly block?: number;
  readonly architecture?: number;
  readonly alignment?: number;
  readonly constants?: Readonly<Record<string, number>>;
}

function generated(
  kernel: unknown,
  { block = 256, architecture = 90, alignment = 16, constants = {} }: Choice = {},
) {
  const { program } = specialise(kernel as Kernel, {
    block: [block, 1, 1],
    indexType: 'i32',
    constants,
    functions: {},
  });
  return generateCuda(program, {
    architecture,
    alignments: program.parameters.map(() => alignment),
    blockUniform: blockUniformPipelines(program),
    lineDirective: () => null,
  });
}

/** The body of the n-th `while` loop. */
function loopOf(text: string, n: number): string {
  const begins = [...text.matchAll(/^( *)while \(.*\{$/gm)];
  const { index, 1: indent } = begins[n]!;
  return text.slice(index, text.indexOf(`\n${indent}}`, index));
}

const timesIn = (text: string, part: string) => text.split(part).length - 1;

describe('bulk copies', () => {
  test.each([
    // Two stages of a KiB are in flight; with more, every stage was released some turns before it is filled.
    { stages: 2, barriers: 2 },
    { stages: 4, barriers: 2 },
    { stages: 8, barriers: 2 },
    // Rounds of five cannot be parted evenly, so that each turn has its barrier.
    { stages: 5, barriers: 5 },
  ])('$stages stages: a round has $barriers block barriers', ({ stages, barriers }) => {
    const { text, lowerings } = generated(withStagingUnified, { constants: { stagesCount: stages } });
    expect(lowerings).toEqual(['bulk']);
    const entry = text.slice(text.indexOf('extern "C"'));
    const round = loopOf(entry, 1);
    expect(timesIn(round, 'ws_wait_converged(')).toBe(stages);
    expect(timesIn(round, 'ws_bulk_copy(')).toBe(stages);
    expect(timesIn(round, 'ws_prefetch(')).toBe(stages);
    expect(timesIn(round, '__syncthreads()')).toBe(barriers);
    expect(round).not.toContain('goto');
    // The first loop fetches as much as is to be in flight.
    expect(loopOf(entry, 0)).toContain('(int)((unsigned)computeBatch_0 + (unsigned)2)');
  });

  test('copies whose place is read in memory are made when the program says', () => {
    const gathered = kernel(
      { out: 'i32[]', input: 'readonly i32[]', order: 'i32[]', n: 'index' },
      ({ out, input, order, n }, cuda) => {
        const block = cuda.thisThreadBlock();
        const t = block.threadRank();
        const shared = cuda.sharedArray('i32', 4 * 256);
        const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 4));
        for (let c = 0, f = 0; c < n; ++c) {
          for (; f < n && f < c + 4; ++f) {
            pipeline.producerAcquire();
            const stage = shared.subarray((f % 4) * 256);
            cuda.memcpyAsync(block, stage, input.subarray(order[f]! * 256), 256, pipeline);
            pipeline.producerCommit();
          }
          pipeline.consumerWait();
          out[c * 256 + t] = shared[(c % 4) * 256 + t]!;
          pipeline.consumerRelease();
        }
      },
    );
    const { text, lowerings } = generated(gathered);
    expect(lowerings).toEqual(['bulk']);
    const entry = text.slice(text.indexOf('extern "C"'));
    expect(loopOf(entry, 0)).toMatch(/f_\d+ < \(int\)\(\(unsigned\)c_\d+ \+ \(unsigned\)4\)/);
    expect(timesIn(loopOf(entry, 1), '__syncthreads()')).toBe(4);
    expect(entry).not.toContain('ws_prefetch(');
  });

  test('a block without whole warps elects thread 0 and waits thread by thread', () => {
    const { text, lowerings } = generated(withStagingUnified, { block: 36 });
    const entry = text.slice(text.indexOf('extern "C"'));
    expect(lowerings).toEqual(['bulk']);
    expect(entry).toMatch(
      /if \(\(\(int\)ws_thread_rank == 0\)\) \{\s+ws_fence_async_shared\(\);\s+ws_bulk_copy\(/,
    );
    expect(entry).not.toContain('ws_wait_converged(');
  });

  test('an array that begins at a multiple of 8 is copied by groups of 8 bytes', () => {
    const { text, lowerings } = generated(withStagingUnified, { alignment: 8 });
    expect(lowerings).toEqual(['groups']);
    expect(text).toContain('ws_copy_async<8>(s_shared');
  });
});

describe('a single stage', () => {
  const far = String.raw`\(batch_0 < \(int\)\(\(unsigned\)batchCount_2 - \(unsigned\)3\)\)`;

  test('of a chunk for each thread is copied by them, and what comes later fetched as long as there is something', () => {
    const meeting = kernel(
      { out: 'f32[]', input: 'readonly f32[]', batchCount: 'index' },
      ({ out, input, batchCount }, cuda) => {
        const block = cuda.thisThreadBlock();
        const staged = cuda.sharedArray('f32', 256);
        const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
        for (let batch = 0; batch < batchCount; batch++) {
          pipeline.producerAcquire();
          cuda.memcpyAsync(block, staged, input.subarray(batch * 256), 256, pipeline);
          pipeline.producerCommit();
          pipeline.consumerWait();
          out[batch * 256 + block.threadRank()] = staged[255 - block.threadRank()]!;
          block.sync();
          pipeline.consumerRelease();
        }
      },
    );
    const { text, lowerings } = generated(meeting);
    expect(lowerings).toEqual(['groups']);
    expect(text).toMatch(
      new RegExp(
        String.raw`ws_commit\(\);\s+if \(copying_warp_\d+\) \{[^}]+if \(${far}\) \{\s+ws_prefetch\(`,
      ),
    );
    expect(generated(meeting, { architecture: 80 }).text).not.toContain('ws_prefetch(');
  });

  test('that is kept twice has the loop of two stages, and twice the shared memory', () => {
    const { text, lowerings, shared } = generated(withSingleStage);
    expect(lowerings).toEqual(['bulk']);
    expect(shared).toEqual([{ offset: 0, length: 512 }]);
    const steps = (loop: string) => loop.match(/ws_(?!elect|thread)\w+\(|__syncthreads\(/g);
    const round = loopOf(text.slice(text.indexOf('extern "C"')), 1);
    const unified = generated(withStagingUnified, { constants: { stagesCount: 2 } }).text;
    expect(steps(round)).toEqual(steps(loopOf(unified.slice(unified.indexOf('extern "C"')), 1)));
    expect(timesIn(round, 'ws_bulk_copy(')).toBe(2);
    expect(generated(withSingleStage, { architecture: 80 }).shared).toEqual([{ offset: 0, length: 256 }]);
  });

  test('of more is copied by the copy engine, which is asked once a turn for all that it is to do', () => {
    const wide = kernel(
      { out: 'f32[]', input: 'readonly f32[]', batches: 'index' },
      ({ out, input, batches }, cuda) => {
        const block = cuda.thisThreadBlock();
        const staged = cuda.sharedArray('f32', 2048);
        const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
        for (let b = 0; b < batches; b++) {
          pipeline.producerAcquire();
          cuda.memcpyAsync(block, staged, input.subarray(b * 2048), 2048, pipeline);
          pipeline.producerCommit();
          pipeline.consumerWait();
          out[b * 256 + block.threadRank()] = staged[2047 - block.threadRank()]!;
          pipeline.consumerRelease();
        }
      },
    );
    const { text, lowerings } = generated(wide);
    expect(lowerings).toEqual(['bulk']);
    const entry = text.slice(text.indexOf('extern "C"'));
    expect(timesIn(loopOf(entry, 0), 'ws_elect()')).toBe(1);
  });
});

test('with thread scope each turn commits, and waits for a known number of groups', () => {
  const { text } = generated(withStagingScopeThread, { architecture: 80, constants: { stagesCount: 4 } });
  const entry = text.slice(text.indexOf('extern "C"'));
  expect(timesIn(loopOf(entry, 2), 'ws_wait_group<3>();')).toBe(4);
  const rest = loopOf(entry, 3);
  expect(rest).toContain('ws_wait_group<3>();');
  expect(rest).toMatch(/else \{\s+ws_commit\(\);/);
  expect(entry).toMatch(/while \(\(pipeline_filled_\d+ < 4u\)\) \{\s+ws_commit\(\);/);
});

test('every wait carries a memory clobber', () => {
  const statements = asyncPrelude
    .split('asm volatile(')
    .slice(1)
    .map((rest) => rest.slice(0, rest.search(/\);(?: \}|\n)/)));
  const waits = statements.filter((statement) => /wait|arrive/.test(statement));
  expect(waits.length).toBeGreaterThan(6);
  for (const wait of waits) expect(wait).toContain('"memory"');
});
