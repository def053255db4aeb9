// Blocks that walk down the columns of a matrix beside each other, through tiles in shared memory, with what threads compute anew where
// they read it. WebAssembly gives what the interpreter gives, with these passes and without them.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Expression, Program } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { programAfter } from '#warpstage/targets/legalise/cpu/lower.js';
import { explainWasm } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { add, compare, load, loop, multiply, ProgramBuilder, store, sync } from '../support/ir.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';
import { height, inputs, outcome, randomWalk, width } from './random-walks.ts';

const goTogether = (program: Program) =>
  explainWasm(program).done.some((each) => each.includes('arrays are the same'));
const abreast = (program: Program) => explainWasm(program).done.some((each) => each.includes('abreast'));
const printed = (program: Program, without: readonly 'anew'[] = []) => {
  const passed = programAfter(program, 'block', without);
  return 'program' in passed ? printProgram(passed.program) : '';
};

test.each([wasm, wasmWithout('turns'), wasmWithout('anew')])('random walks of blocks, by $name', (target) => {
  let [runs, beside, together, anew, faults] = [0, 0, 0, 0, 0];
  fc.assert(
    fc.property(
      tapes(70),
      fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 3 })),
      fc.constantFrom(0, 1, 4, 5, 9),
      fc.constantFrom(...inputs, inputs[0]!),
      (tape, grid, rounds, input) => {
        const program = randomWalk(tape);
        const launch = { grid, n: grid[0] * width, rounds, input };
        const expected = outcome(interpreter('eager'), program, launch);
        expect(outcome(target, program, launch), printProgram(program)).toEqual(expected);
        runs += 1;
        if (expected.fault !== null) faults += 1;
        if (abreast(program)) beside += 1;
        if (goTogether(program)) together += 1;
        if (printed(program) !== printed(program, ['anew'])) anew += 1;
      },
    ),
    randomRuns(60),
  );
  expect(faults).toBeGreaterThan(0);
  expect(faults).toBeLessThan(runs / 2);
  expect(beside).toBeGreaterThan(runs / 2);
  expect(together).toBeGreaterThan(runs / 10);
  expect(together).toBeLessThan(beside);
  expect(anew).toBeGreaterThan(runs / 4);
  expect(anew).toBeLessThan(runs);
});

test('blocks go abreast only where each reads beside the next, and far from where it was', () => {
  const walk = (index: (p: ProgramBuilder, step: Expression, n: Expression) => Expression) => {
    const p = new ProgramBuilder('walk', [width, height, 1]);
    const [out, input] = [p.array('out', 'i32'), p.array('input', 'i32', 'readonly')];
    const [n, step, sum] = [p.scalar('n', 'i32'), p.variable('step', 'i32'), p.variable('sum', 'i32')];
    return p.build([
      sum.set(p.index(0)),
      step.set(p.index(0)),
      loop(
        p.label(),
        compare('less', step.value, n),
        [sum.set(add(sum.value, load(input, index(p, step.value, n)))), sync()],
        [step.set(add(step.value, p.index(1)))],
      ),
      store(out, p.gridRank(), sum.value),
    ]);
  };
  const beside = (p: ProgramBuilder, apart: number) =>
    add(multiply(p.builtin('blockIdx.x'), p.index(apart)), p.builtin('threadIdx.x'));
  expect(abreast(walk((p, step, n) => add(multiply(step, n), beside(p, width))))).toBe(true);
  expect(abreast(walk((p, step) => add(multiply(step, p.index(256)), beside(p, width))))).toBe(true);
  expect(abreast(walk((p, step) => add(multiply(step, p.index(255)), beside(p, width))))).toBe(false);
  expect(abreast(walk((p, step, n) => add(multiply(step, n), beside(p, 2 * width))))).toBe(false);
  expect(abreast(walk((p, step, n) => add(multiply(step, n), multiply(beside(p, width), n))))).toBe(false);
});
