// What a program becomes for a GPU, run on the interpreter under the race checker.

import type { Program } from '#warpstage/compiler/ir.js';
import { Budget } from '#warpstage/targets/checker/budget.js';
import { observeLowered } from '#warpstage/targets/checker/checker.js';
import type { Finding } from '#warpstage/targets/checker/finding.js';
import {
  createInterpreterRunner,
  type Delivery,
  interpreterExecutable,
} from '#warpstage/targets/interpreter/runner.js';
import { lowerForGpu } from '#warpstage/targets/legalise/lower.js';
import { blockUniformPipelines } from '#warpstage/targets/legalise/synchronisation.js';
import type { Target } from './run-program.ts';

/** Architectures with different lowerings, as compute capability times ten. */
export const architectures = [75, 80, 90] as const;

/** A target that lowers a program for a GPU and interprets what comes out; findings are reported to `report`. */
export function loweredFor(
  architecture: number,
  delivery: Delivery,
  report: (finding: Finding) => void,
  { alignments = null as readonly number[] | null, after = (program: Program) => program } = {},
): Target {
  return {
    name: `lowered for sm_${architecture}, ${typeof delivery === 'number' ? `seed ${delivery}` : delivery}`,
    lower(program) {
      const lowered = lowerForGpu(program, {
        architecture,
        alignments: alignments ?? program.parameters.map(() => 16),
        blockUniform: blockUniformPipelines(program),
      });
      return after(lowered.program);
    },
    compile: (program) => interpreterExecutable(program, delivery),
    createRunner(executable, context) {
      if (executable.target !== 'interpreter') throw new Error('not an executable of the interpreter');
      const settings = { unfilled: new Set<number>(), budget: new Budget(2 ** 30) };
      return createInterpreterRunner(
        executable,
        context,
        observeLowered(executable.program, settings, { report }),
      );
    },
  };
}
