// Hints of checks that no kernel of the corpus gives: of what is asked wrongly, of limits, and of handles that a thread
// does not have. With what they say to write, the check is clean, and a launch ends.

import ts from 'typescript';
import { expect, test } from 'vitest';
import { kernel, open, type WarpstageError } from 'warpstage';
import { check } from 'warpstage/check';
import { checkText } from '#warpstage/checker/static/check-text.js';
import { expectMended, hintsOf } from '../support/written-hints.ts';

const launch = '{ grid: 1, block: 32, arguments: { out: { length: 32 }, n: 0 } }';

/** A check of a kernel with such a body. */
const checked = (body: string, options = '') =>
  `look(check(kernel({ out: 'i32[]', n: 'i32' }, ({ out, n }, cuda) => { const t = cuda.threadIdx.x; const block = cuda.thisThreadBlock(); ${body} }), ${launch}${options}))`;

/** The hints of what a check finds, or cannot find out; undefined where it is clean. */
async function run(text: string): Promise<string | undefined> {
  const found: string[] = [];
  const look = ({ findings, inconclusive }: ReturnType<typeof check>) =>
    found.push(...[...findings, ...inconclusive].map(({ hint = '' }) => hint));
  const thrown = await hintsOf(text, { check, kernel, look });
  return thrown ?? (found.length === 0 ? undefined : found.join('\n'));
}

const pipelined =
  'pipe.producerAcquire(); pipe.producerCommit(); pipe.consumerWait(); pipe.consumerRelease(); out[t] = 1;';
const barrierHint = 'make the barrier in all threads of the group, before any of them uses it.';
const pipelineHint = 'call makePipeline() in all threads of the group, before any of them uses the pipeline.';

test.each([
  [
    checked('let bar; if (t < 16) bar = cuda.barrier(block); bar.wait(bar.arrive()); out[t] = 1;'),
    barrierHint,
    checked('const bar = cuda.barrier(block); bar.wait(bar.arrive()); out[t] = 1;'),
  ],
  [
    checked(
      `let pipe; if (t < 16) pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1)); ${pipelined}`,
    ),
    pipelineHint,
    checked(`const pipe = cuda.«makePipeline(»block, cuda.pipelineSharedState('block', 1)); ${pipelined}`),
  ],
  [
    checked(
      'const bar = cuda.barrier(block); let token; if (n > 0) token = bar.arrive(); bar.wait(token); out[t] = 1;',
    ),
    'give the variable the token of an arrival before every wait.',
    checked('const bar = cuda.barrier(block); let token; token = bar.arrive(); bar.wait(token); out[t] = 1;'),
  ],
  [
    checked('for (let i = 0; i < 3; ) out[t] = i;', ', { steps: 100 }'),
    'See whether this loop ends. A thread may wait for what another one of its block does by an atomic operation; blocks may run one after the other, in any order.',
    checked('for (let i = 0; i < 3; i++) out[t] = i;', ', { steps: 100 }'),
  ],
  [
    checked('out[t] = 1;', ', { memory: 100 }'),
    'check a smaller launch, or give it more by the option `memory`',
    checked('out[t] = 1;', ', { «memory»: 2 ** 30 }'),
  ],
  [
    checked('cuda.assert(t < 31); out[t] = 1;'),
    'of the threads that find it so, this is the first that was noticed',
    checked('cuda.assert(t < 32); out[t] = 1;'),
  ],
  [
    checked('out[t] = 1;', ', { schedule: 3 }'),
    'the options are schedules, seed, delivery, advice, steps, memory, outputs',
    checked('out[t] = 1;', ', { «schedules»: 3 }'),
  ],
  [
    `check({}, ${launch})`,
    'make one with kernel({ … }, ({ … }, cuda) => { … }); that of a job is job.definition.kernel',
    `check(«kernel({» out: 'i32[]', n: 'i32' }«, ({» out }«, cuda) => {» out[cuda.threadIdx.x] = 1; }), ${launch})`,
  ],
  [
    'check(kernel({ y: "f32[]" }, ({ y }) => { y[0] = 1; }))',
    'write check(scale, { grid: 2, block: 64, arguments: { y: { length: 100 } } })',
    `const scale = kernel({ y: 'f32[]' }, ({ y }, cuda) => { const t = cuda.thisGrid().threadRank(); if (t < y.length) y[t] = 1; }); look(«check(scale, { grid: 2, block: 64, arguments: { y: { length: 100 } } })»)`,
  ],
  [
    "check(kernel({ a: 'f64[]', b: 'f64[]' }, ({ a }) => { a[0] = 1; }), { grid: 1, block: 1, arguments: { a: { length: 536870911 }, b: { length: 536870911 } } })",
    'check a smaller launch: the same faults show with fewer batches and blocks',
    "look(check(kernel({ a: 'f64[]', b: 'f64[]' }, ({ a, b }) => { a[0] = 1; b[0] = 1; }), { grid: 1, block: 1, arguments: { a: { length: 1 }, b: { length: 1 } } }))",
  ],
])('%s', (wrong, hint, mended) => expectMended(wrong, hint, mended, run));

test('a launch that goes on with a pipeline behind its quit', async () => {
  await using device = await open('cpu', { target: 'interpreter' });
  const staged = kernel({ out: 'i32[]', quits: 'bool' }, ({ out, quits }, cuda) => {
    const pipe = cuda.makePipeline(cuda.thisThreadBlock(), cuda.pipelineSharedState('block', 1));
    for (let i = 0; i < 2; i++) {
      pipe.producerAcquire();
      pipe.producerCommit();
      pipe.consumerWait();
      pipe.consumerRelease();
      if (quits) pipe.quit();
    }
    out[cuda.threadIdx.x] = 1;
  });
  const out = device.alloc('i32', 32);
  const ran = async (quits: boolean) => {
    device.defaultStream.launch(staged, { grid: 1, block: 32 }, { out, quits });
    await device.synchronize();
  };
  const error: WarpstageError = await ran(true).then(
    () => expect.fail('it ended'),
    (reason) => reason,
  );
  expect(error.hint).toBe('Do nothing with a pipeline after quit().');
  await ran(false);
});

test('a module that cannot be parsed is what TypeScript says it is', () => {
  const text = "import { kernel } from 'warpstage';\nconst = 1;\n";
  const { issues } = checkText(['/module.ts'], (path) => (path === '/module.ts' ? text : undefined));
  expect(issues.map(({ hint }) => hint)).toEqual(['let `npx tsc --noEmit` say what is wrong with it']);
  const said = ts.transpileModule(text, { reportDiagnostics: true }).diagnostics;
  expect(said).not.toEqual([]);
});
