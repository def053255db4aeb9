// How the tests run: as many workers as there are processors, which share what they have loaded from one test
// file to the next. A file that leaves its process changed has one of its own.

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { delayed, delayedAtLength } from './test/support/delays/files.mjs';
import { atLength } from './test/support/thorough.ts';

/** Put fakes of NVIDIA's libraries in the place of the real ones, load the package anew, or stop a GPU. */
const alone = [
  'test/cuda/**/*.test.ts',
  'test/overlap/gpu-failures.test.ts',
  'test/runtime/many-specialisations.test.ts',
  'test/runtime/occupancy-of-a-gpu.test.ts',
];

/** Take nearly all of a GPU's memory, so that nothing else may use one meanwhile. */
const last = ['test/cuda/full.test.ts', 'test/cuda/job-failures.test.ts'];

/** Times in milliseconds, far more than any test takes by itself: a machine may have other things to do. */
const common = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
  setupFiles: ['./test/support/random-seed.ts'],
};

export default defineConfig({
  test: {
    // vitest's own choice is one fewer, which leaves half of a machine with two idle. It stands here alone, as
    // what a project says would come before `--maxWorkers`.
    maxWorkers: availableParallelism(),
    coverage: { provider: 'v8', include: ['dist/**/*.js'] },
    // One group after the other: vitest ends a worker that is shared when the next file is none of its project.
    projects: [
      {
        test: {
          ...common,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...alone, ...last],
          isolate: false,
          // Node loads the built package, as for its users; through Vite, which can load it anew, it is slower.
          server: { deps: { external: [/\/dist\//] } },
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'delayed',
          include: [...delayed, ...(atLength ? delayedAtLength : [])],
          isolate: false,
          execArgv: ['--import', './test/support/delays/register.mjs'],
          env: { WARPSTAGE_DELAYED: '1', WARPSTAGE_DELAY_SEED: process.env.WARPSTAGE_DELAY_SEED ?? '1' },
          server: { deps: { external: [/\/dist\//] } },
          sequence: { groupOrder: 2 },
        },
      },
      { test: { ...common, name: 'alone', include: alone, exclude: last, sequence: { groupOrder: 1 } } },
      { test: { ...common, name: 'last', include: last, maxWorkers: 1, sequence: { groupOrder: 3 } } },
    ],
  },
});
