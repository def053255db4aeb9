// Pipelines of a block whose threads do not come to its calls together: each thread arrives for itself, and no
// barrier of the block stands for its stages.

import { describe, expect, test } from 'vitest';
import { choiceOf, compareLowered, programOfText } from '../support/rewritten.ts';

const schema = { out: 'i32[]', input: 'readonly i32[]', batches: 'index', late: 'index' };
const [block, batches] = [64, 5];

/** One turn of a ring of two stages, in which a thread reads what its neighbour copied. */
const turn = `
  pipe.producerAcquire();
  cuda.memcpyAsync(staged.subarray((b % 2) * ${block} + t), input.subarray(b * ${block} + t), 1, pipe);
  pipe.producerCommit();
  pipe.consumerWait();
  out[b * ${block} + t] = staged[(b % 2) * ${block} + (t + 2) % ${block}];
  pipe.consumerRelease();`;

const textOf = (body: string): string => `({ out, input, batches, late }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const staged = cuda.sharedArray('i32', ${2 * block});
  const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
  ${body}
}`;

describe('threads arrive for themselves', () => {
  test.each([
    [
      'where some meet before they wait, and others afterwards',
      `for (let b = 0; b < batches; b++) {
        const stage = (b % 2) * ${block};
        pipe.producerAcquire();
        cuda.memcpyAsync(staged.subarray(stage + t), input.subarray(b * ${block} + t), 1, pipe);
        pipe.producerCommit();
        if (t < 32) {
          pipe.consumerWait();
          out[b * ${block} + t] = staged[stage + (t ^ 32)];
          block.sync();
        } else {
          block.sync();
          pipe.consumerWait();
          out[b * ${block} + t] = staged[stage + (t ^ 32)];
        }
        pipe.consumerRelease();
      }
      pipe.quit();`,
    ],
    [
      'where each lane of two takes a branch of its own',
      `for (let b = 0; b < batches; b++) {
        if (t % 2 === 0) {${turn}} else {${turn}}
      }
      pipe.quit();`,
    ],
    [
      'where some are late in a branch',
      `for (let b = 0; b < batches; b++) {
        if (t < 32) { cuda.nanosleep(late); ${turn} } else {${turn}}
      }
      pipe.quit();`,
    ],
  ])('%s', (_, body) => {
    const text = textOf(body);
    const program = programOfText(schema, text, [block, 1]);
    const { lowering, why } = choiceOf(program);
    expect({ lowering, why }).toEqual({
      lowering: 'barriers',
      why: 'not all threads of the block reach its calls together',
    });
    const dataOf = () => ({
      out: new Int32Array(block * batches),
      input: Int32Array.from({ length: block * batches }, (_, i) => 7 * i + 1),
      batches,
      late: 0,
    });
    compareLowered(program, dataOf, text);
  });
});
