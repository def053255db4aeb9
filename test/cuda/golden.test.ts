// The CUDA C++ of the guide's kernels and of the examples' jobs, as a whole but for the prelude. It is the
// same for all architectures that lower alike. Run vitest with -u to write it anew, and read the difference.

import { describe, expect, test } from 'vitest';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { guidePrograms, jobPrograms } from '../support/example-programs.ts';

const entry = (text: string) => text.slice(text.indexOf('extern "C"'));
const all = Object.entries({ ...guidePrograms, ...jobPrograms });

describe.each([
  ['sm_75 and sm_80', 'sm_80', [75, 80]],
  ['sm_90a and sm_120', 'sm_90a', [90, 120]],
] as const)('%s', (_, folder, architectures) => {
  test.each(all)('%s', async (name, { program }) => {
    const texts = architectures.map((architecture) => entry(cudaText(program, architecture)));
    expect(new Set(texts).size).toBe(1);
    await expect(texts[0]).toMatchFileSnapshot(`golden/${folder}/${name}.cu`);
  });
});
