// Blocks that take turns in compiled code: loops of threads in slices, and roles whose loops become one, through which blocks go abreast.
// The library gives what the interpreter and WebAssembly give, with these passes and without them, and names the same threads and
// blocks of faults.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import type { OptionalCpuPass } from '#warpstage/targets/legalise/cpu/passes.js';
import { moduleForProcessor } from '#warpstage/targets/wasm/compile.js';
import { decodeModule } from '#warpstage/targets/wasm/encoder/decode.js';
import { randomLimit, randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeTarget } from '../support/native.ts';
import type { Target } from '../support/run-program.ts';
import { wasm } from '../support/wasm.ts';
import { mostBatches, outcome as outcomeOfRoles, programOf, roles } from '../wasm/random-roles.ts';
import { launches, outcome as outcomeOfSlices, randomStride } from '../wasm/random-slices.ts';
import { outcome as outcomeOfTurns, randomStrides } from '../wasm/random-turns.ts';

/** With all passes, and without one. */
function targets(pass: OptionalCpuPass): readonly Target[] {
  return [nativeTarget(), nativeTarget(pass)].filter((each) => each !== null);
}

/** Whether a pass changes what the compiler gets. */
function changes(program: Program, pass: OptionalCpuPass): boolean {
  const [made, without] = [{}, { without: [pass] }].map((options) =>
    Buffer.from(moduleForProcessor(program, 2, options).bytes).toString('base64'),
  );
  return made !== without;
}

/** How many functions the compiler gets: two where blocks are put aside. */
function functionsOf(program: Program, ...without: readonly OptionalCpuPass[]): number {
  return decodeModule(moduleForProcessor(program, 2, { without }).bytes).functions.length;
}

test.each(targets('slices'))(
  'random loops of threads, by $name',
  (target) => {
    let inSlices = 0;
    fc.assert(
      fc.property(tapes(60), launches, (tape, launch) => {
        const program = randomStride(tape);
        const expected = outcomeOfSlices(interpreter('eager'), program, launch);
        expect(outcomeOfSlices(wasm, program, launch), printProgram(program)).toEqual(expected);
        expect(outcomeOfSlices(target, program, launch), printProgram(program)).toEqual(expected);
        if (functionsOf(program) > functionsOf(program, 'slices')) inSlices += 1;
      }),
      randomRuns(8),
    );
    expect(inSlices).toBeGreaterThan(0);
  },
  randomLimit(8),
);

test.each(targets('zip'))(
  'random roles through which blocks go abreast, by $name',
  (target) => {
    let faults = 0;
    fc.assert(
      fc.property(tapes(24), fc.nat(mostBatches), fc.nat(5), (tape, batches, kind) => {
        const random = roles(tape);
        fc.pre(changes(programOf(random.text).program, 'turns'));
        const less = kind === 1 ? 'x' : kind === 2 ? 'seen' : null;
        const expected = outcomeOfRoles(interpreter('eager'), random, batches, less);
        const { mode: _, ...actual } = outcomeOfRoles(target, random, batches, less);
        expect({ ...actual, mode: null }, random.text).toEqual(expected);
        if (actual.fault !== null) faults += 1;
      }),
      randomRuns(8),
    );
    expect(faults).toBeGreaterThan(0);
  },
  randomLimit(8),
);

/** Loops of blocks whose rounds find what earlier ones left: compiled code takes no turns at them. */
test('blocks with arenas of their own go one after the other', () => {
  fc.assert(
    fc.property(tapes(60), (tape) => {
      const program = randomStrides(tape);
      expect(changes(program, 'turns'), printProgram(program)).toBe(false);
    }),
    randomRuns(20),
  );
});

test.each(targets('turns'))(
  'random loops of blocks, by $name',
  (target) => {
    fc.assert(
      fc.property(tapes(60), fc.nat(23), fc.nat(6), (tape, more, n) => {
        const program = randomStrides(tape);
        const launch = { grid: 1 + more, n };
        const expected = outcomeOfTurns(interpreter('eager'), program, launch);
        expect(outcomeOfTurns(target, program, launch), printProgram(program)).toEqual(expected);
      }),
      randomRuns(4),
    );
  },
  randomLimit(4),
);
