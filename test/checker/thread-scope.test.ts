// A thread's own pipeline has no stages to get wrong: what is a misuse of a shared one is none of it.

import { expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { check, expectClean } from 'warpstage/check';

const timed = kernel(
  { out: 'i32[]', x: 'readonly i32[]', limit: 'f64', shared: 'constant bool = false' },
  ({ out, x, limit, shared }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const staged = cuda.sharedArray('i32', block.size());
    const state = cuda.pipelineSharedState('block', 1);
    const pipe = shared ? cuda.makePipeline(block, state) : cuda.makePipeline();
    if (shared) pipe.producerAcquire();
    cuda.memcpyAsync(staged.subarray(t), x.subarray(t), 1, pipe);
    pipe.producerCommit();
    const ready = pipe.consumerWaitFor(limit);
    if (shared && !ready) pipe.consumerWait();
    out[t] = staged[t]!;
    pipe.consumerRelease();
  },
);

test.each([0, -5, 1, Number.NaN])('a wait of %d nanoseconds waits as long as it takes', (limit) => {
  const launch = (shared: boolean) => ({
    grid: 1,
    block: 8,
    arguments: { out: new Int32Array(8), x: Int32Array.from({ length: 8 }, (_, i) => i + 1), limit, shared },
  });
  expectClean(timed, launch(false), { schedules: 8 });
  const codes = check(timed, launch(true), { schedules: 8 }).findings.map(({ code }) => code);
  expect(codes.includes('WS7017')).toBe(!(limit > 0));
});
