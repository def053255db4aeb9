// How much a loop over batches has under way follows from the GPU's memory. Whatever that is, the program stays what it is.

import { expect, test } from 'vitest';
import { printProgram } from '#warpstage/compiler/print.js';
import { lowerForGpu } from '#warpstage/targets/legalise/lower.js';
import { blockUniformPipelines } from '#warpstage/targets/legalise/synchronisation.js';
import { compareLowered, programOfText } from '../support/rewritten.ts';

const batches = 23;
const schema = { out: 'i32[]', input: 'readonly i32[]', batches: 'index' };
const text = (stages: number, ahead: number) => `({ out, input, batches }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const staged = cuda.sharedArray('i32', ${stages * 64});
  const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', ${stages}));
  for (let c = 0, f = 0; c < batches; c++) {
    for (; f < batches && f < c + ${ahead}; f++) {
      pipe.producerAcquire();
      cuda.memcpyAsync(block, staged.subarray((f % ${stages}) * 64), input.subarray(f * 64), 64, pipe);
      pipe.producerCommit();
    }
    pipe.consumerWait();
    out[c * 64 + t] = 3 * staged[(c % ${stages}) * 64 + 63 - t] + c;
    pipe.consumerRelease();
  }
}`;
const dataOf = () => ({
  out: new Int32Array(64 * batches),
  input: Int32Array.from({ length: 64 * batches }, (_, i) => Math.imul(i + 1, 2_654_435_761)),
  batches,
});

const kibs = [4, 16, 22, 32, 128];

test.each([1, 2, 3, 4, 8])('pipelines of %i stages are the same for every memory', (stages) => {
  const program = programOfText(schema, text(stages, stages), [64, 1]);
  const lowered = kibs.map((kib) => {
    const options = {
      architecture: 90,
      alignments: [16, 16, 16],
      blockUniform: blockUniformPipelines(program),
      bytesUnderWay: kib * 1024,
    };
    compareLowered(program, dataOf, text(stages, stages), options);
    compareLowered(program, dataOf, text(stages, stages), { ...options, checked: true });
    return printProgram(lowerForGpu(program, options).program);
  });
  expect(new Set(lowered).size).toBeGreaterThan(1);
});
