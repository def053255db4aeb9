// Random waits: state machines get as far as the oracle, and report the same deadlock to the word.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printProgram } from '#warpstage/compiler/print.js';
import type { Fault } from '#warpstage/targets/executable.js';
import { interpreter } from '../support/interpreter.ts';
import { interpreted, threadsOf } from '../support/lowered.ts';
import { runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmStates } from '../support/wasm.ts';
import { logLength, type WaitingProgram, waitingProgram } from './random-waits.ts';
import { randomRuns, tapes } from './tape.ts';

function outcome(target: Target, { program, grid, threads }: WaitingProgram) {
  const log = new Int32Array(grid * threads * logLength);
  const input = Int32Array.from({ length: 64 }, (_, i) => (i * 2_654_435_761) | 0);
  const count = program.indexType === 'i64' ? 3n : 3;
  const { fault, executable } = runProgram(target, program, { grid, arguments: { log, input, count } });
  return { fault, log: [...log], executable };
}

/** Which of several wrong uses comes first depends on the order in which threads run; a deadlock does not. */
function comparable(fault: Fault | null) {
  return fault?.kind === 'misuse' ? { kind: fault.kind, block: fault.block } : fault;
}

const oracle = interpreter('late');

/** What state machines are made of, in any order. */
const cohorts = (['eager', 'late', 1] as const).map((delivery) =>
  interpreted('cohorts', delivery, () => {}, threadsOf),
);

test.each([wasmStates, wasm, interpreter(1), ...cohorts])('$name agrees with the oracle', (target) => {
  const seen = { ended: 0, deadlock: 0, misuse: 0 };
  fc.assert(
    fc.property(tapes(150), (tape) => {
      const random = waitingProgram(tape);
      const expected = outcome(oracle, random);
      const actual = outcome(target, random);
      const text = printProgram(random.program);
      expect(comparable(actual.fault), text).toEqual(comparable(expected.fault));
      if (expected.fault === null) expect(actual.log, text).toEqual(expected.log);
      if (target === wasmStates) expect(actual.executable).toMatchObject({ mode: 'states' });
      const kind = expected.fault?.kind ?? 'ended';
      if (kind === 'ended' || kind === 'deadlock' || kind === 'misuse') seen[kind] += 1;
    }),
    randomRuns(target.lower === undefined ? 125 : 80),
  );
  for (const times of Object.values(seen)) expect(times).toBeGreaterThan(0);
});
