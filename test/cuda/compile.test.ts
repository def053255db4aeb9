// The generated CUDA C++ compiles to machine code for every architecture that is supported, with
// the lowering that was meant for it. Needs nvcc; where it is absent the tests say that they skip.

import { describe, expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { generateCuda } from '#warpstage/targets/cuda/generate.js';
import { blockUniformPipelines } from '#warpstage/targets/cuda/synchronisation.js';
import { guidePrograms, jobPrograms } from '../support/example-programs.ts';
import { testCompiling } from '../support/nvcc.ts';
import * as programs from '../support/programs.ts';

const works: Readonly<Record<string, Program>> = {
  scale: programs.scale({ block: 256 }),
  'scale with a 64-bit index': programs.scale({ block: 256, indexType: 'i64' }),
  reverse: programs.reverse({ block: 256 }),
  collatz: programs.collatz({ block: 256 }),
  histogram: programs.histogram({ block: 256 }),
  roots: programs.roots({ block: 256 }),
  'unified staging': programs.stagingUnified({ block: 256 }),
  'unified staging with a 64-bit index': programs.stagingUnified({ block: 256, stages: 4, indexType: 'i64' }),
  'unified staging of three stages': programs.stagingUnified({ block: 96, stages: 3, element: 'f64' }),
  'specialized staging': programs.stagingSpecialized({ block: 256 }),
  'thread-scope staging': programs.stagingThreadScope({ block: 256 }),
  ...Object.fromEntries(
    Object.entries({ ...guidePrograms, ...jobPrograms }).map(([name, { program }]) => [name, program]),
  ),
};

function generate(program: Program, architecture: number) {
  return generateCuda(program, {
    architecture,
    alignments: program.parameters.map(() => 16),
    blockUniform: blockUniformPipelines(program),
    lineDirective: () => null,
  });
}

describe('lowering of pipelines', () => {
  test.each([
    ['unified staging', 75, 'groups'],
    ['unified staging', 80, 'groups'],
    ['unified staging', 90, 'bulk'],
    ['specialized staging', 90, 'barriers'],
    ['thread-scope staging', 90, 'thread'],
  ])('%s on sm_%i: %s', (work, architecture, lowering) => {
    expect(generate(works[work]!, architecture).lowerings).toEqual([lowering]);
  });

  test('a copy whose addresses are not known to be multiples of 16 bytes is not a bulk copy', () => {
    const program = works['unified staging']!;
    const { lowerings, text } = generateCuda(program, {
      architecture: 90,
      alignments: program.parameters.map(() => 4),
      blockUniform: () => true,
      lineDirective: () => null,
    });
    expect(lowerings).toEqual(['groups']);
    expect(text).toContain('ws_copy_async<4>');
  });
});

testCompiling('all kernels compile', (architecture) =>
  Object.values(works).map((program) => generate(program, architecture).text),
);
