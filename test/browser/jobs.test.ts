// Jobs in a browser: what they give over arrays and streams, and what is refused there because it is about files.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { describePage, Pages } from '../timeline/pages.ts';
import { bundleForBrowser } from './bundle.ts';
import { emptyPage } from './course.ts';
import { expectedOfJobs, refusals } from './expected-of-jobs.ts';
import { runJobs } from './jobs-in-page.ts';
import { type Served, serve } from './serve.ts';

type Jobs = typeof import('./jobs-in-page.ts');

test('the jobs of the page do the same in Node', async () => {
  expect(await runJobs()).toEqual(expectedOfJobs);
});

describePage('in Chromium', () => {
  const pages = new Pages();
  let served: Served;
  beforeAll(async () => {
    const files = await bundleForBrowser(
      "import { refusedJobs, runJobs } from './jobs-in-page.ts'; Object.assign(globalThis, { refusedJobs, runJobs });",
    );
    served = await serve(new Map([...files, ['index.html', emptyPage]]));
  });
  afterAll(() => served.close());

  test('runs jobs over arrays and streams, and refuses files', async () => {
    const page = await pages.another();
    await page.goto(served.url);
    await page.waitForFunction(() => 'runJobs' in globalThis);
    const results = await page.evaluate(() => (globalThis as never as Jobs).runJobs());
    expect(results).toEqual(expectedOfJobs);
    const refused = await page.evaluate(() => (globalThis as never as Jobs).refusedJobs());
    expect(refused).toEqual(refusals);
    await page.close();
  });
});
