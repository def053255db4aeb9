// The timeline's page, opened in Chromium for the tests. Whatever the page logs, throws or asks the network for fails them.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type Span, tracePage } from 'warpstage';

const executable = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);

/** Describes tests of the page, which are skipped where there is no Chromium. */
export const describePage = describe.skipIf(executable === undefined);

/** A schedule of `chunks` chunks over three engines and two streams, a millisecond each step. */
export function schedule(chunks: number, step = 1): Span[] {
  const steps = [
    ['memcpy host to device', 'copy in'],
    ['scale', 'compute'],
    ['memcpy device to host', 'copy out'],
  ] as const;
  return Array.from({ length: chunks }, (_, chunk) =>
    steps.map(([name, engine], i): Span => {
      const started = 10 + (chunk + i) * step;
      return {
        name,
        engine,
        stream: `stream ${(chunk % 2) + 1}`,
        queued: 10,
        started,
        ended: started + step,
        id: chunk * 3 + i + 1,
        after: i === 0 ? [] : [chunk * 3 + i],
        ...(engine === 'compute' ? { grid: [64, 1, 1] as const } : { bytes: 2 ** 20 }),
      };
    }),
  ).flat();
}

/** A single trace of four chunks. */
export const one = [{ title: 'a schedule', facts: { depth: 2 }, spans: schedule(4) }];

/** Pages of one browser, for the tests of the suite that calls it. */
export class Pages {
  #browser!: Browser;
  #folder!: string;
  /** What pages did that they may not do. */
  readonly problems: string[] = [];

  constructor() {
    beforeAll(async () => {
      this.#browser = await chromium.launch({ executablePath: executable!, args: ['--no-sandbox'] });
      this.#folder = mkdtempSync(join(tmpdir(), 'warpstage-page-'));
    }, 60_000);
    afterAll(async () => {
      await this.#browser?.close();
      rmSync(this.#folder, { recursive: true, force: true });
      expect(this.problems).toEqual([]);
    });
  }

  get browser(): Browser {
    return this.#browser;
  }

  /** A page that shows traces, and is drawn. */
  async show(traces: Parameters<typeof tracePage>[0], dark = false): Promise<Page> {
    const file = join(this.#folder, `${Math.random()}.html`);
    writeFileSync(file, tracePage(traces));
    const page = await this.#browser.newPage({
      viewport: { width: 1132, height: 800 },
      colorScheme: dark ? 'dark' : 'light',
    });
    page.on('pageerror', (error) => this.problems.push(error.message));
    page.on('console', (message) => this.problems.push(message.text()));
    page.on('request', (request) => {
      if (!request.url().startsWith('file:') && !request.url().startsWith('data:'))
        this.problems.push(request.url());
    });
    await page.goto(pathToFileURL(file).href);
    await page.locator('#timeline[data-window]').waitFor();
    return page;
  }
}

/** The milliseconds that a page shows. */
export async function windowOf(page: Page): Promise<{ from: number; to: number }> {
  // A picture is drawn in the next frame.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  const [from, to] = (await page.locator('#timeline').getAttribute('data-window'))!.split(' ').map(Number);
  return { from: from!, to: to! };
}

/** Where a time is on the page. */
export async function positionOf(page: Page, time: number): Promise<number> {
  const { from, to } = await windowOf(page);
  return 132 + ((time - from) / (to - from)) * 1000;
}

/** Where the first lane of a single trace is: below the axis. The next is below its row and its chart of bandwidth. */
export const rowTop = 26;
export const nextLane = 54;
