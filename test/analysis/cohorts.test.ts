// What cohorts are said to find the same, threads that have come the same way find the same: in random programs of
// every kind of wait, each thread tells its way and its values, run by the interpreter one by one.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { factsOf } from '#warpstage/targets/analysis/facts.js';
import { logLength, waitingProgram } from '../differential/random-waits.ts';
import { randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { type Found, foundIn, withProbes } from '../support/probes.ts';
import { runProgram } from '../support/run-program.ts';

/** What a thread has come by: all that its cohort does as a whole, and nothing of what threads do one by one. */
class Way {
  text = '';
  readonly #times = new Map<number, number>();

  /** How often the thread came to a probe since its cohort last did something. */
  comesTo({ number }: Found['probe'], isTogether: boolean): number {
    if (isTogether) {
      this.text += ` ${number}`;
      this.#times.clear();
    }
    const times = this.#times.get(number) ?? 0;
    this.#times.set(number, times + 1);
    return times;
  }
}

/** How many values were found alike. */
function compared(program: Program, found: readonly Found[]): number {
  const { cohort } = factsOf(program);
  const ways = new Map<string, Way>();
  const firsts = new Map<string, readonly string[]>();
  let alike = 0;
  for (const { probe, block, rank, values } of found) {
    const thread = `${block} ${rank}`;
    const way = ways.get(thread) ?? new Way();
    ways.set(thread, way);
    const times = way.comesTo(probe, cohort.isTogether(probe.statement));
    const visit = `${block}:${way.text}:${probe.number}:${times}`;
    const first = firsts.get(visit) ?? values;
    firsts.set(visit, first);
    for (const [i, expression] of probe.expressions.entries()) {
      if (!cohort.isUniform(expression)) continue;
      if (values[i] !== first[i])
        throw new Error(`${values[i]} and ${first[i]} at ${probe.number}\n${printProgram(program)}`);
      if (first !== values) alike += 1;
    }
  }
  return alike;
}

test('threads of a cohort find the same where it is said to be', () => {
  let alike = 0;
  let varying = 0;
  fc.assert(
    fc.property(tapes(150), (tape) => {
      const { program, grid, threads } = waitingProgram(tape);
      const probed = withProbes(program, { ways: true });
      const log = new Int32Array(grid * threads * logLength);
      const input = Int32Array.from({ length: 64 }, (_, i) => (i * 2_654_435_761) | 0);
      const count = program.indexType === 'i64' ? 3n : 3;
      const { printed } = runProgram(interpreter('late'), probed.program, {
        grid,
        arguments: { log, input, count },
      });
      const found = printed.map((line) => foundIn(line, probed.probes));
      alike += compared(program, found);
      const { cohort } = factsOf(program);
      varying += program.variables.filter((_, id) => cohort.varies(id)).length;
    }),
    randomRuns(150),
  );
  expect(alike).toBeGreaterThan(1000);
  expect(varying).toBeGreaterThan(50);
});
