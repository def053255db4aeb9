// Random kernels whose pipelines order more than their copies: clean under the checker, the same on every target,
// and clean as what they become for a GPU, whose CUDA C++ nvcc compiles.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { check } from 'warpstage/check';
import { specialise } from '#warpstage/compiler/specialise.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { interpreter } from '../support/interpreter.ts';
import { loweredFor, lowerings } from '../support/lowered.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { testCompiling } from '../support/nvcc.ts';
import { runProgram } from '../support/run-program.ts';
import { atLength } from '../support/thorough.ts';
import { outcomeOf } from '../warps/support.ts';
import { scratchLength, stagingInputLength, stagingKernelText, stagingSchema } from './random-staging.ts';
import { randomLimit, randomRuns, type Tape, tapes } from './tape.ts';

sayWithoutGpu();

const batches = 5;

function randomKernel(tape: Tape, threads: number) {
  const text = stagingKernelText(tape, threads);
  return { text, random: kernel(stagingSchema, new Function(`return ${text}`)()) };
}

function argumentsOf(threads: number) {
  const x = Int32Array.from({ length: stagingInputLength }, (_, i) => (i * 2_654_435_761) | 0);
  const scratch = new Int32Array(scratchLength(threads));
  return { out: new Int32Array(threads), scratch, x, batches, who: -1, late: 0 };
}

test(
  'all targets agree',
  () => {
    const seen = { regions: 0, states: 0 };
    fc.assert(
      fc.property(tapes(80), (tape) => {
        const { text, random } = randomKernel(tape, 64);
        const outcome = outcomeOf(random, { grid: 1, block: 64, arguments: argumentsOf(64) });
        expect(outcome.fault, text).toBeNull();
        seen[outcome.mode] += 1;
      }),
      randomRuns(atLength ? 8 : 12),
    );
    expect(seen.regions).toBeGreaterThan(0);
    expect(seen.states).toBeGreaterThan(0);
  },
  randomLimit(8),
);

test(
  'the checker finds nothing wrong',
  () => {
    fc.assert(
      fc.property(tapes(80), (tape) => {
        const { text, random } = randomKernel(tape, 64);
        const launch = { grid: 1, block: 64, arguments: argumentsOf(64) };
        const { findings } = check(random, launch as never, { schedules: 2, outputs: { scratch: 'any' } });
        expect(
          findings.map(({ code, message }) => `${code}: ${message}`),
          text,
        ).toEqual([]);
      }),
      randomRuns(atLength ? 8 : 4),
    );
  },
  randomLimit(8),
);

function textFor(random: unknown, threads: number, architecture: number): string {
  const { program } = specialise(random as Kernel, {
    block: [threads, 1, 1],
    indexType: 'i32',
    constants: {},
    functions: {},
  });
  return cudaText(program, architecture);
}

describe('what a GPU gets', () => {
  test.each(lowerings)(
    'for $name is clean under every schedule, and gives the same',
    ({ architecture, options: lowering }) => {
      fc.assert(
        fc.property(tapes(80), (tape) => {
          const { text, random } = randomKernel(tape, 64);
          const { program } = specialise(random as unknown as Kernel, {
            block: [64, 1, 1],
            indexType: 'i32',
            constants: {},
            functions: {},
          });
          const results = [interpreter(), ...(['eager', 'late', 1] as const)].map((one) => {
            const found: string[] = [];
            const target =
              typeof one === 'object'
                ? one
                : loweredFor(architecture, one, ({ message }) => found.push(message), { lowering });
            const given = argumentsOf(64);
            const { fault } = runProgram(target, program, { grid: 1, arguments: given });
            expect(fault, `${target.name}: ${text}`).toBeNull();
            expect(found, `${target.name}: ${text}`).toEqual([]);
            return `${given.out} ${given.scratch}`;
          });
          expect(new Set(results).size, text).toBe(1);
        }),
        randomRuns(atLength ? 8 : 4),
      );
    },
    randomLimit(8),
  );

  testCompiling('compiles', (architecture) =>
    fc
      .sample(tapes(80), { numRuns: 8, seed: randomRuns(8).seed! })
      .map((tape) => textFor(randomKernel(tape, 128).random, 128, architecture)),
  );
});
