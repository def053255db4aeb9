// What recording a timeline costs a job, and how quickly the page draws 100,000 operations.
//
// `recording`: the same job with and without spans, in turn. `page`: the time that a picture takes in
// Chromium, for the whole and for a hundredth of it, against the 16.7 ms of a frame.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { open, run, type Span, tracePage } from 'warpstage';
import { affine } from '../../examples/affine.ts';
import type { Suite } from '../main.ts';
import { inTurn, median, type Row } from '../measure.ts';

async function recording(): Promise<Row[]> {
  await using device = await open('cpu');
  const input = new Float32Array(2 ** 24).fill(1);
  const output = new Float32Array(input.length);
  const variant = (trace: boolean) => () =>
    // Small chunks, so that there are many spans.
    run(affine, { input, output, device, chunk: '256KiB', trace });
  return await inTurn(
    { suite: 'timeline', work: 'recording', bytes: 8 * input.length },
    { 'with spans': variant(true), 'without spans': variant(false) },
    61,
  );
}

const frame = 1 / 60;

async function page(): Promise<Row[]> {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path));
  if (executablePath === undefined) throw new Error('there is no Chromium');
  const engines = ['copy in', 'compute', 'copy out'];
  const spans = Array.from({ length: 100_000 }, (_, i): Span => {
    const started = Math.floor(i / 3) * 0.01 + (i % 3) * 0.01;
    return {
      name: engines[i % 3]!,
      engine: engines[i % 3]!,
      stream: `stream ${Math.floor(i / 3) % 4}`,
      queued: started,
      started,
      ended: started + 0.009,
    };
  });
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-page-'));
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const file = join(folder, 'many.html');
    writeFileSync(file, tracePage([{ title: 'many', facts: {}, spans }]));
    const shown = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await shown.goto(pathToFileURL(file).href);
    const canvas = shown.locator('#timeline[data-window]');
    await canvas.waitFor();
    const painted = async (key: string, times: number) => {
      const took: number[] = [];
      for (let i = 0; i < times; ++i) {
        await shown.keyboard.press(key);
        await shown.evaluate(
          () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))),
        );
        took.push(Number(await canvas.getAttribute('data-painted')) / 1000);
      }
      return median(took);
    };
    const row = (work: string, seconds: number): Row => ({
      suite: 'timeline',
      work,
      variant: 'a picture',
      against: 'a frame, 16.7 ms',
      ratio: frame / seconds,
      seconds,
      bytes: 0,
    });
    const whole = await painted('0', 20);
    const zooming = await painted('+', 16);
    return [row('page, all of 100,000', whole), row('page, zooming in', zooming)];
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
}

export const suite: Suite = { recording, page };
