// What recording a timeline costs, and how quickly the page draws 100,000 operations.
//
// `recording`: the post's schedule on the CPU, copies and kernels over four streams, with its spans recorded,
// with a block's stages besides, and without, in turn. `page`: the time that a picture takes in
// Chromium, for the whole and for a hundredth of it, against the 16.7 ms of a frame.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { open, type Span, tracePage } from 'warpstage';
import type { Suite } from '../main.ts';
import { inTurn, median, type Row } from '../measure.ts';
import { scheduleOn } from '../schedule.ts';

async function recording(): Promise<Row[]> {
  await using device = await open('cpu');
  using schedule = scheduleOn(device, { chunks: 200, length: 2 ** 15 });
  const { run, bytes } = schedule;
  const recorded = (stages: boolean) => async () => {
    let spans = 0;
    device.recorder = () => ++spans;
    device.recording = stages ? { stages: { block: 0 } } : {};
    const seconds = await run();
    device.recorder = null;
    device.recording = {};
    if (spans !== 600) throw new Error(`${spans} spans`);
    return seconds;
  };
  return await inTurn(
    { suite: 'timeline', work: 'recording, 600 operations', bytes },
    { 'with spans': recorded(false), 'with spans and stages': recorded(true), 'nothing recorded': run },
    201,
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
