// Random programs: every way to run one gives the same bits.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printProgram } from '#warpstage/compiler/print.js';
import type { Executable, Fault } from '#warpstage/targets/executable.js';
import { cudaTargets } from '../support/cuda.ts';
import { interpreter } from '../support/interpreter.ts';
import { loweredForCpu } from '../support/lowered.ts';
import { nativeTargets } from '../support/native.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { atLength } from '../support/thorough.ts';
import { wasm, wasmStates } from '../support/wasm.ts';
import { randomArguments } from './random-inputs.ts';
import { type RandomProgram, randomProgram, riskyProgram } from './random-program.ts';
import { randomLimit, randomRuns, tapes } from './tape.ts';

function wayOf(executable: Executable): string {
  if (executable.target !== 'wasm') return executable.target;
  return executable.vectorised ? 'lanes' : executable.mode;
}

function expectedWays(target: Target): readonly string[] {
  const [native, nativeStates] = nativeTargets;
  if (target === wasm) return ['regions', 'lanes', 'states'];
  // Few programs are given to the system's compiler: native/random-lanes.test.ts has those that become vectors.
  if (target === native) return ['regions'];
  if (target === wasmStates || target === nativeStates) return ['states'];
  return [cudaTargets.includes(target) ? 'cuda' : 'interpreter'];
}

interface Outcome {
  readonly executable: Executable;
  readonly fault: Fault | null;
  readonly arrays: Readonly<Record<string, string>>;
}

/** All that a program leaves behind, with every NaN the same. */
function outcome(target: Target, { program, grid, threads }: RandomProgram): Outcome {
  const { outputs, counters, everything } = randomArguments({ program, grid, threads });
  const { fault, executable } = runProgram(target, program, { grid, arguments: everything });
  const arrays = Object.entries({ ...outputs, counters });
  return {
    executable,
    fault,
    arrays: Object.fromEntries(arrays.map(([name, array]) => [name, bitsOf(array)])),
  };
}

const oracle = interpreter('late');
/** Of what was lowered for the CPU, which is interpreted: that it races, where the program does not. */
const found: string[] = [];
const targets: readonly Target[] = [
  interpreter('eager'),
  interpreter(1),
  interpreter(2),
  loweredForCpu('late', ({ message }) => found.push(message)),
  wasm,
  wasmStates,
  ...nativeTargets,
];

sayWithoutGpu();

describe('random programs', () => {
  test.each([...targets, ...cudaTargets])(
    '$name agrees with the oracle',
    (target) => {
      const ways = new Map<string, number>();
      fc.assert(
        fc.property(tapes(400), (tape) => {
          const random = randomProgram(tape, { exact: cudaTargets.includes(target) });
          const expected = outcome(oracle, random);
          const actual = outcome(target, random);
          expect(expected.fault, printProgram(random.program)).toBeNull();
          const { executable, ...results } = actual;
          expect(results, printProgram(random.program)).toEqual({ fault: null, arrays: expected.arrays });
          expect(found.splice(0), printProgram(random.program)).toEqual([]);
          const way = wayOf(executable);
          ways.set(way, (ways.get(way) ?? 0) + 1);
        }),
        randomRuns(nativeTargets.includes(target) ? 12 : atLength ? 100 : 50),
      );
      // Each way really ran.
      for (const way of expectedWays(target)) expect(ways.get(way) ?? 0, way).toBeGreaterThan(0);
    },
    randomLimit(100),
  );
});

describe('random programs that may fail', () => {
  const fails = (target: Target) => {
    let failed = 0;
    fc.assert(
      fc.property(tapes(400), (tape) => {
        const random = riskyProgram(tape);
        const expected = placeOf(outcome(oracle, random).fault);
        const actual = placeOf(outcome(target, random).fault);
        expect(actual, printProgram(random.program)).toEqual(expected);
        if (expected !== null) failed += 1;
      }),
      randomRuns(nativeTargets.includes(target) ? 6 : atLength ? 60 : 30),
    );
    expect(failed).toBeGreaterThan(nativeTargets.includes(target) ? 0 : 5);
  };
  test.each(targets)('$name fails where the oracle does', fails, randomLimit(60));
});

/** What does not depend on which of a block's threads comes first. */
function placeOf(fault: Fault | null) {
  if (fault === null) return null;
  const { kind, block } = fault;
  if (kind === 'deadlock') return { kind, block };
  const { range } = fault;
  return kind === 'out-of-range'
    ? { kind, block, range, array: fault.array, access: fault.access }
    : { kind, block, range };
}
