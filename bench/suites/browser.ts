// What a browser takes: the guide's unified kernel over 1 Mi elements in a worker of a page, and in Node on one thread, in
// turn; and the time from opening the playground to its first verdict, each time in a profile of its own.

import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { buildPlayground } from '../../playground/build.mjs';
import { bundleForBrowser } from '../../test/browser/bundle.ts';
import { serve } from '../../test/browser/serve.ts';
import type { Suite } from '../main.ts';
import { inTurn, median, type Row } from '../measure.ts';
import { prepare } from '../programs/unified.ts';

/** Does something with a browser and a server of files. */
async function inBrowser<T>(
  files: ReadonlyMap<string, string>,
  work: (browser: Browser, url: string) => Promise<T>,
): Promise<T> {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path));
  if (executablePath === undefined) throw new Error('there is no Chromium');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const served = await serve(files);
  try {
    return await work(browser, served.url);
  } finally {
    await browser.close();
    await served.close();
  }
}

async function unified(): Promise<Row[]> {
  const files = await bundleForBrowser(
    `import { prepare } from '../../bench/programs/unified.ts';
     const run = await prepare();
     postMessage(0);
     globalThis.onmessage = async () => postMessage(await run());`,
  );
  files.set('index.html', '<!doctype html><title>t</title><link rel="icon" href="data:,">');
  const inNode = await prepare();
  return await inBrowser(files, async (browser, url) => {
    const page = await browser.newPage();
    await page.goto(url);
    /** Starts the worker with the first message from it, and asks it later. */
    const inPage = () =>
      page.evaluate(() => {
        const own = globalThis as { worker?: Worker };
        const isStarted = own.worker !== undefined;
        own.worker ??= new Worker('main.js', { type: 'module' });
        return new Promise<number>((resolve, reject) => {
          own.worker!.onmessage = ({ data }) => resolve(data);
          own.worker!.onerror = (event) => reject(new Error(event.message));
          if (isStarted) own.worker!.postMessage(null);
        });
      });
    await inPage();
    return await inTurn(
      { suite: 'browser', work: 'unified kernel, 1 Mi elements', bytes: 2 ** 23 },
      { 'a page of Chromium': inPage, 'Node, one thread': inNode },
      41,
    );
  });
}

const asked = 2;

async function verdict(): Promise<Row[]> {
  const seconds = await inBrowser(await buildPlayground(), async (browser, url) => {
    const times: number[] = [];
    for (let round = -1; round < 9; round++) {
      const context = await browser.newContext();
      const page = await context.newPage();
      const begin = performance.now();
      await page.goto(url);
      await page.locator('body[data-ready]').waitFor();
      await page.getByRole('button', { name: 'Check', exact: true }).click();
      await page.locator('#output[data-state="good"]').waitFor();
      if (round >= 0) times.push((performance.now() - begin) / 1000);
      await context.close();
    }
    return median(times);
  });
  const names = { suite: 'browser', work: 'playground', bytes: 0 };
  return [
    { ...names, variant: 'opened, to the first verdict', against: '2 s', ratio: asked / seconds, seconds },
  ];
}

export const suite: Suite = { unified, verdict };
