// The playground in Chromium: its size, what its buttons do, its address, its marks, and that it works offline.

import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPlayground } from '../../playground/build.mjs';
import { describePage, Pages } from '../timeline/pages.ts';
import { type Served, serve } from './serve.ts';

const files = await buildPlayground();

/** KiB, compressed, of files and of what they load with their first line. */
function sizeOf(...names: readonly string[]): number {
  const loaded = new Set(names);
  for (const name of loaded)
    for (const [, next] of files.get(name)!.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) loaded.add(next!);
  const bytes = [...loaded].map((name) => gzipSync(files.get(name)!).length);
  return bytes.reduce((sum, one) => sum + one, 0) / 1024;
}

/** A program of one kernel. */
const sample = `import { kernel } from 'warpstage';
import { checkCase } from 'warpstage/check';
const one = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
  y[cuda.threadIdx.x] = 1;
});
export const checks = [checkCase(one, { grid: 1, block: 32, arguments: { y: { length: 32 } } })];`;

test('the page is small, and so is all that a verdict takes', () => {
  expect(sizeOf('page.js')).toBeLessThan(250);
  expect(sizeOf('page.js', 'worker.js', 'warpstage.js', 'check.js')).toBeLessThan(400);
});

describePage('in Chromium', () => {
  const pages = new Pages();
  let served: Served;
  beforeAll(async () => {
    served = await serve(files);
  });
  afterAll(() => served.close());

  const open = async (hash = '') => {
    const page = await pages.blank();
    await page.goto(served.url + hash);
    await page.locator('body[data-ready]').waitFor();
    return page;
  };
  /** Presses a button, and waits for what comes of it. */
  const press = async (page: Page, button: string) => {
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.locator('#output[data-state="good"], #output[data-state="bad"]').waitFor();
    return {
      state: await page.locator('#output').getAttribute('data-state'),
      text: (await page.locator('#output').textContent())!,
    };
  };
  const write = (page: Page, text: string) => page.locator('.cm-content').fill(text);

  test('runs a kernel, and draws what it wrote', async () => {
    const page = await open();
    const { state, text } = await press(page, 'Run');
    expect(state).toBe('good');
    expect(text).toMatch(/ran on wasm.* in \d+\.\d\d ms\..*y: 1000 elements, from -1 to 1/s);
    expect((await page.locator('#output polygon').getAttribute('points'))!.split(' ').length).toBe(2 * 334);
  });

  test('checks a kernel, and marks the line of a race', async () => {
    const page = await open('#example=race');
    const { state, text } = await press(page, 'Check');
    expect(state).toBe('bad');
    expect(text).toMatch(/in 8 schedules: 1 finding/);
    const marked = (severity: string) =>
      page.locator('.cm-line', { has: page.locator(`.cm-lintRange-${severity}`) }).allTextContents();
    const lines = [...(await marked('error')), ...(await marked('info'))].map((line) => line.trim());
    expect(lines.sort()).toEqual(['part[t] = y[first + t]!;', 'y[first + t] = part[127 - t]!;']);
  });

  test('says that a kernel is clean, and has loaded little by then', async () => {
    const before = served.asked.length;
    const page = await open();
    expect(await press(page, 'Check')).toMatchObject({
      state: 'good',
      text: expect.stringContaining('in 8 schedules: no finding'),
    });
    const loaded = served.asked.slice(before).map((name) => name || 'index.html');
    expect(loaded).toContain('check.js');
    const bytes = loaded.map((name) => gzipSync(files.get(name)!).length);
    expect(bytes.reduce((sum, one) => sum + one, 0) / 1024).toBeLessThan(410);
  });

  test('shows the stages of a pipeline', async () => {
    const page = await open('#example=pipeline');
    expect((await press(page, 'Stages')).state).toBe('good');
    const timeline = page.frameLocator('iframe');
    await timeline.locator('#timeline[data-window]').waitFor();
    expect(await timeline.locator('h1').textContent()).toBe('case 1 and case 2');
    // By then it would have changed its address, which it has none of in here.
    await page.waitForTimeout(400);
  });

  test('shows a schedule on three generations', async () => {
    const page = await open('#example=streams');
    const { state, text } = await press(page, 'Schedule');
    expect(state).toBe('good');
    expect(text).toMatch(/C1060: [\d.]+ ms; .*C2050: [\d.]+ ms; .*H200: [\d.]+ ms/);
    const [first, second, third] = [...text.matchAll(/: ([\d.]+) ms/g)].map(([, time]) => Number(time));
    expect(first).toBeGreaterThan(second!);
    expect(second).toBeGreaterThan(third!);
    await page.frameLocator('iframe').locator('#timeline[data-window]').waitFor();
  });

  test('a program may make a timeline’s page itself', async () => {
    const page = await open();
    await write(
      page,
      `import { tracePage } from 'warpstage';
       export async function schedule(device) {
         device.print(tracePage([{ title: 'mine', facts: {}, spans: [] }]).slice(0, 15));
       }`,
    );
    expect(await press(page, 'Run')).toMatchObject({
      state: 'good',
      text: expect.stringContaining('<!doctype html>'),
    });
  });

  test('shows what a kernel becomes', async () => {
    const page = await open();
    const { state, text } = await press(page, 'Emitted');
    expect(state).toBe('good');
    for (const part of ['__global__', '(module', 'kernel(']) expect(text).toContain(part);
  });

  test('marks what does not compile while one writes, and what is no program', async () => {
    const page = await open();
    await write(
      page,
      `import { kernel } from 'warpstage';
       import { checkCase } from 'warpstage/check';
       const bad = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
         y[cuda.threadIdx.x] = factor;
       });
       export const checks = [checkCase(bad, { grid: 1, block: 32, arguments: { y: { length: 32 } } })];`,
    );
    const marked = page.locator('.cm-line', { has: page.locator('.cm-lintRange-error') });
    await marked.waitFor();
    expect((await marked.textContent())!.trim()).toBe('y[cuda.threadIdx.x] = factor;');
    expect((await press(page, 'Run')).text).toContain('WS1002');
    await write(page, 'const = 1;');
    expect((await press(page, 'Run')).state).toBe('bad');
  });

  test('ends a program that does not end by itself, and runs the next', async () => {
    const page = await open();
    await write(page, 'for (;;);');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('#output[data-state="working"]').waitFor();
    expect(await press(page, 'Stop')).toMatchObject({
      state: 'bad',
      text: expect.stringContaining('Ended.'),
    });
    await write(page, sample);
    expect((await press(page, 'Run')).state).toBe('good');
  });

  test('offers the kernel language’s names', async () => {
    const page = await open();
    await write(page, '');
    await page.locator('.cm-content').pressSequentially('cuda.memcpyA');
    await page.locator('.cm-tooltip-autocomplete').waitFor();
    expect(await page.locator('.cm-tooltip-autocomplete').textContent()).toContain('memcpyAsync');
  });

  test('keeps a program in its address', async () => {
    const page = await open();
    const program = "console.log('⊕ a program');";
    await write(page, program);
    await press(page, 'Share');
    const other = await pages.another();
    await other.goto(page.url());
    await other.locator('body[data-ready]').waitFor();
    expect(await other.locator('.cm-content').textContent()).toBe(program);
    await other.close();
  });

  test('is isolated from the second load on, and works without a network', async () => {
    const context = await pages.browser.newContext();
    const page = await context.newPage();
    await page.goto(served.url);
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(false);
    await page.evaluate(async () => {
      const { active } = await navigator.serviceWorker.ready;
      if (active?.state !== 'activated')
        await new Promise((resolve) => active!.addEventListener('statechange', resolve, { once: true }));
    });
    for (const isOffline of [false, true]) {
      await context.setOffline(isOffline);
      await page.reload();
      await page.locator('body[data-ready]').waitFor();
      expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
      expect((await press(page, 'Check')).state).toBe('good');
    }
    await context.close();
  });
});
