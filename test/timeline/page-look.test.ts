// What axe says of the timeline's page in a real browser, light and dark, wide and narrow.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { everyOf } from '../support/thorough.ts';
import { describePage, Pages, schedule } from './pages.ts';

describePage('the page, in Chromium', () => {
  const pages = new Pages();

  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const looks = [
    ['light', 1132],
    ['dark', 1132],
    ['dark', 400],
    ['light', 400],
  ] as const;
  test.each(everyOf(2, looks))('axe finds nothing: %s, %i pixels wide', async (scheme, width) => {
    const traces = ['V1', 'V2'].map((title) => ({ title, facts: { depth: 2 }, spans: schedule(40) }));
    const page = await pages.show(traces, scheme === 'dark');
    await page.setViewportSize({ width, height: 760 });
    await page.keyboard.press('ArrowRight');
    // The page's own policy lets no other script in; the audit is asked through the debugger.
    await page.evaluate(axe);
    const findings = await page.evaluate(async () => {
      const { violations } = await (
        globalThis as unknown as { axe: { run(): Promise<AxeResult> } }
      ).axe.run();
      return violations.map(({ id, impact, nodes }) => ({ id, impact, at: nodes.map(({ html }) => html) }));
    });
    expect(findings).toEqual([]);
  });
});

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}
