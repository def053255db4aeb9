// Random kernels whose pipelines order more than their copies: clean under the checker, the same on every target,
// and with every barrier, fence and arrival in their CUDA C++, which nvcc compiles.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { check } from 'warpstage/check';
import { specialise } from '#warpstage/compiler/specialise.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { testCompiling } from '../support/nvcc.ts';
import { orderingFaults } from '../support/ordering-of-text.ts';
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
      randomRuns(8),
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
      randomRuns(8),
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

describe('CUDA C++', () => {
  test.each([64, 256])('for blocks of %i threads orders what it must', (threads) => {
    const seen = { spared: 0, ordered: 0 };
    fc.assert(
      fc.property(tapes(80), (tape) => {
        const { text, random } = randomKernel(tape, threads);
        // Where threads store nothing but their own results, nothing but copies needs an order.
        const spared = !/\] = /.test(text.replaceAll(/out\[t\] = /g, ''));
        expect(orderingFaults(textFor(random, threads, 90), { spared }), text).toEqual([]);
        seen[spared ? 'spared' : 'ordered'] += 1;
      }),
      randomRuns(60),
    );
    expect(seen.ordered).toBeGreaterThan(seen.spared);
  });

  testCompiling('compiles', (architecture) =>
    fc
      .sample(tapes(80), { numRuns: 8, seed: randomRuns(8).seed! })
      .map((tape) => textFor(randomKernel(tape, 128).random, 128, architecture)),
  );
});
