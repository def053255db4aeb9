// Whether a puzzle is solved: the result is right, the checker is clean, and where that is the point, things overlap.
// What is wrong is shown: as values beside those that should be there, as findings, or as a timeline.

import { type Device, open, type Span } from 'warpstage';
import * as checker from 'warpstage/check';
import { tracePage } from '#warpstage/timeline/page.js';
import { checkAll, type Outcome, timeSchedule } from '../actions.ts';
import { plotOf, runCase } from '../arrays.ts';
import type { Program } from '../program.ts';
import { puzzles } from './all.ts';
import type { Goal } from './puzzle.ts';

type KernelGoal = Extract<Goal, { kind: 'kernel' }>;
type ScheduleGoal = Extract<Goal, { kind: 'schedule' }>;

const wrong = (summary: string, more: Partial<Outcome> = {}): Outcome => ({
  isGood: false,
  summary,
  text: '',
  marks: [],
  ...more,
});
const solved = (more: Partial<Outcome> = {}): Outcome => ({ ...wrong('Solved.', more), isGood: true });

export async function judge(name: string, program: Program): Promise<Outcome> {
  const { goal } = puzzles.find((one) => one.name === name)!;
  return goal.kind === 'kernel' ? judgeKernel(goal, program) : judgeSchedule(goal, program);
}

async function judgeKernel({ trials, steps }: KernelGoal, program: Program): Promise<Outcome> {
  const kernel = program.checks[0]?.kernel;
  if (kernel === undefined) return wrong('The program exports no check case.');
  const cases = trials().map(({ launch, expected }) => ({
    expected,
    case: { kind: 'check-case', kernel, launch: launch as never, options: {} } as checker.CheckCase,
  }));
  const device = await open('cpu');
  try {
    for (const { case: one, expected } of cases) {
      const { results } = await runCase(device, one);
      for (const [array, values] of Object.entries(expected)) {
        const found = results.get(array)!;
        const at = values.findIndex((value, i) => !Object.is(value, found[i]));
        if (at < 0) continue;
        const { text, marks } = checkAll(checker, [one], program);
        return wrong(`${array}[${at}] is ${found[at]}, and should be ${values[at]}.`, {
          text,
          marks,
          plots: [plotOf(`${array}, yours`, found), plotOf(`${array}, as it should be`, values)],
        });
      }
    }
  } finally {
    await device.close();
  }
  const checked = checkAll(
    checker,
    cases.map((one) => one.case),
    program,
  );
  if (!checked.isGood) return { ...checked, ...stagesOf(cases[0]!.case) };
  if (steps === undefined) return solved({ text: checked.summary });
  const { spans, page } = stagesOf(cases[0]!.case);
  const taken = lengthOf(spans);
  if (taken > steps)
    return wrong(`The result is right, but nothing overlaps: ${taken} steps, and ${steps} are enough.`, {
      page,
    });
  return solved({ text: `${checked.summary}; ${taken} steps`, page });
}

/** What the stages do, for a picture. A kernel without stages, or one that stops, has none. */
function stagesOf({ kernel, launch }: checker.CheckCase): { spans: Span[]; page: string } {
  const spans = checker.traceStages(kernel, launch);
  return {
    spans,
    page: tracePage([{ title: 'stages of the first block', facts: {}, unit: 'steps', spans }]),
  };
}

const lengthOf = (spans: readonly Span[]) =>
  Math.max(...spans.map(({ ended }) => ended)) - Math.min(...spans.map(({ started }) => started));

async function judgeSchedule(goal: ScheduleGoal, { schedule }: Program): Promise<Outcome> {
  if (schedule === undefined) return wrong('The program exports no schedule.');
  let host: Float32Array = new Float32Array();
  const issue = async (device: Device) => {
    const pinned = device.allocPinned('f32', goal.length);
    pinned.array.set(Float32Array.from({ length: goal.length }, (_, i) => i % 1000));
    await schedule(device, pinned);
    await device.synchronize();
    host = pinned.array.slice();
  };
  const { title, spans, milliseconds } = await timeSchedule(issue, goal.device);
  const page = tracePage([{ title, facts: {}, spans }]);
  const at = host.findIndex((value, i) => value !== goal.becomes(i % 1000));
  if (at >= 0)
    return wrong(`host[${at}] is ${host[at]}, and should be ${goal.becomes(at % 1000)}.`, { page });
  const taken = `${milliseconds.toFixed(3)} ms`;
  if (milliseconds > goal.milliseconds)
    return wrong(`The result is right, but it takes ${taken}, and ${goal.milliseconds} ms are enough.`, {
      page,
    });
  return solved({ text: taken, page });
}
