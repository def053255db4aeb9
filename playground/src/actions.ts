// What each button of the playground does with a program. Parts that few ask for are loaded when they are.

import { type Device, open, type Span, WarpstageError } from 'warpstage';
import type { CheckCase } from 'warpstage/check';
import { bindLaunch } from '#warpstage/checker/launch.js';
import { plotOf, runCase } from './arrays.ts';
import type { Program } from './program.ts';
import type { Action, Answer, Mark } from './protocol.ts';

export type Outcome = Omit<Answer, 'id'>;

/** The devices of a schedule: a copy engine, two with one queue of work, two with many. */
const generations = ['model:c1060', 'model:c2050', 'model:h200'] as const;

const nothing = (what: string): Outcome => ({
  isGood: false,
  summary: `The program exports ${what}.`,
  text: '',
  marks: [],
});
const noChecks = () => nothing('no check case: export const checks = [checkCase(kernel, { … })]');

/** Marks of an error, at lines of the editor. */
export function marksOf(error: unknown, program: Program | null): Mark[] {
  if (!(error instanceof WarpstageError)) return [];
  return error.issues.flatMap(({ message, hint, location }) => {
    if (location === undefined) return [];
    const text = hint === undefined ? message : `${message}\n${hint}`;
    return [{ line: lineOf(location, program), severity: 'error' as const, message: text }];
  });
}

/** A kernel's place, as a line of the editor: a browser gives lines of the kernel's own text. */
function lineOf({ text, line }: { text: string; line: number }, program: Program | null): number {
  const kernel = program?.checks.find((one) => String(one.kernel.body) === text)?.kernel;
  return kernel === undefined ? line : program!.firstLineOf(kernel) + line - 1;
}

async function run({ checks, schedule }: Program): Promise<Outcome> {
  const [first] = checks;
  if (first === undefined && schedule === undefined) return noChecks();
  const lines: string[] = [];
  const device = await open('cpu');
  device.print = (line) => void lines.push(line);
  try {
    if (first === undefined) {
      await schedule!(device);
      await device.synchronize();
      return { isGood: true, summary: 'The schedule ran on the CPU.', text: lines.join('\n'), marks: [] };
    }
    const { ranOn, milliseconds, results } = await runCase(device, first);
    return {
      isGood: true,
      summary: `The first case ran on ${ranOn} in ${milliseconds.toFixed(2)} ms.`,
      text: lines.join('\n'),
      marks: [],
      plots: [...results].map(([name, values]) => plotOf(name, values)),
    };
  } finally {
    await device.close();
  }
}

async function check(program: Program): Promise<Outcome> {
  if (program.checks.length === 0) return noChecks();
  const checker = await import('warpstage/check');
  return checkAll(checker, program.checks, program);
}

/** Checks cases, whose kernels are a program's. */
export function checkAll(
  { check: checkKernel }: typeof import('warpstage/check'),
  cases: readonly CheckCase[],
  program: Program,
): Outcome {
  const results = cases.map(({ kernel, launch, options }) => checkKernel(kernel, launch, options));
  const marks = results.flatMap(({ findings }) =>
    findings.flatMap(({ severity, message, hint, location, related }): Mark[] => [
      {
        line: lineOf(location, program),
        severity: severity === 'error' ? 'error' : 'info',
        message: `${message}\n${hint}`,
      },
      ...related.map(
        (other): Mark => ({
          line: lineOf(other.location, program),
          severity: 'info',
          message: `${other.label}: ${message}`,
        }),
      ),
    ]),
  );
  return {
    isGood: results.every(({ verdict }) => verdict === 'clean'),
    summary: results.map(({ summary }) => summary).join('; '),
    text: results
      .filter(({ findings }) => findings.length > 0)
      .map((result) => result.report())
      .join('\n\n'),
    marks,
  };
}

async function stages({ checks }: Program): Promise<Outcome> {
  if (checks.length === 0) return noChecks();
  const [{ traceStages }, { tracePage }] = await Promise.all([
    import('warpstage/check'),
    import('#warpstage/timeline/page.js'),
  ]);
  const traces = checks.map(({ kernel, launch }: CheckCase, i) => ({
    title: `case ${i + 1}`,
    facts: { unit: 'steps' },
    unit: 'steps' as const,
    spans: traceStages(kernel, launch),
  }));
  const isEmpty = traces.every(({ spans }) => spans.length === 0);
  if (isEmpty) return nothing('no kernel with a pipeline');
  return {
    isGood: true,
    summary: 'What the stages of the first block do.',
    text: '',
    marks: [],
    page: tracePage(traces),
  };
}

/** What a schedule takes on a virtual device. */
export async function timeSchedule(
  schedule: NonNullable<Program['schedule']>,
  name: string,
): Promise<{ readonly title: string; readonly spans: Span[]; readonly milliseconds: number }> {
  const device: Device = await open(name);
  try {
    const spans: Span[] = [];
    device.recorder = (span) => void spans.push(span);
    await schedule(device);
    await device.synchronize();
    const milliseconds =
      Math.max(0, ...spans.map(({ ended }) => ended)) - Math.min(...spans.map(({ started }) => started));
    return { title: device.properties.name, spans, milliseconds };
  } finally {
    await device.close();
  }
}

async function schedule({ schedule: issue }: Program): Promise<Outcome> {
  if (issue === undefined) return nothing('no schedule: async function schedule(device) { … }');
  const traces = [];
  for (const name of generations) traces.push(await timeSchedule(issue, name));
  const { tracePage } = await import('#warpstage/timeline/page.js');
  return {
    isGood: true,
    summary: traces.map(({ title, milliseconds }) => `${title}: ${milliseconds.toFixed(3)} ms`).join('; '),
    text: '',
    marks: [],
    page: tracePage(traces.map(({ title, spans }) => ({ title, facts: {}, spans }))),
  };
}

async function emitted({ checks: [first] }: Program): Promise<Outcome> {
  if (first === undefined) return noChecks();
  const [{ printProgram }, { cudaText }, { wasmBytes }, { default: loadWabt }] = await Promise.all([
    import('#warpstage/compiler/print.js'),
    import('#warpstage/targets/cuda/compile.js'),
    import('#warpstage/targets/wasm/compile.js'),
    import('wabt'),
  ]);
  const { program } = bindLaunch(first.kernel, first.launch);
  const wabt = await loadWabt();
  const module = wabt.readWasm(wasmBytes(program, { without: [] }), { readDebugNames: true, threads: true });
  module.applyNames();
  const wat = module.toText({ foldExprs: true, inlineExport: false });
  module.destroy();
  return {
    isGood: true,
    summary:
      'The kernel of the first case: as the compiler understands it, as CUDA C++ for sm_90, and as WebAssembly.',
    text: '',
    marks: [],
    listings: [
      { title: 'IR', text: printProgram(program) },
      { title: 'CUDA C++', text: cudaText(program, 90, null, false) },
      { title: 'WAT', text: wat },
    ],
  };
}

/** Compiles, and runs nothing: for the marks of the editor. */
async function lint({ checks }: Program): Promise<Outcome> {
  for (const { kernel, launch } of checks) bindLaunch(kernel, launch);
  return { isGood: true, summary: 'It compiles.', text: '', marks: [] };
}

/** By the names that the page asks by. */
export const actions: Readonly<Record<Exclude<Action, 'judge'>, (program: Program) => Promise<Outcome>>> = {
  run,
  check,
  stages,
  schedule,
  emitted,
  lint,
};
