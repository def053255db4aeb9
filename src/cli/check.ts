// `warpstage check`: the kernels of a module under the checker.
//
// The findings are what the command is for, so they go to standard output. The exit code is 0 only if every
// case is clean: 1 says that there are findings, or that a budget ran out before the end.

import { type Command, Option } from 'commander';
import type { CheckResult, Verdict } from '../checker/check.ts';
import type { CheckOptions } from '../checker/options.ts';
import type { CheckFinding } from '../checker/report.ts';
import { type Issue, issueData, WarpstageError } from '../diagnostics/error.ts';
import { packageVersion } from '../diagnostics/package-version.ts';
import { formatIssues } from '../diagnostics/render.ts';
import { stageParts } from '../targets/stage-spans.ts';
import type { NamedCase } from './check-cases.ts';
import { type CommandContext, examplesText, newCommand } from './command.ts';
import { listNames, usageError } from './failure.ts';
import { type LoadedModule, loadModule } from './load-module.ts';
import { showsColour, type Terminal } from './terminal.ts';
import { addSetting, parseCount, parseSeed, type Settings } from './values.ts';
import { checkWritable, writeWhole } from './write-whole.ts';

interface CheckCommandOptions {
  readonly kernel?: string;
  readonly schedules?: number;
  readonly seed?: number;
  readonly delivery?: NonNullable<CheckOptions['delivery']>;
  readonly steps?: number;
  readonly advice?: boolean;
  readonly set?: Settings;
  readonly json?: boolean;
  readonly sarif?: string;
  readonly stages?: string;
  readonly static?: boolean;
  readonly fix?: boolean;
}

/** A case with what the checker says of it. */
interface CheckedCase {
  readonly name: string;
  readonly result: CheckResult;
  /** The findings that no case before has reported. */
  readonly fresh: readonly CheckFinding[];
}

/** The command `check`. */
export function checkCommand(context: CommandContext): Command {
  return newCommand('check', context)
    .summary('find races, deadlocks and misuse of pipelines in the kernels of a module')
    .description(
      'Runs the launches that a module declares with checkCase(), and a made-up chunk of each of its jobs, ' +
        'under the checker: every access, copy and wait of every thread, in several schedules. ' +
        'The exit code is 0 if all is clean, 1 if there are findings or a budget ran out.',
    )
    .argument(
      '<module...>',
      'the TypeScript or JavaScript file that exports kernels, check cases or jobs; several with --static',
    )
    .option('--static', 'compile the kernels of the files without running anything, and print what is wrong')
    .option('--fix', 'with --static: do in the files what hints say, where there is one way alone')
    .option('-k, --kernel <name>', 'check this kernel only')
    .option('--schedules <count>', 'how many schedules: eager and late copies, then random ones', parseCount)
    .option('--seed <number>', 'of the first random schedule', parseSeed)
    .addOption(
      new Option('--delivery <policy>', 'when asynchronous copies arrive (default: all)').choices([
        'eager',
        'late',
        'random',
        'all',
      ]),
    )
    .option('--steps <count>', 'how often the threads of a block may go round in loops', parseCount)
    .option('--advice', 'tell also what is right, but slow or fragile')
    .option('-s, --set <name=value>', 'change a setting of the jobs (repeatable)', addSetting)
    .option('--json', 'print the findings as JSON; errors as JSON on standard error')
    .option('--sarif <file>', 'write the findings as SARIF as well, which GitHub shows on pull requests')
    .option(
      '--stages <file>',
      "write a page of what the pipelines' stages do over time in each case's first block",
    )
    .addHelpText(
      'after',
      examplesText([
        'warpstage check staging.ts',
        'warpstage check staging.ts --kernel withStaging --schedules 64 --advice',
        'warpstage check staging.ts --sarif findings.sarif',
        'warpstage check --static src/*.ts',
      ]),
    )
    .action(async (paths: readonly string[], options: CheckCommandOptions) => {
      if (options.static) {
        const { checkStatically } = await import('./check-static.ts');
        return checkStatically(paths, options, context);
      }
      if (options.fix) throw usageError('--fix is of texts, and this runs launches', 'add --static');
      const [path, ...more] = paths;
      if (more.length > 0) {
        throw usageError(
          'check runs the launches of one module',
          'name one, or add --static to only compile',
        );
      }
      return checkModule(path!, options, context);
    });
}

async function checkModule(
  modulePath: string,
  options: CheckCommandOptions,
  { terminal, interrupt, exit }: CommandContext,
): Promise<void> {
  const module = await loadModule(modulePath);
  const { sarif, stages } = options;
  if (sarif !== undefined) await checkWritable(sarif, '--sarif', { reads: [modulePath] });
  if (stages !== undefined) {
    const writes = sarif === undefined ? [] : [sarif];
    await checkWritable(stages, '--stages', { reads: [modulePath], writes });
  }
  const { casesOf } = await import('./check-cases.ts');
  const { cases, unchecked } = casesOf(module, options);
  const signal = interrupt.listen();
  const checked: CheckedCase[] = [];
  const failed: WarpstageError[] = [];
  const reported = new Set<string>();
  for (const one of cases) {
    const result = await checkCase(one, optionsOf(options, one), signal).catch((error: unknown) => {
      // A kernel that cannot be compiled or launched keeps no other from being checked.
      if (!(error instanceof WarpstageError) || signal.aborted) throw error;
      failed.push(error);
    });
    if (result === undefined) continue;
    const fresh = result.findings.filter((finding) => !reported.has(keyOf(finding)));
    for (const finding of fresh) reported.add(keyOf(finding));
    checked.push({ name: one.name, result, fresh });
  }
  const errors = failed.flatMap(({ issues }) => issues);
  if (sarif !== undefined) await writeSarif(sarif, module, checked, errors);
  if (stages !== undefined) await writeStages(stages, cases);
  const verdict = failed.length > 0 ? 'findings' : worst(checked.map(({ result }) => result.verdict));
  if (options.json) terminal.output.write(`${JSON.stringify(dataOf(verdict, checked, unchecked))}\n`);
  else writeReport(checked, unchecked, terminal);
  exit.code = verdict === 'clean' ? 0 : 1;
  if (errors.length > 0) throw new WarpstageError(withoutRepeats(errors));
}

/** Cases may share a kernel: what is wrong with it is reported once. */
function withoutRepeats(issues: readonly Issue[]): readonly Issue[] {
  return [...new Map(issues.map((issue) => [JSON.stringify(issueData(issue)), issue])).values()];
}

/** The cases whose kernels have pipelines and run to their end, one above the other. */
async function writeStages(path: string, cases: readonly NamedCase[]): Promise<void> {
  const [{ traceStages }, { writeTracePage }] = await Promise.all([
    import('../checker/trace-stages.ts'),
    import('./write-trace.ts'),
  ]);
  const traces = cases.flatMap(({ name, kernel, launch }) => {
    try {
      const spans = traceStages(kernel, launch);
      return spans.length === 0
        ? []
        : [{ title: name, facts: {}, unit: 'steps' as const, spans, lanes: stageParts }];
    } catch (error) {
      // The findings tell of it.
      if (error instanceof WarpstageError) return [];
      throw error;
    }
  });
  await writeTracePage(path, traces);
}

/** What the command line asks for goes over what a case asks for. */
function optionsOf(
  { schedules, seed, delivery, steps, advice }: CheckCommandOptions,
  { options }: NamedCase,
): CheckOptions {
  const asked = { schedules, seed, delivery, steps, advice };
  return {
    ...options,
    ...Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)),
  };
}

/** Runs the schedules of a case; between them Ctrl-C is heard. */
async function checkCase(
  { kernel, launch }: NamedCase,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { Check } = await import('../checker/check.ts');
  const check = new Check(kernel, launch, options);
  for (const schedule of check.schedules) {
    check.run(schedule);
    await new Promise((resume) => setImmediate(resume));
    signal.throwIfAborted();
  }
  return check.result();
}

/** The same for findings of one kind at one place, whichever case met them. */
function keyOf({ code, location, related: [other] }: CheckFinding): string {
  const place = (at: CheckFinding['location'] | undefined) => at && [at.file, at.line, at.column].join(':');
  return [code, place(location), place(other?.location)].join(' ');
}

function worst(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('findings')) return 'findings';
  return verdicts.includes('inconclusive') ? 'inconclusive' : 'clean';
}

function writeReport(
  checked: readonly CheckedCase[],
  unchecked: readonly string[],
  { output }: Terminal,
): void {
  const format = { colour: showsColour(output), folder: process.cwd() };
  for (const { name, result, fresh } of checked) {
    const issues = [...fresh, ...result.inconclusive];
    if (issues.length > 0) output.write(`${formatIssues(issues, format)}\n\n`);
    const again = result.findings.length - fresh.length;
    const more =
      again === 0
        ? ''
        : again === 1
          ? '; 1 of them is reported above'
          : `; ${again} of them are reported above`;
    output.write(`${name}: ${result.summary}${more}\n`);
  }
  if (unchecked.length > 0) {
    output.write(`not checked, as no launch of it is declared: ${listNames(unchecked)}\n`);
  }
}

function dataOf(verdict: Verdict, checked: readonly CheckedCase[], unchecked: readonly string[]): object {
  return {
    verdict,
    cases: checked.map(({ name, result: { report: _, ...result } }) => ({
      name,
      ...result,
      findings: result.findings.map(issueData),
      inconclusive: result.inconclusive.map(issueData),
    })),
    unchecked,
  };
}

async function writeSarif(
  path: string,
  module: LoadedModule,
  checked: readonly CheckedCase[],
  errors: readonly Issue[],
): Promise<void> {
  const { sarifLog } = await import('./sarif.ts');
  const log = sarifLog({
    version: packageVersion(),
    folder: process.cwd(),
    module: module.path,
    findings: checked.flatMap(({ fresh }) => fresh),
    inconclusive: [...checked.flatMap(({ result }) => result.inconclusive), ...errors],
  });
  await writeWhole(path, `${JSON.stringify(log, null, 2)}\n`);
}
