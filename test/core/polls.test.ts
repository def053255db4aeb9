// Threads that wait in loops of their own for what others do by atomic operations: they let the others go on, on every
// target. What ends by itself is left as it was.

import { describe, expect, test } from 'vitest';
import { kernelOf } from '../compiler/support.ts';
import { runEverywhere } from '../support/everywhere.ts';

const schema = { out: 'i32[]', flags: 'i32[]', wide: 'u64[]', n: 'index' } as const;
const block = 40;

function run(statements: string) {
  const text = `({ out, flags, wide, n }, cuda) => { const t = cuda.threadIdx.x; ${statements} }`;
  const launch = {
    grid: 2,
    block,
    arguments: {
      out: new Int32Array(block),
      flags: new Int32Array(block),
      wide: new BigUint64Array(2),
      n: 8,
    },
  };
  const { fault, arguments: after, mode } = runEverywhere(kernelOf(schema, text) as never, launch);
  expect(fault).toBeNull();
  return { out: [...(after.out as Int32Array)], mode };
}

/** In the first block alone, as blocks may run one after the other. */
const alone = (statements: string) => `if (cuda.blockIdx.x === 0) { ${statements} }`;

const all = Array.from({ length: block }, (_, t) => t);

describe('a thread waits for another one of its block', () => {
  const shared = `const s = cuda.sharedArray('i32', 41);
    s[t] = 0;
    cuda.syncthreads();`;

  test.each([
    ['for a flag of the next', 'while (cuda.atomicLoad(s, t + 1, "acquire") === 0);'],
    ['in a loop with its test last', 'let v; do { v = cuda.atomicLoad(s, t + 1); } while (v < 1);'],
    ['by adding nothing', 'while (!cuda.atomicAdd(s, t + 1, 0));'],
    [
      'by what it remembers',
      'let done = false; while (!done) { if (cuda.atomicLoad(s, t + 1) > 0) done = true; }',
    ],
    [
      'in a function',
      'const arrived = (at) => { for (;;) { const v = cuda.atomicLoad(s, at); if (v === 0) continue; return v; } }; arrived(t + 1);',
    ],
    [
      'and for those after it, one after the other',
      'for (let p = t + 1; p < 40; ) { if (cuda.atomicLoad(s, p) === 0) continue; p++; }',
    ],
  ])('%s', (_, wait) => {
    const { out } = run(
      `${shared} ${alone(`if (t < 39) { ${wait} } out[t] = t; cuda.atomicStore(s, t, 1, 'release');`)}`,
    );
    expect(out).toEqual(all);
  });

  test('and for one before it', () => {
    const wait = 'while (cuda.atomicLoad(s, t - 1) === 0);';
    expect(
      run(`${shared} ${alone(`if (t > 0) { ${wait} } out[t] = t; cuda.atomicStore(s, t, 1);`)}`).out,
    ).toEqual(all);
  });
});

// Relaxed ones alone order nothing of what the lock guards, and a GPU shows it.
test.each([
  [
    'taken by comparing',
    'while (cuda.atomicCAS(flags, 0, 0, 1, "acquire") !== 0);',
    'cuda.atomicExch(flags, 0, 0, "release");',
  ],
  [
    'of 64 bits, by exchange',
    'while (cuda.atomicExch(wide, 0, 1n, "acquire") !== cuda.u64(0));',
    'cuda.atomicStore(wide, 0, 0n, "release");',
  ],
  [
    'with fences of its own',
    'while (cuda.atomicCAS(flags, 0, 0, 1) !== 0); cuda.threadFence();',
    'cuda.threadFence(); cuda.atomicExch(flags, 0, 0);',
  ],
])('a lock that all threads want, %s', (_, take, release) => {
  const { out } = run(`${take} out[0] = out[0] + t; ${release}`);
  expect(out[0]).toBe(2 * all.reduce((sum, t) => sum + t));
});

test.each([
  [
    'takes the next of a queue',
    'let i; while ((i = cuda.atomicAdd(flags, 0, 1)) < 40) cuda.atomicAdd(out, i, i);',
  ],
  [
    'tries again what another has changed',
    'let old = out[t]; for (;;) { const seen = old; old = cuda.atomicCAS(out, t, seen, seen + 1); if (old === seen) break; }',
  ],
  [
    'looks for a key',
    'let i = t; for (;;) { const key = cuda.atomicLoad(flags, i); if (key === 0 || key === t) break; i = (i + 1) % 40; }',
  ],
  ['looks for a free place', 'for (let i = t; cuda.atomicCAS(flags, i, 0, t + 1) !== 0; ) i = (i + 1) % 40;'],
  [
    'stops early where one has found it',
    'for (let i = 0; i < n; i++) { if (cuda.atomicLoad(flags, 39) !== 0) break; cuda.atomicAdd(out, t, i); }',
  ],
])('what %s does not wait', (_, statements) => {
  expect(run(alone(statements)).mode).not.toBe('states');
});
