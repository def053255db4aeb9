// The course, as a test goes through it in any browser: every puzzle begins unsolved, its solution solves it, and every
// common mistake fails with what its puzzle says of it, and with something to see.

import { expect } from 'vitest';
import { buildPlayground } from '../../playground/build.mjs';
import type { Answer } from '../../playground/src/protocol.ts';
import { edited, type Puzzle } from '../../playground/src/puzzles/puzzle.ts';
import { bundleForBrowser } from './bundle.ts';

/** A page without anything on it, which loads `main.js`. */
export const emptyPage =
  '<!doctype html><title>t</title><link rel="icon" href="data:,"><script type="module" src="main.js"></script>';

/** The playground, and a page `course.html` that judges: `judge([puzzle, source])`. */
export async function courseFiles(): Promise<Map<string, string>> {
  const client = await bundleForBrowser(
    `import { Client } from '../../playground/src/client.ts';
     const client = new Client();
     globalThis.judge = ([puzzle, source]) => client.ask('judge', source, puzzle);`,
  );
  return new Map([...(await buildPlayground()), ...client, ['course.html', emptyPage]]);
}

/** What `judge` of such a page is called by. */
export const askToJudge = (question: readonly string[]) =>
  (globalThis as never as { judge(question: readonly string[]): Promise<Answer> }).judge(question);

export async function checkPuzzle(
  judge: (question: readonly string[]) => Promise<Answer>,
  { name, solution, gaps, mistakes }: Puzzle,
): Promise<void> {
  const solved = await judge([name, solution]);
  expect(solved.summary).toBe('Solved.');
  expect(solved.isGood).toBe(true);
  expect((await judge([name, edited(solution, gaps)])).isGood).toBe(false);
  for (const { what, edits, says } of mistakes) {
    const { isGood, summary, text, plots, page, marks } = await judge([name, edited(solution, edits)]);
    expect(isGood, what).toBe(false);
    expect(`${summary}\n${text}`, what).toContain(says);
    expect(plots !== undefined || page !== undefined || marks.length > 0, what).toBe(true);
  }
}
