// What a kernel may not say about copies and waits: refused when it is compiled, with the place and
// the way out.

import { expect, test } from 'vitest';
import { mistakesIn } from '../compiler/support.ts';

const schema = { out: 'i32[]', input: 'readonly i32[]', bytes: 'u8[]', n: 'index' } as const;

const head = `({ out, input, bytes, n }, cuda) => {
  const block = cuda.thisThreadBlock();
  const shared = cuda.sharedArray('i32', 64);
  const local = cuda.localArray('i32', 4);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
  const own = cuda.makePipeline();
  `;

test.each([
  [
    'cuda.pipelineConsumerWaitPrior(pipeline, 1);',
    "WS1009 7:34 pipeline: cuda.pipelineConsumerWaitPrior takes a pipeline of the thread's own, and 'pipeline' is shared (wait for its oldest stage: pipeline.consumerWait())",
  ],
  [
    'cuda.pipelineConsumerWaitPrior(own, -1);',
    'WS1009 7:39 -1: cuda.pipelineConsumerWaitPrior leaves -1 commits under way (pass how many of the youngest need not be done yet; 0 waits for all)',
  ],
  [
    'cuda.cg.waitPrior(block, n);',
    "WS1013 7:28 n: n of cuda.cg.waitPrior must be known when the kernel is compiled (make it of literals, of constants of the schema ('constant index = 2') and of the block's size)",
  ],
  [
    'cuda.pipelineMemcpyAsync(shared, input, 3);',
    'WS1009 7:43 3: cuda.pipelineMemcpyAsync copies 4, 8 or 16 bytes, and 3 of i32 are 12 (cuda.memcpyAsync copies any number)',
  ],
  [
    'cuda.pipelineMemcpyAsync(local, input, 1);',
    "WS1009 7:28 local: destination of cuda.pipelineMemcpyAsync must lie in shared memory, and 'local' lies in local memory (cuda.memcpyAsync copies from anywhere to anywhere)",
  ],
  [
    'cuda.pipelineMemcpyAsync(shared, shared.subarray(32), 1);',
    "WS1009 7:36 shared.subarray(32): source of cuda.pipelineMemcpyAsync must lie in global memory, and 'shared' lies in shared memory (cuda.memcpyAsync copies from anywhere to anywhere)",
  ],
  [
    'cuda.pipelineMemcpyAsync(shared, input, 2, 3);',
    'WS1009 7:46 3: cuda.pipelineMemcpyAsync of 2 elements cannot set 3 of them to zero (pass 0 to 2)',
  ],
  [
    'cuda.cg.memcpyAsync(block, shared, bytes, 4);',
    "WS1004 7:38 bytes: 'shared' holds i32, and 'bytes' holds u8 (a copy keeps the bits: both arrays must have the same element type)",
  ],
  [
    'cuda.cg.memcpyAsync(cuda.thisGrid(), shared, input, 4);',
    'WS1009 7:23 cuda.thisGrid(): group of cuda.cg.memcpyAsync must be a block, a tile, a coalesced group, a subset of a block or a thread, and is the grid group (it takes (group, destination, source, count) or (group, destination, destinationCount, source, sourceCount))',
  ],
  [
    'cuda.cg.waitAll(block);',
    "WS1003 7:11 waitAll: 'cuda.cg' has no 'waitAll' (it has memcpyAsync, wait, waitPrior, reduce, inclusiveScan, exclusiveScan)",
  ],
  [
    'if (pipeline.consumerWaitFor()) out[0] = 1;',
    'WS1009 7:7 pipeline.consumerWaitFor(): pipeline.consumerWaitFor is given 0 arguments (it takes (duration))',
  ],
  [
    "pipeline.consumerWaitUntil('soon');",
    "WS1009 7:30 'soon': time of pipeline.consumerWaitUntil must be a number of nanoseconds, and is the string 'soon' (it takes (time))",
  ],
])('%s', (statement, mistake) => {
  expect(mistakesIn(schema, `${head}${statement}\n}`)).toEqual([mistake]);
});
