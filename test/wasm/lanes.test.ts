// Lanes against the interpreter: random programs of the kind that lanes run.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printProgram } from '#warpstage/compiler/print.js';
import type { Fault } from '#warpstage/targets/executable.js';
import { randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';
import { type LaneProgram, margin, randomLanes } from './random-lanes.ts';

/** `missing`: elements that the inputs lack at their end. */
function outcome(target: Target, { program, grid, threads }: LaneProgram, missing: number) {
  const n = grid * threads;
  const inputs = {
    in_i32: Int32Array.from({ length: n + margin - missing }, (_, i) => (i * 2_654_435_761) >> (i % 32)),
    in_u32: Uint32Array.from({ length: n + margin - missing }, (_, i) => (i * 40_503) >>> (i % 16)),
    in_f32: Float32Array.from({ length: n + margin - missing }, (_, i) => (i * 37 - 400) / 8),
    in_f64: Float64Array.from({ length: n + margin - missing }, (_, i) => (i * 41 - 300) / 7),
  };
  const narrow = {
    in_u8: Uint8Array.from({ length: n - missing }, (_, i) => i * 37),
    in_i8: Int8Array.from({ length: n - missing }, (_, i) => i * 53),
    in_i16: Int16Array.from({ length: n - missing }, (_, i) => i * 12_345),
    in_u16: Uint16Array.from({ length: n - missing }, (_, i) => i * 23_456),
  };
  const outputs = {
    mirror: new Int16Array(n),
    out_i32: new Int32Array(n),
    out_u32: new Uint32Array(n),
    out_f32: new Float32Array(n),
    out_f64: new Float64Array(n),
    out_u8: new Uint8Array(n),
    out_i8: new Int8Array(n),
    out_u16: new Uint16Array(n),
    out_i16: new Int16Array(n),
    counts: new Int32Array(4),
  };
  const { fault, executable } = runProgram(target, program, {
    grid,
    arguments: {
      ...inputs,
      ...narrow,
      ...outputs,
      limit: n - 3,
      scalar_i32: -5,
      scalar_u32: 3_000_000_000,
      scalar_f32: 0.3,
      scalar_f64: -1 / 3,
    },
  });
  return { fault, arrays: Object.entries(outputs).map(([name, array]) => [name, bitsOf(array)]), executable };
}

function placeOf(fault: Fault | null) {
  return fault && { kind: fault.kind, block: fault.block };
}

const oracle = interpreter('eager');

test.each([
  { missing: 0, target: wasm },
  { missing: margin + 2, target: wasm },
  { missing: 0, target: wasmWithout('narrow') },
  { missing: 0, target: wasmWithout('pairs') },
  { missing: 0, target: wasmWithout('atomics') },
  { missing: 0, target: wasmWithout('bounds') },
  { missing: 0, target: wasmWithout('flight') },
  { missing: 0, target: wasmWithout('unroll') },
  { missing: 0, target: wasmWithout('unsigned') },
  { missing: 0, target: wasmWithout('divisions') },
])('random programs, with inputs that lack $missing elements, by $target.name', ({ missing, target }) => {
  let vectorised = 0;
  let runs = 0;
  fc.assert(
    fc.property(tapes(300), (tape) => {
      const random = randomLanes(tape);
      const expected = outcome(oracle, random, missing);
      const actual = outcome(target, random, missing);
      const text = printProgram(random.program);
      // Which of a block's threads is the first to fail depends on the order in which they run.
      expect(placeOf(actual.fault), text).toEqual(placeOf(expected.fault));
      if (expected.fault === null) expect(actual.arrays, text).toEqual(expected.arrays);
      runs += 1;
      if (actual.executable.target === 'wasm' && actual.executable.vectorised) vectorised += 1;
    }),
    randomRuns(100),
  );
  // Each of them stores an f64.
  if (target.name === 'wasm without divisions') return;
  if (target.name === 'wasm without pairs') expect(vectorised).toBeLessThan(runs / 3);
  else expect(vectorised).toBeGreaterThan(runs / 3);
});
