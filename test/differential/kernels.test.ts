// Random kernels in the kernel language: JavaScript, the oracle and WebAssembly agree to the bit.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import type { Value } from '#warpstage/compiler/arithmetic.js';
import { hostArrays } from '#warpstage/kernel/types.js';
import { cudaTargets } from '../support/cuda.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeTargets } from '../support/native.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { runAsJavaScript } from '../support/run-as-javascript.ts';
import { runKernel } from '../support/run-kernel.ts';
import { bitsOf, type HostArray, type Target } from '../support/run-program.ts';
import { atLength } from '../support/thorough.ts';
import { wasm, wasmStates } from '../support/wasm.ts';
import {
  kernelCounterLength,
  kernelInputLength,
  kernelOwnElements,
  type RandomKernel,
  randomKernel,
} from './random-kernel.ts';
import { kernelElements } from './random-text.ts';
import { randomLimit, randomRuns, tapes } from './tape.ts';

const scalars = {
  count: 3,
  scalar_i32: -7,
  scalar_u32: 4_000_000_000,
  scalar_f32: Math.fround(0.7),
  scalar_f64: -1e9 / 7,
  scalar_bool: true,
};

function argumentsFor({ grid, block }: RandomKernel): Record<string, HostArray | Value> {
  const arrays: Record<string, HostArray> = {};
  for (const element of kernelElements) {
    const values = Array.from({ length: kernelInputLength }, (_, i) =>
      element.startsWith('f') ? (i * 37 - 4000) / 8 : (i * 2_654_435_761) | 0,
    );
    arrays[`in_${element}`] = new hostArrays[element](values);
    arrays[`out_${element}`] = new hostArrays[element](grid * block * kernelOwnElements);
  }
  return { ...scalars, ...arrays, counters: new Uint32Array(kernelCounterLength) };
}

/** What a way of running left in the outputs. */
function outcome(random: RandomKernel, run: (args: Record<string, HostArray | Value>) => void) {
  const args = argumentsFor(random);
  run(args);
  const outputs = Object.entries(args).filter(([name]) => name.startsWith('out_') || name === 'counters');
  return Object.fromEntries(outputs.map(([name, array]) => [name, bitsOf(array as HostArray)]));
}

/** As a user would have it: a function, of whose text the kernel is made. */
function runCompiled(target: Target, { text, schema, grid, block }: RandomKernel, indexType: 'i32' | 'i64') {
  const made = kernel(schema, new Function(`return ${text}`)(), { name: 'random' });
  return (args: Record<string, HostArray | Value>) => {
    const { fault } = runKernel(target, made, { grid, block, indexType, arguments: args });
    expect(fault).toBeNull();
  };
}

const targets: readonly Target[] = [
  interpreter('late'),
  interpreter(1),
  wasm,
  wasmStates,
  ...nativeTargets,
  ...cudaTargets,
];

sayWithoutGpu();

describe('random kernels', () => {
  test.each(targets)(
    '$name computes what JavaScript does',
    (target) => {
      fc.assert(
        fc.property(tapes(400), fc.constantFrom('i32', 'i64'), (tape, indexType) => {
          const random = randomKernel(tape, { exact: cudaTargets.includes(target) });
          const { text, grid, block } = random;
          const expected = outcome(random, (args) => runAsJavaScript(text, { grid, block, arguments: args }));
          expect(outcome(random, runCompiled(target, random, indexType)), text).toEqual(expected);
        }),
        randomRuns(nativeTargets.includes(target) ? 6 : atLength ? 60 : 30),
      );
    },
    randomLimit(60),
  );
});
