// Random programs: every way to run one gives the same bits.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { hostArrays } from '#warpstage/kernel/types.js';
import { interpreter } from '../support/interpreter.ts';
import { bitsOf, type HostArray, runProgram, type Target } from '../support/run-program.ts';
import { wasm } from '../support/wasm.ts';
import {
  counterLength,
  elementTypes,
  inputLength,
  ownElements,
  type RandomProgram,
  randomProgram,
} from './random-program.ts';
import { randomRuns, tapes } from './tape.ts';

const scalars = {
  count: 3,
  scalar_bool: true,
  scalar_i32: -7,
  scalar_u32: 4_000_000_000,
  scalar_i64: -(2n ** 40n) + 3n,
  scalar_u64: 2n ** 63n + 5n,
  scalar_f32: 0.7,
  scalar_f64: -1e9 / 7,
};

function inputs(): Record<string, HostArray> {
  return Object.fromEntries(
    elementTypes.map((element) => {
      const values = Array.from({ length: inputLength }, (_, i) =>
        element.startsWith('f') ? (i * 37 - 4000) / 8 : i * 2_654_435_761,
      );
      return [
        `in_${element}`,
        new hostArrays[element](values.map((x) => (element.startsWith('f') ? x : x | 0))),
      ];
    }),
  );
}

/** All that a program leaves behind, with every NaN the same. */
function outcome(
  target: Target,
  { program, grid, threads }: RandomProgram,
): { readonly fault: unknown; readonly [name: string]: unknown } {
  const outputs: Record<string, HostArray> = Object.fromEntries(
    elementTypes.map((element) => [`out_${element}`, new hostArrays[element](grid * threads * ownElements)]),
  );
  const counters = Uint32Array.from({ length: counterLength }, (_, i) => i * 1000);
  const { fault } = runProgram(target, program, {
    grid,
    arguments: { ...inputs(), ...outputs, ...scalarsOf(program), counters },
  });
  const arrays = Object.entries({ ...outputs, counters });
  return { fault, ...Object.fromEntries(arrays.map(([name, array]) => [name, bitsOf(array)])) };
}

function scalarsOf(program: Program) {
  return { ...scalars, count: program.indexType === 'i64' ? BigInt(scalars.count) : scalars.count };
}

function needsStates(program: Program): boolean {
  try {
    wasm.compile(program);
    return false;
  } catch (error) {
    if (error instanceof Error && error.message.includes('needs states')) return true;
    throw error;
  }
}

const oracle = interpreter('late');
const targets: readonly Target[] = [interpreter('eager'), interpreter(1), interpreter(2), wasm];

describe('random programs', () => {
  test.each(targets)('$name agrees with the oracle', (target) => {
    fc.assert(
      fc.property(tapes(400), (tape) => {
        const random = randomProgram(tape);
        fc.pre(target !== wasm || !needsStates(random.program));
        const expected = outcome(oracle, random);
        const actual = outcome(target, random);
        expect(expected.fault, printProgram(random.program)).toBeNull();
        expect(actual, printProgram(random.program)).toEqual(expected);
      }),
      randomRuns(100),
    );
  });
});
