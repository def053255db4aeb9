// Loops whose counters come close to what their type holds: rounds that look ahead do not look beyond.

import { describe, expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { choiceOf, compareLowered, programOfText } from '../support/rewritten.ts';

const schema = { out: 'i32[]', input: 'readonly i32[]', end: 'index', fetched: 'index' };
const block = 64;
const most = 2 ** 31 - 1;

/** A ring of so many stages, whose batches have the numbers from `start` on. */
const textOf = (stages: number, start: number, use = ''): string => `({ out, input, end, fetched }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const staged = cuda.sharedArray('i32', ${stages * block});
  const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', ${stages}));
  for (let c = ${start}, f = ${start}; c < end; c++) {
    for (; f < fetched && f < c + ${stages}; f++) {
      pipe.producerAcquire();
      cuda.memcpyAsync(block, staged.subarray((f % ${stages}) * ${block}), input.subarray((f - ${start}) * ${block}), ${block}, pipe);
      pipe.producerCommit();
    }
    pipe.consumerWait();
    out[(c - ${start}) * ${block} + t] = staged[(c % ${stages}) * ${block} + ${block - 1} - t];
    pipe.consumerRelease();
    ${use}
  }
}`;

/** Where both loops end alike the counters keep step: behind the first stages nothing counts what is fetched. */
function expectStep(program: Program, bound: 'end' | 'fetched'): void {
  const counts = cudaText(program, 90).match(/pipe_head_\d+ = \(pipe_head_\d+ \+ 1u\)/g)!;
  if (bound === 'end') expect(counts).toHaveLength(1);
  else expect(counts.length).toBeGreaterThan(1);
}

describe.each([1, 2, 3, 4])('%i stages', (stages) => {
  test.each([0, 1, 2, 3, 5, 8, 12])('and %i numbers behind the last batch', (behind) => {
    const end = most - behind;
    // So many at least that the kernel's own sum, of the first batch and the stages, stays in its type.
    const least = Math.max(1, stages - behind);
    for (const batches of [least, least + 2, 4 * stages + 1]) {
      const start = end - batches;
      const dataOf = () => ({
        out: new Int32Array(block * batches),
        input: Int32Array.from({ length: block * batches }, (_, i) => 7 * i + 1),
        end,
        fetched: end,
      });
      for (const bound of ['end', 'fetched'] as const) {
        const text = textOf(stages, start).replace('f < fetched', `f < ${bound}`);
        const program = programOfText(schema, text, [block, 1]);
        expect(choiceOf(program).lowering).toBe(stages === 1 ? 'groups' : 'bulk');
        if (stages > 1) expectStep(program, bound);
        compareLowered(program, dataOf, text);
      }
    }
  });
});

test('and an unsigned counter has no batch behind few, or at the greatest number', () => {
  for (const [start, batches] of [
    [0, 1],
    [0, 2],
    [0, 5],
    [2 ** 32 - 20, 17],
    [2 ** 32 - 9, 8],
  ] as const) {
    const dataOf = () => ({
      out: new Int32Array(block * batches),
      input: Int32Array.from({ length: block * batches }, (_, i) => 7 * i + 1),
      end: start + batches,
      fetched: start + batches,
    });
    for (const bound of ['end', 'fetched'] as const) {
      const text = textOf(4, 0)
        .replace('let c = 0, f = 0;', `let c = cuda.u32(${start}), f = cuda.u32(${start});`)
        .replace('(f - 0)', `(f - cuda.u32(${start}))`)
        .replace('(c - 0)', `(c - cuda.u32(${start}))`)
        .replace('f < fetched && f < c + 4', `f < ${bound} && f < c + cuda.u32(4)`);
      const program = programOfText({ ...schema, end: 'u32', fetched: 'u32' }, text, [block, 1]);
      expectStep(program, bound);
      compareLowered(program, dataOf, text);
    }
  }
});

test('and a loop that has no turn copies nothing, however small its end is', () => {
  const text = textOf(2, 0).replace('for (let c', 'out[t] = 1;\n  for (let c');
  const program = programOfText(schema, text, [block, 1]);
  for (const end of [0, -1, -(2 ** 31), -(2 ** 31) + 3]) {
    const dataOf = () => ({ out: new Int32Array(block), input: new Int32Array(block), end, fetched: end });
    compareLowered(program, dataOf, text);
  }
});
