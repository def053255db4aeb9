// A rotated loop does the same in the same order; what cannot be proved is left as it is.

import { describe, expect, test } from 'vitest';
import { printProgram } from '#warpstage/compiler/print.js';
import { newLoopSchedule } from '#warpstage/targets/legalise/loop-schedule.js';
import { rotateFillLoops } from '#warpstage/targets/legalise/rotate.js';
import { interpreter } from '../support/interpreter.ts';
import { collatz, stagingThreadScope, stagingUnified } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

describe('rotation of the loop that fills a pipeline', () => {
  test.each([
    [1, 'groups'],
    [2, 'groups'],
    [4, 'groups'],
    [7, 'groups'],
    [2, 'bulk', true],
    [4, 'bulk', false],
    [4, 'bulk', true],
    [8, 'bulk', true],
  ] as const)(
    'gives the same results with %i stages by %s, for few and many batches',
    (stages, lowering, spares = false) => {
      const block = 32;
      const program = stagingUnified({ block, stages, element: 'i32' });
      const rotated = rotateFillLoops(program, [lowering], newLoopSchedule(), () => spares);
      expect(printProgram(rotated)).not.toBe(printProgram(program));
      for (const batchCount of [0, 1, 2, stages, stages + 1, 13, 40]) {
        const input = Int32Array.from({ length: block * 2 * Math.max(batchCount, 1) }, (_, i) => i * 7);
        const run = (which: typeof program) => {
          const globalOut = new Int32Array(input.length);
          const launch = { grid: 2, arguments: { globalOut, globalIn: input, batchCount } };
          expect(runProgram(interpreter('late'), which, launch).fault).toBeNull();
          return globalOut;
        };
        expect(run(rotated)).toEqual(run(program));
      }
    },
  );

  test('rotates the thread-scope kernel too, and leaves other loops alone', () => {
    expect(printProgram(rotateFillLoops(stagingThreadScope(), [], newLoopSchedule(), () => false))).not.toBe(
      printProgram(stagingThreadScope()),
    );
    const other = collatz();
    expect(rotateFillLoops(other, [], newLoopSchedule(), () => false)).toEqual(other);
  });
});
