// The course in Chromium: every puzzle begins unsolved, its solution solves it, and every common mistake fails with what
// its puzzle says of it, and with something to see.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPlayground } from '../../playground/build.mjs';
import type { Answer } from '../../playground/src/protocol.ts';
import { puzzles } from '../../playground/src/puzzles/all.ts';
import { edited } from '../../playground/src/puzzles/puzzle.ts';
import { describePage, Pages } from '../timeline/pages.ts';
import { bundleForBrowser } from './bundle.ts';
import { type Served, serve } from './serve.ts';

const files = await buildPlayground();

test('there are puzzles enough, each with mistakes, and no two of a name', () => {
  expect(puzzles.length).toBeGreaterThanOrEqual(12);
  expect(new Set(puzzles.map(({ name }) => name)).size).toBe(puzzles.length);
  for (const { mistakes } of puzzles) expect(mistakes.length).toBeGreaterThan(1);
});

describePage('in Chromium', () => {
  const pages = new Pages();
  let served: Served;
  let judge: (puzzle: string, source: string) => Promise<Answer>;
  beforeAll(async () => {
    const client = await bundleForBrowser(
      `import { Client } from '../../playground/src/client.ts';
       const client = new Client();
       globalThis.judge = ([puzzle, source]) => client.ask('judge', source, puzzle);`,
    );
    const html =
      '<!doctype html><title>t</title><link rel="icon" href="data:,"><script type="module" src="main.js"></script>';
    served = await serve(new Map([...files, ...client, ['course.html', html]]));
    const page = await pages.browser.newPage();
    page.on('pageerror', (error) => pages.problems.push(error.message));
    await page.goto(`${served.url}course.html`);
    await page.waitForFunction(() => 'judge' in globalThis);
    judge = (...question) =>
      page.evaluate(
        (given) => (globalThis as never as { judge(given: unknown): Promise<Answer> }).judge(given),
        question,
      );
  });
  afterAll(() => served.close());

  test.each(puzzles.map((puzzle) => [puzzle.name, puzzle] as const))('%s', async (name, puzzle) => {
    const solved = await judge(name, puzzle.solution);
    expect(solved.summary).toBe('Solved.');
    expect(solved.isGood).toBe(true);
    expect((await judge(name, edited(puzzle.solution, puzzle.gaps))).isGood).toBe(false);
    for (const { what, edits, says } of puzzle.mistakes) {
      const { isGood, summary, text, plots, page, marks } = await judge(name, edited(puzzle.solution, edits));
      expect(isGood, what).toBe(false);
      expect(`${summary}\n${text}`, what).toContain(says);
      expect(plots !== undefined || page !== undefined || marks.length > 0, what).toBe(true);
    }
  });

  test('a reader tries, takes a hint, and looks at the solution', async () => {
    const page = await pages.browser.newPage();
    page.on('pageerror', (error) => pages.problems.push(error.message));
    await page.goto(`${served.url}#puzzle=overlap`);
    await page.locator('body[data-ready]').waitFor();
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.locator('#output[data-state="bad"]').waitFor();
    expect(await page.locator('#output .summary').textContent()).toContain('nothing overlaps');
    await page.frameLocator('iframe').locator('#timeline[data-window]').waitFor();
    await page.getByRole('button', { name: 'Hint', exact: true }).click();
    expect(await page.locator('#hint-text').isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Solution', exact: true }).click();
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.locator('#output[data-state="good"]').waitFor();
    await page.close();
  });
});
