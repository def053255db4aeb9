// How the tests run: as many workers as there are processors, which share what they have loaded from one test
// file to the next. A file that leaves its process changed has one of its own.

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { delayed, delayedAtLength } from './test/support/delays/files.mjs';
import { longFiles } from './test/support/long/files.mjs';
import { atLength, isFirst } from './test/support/thorough.ts';

/** Put fakes of NVIDIA's libraries in the place of the real ones, load the package anew, or stop a GPU. */
const alone = [
  'test/cuda/**/*.test.ts',
  'test/overlap/gpu-failures.test.ts',
  'test/runtime/many-specialisations.test.ts',
  'test/runtime/occupancy-of-a-gpu.test.ts',
];

/** Take nearly all of a GPU's memory, so that nothing else may use one meanwhile. */
const last = ['test/cuda/full.test.ts', 'test/cuda/job-failures.test.ts'];

/** Whether a command names what to run: then that runs, whatever it takes. */
const isNamed = process.argv.slice(2).some((argument) => /^[^-].*\.test\.ts$/.test(argument));
const leftOut = atLength || isNamed ? [] : longFiles;
/** What `npm test` left out has all its length where others have their rest. */
const whole = isFirst ? [] : longFiles;

/** Times in milliseconds, far more than any test takes by itself: a machine may have other things to do. */
const common = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
  setupFiles: ['./test/support/random-seed.ts'],
};

/** They share a process with others. Node loads the built package, as for its users; through Vite, which can load it anew, it is slower. */
const shared = { ...common, isolate: false, server: { deps: { external: [/\/dist\//] } } };

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
          ...shared,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...alone, ...last, ...leftOut, ...whole],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'whole',
          include: [...whole],
          exclude: [...alone, ...last],
          env: { WARPSTAGE_LENGTH: 'all' },
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...common,
          name: 'alone',
          include: alone,
          exclude: [...last, ...leftOut],
          env: isFirst ? {} : { WARPSTAGE_LENGTH: 'all' },
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...shared,
          name: 'delayed',
          include: [...delayed, ...(atLength ? delayedAtLength : [])],
          execArgv: ['--import', './test/support/delays/register.mjs'],
          env: { WARPSTAGE_DELAYED: '1', WARPSTAGE_DELAY_SEED: process.env.WARPSTAGE_DELAY_SEED ?? '1' },
          sequence: { groupOrder: 3 },
        },
      },
      { test: { ...common, name: 'last', include: last, maxWorkers: 1, sequence: { groupOrder: 4 } } },
    ],
  },
});
