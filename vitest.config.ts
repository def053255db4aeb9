// How the tests run: as many workers as there are processors, which share what they have loaded from one test
// file to the next. A file that leaves its process changed has one of its own.

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Put fakes of NVIDIA's libraries in the place of the real ones, load the package anew, or stop a GPU. */
const alone = ['test/cuda/**/*.test.ts', 'test/overlap/gpu-failures.test.ts'];

export default defineConfig({
  test: {
    // vitest's own choice is one fewer, which leaves half of a machine with two idle.
    maxWorkers: availableParallelism(),
    // Far more than any test takes by itself: a machine may have other things to do.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    coverage: { provider: 'v8', include: ['dist/**/*.js'] },
    // One group after the other: vitest ends a worker that is shared when the next file is none of its project.
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: alone,
          isolate: false,
          // Node loads the built package, as for its users; through Vite, which can load it anew, it is slower.
          server: { deps: { external: [/\/dist\//] } },
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'alone', include: alone, sequence: { groupOrder: 1 } } },
    ],
  },
});
