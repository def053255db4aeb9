// Programs that a lowering writes anew before it lowers them: which way it chooses, and that they stay what they are.

import { expect } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import type { Program } from '#warpstage/compiler/ir.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import type { Finding } from '#warpstage/targets/checker/finding.js';
import type { Delivery } from '#warpstage/targets/interpreter/runner.js';
import { type Choice, chooseLowerings, type LoweringOptions } from '#warpstage/targets/legalise/lowering.js';
import { blockUniformPipelines } from '#warpstage/targets/legalise/synchronisation.js';
import { interpreter } from './interpreter.ts';
import { loweredFor } from './lowered.ts';
import { type ProgramLaunch, runProgram } from './run-program.ts';

/** A program of the text of a kernel's body. */
export function programOfText(
  schema: Readonly<Record<string, string>>,
  text: string,
  [x, y]: readonly [number, number],
): Program {
  const made = kernel(schema as never, new Function(`return ${text}`)(), { name: 'rewritten' });
  const options = { block: [x, y, 1], indexType: 'i32', functions: {}, constants: {} } as const;
  return specialise(made as unknown as Kernel, options).program;
}

/** What is chosen for its one pipeline on sm_90, where arrays begin at multiples of so many bytes. */
export function choiceOf(program: Program, { alignment = 16, checked = false } = {}): Choice {
  const [choice] = chooseLowerings(program, {
    architecture: 90,
    alignments: program.parameters.map(() => alignment),
    blockUniform: blockUniformPipelines(program),
    checked,
  });
  return choice!;
}

const deliveries: readonly Delivery[] = ['eager', 'late', 1];

/** Runs a program as it is and as it becomes: `out` is the same, and the race checker finds nothing. */
export function compareLowered(
  program: Program,
  dataOf: () => ProgramLaunch['arguments'],
  text: string,
  lowering: Pick<LoweringOptions, 'checked' | 'bytesUnderWay'> = {},
): void {
  const run = (target: Parameters<typeof runProgram>[0]) => {
    const data = dataOf();
    const { fault } = runProgram(target, program, { grid: 1, arguments: data });
    return { fault, out: data.out as Int32Array };
  };
  const expected = run(interpreter('late'));
  expect(expected.fault, text).toBeNull();
  expect(expected.out.every((value) => value === 0)).toBe(false);
  for (const delivery of deliveries) {
    const findings: Finding[] = [];
    const lowered = loweredFor(90, delivery, (finding) => findings.push(finding), { lowering });
    expect({ ...run(lowered), delivery }, text).toEqual({ ...expected, delivery });
    expect(
      findings.map(({ message }) => message),
      text,
    ).toEqual([]);
  }
}
