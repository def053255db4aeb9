// The package and the course in Firefox, which is driven by WebDriver BiDi.

import { existsSync } from 'node:fs';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { puzzles } from '../../playground/src/puzzles/all.ts';
import { atLength, partOf } from '../support/thorough.ts';
import { bundleForBrowser } from './bundle.ts';
import { casesOf } from './cases-in-page.ts';
import { askToJudge, checkPuzzle, courseFiles, emptyPage } from './course.ts';
import { expectedOfJobs } from './expected-of-jobs.ts';
import { type Served, serve } from './serve.ts';
import { expectedOfThreads } from './threads-in-page.ts';

const executable = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync);

describe.skipIf(executable === undefined)('in Firefox', () => {
  const problems: string[] = [];
  let browser: Browser;
  let served: Served;
  beforeAll(async () => {
    const cases = await bundleForBrowser(
      `import { runCases } from './cases-in-page.ts';
       import { runOnThreads } from './threads-in-page.ts';
       Object.assign(globalThis, { runCases, runOnThreads });
       globalThis.onmessage = async ({ data }) => postMessage(await runCases(...data));`,
      { entryNames: 'cases/main', chunkNames: 'cases/[name]-[hash]' },
    );
    const course = atLength ? await courseFiles() : [];
    const jobs = await bundleForBrowser(
      "import { runJobs } from './jobs-in-page.ts'; globalThis.runJobs = runJobs;",
      { entryNames: 'jobs/main', chunkNames: 'jobs/[name]-[hash]' },
    );
    const empty = ['cases/index.html', 'jobs/index.html'].map((name) => [name, emptyPage] as const);
    served = await serve(new Map([...course, ...cases, ...jobs, ...empty]));
    browser = await puppeteer.launch({ browser: 'firefox', executablePath: executable!, headless: true });
  });
  afterAll(async () => {
    await browser?.close();
    await served.close();
    expect(problems).toEqual([]);
  });

  const show = async (path: string): Promise<Page> => {
    const page = await browser.newPage();
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(served.url + path);
    await page.waitForFunction(() => ['runCases', 'runJobs', 'judge'].some((name) => name in globalThis));
    return page;
  };

  /** Each case has its turn in one of them as WebAssembly; the last turn is that of a window, below. */
  const ways = [
    ['cases/', 'cpu', {}, 0],
    ['cases/', 'cpu', { target: 'interpreter' }, 0],
    ['cases/', 'model:h200', {}, 1],
    ['isolated/cases/', 'cpu', { threads: 3 }, 2],
  ] as const;
  test.each(partOf(ways, 0))(
    'does the conformance cases in a worker: %s %s %o',
    async (path, name, options, turn) => {
      const page = await show(path);
      const result = await page.evaluate(
        (request) =>
          new Promise<{ ran: number; problems: string[] }>((resolve, reject) => {
            const worker = new Worker('main.js', { type: 'module' });
            worker.onmessage = ({ data }) => resolve(data);
            worker.onerror = (event) => reject(new Error(event.message));
            worker.postMessage(request);
          }),
        [name, options, turn],
      );
      expect(result.problems).toEqual([]);
      expect(result.ran).toBe(casesOf(turn));
      await page.close();
    },
  );

  test('has threads where a window of an isolated page opens the device', async () => {
    const page = await show('isolated/cases/');
    expect(
      await page.evaluate(
        (stops) => (globalThis as never as typeof import('./threads-in-page.ts')).runOnThreads(stops),
        atLength,
      ),
    ).toEqual(expectedOfThreads);
    if (atLength) {
      const { ran, threads, problems } = await page.evaluate(() =>
        (globalThis as never as typeof import('./cases-in-page.ts')).runCases('cpu', { threads: 3 }, 3),
      );
      expect([ran, threads, problems]).toEqual([casesOf(3), 3, []]);
    }
    await page.close();
  });

  test('runs jobs over arrays and streams', async () => {
    const page = await show('jobs/');
    const results = await page.evaluate(() =>
      (globalThis as never as typeof import('./jobs-in-page.ts')).runJobs(),
    );
    expect(results).toEqual(expectedOfJobs);
    await page.close();
  });

  test.runIf(atLength)('judges the puzzles of the course', async () => {
    const page = await show('course.html');
    for (const puzzle of puzzles)
      await checkPuzzle((question) => page.evaluate(askToJudge, question), puzzle);
    await page.close();
  });
});
