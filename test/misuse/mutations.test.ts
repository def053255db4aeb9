// Random right pipelines are clean, and compute the same on the interpreter and on WebAssembly; and of
// random single mutations of them the checker finds all that can be distinguished from a right one.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { check } from '#warpstage/checker/check.js';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import { randomRuns } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { runKernel } from '../support/run-kernel.ts';
import type { Target } from '../support/run-program.ts';
import { atLength } from '../support/thorough.ts';
import { wasm } from '../support/wasm.ts';
import {
  batchSize,
  blockSize,
  isHarmless,
  kernelOf,
  mutations,
  type Shape,
  shapes,
  textOf,
} from './random-pipelines.ts';

const elements = (shape: Shape) =>
  ((shape.grid * blockSize) / shape.group) * shape.batches * batchSize(shape);

function findings(shape: Shape, kernel: Kernel) {
  const length = elements(shape);
  const launch = { grid: shape.grid, block: blockSize, arguments: { out: { length }, x: { length } } };
  return check(kernel, launch as never, { schedules: 4 });
}

function resultOf(target: Target, shape: Shape, kernel: Kernel): Int32Array {
  const length = elements(shape);
  const out = new Int32Array(length);
  const x = Int32Array.from({ length }, (_, i) => i * 7 + 1);
  const { fault } = runKernel(target, kernel, { grid: shape.grid, block: blockSize, arguments: { out, x } });
  expect(fault).toBeNull();
  return out;
}

/** What every shape computes. */
function expected(shape: Shape): Int32Array {
  const width = batchSize(shape);
  return Int32Array.from({ length: elements(shape) }, (_, i) => {
    const mirrored = i - (i % width) + width - 1 - (i % width);
    return (mirrored * 7 + 1) * 3 + (Math.trunc(i / width) % shape.batches);
  });
}

test('right pipelines are clean, and the same on both targets', () => {
  fc.assert(
    fc.property(shapes, (shape) => {
      const kernel = kernelOf(shape);
      const { verdict, report } = findings(shape, kernel);
      expect(verdict, `${textOf(shape, null)}\n${report()}`).toBe('clean');
      const right = expected(shape);
      expect(resultOf(interpreter('late'), shape, kernel)).toEqual(right);
      expect(resultOf(wasm, shape, kernel)).toEqual(right);
    }),
    randomRuns(15),
  );
});

test('mutations are found, but for those that are right as well', () => {
  const outcomes = { found: 0, missed: [] as string[], harmless: 0 };
  const mutants = shapes.chain((shape) => mutations(shape).map((mutation) => ({ shape, mutation })));
  fc.assert(
    fc.property(mutants, ({ shape, mutation }) => {
      const { verdict } = findings(shape, kernelOf(shape, mutation));
      if (isHarmless(shape, mutation)) {
        expect(verdict, textOf(shape, mutation)).toBe('clean');
        outcomes.harmless += 1;
      } else if (verdict === 'findings') outcomes.found += 1;
      else outcomes.missed.push(textOf(shape, mutation));
    }),
    randomRuns(atLength ? 40 : 12),
  );
  const { found, missed, harmless } = outcomes;
  if (process.env.WARPSTAGE_RANDOM_RUNS !== undefined) {
    console.info(`${found} mutations found, ${missed.length} missed, ${harmless} are right as well`);
  }
  expect(found / (found + missed.length), missed.join('\n')).toBeGreaterThanOrEqual(0.95);
  expect(found).toBeGreaterThan(harmless);
});
