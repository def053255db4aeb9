// What is stored of 8 or 16 bits is computed of halves where it can be. WebAssembly gives what the interpreter gives, with
// this pass and without it, and names the same threads of faults.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { specialise } from '#warpstage/compiler/specialise.js';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import { explainWasm } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { wasm, wasmStates, wasmWithout } from '../support/wasm.ts';
import { halvesExamples, outcomeOfHalves, randomHalves } from './random-halves.ts';

/** Whether anything is computed of halves. */
function hasHalves(made: Kernel): boolean {
  const launch = { block: [128, 1, 1] as const, cooperative: false, indexType: 'i32' as const };
  const { program } = specialise(made, { ...launch, constants: {}, functions: {} });
  return explainWasm(program).done.some((each) => each.startsWith('halves'));
}

test.each([wasm, wasmStates, wasmWithout('halves'), wasmWithout('bounds')])(
  'random kernels on narrow elements, by $name',
  (target) => {
    let [runs, halves, faults] = [0, 0, 0];
    fc.assert(
      fc.property(
        tapes(120),
        fc.constantFrom(256, 256, 200, 0),
        fc.constantFrom(0, 0, 0, 3, 9),
        (tape, count, missing) => {
          const { kernel: made, text } = randomHalves(tape);
          const expected = outcomeOfHalves(interpreter('eager'), made, count, missing);
          expect(outcomeOfHalves(target, made, count, missing), text).toEqual(expected);
          runs += 1;
          if (hasHalves(made)) halves += 1;
          if (expected.place !== null) faults += 1;
        },
      ),
      randomRuns(120),
    );
    expect(halves).toBeGreaterThan(runs / 8);
    expect(faults).toBeGreaterThan(0);
    expect(faults).toBeLessThan(runs / 2);
  },
);

test.each(halvesExamples)('%s: %s', (_, expected, made) => {
  expect(hasHalves(made)).toBe(expected);
  expect(outcomeOfHalves(wasm, made, 0, 0)).toEqual(outcomeOfHalves(interpreter('eager'), made, 0, 0));
});
