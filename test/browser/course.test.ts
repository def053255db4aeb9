// The course in Chromium.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { puzzles } from '../../playground/src/puzzles/all.ts';
import { everyOf } from '../support/thorough.ts';
import { describePage, Pages } from '../timeline/pages.ts';
import { askToJudge, checkPuzzle, courseFiles } from './course.ts';
import { type Served, serve } from './serve.ts';

test('there are puzzles enough, each with mistakes, and no two of a name', () => {
  expect(puzzles.length).toBeGreaterThanOrEqual(24);
  expect(new Set(puzzles.map(({ name }) => name)).size).toBe(puzzles.length);
  for (const { mistakes } of puzzles) expect(mistakes.length).toBeGreaterThan(1);
});

describePage('in Chromium', () => {
  const pages = new Pages();
  let served: Served;
  let page: Page;
  beforeAll(async () => {
    served = await serve(await courseFiles());
    page = await pages.another();
    await page.goto(`${served.url}course.html`);
    await page.waitForFunction(() => 'judge' in globalThis);
  });
  afterAll(() => served.close());

  test.each(everyOf(3, puzzles).map((puzzle) => [puzzle.name, puzzle] as const))('%s', async (_, puzzle) => {
    await checkPuzzle((question) => page.evaluate(askToJudge, question), puzzle);
  });

  test('a reader tries, takes a hint, and looks at the solution', async () => {
    const reader = await pages.another();
    await reader.goto(`${served.url}#puzzle=overlap`);
    await reader.locator('body[data-ready]').waitFor();
    const press = (name: string) => reader.getByRole('button', { name, exact: true }).click();
    await press('Try');
    await reader.locator('#output[data-state="bad"]').waitFor();
    expect(await reader.locator('#output .summary').textContent()).toContain('nothing overlaps');
    await reader.frameLocator('iframe').locator('#timeline[data-window]').waitFor();
    await press('Hint');
    expect(await reader.locator('#hint-text').isVisible()).toBe(true);
    await press('Solution');
    await press('Try');
    await reader.locator('#output[data-state="good"]').waitFor();
    await reader.close();
  });
});
