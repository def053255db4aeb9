// Makes the pictures of the docs: timelines of the post's schedules, as the page shows them.
//
// usage: npm run build && node scripts/screenshots.mjs
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createJiti } from 'jiti';
import { chromium } from 'playwright-core';
import { tracePage } from 'warpstage';
import { traceStages } from 'warpstage/check';

const root = resolve(import.meta.dirname, '..');
const executablePath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path));
const folder = mkdtempSync(join(tmpdir(), 'warpstage-pictures-'));
const cli = (...args) => execFileSync(process.execPath, [join(root, 'dist/cli/main.js'), ...args]);

try {
  cli('overlap', '--device', 'model:c2050', '--trace', folder);
  const pair = join(folder, 'pair.html');
  cli('trace', join(folder, 'model-c2050-V1.json'), join(folder, 'model-c2050-V2.json'), '-o', pair);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: { width: 1100, height: 780 }, colorScheme });
    await page.goto(pathToFileURL(pair).href);
    // The third kernel of V1, and what it waited for.
    for (const key of ['ArrowRight', 'ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    await page.locator('#summary table').first().waitFor();
    // It would cover the arrows.
    await page.locator('#tooltip').evaluate((tooltip) => tooltip.remove());
    await page.screenshot({ path: join(root, `docs/images/timeline-${colorScheme}.png`) });
    await page.close();
  }
  const { withStagingUnified } = await createJiti(import.meta.url).import(
    '../examples/guide/staging-unified.ts',
  );
  const traces = [1, 2].map((stagesCount) => {
    const [block, batchCount] = [64, 6];
    const length = block * batchCount;
    const launch = {
      grid: 1,
      block,
      arguments: { globalOut: { length }, globalIn: { length }, batchCount, stagesCount },
    };
    const title = `withStagingUnified, ${stagesCount} ${stagesCount === 1 ? 'stage' : 'stages'}`;
    return {
      title,
      facts: {},
      unit: 'steps',
      spans: traceStages(withStagingUnified, launch, { copyLatency: 8 }),
    };
  });
  const stages = join(folder, 'stages.html');
  writeFileSync(stages, tracePage(traces));
  const page = await browser.newPage({ viewport: { width: 1100, height: 560 }, colorScheme: 'light' });
  await page.goto(pathToFileURL(stages).href);
  await page.keyboard.press('e');
  await page.locator('#summary table').first().waitFor();
  await page.locator('#stage').screenshot({ path: join(root, 'docs/images/stages.png') });
  await browser.close();
} finally {
  rmSync(folder, { recursive: true });
}
