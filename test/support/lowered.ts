// What a program becomes for a GPU or a CPU, run on the interpreter under the race checker.

import type { Program } from '#warpstage/compiler/ir.js';
import { verifyProgram } from '#warpstage/compiler/verify.js';
import { Budget } from '#warpstage/targets/checker/budget.js';
import { observeLowered } from '#warpstage/targets/checker/checker.js';
import type { Finding } from '#warpstage/targets/checker/finding.js';
import {
  createInterpreterRunner,
  type Delivery,
  interpreterExecutable,
} from '#warpstage/targets/interpreter/runner.js';
import { lowerToRegions, lowerToStates } from '#warpstage/targets/legalise/cpu/lower.js';
import type { OptionalCpuPass } from '#warpstage/targets/legalise/cpu/passes.js';
import { lowerForGpu } from '#warpstage/targets/legalise/lower.js';
import type { LoweringOptions } from '#warpstage/targets/legalise/lowering.js';
import { blockUniformPipelines } from '#warpstage/targets/legalise/synchronisation.js';
import type { Target } from './run-program.ts';

/** Architectures with different lowerings, as compute capability times ten. */
export const architectures = [75, 80, 90] as const;

/** Each way to lower a small kernel: for sm_90 threads may copy a single stage of little, or the engine copies all. */
export const lowerings = [
  { name: 'sm_75', architecture: 75, options: {} },
  { name: 'sm_80', architecture: 80, options: {} },
  { name: 'sm_90', architecture: 90, options: {} },
  { name: 'sm_90 by the copy engine', architecture: 90, options: { briefByThreads: false } },
] as const;

type Report = (finding: Finding) => void;

/** A target that interprets what `lower` makes of a program; findings are reported to `report`. */
export function interpreted(
  name: string,
  delivery: Delivery,
  report: Report,
  lower: (program: Program) => Program,
  options: { readonly steps?: number } = {},
): Target {
  return {
    name: `${name}, ${typeof delivery === 'number' ? `seed ${delivery}` : delivery}`,
    lower,
    compile: (program) => interpreterExecutable(program, delivery, options),
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

/** A target that lowers a program for a GPU and interprets what comes out. */
export function loweredFor(
  architecture: number,
  delivery: Delivery,
  report: Report,
  {
    alignments = null as readonly number[] | null,
    lowering = {} as Pick<LoweringOptions, 'checked' | 'bytesUnderWay' | 'briefByThreads'>,
    after = (program: Program) => program,
  } = {},
): Target {
  return interpreted(`lowered for sm_${architecture}`, delivery, report, (program) => {
    const lowered = lowerForGpu(program, {
      architecture,
      alignments: alignments ?? program.parameters.map(() => 16),
      blockUniform: blockUniformPipelines(program),
      ...lowering,
    });
    return after(lowered.program);
  });
}

const verified = { after: (_: unknown, program: Program) => verifyProgram(program) };

/** The program that a block runs region by region, or null where there is none; each pass is verified. */
export function regionsOf(program: Program, without: readonly OptionalCpuPass[] = []): Program | null {
  const lowered = lowerToRegions(program, { ...verified, without });
  return 'obstacle' in lowered ? null : lowered.program;
}

/** The program that WebAssembly's state machines are made of; each pass is verified. */
export function threadsOf(program: Program, without: readonly OptionalCpuPass[] = []): Program {
  return lowerToStates(program, { ...verified, without });
}

/** A target that lowers a program for the CPU, to regions where it can, and interprets what comes out. */
export function loweredForCpu(
  delivery: Delivery,
  report: Report,
  without: readonly OptionalCpuPass[] = [],
): Target {
  const name = ['lowered for the CPU', ...without.map((pass) => `without ${pass}`)].join(', ');
  const lower = (program: Program) => regionsOf(program, without) ?? threadsOf(program, without);
  return interpreted(name, delivery, report, lower);
}
