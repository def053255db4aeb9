// check(): a kernel and a launch under the checker, in several schedules.
//
// Every schedule runs the whole launch on the interpreter, with the same arrays anew and a checker
// of its own. A schedule that stops at a fault says so by a finding, and the others go on. One that
// uses up its budget of steps or memory makes the check inconclusive: what was found stays found,
// but that nothing else was found means nothing.

import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import { type FormatOptions, formatIssues } from '../diagnostics/render.ts';
import { locationOf } from '../diagnostics/source.ts';
import type { Kernel, Schema } from '../kernel/kernel.ts';
import { kernelInWords } from '../runtime/launch.ts';
import { Budget } from '../targets/checker/budget.ts';
import { observeRun } from '../targets/checker/checker.ts';
import type { OutputKind } from '../targets/checker/outputs.ts';
import type { Fault } from '../targets/executable.ts';
import { createInterpreterRunner, interpreterExecutable } from '../targets/interpreter/runner.ts';
import { CollectedFindings } from './collected.ts';
import { findingOfFault } from './fault-findings.ts';
import { type BoundLaunch, bindLaunch, type CheckLaunch, otherNamesOf } from './launch.ts';
import { LaunchMemory } from './memory.ts';
import {
  type CheckOptions,
  completeOptions,
  type FullOptions,
  type Schedule,
  schedulesOf,
} from './options.ts';
import { type CheckFinding, checkFindingOf } from './report.ts';

/** `clean` only if every schedule ran to its end, or to a finding. Advice leaves a check clean. */
export type Verdict = 'clean' | 'findings' | 'inconclusive';

export interface CheckResult {
  readonly kernel: string;
  readonly verdict: Verdict;
  /** Each place once, worst first; advice last. */
  readonly findings: readonly CheckFinding[];
  /** The schedules that ran, by their names. */
  readonly schedules: readonly string[];
  /** Why the check is inconclusive, once for each reason. */
  readonly inconclusive: readonly Issue[];
  /** The most bytes that the checker remembered at once. */
  readonly memory: number;
  readonly milliseconds: number;
  /** One line that sums it up. */
  readonly summary: string;
  /** The findings with their code frames, and the summary. */
  report(options?: FormatOptions): string;
}

/**
 * Runs a kernel under the checker.
 *
 * @example
 * const { verdict, report } = check(scale, { grid: 4, block: 64, arguments: { y: { length: 256 }, a: 2 } });
 *
 * @throws WarpstageError for a kernel that does not compile, and for arguments that do not fit it
 */
export function check<const S extends Schema>(
  kernel: Kernel<S>,
  launch: CheckLaunch<S>,
  options: CheckOptions = {},
): CheckResult {
  const run = new Check(kernel as Kernel, launch as unknown as CheckLaunch<never>, options);
  for (const schedule of run.schedules) run.run(schedule);
  return run.result();
}

/** A check, schedule by schedule. */
export class Check {
  readonly schedules: readonly Schedule[];
  readonly #options: FullOptions;
  readonly #launch: BoundLaunch;
  readonly #memory: LaunchMemory;
  readonly #outputs: ReadonlyMap<number, OutputKind>;
  readonly #findings = new CollectedFindings();
  readonly #inconclusive = new Map<string, Issue>();
  readonly #ran: string[] = [];
  readonly #begin = performance.now();
  #peak = 0;

  constructor(kernel: Kernel, launch: CheckLaunch<never>, options: CheckOptions = {}) {
    this.#options = completeOptions(options);
    this.#launch = bindLaunch(kernel, launch);
    this.#outputs = declaredOutputs(this.#launch, this.#options);
    this.#memory = new LaunchMemory(this.#launch);
    this.schedules = schedulesOf(this.#options);
  }

  /** Runs one schedule. */
  run(schedule: Schedule): void {
    const { program, grid } = this.#launch;
    const { steps, memory, advice } = this.#options;
    const budget = new Budget(memory);
    this.#findings.schedule = schedule.name;
    this.#memory.reset();
    const observation = observeRun(
      program,
      { unfilled: this.#memory.unfilled, outputs: this.#outputs, advice, budget },
      this.#findings,
    );
    const runner = createInterpreterRunner(
      interpreterExecutable(program, schedule.delivery, { steps }),
      { memory: this.#memory.memory, print: () => {} },
      observation,
    );
    const fault = runner(this.#memory.record, this.#memory.arena, 0, grid[0] * grid[1] * grid[2]);
    if (fault !== null) this.#note(fault);
    this.#peak = Math.max(this.#peak, budget.peak);
    this.#ran.push(schedule.name);
  }

  #note(fault: Fault): void {
    const { program, sources } = this.#launch;
    if (fault.kind === 'misuse' && fault.code === 'WS3007') {
      const message = `${kernelInWords(program.name)}: ${fault.message}`;
      const location = locationOf(sources, fault.range);
      this.#inconclusive.set(message, { code: 'WS3007', message, hint: fault.hint ?? '', location });
      return;
    }
    const finding = findingOfFault(program, fault);
    if (finding !== null) this.#findings.report(finding);
  }

  result(): CheckResult {
    const { program, sources } = this.#launch;
    const kernel = { name: program.name, sources, otherNames: otherNamesOf(this.#launch) };
    const schedules = this.#ran;
    const findings = this.#findings.all().map((one) => checkFindingOf(one, kernel, schedules.length));
    const inconclusive = [...this.#inconclusive.values()];
    const found = findings.some(({ severity }) => severity === 'error');
    const verdict = found ? 'findings' : inconclusive.length > 0 ? 'inconclusive' : 'clean';
    const result = {
      kernel: program.name,
      verdict,
      findings,
      schedules,
      inconclusive,
      memory: this.#peak,
      milliseconds: performance.now() - this.#begin,
    } as const;
    const summary = summaryOf(result);
    return { ...result, summary, report: (options) => reportOf(result, summary, options) };
  }
}

/** How arrays are meant to be written, by parameter. */
function declaredOutputs({ program }: BoundLaunch, { outputs }: FullOptions): Map<number, OutputKind> {
  return new Map(
    Object.entries(outputs).map(([name, kind]) => {
      const id = program.parameters.findIndex((one) => one.kind === 'array' && one.name === name);
      const problem =
        id < 0
          ? `outputs names \`${name}\`, which is no array of ${kernelInWords(program.name)}`
          : ['whole', 'partial', 'any'].includes(kind)
            ? null
            : `outputs.${name} must be 'whole', 'partial' or 'any', and is ${String(kind)}`;
      if (problem === null) return [id, kind] as const;
      throw new WarpstageError({ code: 'WS4007', message: `check: ${problem}` });
    }),
  );
}

type Checked = Pick<CheckResult, 'kernel' | 'findings' | 'inconclusive' | 'schedules'>;

function summaryOf({ kernel, findings, inconclusive, schedules }: Checked): string {
  const runs = schedules.length === 1 ? '1 schedule' : `${schedules.length} schedules`;
  const advice = findings.filter(({ severity }) => severity === 'advice').length;
  const errors = findings.length - advice;
  const parts = [
    errors === 0 ? 'no finding' : errors === 1 ? '1 finding' : `${errors} findings`,
    ...(advice === 0 ? [] : [`${advice} of advice`]),
    ...(inconclusive.length === 0 ? [] : ['not checked to the end: inconclusive']),
  ];
  return `${kernelInWords(kernel)} in ${runs}: ${parts.join(', ')}`;
}

function reportOf({ findings, inconclusive }: Checked, summary: string, options: FormatOptions = {}): string {
  const issues = [...findings, ...inconclusive];
  return issues.length === 0 ? summary : `${formatIssues(issues, options)}\n\n${summary}`;
}
