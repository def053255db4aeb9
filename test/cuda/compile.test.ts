// The generated CUDA C++ compiles to machine code for every architecture that is supported, with
// the lowering that was meant for it. Needs nvcc; where it is absent the tests say that they skip.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import type { Program } from '#warpstage/compiler/ir.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { entryName } from '#warpstage/targets/cuda/entry-name.js';
import { generateCuda } from '#warpstage/targets/cuda/generate.js';
import { blockUniformPipelines } from '#warpstage/targets/legalise/synchronisation.js';
import { randomProgram } from '../differential/random-program.ts';
import { tangledKernel } from '../differential/random-tangled.ts';
import { tangledSchema } from '../differential/random-tangled-text.ts';
import { tapes } from '../differential/tape.ts';
import { guidePrograms, jobPrograms } from '../support/example-programs.ts';
import { hasNvcc, ptxOf, testCompiling } from '../support/nvcc.ts';
import * as programs from '../support/programs.ts';
import { extent3 } from '../support/run-program.ts';

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
    ['specialized staging', 90, 'roles'],
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

/** The statements of a kernel, as C++ without its prelude and declarations. */
function linesOf(body: string): string[] {
  const made = kernel({ y: 'f32[]', x: 'readonly f32[]' }, new Function(`return ${body}`)());
  const specialisation = { block: [64, 1, 1], indexType: 'i32', constants: {}, functions: {} } as const;
  const text = cudaText(specialise(made as Kernel, specialisation).program, 90);
  return text
    .slice(text.indexOf('{', text.indexOf('extern "C"')))
    .split('\n')
    .map((line) => line.trim());
}

test('Math.hypot has as many operands as it is given', () => {
  const lines = linesOf(`({ y, x }) => {
    y[0] = Math.hypot(x[0]); y[1] = Math.hypot(x[0], x[1]); y[2] = Math.hypot(x[0], x[1], x[2]);
  }`);
  const [a, b, c] = [0, 1, 2].map((i) => `((float)g_x_1[${i}])`);
  expect(lines).toContain(`g_y_0[0] = (float)fabsf(${a});`);
  expect(lines).toContain(`g_y_0[1] = (float)hypotf(${a}, ${b});`);
  expect(lines).toContain(`g_y_0[2] = (float)hypotf(hypotf(${a}, ${b}), ${c});`);
});

test('a sync that threads of a warp come to apart is one for parts of warps', () => {
  const lines = linesOf(`({ y, x }, cuda) => {
    const block = cuda.thisThreadBlock();
    block.sync();
    if (block.threadRank() % 2 === 0) { y[0] = 1; block.sync(); } else block.sync();
  }`);
  const syncs = lines.filter((line) => /sync/.test(line));
  expect(syncs).toEqual(['__syncthreads();', 'ws_sync_apart();', 'ws_sync_apart();']);
});

describe('the name of the entry', () => {
  test.each([
    ['scale', 'scale'],
    ['schöner', 'sch_ner'],
    ['2d', '_2d'],
    ['double', 'double_kernel'],
    ['exp', 'exp_kernel'],
    ['sqrtf', 'sqrtf_kernel'],
  ])('%s', (name, expected) => {
    expect(entryName(name)).toBe(expected);
  });

  test.skipIf(!hasNvcc)('compiles where the kernel is called like something of CUDA', async () => {
    const names = [
      'double',
      'exp',
      'max',
      'printf',
      'round',
      'abs',
      'sinf',
      'main',
      'free',
      'signbit',
      'norm3d',
    ];
    const texts = names.map((name) => cudaText({ ...works.scale!, name }, 80));
    const [first, ...others] = texts.map((text) => [text.slice(0, text.indexOf('extern "C"')), text]);
    const entries = others.map(([prelude, text]) => text!.slice(prelude!.length));
    await ptxOf([first![1], ...entries].join('\n'), '80');
  });
});

// A random kernel may well ask whether an unsigned number is below 0.
const pointlessComparison = 186;

/** Random programs: combinations that nobody thought of. */
const randomPrograms = fc
  .sample(tapes(400), { numRuns: 24, seed: 20_240_517 })
  .map((tape) => randomProgram(tape).program);

testCompiling(
  'random programs compile',
  (architecture) => randomPrograms.map((program) => cudaText(program, architecture)),
  [pointlessComparison],
);

/** Random kernels of tangled control flow, in both widths of an index. */
const tangledPrograms = fc.sample(tapes(1000), { numRuns: 16, seed: 20_261_122 }).map((tape, i) => {
  const { text, block, cooperative } = tangledKernel(tape);
  const made: Kernel = kernel(tangledSchema, new Function(`return ${text}`)(), { name: 'tangled' });
  const indexType = i % 2 === 0 ? 'i32' : 'i64';
  const given = { block: extent3(block), indexType, cooperative, constants: {}, functions: {} } as const;
  return specialise(made, given).program;
});

testCompiling(
  'random tangled kernels compile',
  (architecture) => tangledPrograms.map((program) => cudaText(program, architecture)),
  [pointlessComparison],
);

testCompiling('all kernels compile', (architecture) =>
  Object.values(works).map((program) => generate(program, architecture).text),
);
