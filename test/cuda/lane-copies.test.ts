// Copies of groups of any lanes as CUDA C++: what is printed of one, and that all compile.

import { describe, expect, test } from 'vitest';
import type { Kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { testCompiling } from '../support/nvcc.ts';
import * as kernels from '../warps/lane-copy-kernels.ts';

const programOf = (made: unknown) =>
  specialise(made as Kernel, {
    block: [64, 1, 1],
    indexType: 'i32',
    functions: {},
    constants: { mended: true },
  }).program;
const { schema: _, ...made } = kernels;
const programs = Object.values(made).map(programOf);

describe('text', () => {
  test('each lane copies what is its own by cp.async, and the group meets after the wait', async () => {
    const text = cudaText(programOf(kernels.copied), 80);
    await expect(text.slice(text.indexOf('extern "C"'))).toMatchFileSnapshot(
      'golden/sm_80/copy-of-any-lanes.cu',
    );
  });
});

testCompiling('copies of any lanes compile', (architecture) =>
  programs.map((program) => cudaText(program, architecture)),
);
