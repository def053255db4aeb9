// The timeline's page, opened in Chromium for the tests. Whatever the page logs, throws or asks the network for fails them.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
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

/** How a page looks where a test does not say. */
interface Look {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
}

/**
 * One page of one browser, which the tests of the suite that calls it take in turn: each goes on from an empty page. A new
 * page takes two seconds of a processor, and a context of its own another one.
 */
export class Pages {
  #browser!: Browser;
  #context!: BrowserContext;
  #page: Page | undefined;
  #isWatched = false;
  #folder!: string;
  /** What pages did that they may not do. */
  readonly problems: string[] = [];

  constructor() {
    beforeAll(async () => {
      // Pictures are drawn by the processor anyway: without a process that does as if it were a GPU it is less work.
      const args = ['--no-sandbox', '--disable-gpu'];
      this.#browser = await chromium.launch({ executablePath: executable!, args });
      this.#context = await this.#browser.newContext({ serviceWorkers: 'block' });
      this.#folder = mkdtempSync(join(tmpdir(), 'warpstage-page-'));
    }, 60_000);
    afterAll(async () => {
      await this.#browser?.close();
      rmSync(this.#folder, { recursive: true, force: true });
      expect(this.problems).toEqual([]);
    });
  }

  /** For pages with a context of their own. */
  get browser(): Browser {
    return this.#browser;
  }

  /** Another page beside the one, which the test closes. */
  async another({ viewport = { width: 1280, height: 720 } }: Look = {}): Promise<Page> {
    const page = await this.#context.newPage();
    page.on('pageerror', (error) => this.problems.push(error.message));
    await page.setViewportSize(viewport);
    return page;
  }

  /** The page, empty. */
  async blank({ viewport = { width: 1280, height: 720 }, colorScheme = 'light' }: Look = {}): Promise<Page> {
    this.#page ??= await this.another();
    const page = this.#page;
    // A page that is left takes its workers and timers with it, which a change of the address's end would not.
    await page.goto('about:blank');
    await page.mouse.move(0, 0);
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    return page;
  }

  /** The page, which shows traces, and is drawn. Here it may log nothing and ask the network for nothing. */
  async show(traces: Parameters<typeof tracePage>[0], dark = false): Promise<Page> {
    const file = join(this.#folder, `${Math.random()}.html`);
    writeFileSync(file, tracePage(traces));
    const page = await this.blank({
      viewport: { width: 1132, height: 800 },
      colorScheme: dark ? 'dark' : 'light',
    });
    if (!this.#isWatched) this.#watch(page);
    await page.goto(pathToFileURL(file).href);
    await page.locator('#timeline[data-window]').waitFor();
    return page;
  }

  #watch(page: Page): void {
    this.#isWatched = true;
    page.on('console', (message) => this.problems.push(message.text()));
    page.on('request', (request) => {
      if (!/^(file|data|about):/.test(request.url())) this.problems.push(request.url());
    });
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
