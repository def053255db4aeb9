// What axe says of the playground in Chromium, light and dark.

import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPlayground } from '../../playground/build.mjs';
import { partOf } from '../support/thorough.ts';
import { describePage, Pages } from '../timeline/pages.ts';
import { type Served, serve } from './serve.ts';

describePage('in Chromium', () => {
  const pages = new Pages();
  let served: Served;
  beforeAll(async () => {
    served = await serve(await buildPlayground());
  });
  afterAll(() => served.close());

  test.each(partOf(['light', 'dark'] as const, 1))('has nothing that axe finds, %s', async (colorScheme) => {
    const page = await pages.blank({ colorScheme });
    await page.goto(`${served.url}#example=race`);
    await page.locator('body[data-ready]').waitFor();
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.locator('#output[data-state="bad"]').waitFor();
    await page.addScriptTag({ path: createRequire(import.meta.url).resolve('axe-core') });
    const found = await page.evaluate(async () => {
      const { violations } = await (globalThis as never as { axe: typeof import('axe-core') }).axe.run();
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    });
    expect(found).toEqual([]);
  });
});
