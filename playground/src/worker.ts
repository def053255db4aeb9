// The worker of the playground: programs run here, so that the page stays responsive, and can end one that does not.

import { actions, marksOf, type Outcome } from './actions.ts';
import { load, type Program } from './program.ts';
import type { Answer, Question } from './protocol.ts';

/** What is wrong with a program's text, as a parser says: at the end is the place, `(3:7)`. */
function failed(error: unknown, program: Program | null): Outcome {
  const message = error instanceof Error ? error.message : String(error);
  const marks = marksOf(error, program);
  const [, line] = /\((\d+):\d+\)$/.exec(message) ?? [];
  if (marks.length === 0 && line !== undefined)
    marks.push({ line: Number(line), severity: 'error', message });
  const [summary = '', ...rest] = message.split('\n');
  return { isGood: false, summary, text: rest.join('\n'), marks };
}

async function answer({ action, source, puzzle }: Question): Promise<Outcome> {
  let program: Program | null = null;
  try {
    program = await load(source, import.meta.url);
    if (action !== 'judge') return await actions[action](program);
    const { judge } = await import('./puzzles/judge.ts');
    return await judge(puzzle!, program);
  } catch (error) {
    return failed(error, program);
  }
}

addEventListener('message', async ({ data }: MessageEvent<Question>) => {
  postMessage({ ...(await answer(data)), id: data.id } satisfies Answer);
});
