// Pipelines and barriers of any lanes, and of subsets of a block, as CUDA C++: what is printed of one, and that all compile.

import { describe, expect, test } from 'vitest';
import type { Kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { testCompiling } from '../support/nvcc.ts';
import * as kernels from '../warps/lane-pipeline-kernels.ts';
import * as subsets from '../warps/subset-kernels.ts';

const programOf = (made: unknown) =>
  specialise(made as Kernel, {
    block: [64, 1, 1],
    indexType: 'i32',
    functions: {},
    constants: { byRole: true, makes: true },
  }).program;
const programs = [kernels, subsets]
  .flatMap((made) => Object.values(made))
  .filter((made) => typeof made === 'object')
  .map(programOf);

describe('text', () => {
  test.each([
    [80, '80'],
    [90, '90a'],
  ])('each group has mbarriers of its own, by its lowest lane, on sm_%i', async (architecture, sm) => {
    const text = cudaText(programOf(kernels.roles), architecture);
    await expect(text.slice(text.indexOf('extern "C"'))).toMatchFileSnapshot(
      `golden/sm_${sm}/roles-of-any-lanes.cu`,
    );
  });
});

describe('text of a subset', () => {
  test.each([
    [80, '80'],
    [90, '90a'],
  ])('each half has mbarriers of its own on sm_%i', async (architecture, sm) => {
    const text = cudaText(programOf(subsets.unified), architecture);
    await expect(text.slice(text.indexOf('extern "C"'))).toMatchFileSnapshot(
      `golden/sm_${sm}/unified-of-a-subset.cu`,
    );
  });
});

testCompiling('pipelines and barriers of any lanes compile', (architecture) =>
  programs.map((program) => cudaText(program, architecture)),
);
