// What a pipeline orders besides its copies: kernels that need it are right on every target, their CUDA C++ has
// the barriers, arrivals and fences for it, and text that lacks one of them is found.

import { describe, expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { check } from 'warpstage/check';
import { specialise } from '#warpstage/compiler/specialise.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { runEverywhere } from '../support/everywhere.ts';
import { guidePrograms } from '../support/example-programs.ts';
import { type OrderingCase, orderingKernels } from '../support/ordering-kernels.ts';
import { orderingFaults } from '../support/ordering-of-text.ts';

const all = Object.entries(orderingKernels);

function textOf(kernel: Kernel, block: number, architecture = 90): string {
  const { program } = specialise(kernel, {
    block: [block, 1, 1],
    indexType: 'i32',
    constants: {},
    functions: {},
  });
  return cudaText(program, architecture);
}

/** Arguments for one block of so many threads. */
function argumentsOf(block: number, batches: number, { scratch, threads }: OrderingCase) {
  const array = () => new Int32Array((block / threads) * batches);
  const input = array().map((_, i) => 7 * i + 1);
  return { out: array(), input, batches, late: 0, ...(scratch ? { scratch: array() } : {}) };
}

describe.each(all)('%s', (_, ordering) => {
  const { kernel } = ordering;
  test('is clean, and the same everywhere', () => {
    const launch = { grid: 1, block: 64, arguments: argumentsOf(64, 8, ordering) };
    const { arguments: results, fault } = runEverywhere(kernel, launch);
    expect(fault).toBeNull();
    expect(new Set(results.out as Int32Array).size).toBeGreaterThan(8);
    const small = argumentsOf(64, 5, ordering);
    const { findings, verdict } = check(kernel, { grid: 1, block: 64, arguments: small } as never, {
      schedules: 3,
    });
    expect(findings.map(({ code, message }) => `${code}: ${message}`)).toEqual([]);
    expect(verdict).toBe('clean');
  });

  test.each([256, 48])('is ordered in CUDA C++ for blocks of %i threads', (block) => {
    expect(orderingFaults(textOf(kernel, block))).toEqual([]);
  });
});

test.each(Object.entries(guidePrograms))('%s needs the order of its copies alone', (_, { program }) => {
  expect(orderingFaults(cudaText(program, 90), { spared: true })).toEqual([]);
});

/** Each takes away something that orders. */
const omissions: Readonly<Record<string, (text: string) => string>> = {
  'block barriers': (text) => text.replaceAll(/^ *__syncthreads\(\);\n/gm, ''),
  'every second block barrier of a round': (text) => {
    let n = 0;
    return text.replaceAll(/^ {6}__syncthreads\(\);\n/gm, (line) => (n++ % 2 === 0 ? line : ''));
  },
  'fences of the threads': (text) => text.replaceAll(/^ *ws_fence_async\(\);\n/gm, ''),
  'fences of the copying thread': (text) =>
    text.replaceAll('{ ws_fence_async(); ws_bulk_copy', '{ ws_bulk_copy'),
  'arrivals of the warps': (text) =>
    text.replaceAll(
      /ws_arrive_of_warp\((.*?), ws_copying_warp \? (\w+) : 0u\)/g,
      'if (ws_copying_warp) if (ws_elect()) ws_arrive_expecting($1, $2)',
    ),
  'arrivals of producers': (text) => text.replaceAll(/^ *ws_arrive\(&p_\w+_full.*\n/gm, ''),
};

describe('an omission is found:', () => {
  test.each([
    ['block barriers', 'stores beside a copy'],
    ['block barriers', 'a stage overwritten by a copy'],
    ['every second block barrier of a round', 'stores seen across turns'],
    ['fences of the threads', 'a stage overwritten by a copy'],
    ['fences of the threads', 'thread copies overwritten by a copy'],
    ['fences of the copying thread', 'stores seen across turns'],
    ['arrivals of the warps', 'stores beside a copy'],
    ['arrivals of the warps', 'a stage half copied'],
    ['arrivals of producers', 'stores of producers'],
    ['arrivals of producers', 'stores through producers'],
  ])('%s in the kernel with %s', (omission, name) => {
    const text = textOf(orderingKernels[name]!.kernel, 256);
    const without = omissions[omission]!(text);
    expect(without).not.toBe(text);
    expect(orderingFaults(without)).not.toEqual([]);
  });
});

describe('other ends', () => {
  const made = (body: string): Kernel =>
    kernel(
      { out: 'i32[]', input: 'readonly i32[]', n: 'index' },
      new Function(`return ({ out, input, n }, cuda) => {
        const block = cuda.thisThreadBlock();
        const t = block.threadRank();
        const staged = cuda.sharedArray('i32', 64);
        ${body}
      }`)(),
    ) as unknown as Kernel;
  const linesOf = (text: string) => text.slice(text.indexOf('extern "C"')).split('\n');

  test('the last that quits knows what the others did before', () => {
    const quitting = made(`
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      const last = pipe.quit();
      if (last) out[t] = n;`);
    for (const architecture of [75, 80, 90]) {
      const text = textOf(quitting, 64, architecture);
      const quit = /ws_quit\(unsigned\* members\) \{(.*?)\n\}/s.exec(text)![1]!;
      expect(quit).toMatch(/__threadfence_block\(\);\n.*atomicSub.*\n *__threadfence_block\(\);/);
    }
  });

  test('a return among copies waits for those of the thread, and leaves none to the engine', () => {
    const returning = made(`
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, staged, input, 64, pipe);
      pipe.producerCommit();
      if (n === 0) return;
      pipe.consumerWait();
      out[t] = staged[63 - t];
      pipe.consumerRelease();`);
    const lines = linesOf(textOf(returning, 64)).map((line) => line.trim());
    expect(lines.join('\n')).not.toContain('ws_bulk_copy');
    expect(lines[lines.indexOf('return;') - 1]).toBe('ws_finish_copies();');
  });

  test('a group meets before one thread copies to what its threads stored, and only then', () => {
    const body = (store: string) => `
      const copied = cuda.barrier(block);
      ${store}
      cuda.memcpyAsync(block, staged, input, 64, copied);
      copied.arriveAndWait();
      out[t] = staged[63 - t];`;
    const syncs = (store: string) =>
      linesOf(textOf(made(body(store)), 64)).filter((line) => line.includes('__syncthreads')).length;
    expect(syncs('staged[t] = -1;')).toBe(syncs('') + 1);
    expect(orderingFaults(textOf(made(body('staged[t] = -1;')), 64))).toEqual([]);
  });
});
