// The timeline's page in a real browser: the overview, the charts of bandwidth, and the link to what is shown.

import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describePage, nextLane, one, Pages, positionOf, rowTop, schedule, windowOf } from './pages.ts';

describePage('the page, in Chromium', () => {
  const pages = new Pages();
  const show: Pages['show'] = (...operands) => pages.show(...operands);

  /** The mark of the overview, in shares of the strip. */
  const markOf = async (page: Page) => {
    await windowOf(page);
    const [track, mark] = [
      (await page.locator('#track').boundingBox())!,
      (await page.locator('#shown').boundingBox())!,
    ];
    return { left: (mark.x - track.x) / track.width, right: (mark.x + mark.width - track.x) / track.width };
  };
  /** What is shown, in shares of the whole. */
  const sharesOf = async (page: Page, whole: { from: number; to: number }) => {
    const { from, to } = await windowOf(page);
    const length = whole.to - whole.from;
    return { left: (from - whole.from) / length, right: (to - whole.from) / length };
  };

  test('the overview marks what is shown, and a drag or a click of it shows another part', async () => {
    const page = await show(one);
    const whole = await windowOf(page);
    expect(await markOf(page)).toEqual({ left: 0, right: 1 });
    const track = (await page.locator('#track').boundingBox())!;
    const at = (share: number) => [track.x + share * track.width, track.y + 14] as const;
    const drag = async (from: number, to: number) => {
      await page.mouse.move(...at(from));
      await page.mouse.down();
      await page.mouse.move(...at((from + to) / 2));
      await page.mouse.move(...at(to));
      await page.mouse.up();
      const [mark, shown] = [await markOf(page), await sharesOf(page, whole)];
      expect(mark.left).toBeCloseTo(Math.max(0, shown.left), 2);
      expect(mark.right).toBeCloseTo(Math.min(1, shown.right), 2);
      return shown;
    };
    // By its right edge, then whole, then by its left edge.
    expect((await drag(0.998, 0.398)).right).toBeCloseTo(0.4, 2);
    expect(await drag(0.2, 0.5)).toEqual({ left: expect.closeTo(0.3, 2), right: expect.closeTo(0.7, 2) });
    expect(await drag(0.302, 0.502)).toEqual({ left: expect.closeTo(0.5, 2), right: expect.closeTo(0.7, 2) });
    // No farther than to the end; a click beside it goes there.
    expect(await drag(0.6, 0.99)).toEqual({ left: expect.closeTo(0.8, 2), right: expect.closeTo(1, 2) });
    await page.mouse.click(...at(0.3));
    expect(await sharesOf(page, whole)).toEqual({
      left: expect.closeTo(0.2, 2),
      right: expect.closeTo(0.4, 2),
    });
  });

  test('the overview by keys, as a scroll bar', async () => {
    const page = await show(one);
    const whole = await windowOf(page);
    await page.keyboard.press('Shift+Tab');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('overview');
    const bar = page.getByRole('scrollbar', { name: 'overview' });
    for (let i = 0; i < 3; ++i) await page.keyboard.press('+');
    const length = 1 / 1.4 ** 3;
    const begins = async () => {
      const { left, right } = await sharesOf(page, whole);
      expect(right - left).toBeCloseTo(length, 9);
      expect(Number(await bar.getAttribute('aria-valuenow'))).toBeCloseTo(50 * (left + right), -0.4);
      return left;
    };
    for (const [key, begin] of [
      ['Home', 0],
      ['ArrowRight', length / 10],
      ['PageDown', length * 1.1],
      ['End', 1 - length],
      ['ArrowLeft', 1 - length * 1.1],
      ['PageUp', 1 - length * 2.1],
    ] as const) {
      await page.keyboard.press(key);
      expect(await begins(), key).toBeCloseTo(begin, 9);
    }
    await page.keyboard.press('Home');
    await windowOf(page);
    expect(await bar.getAttribute('aria-valuetext')).toBe(
      // Without the margin before the beginning.
      `from 0.0000 ms to ${(whole.from + length * (whole.to - whole.from)).toFixed(4)} ms`,
    );
    await page.keyboard.press('0');
    expect(await windowOf(page)).toEqual(whole);
    expect(await bar.getAttribute('aria-valuetext')).toBe('everything');
  });

  test('a chart below each engine that moves bytes is as high as its rate', async () => {
    // The second copy in moves half of what the others do, in the same time; nothing is copied in after the fourth.
    const spans = schedule(4).map((span) => (span.id === 4 ? { ...span, bytes: 2 ** 19 } : span));
    const page = await show([{ title: 'a schedule', facts: {}, spans }]);
    await windowOf(page);
    const times = [0.55, 1.55, 2.55, 4.55];
    const positions = await Promise.all(times.map(async (time) => Math.round(await positionOf(page, time))));
    // The picture is read once: Chromium warns of more.
    const columns = await page.evaluate((positions) => {
      const { width, height } = document.getElementById('timeline') as HTMLCanvasElement;
      const pen = (document.getElementById('timeline') as HTMLCanvasElement).getContext('2d')!;
      const rows = Math.min(height, 240);
      const { data } = pen.getImageData(0, 0, width, rows);
      const pixel = (x: number, y: number) => [
        ...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3),
      ];
      return positions.map((x) => Array.from({ length: rows }, (_, y) => pixel(x, y)));
    }, positions);
    /** How many pixels of the chart are coloured above a time, of its 24. */
    const heightAt = (time: number, top: number) =>
      columns[times.indexOf(time)]!.slice(top, top + 24).filter(
        // The chart's colours are not grey, the grid and the ground are.
        (colour) => Math.max(...colour) - Math.min(...colour) > 40,
      ).length;
    const chart = rowTop + 22 + 2;
    expect(heightAt(0.55, chart)).toBe(24);
    expect(heightAt(1.55, chart)).toBe(12);
    expect(heightAt(4.55, chart)).toBe(0);
    // The chart of copies out lies below the lanes of kernels, which have none, and of copies out.
    const out = rowTop + nextLane + 28 + 22 + 2;
    expect(heightAt(0.55, out)).toBe(0);
    expect(heightAt(2.55, out)).toBe(24);
  });

  test('the address of the page leads back to what it shows', async () => {
    const page = await show(one);
    const bare = page.url();
    await page.keyboard.press('e');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('f');
    const shown = await windowOf(page);
    const said = await page.locator('#voice').textContent();
    await page.waitForURL(/#from=.*&to=.*&span=0\.\d+&lanes=stream$/);
    const link = page.url();
    // In another page, and in this one after everything was let go of.
    const other = await pages.another({ viewport: { width: 700, height: 700 } });
    await other.goto(link);
    await page.keyboard.press('Escape');
    await page.keyboard.press('0');
    await page.keyboard.press('e');
    await page.waitForURL(bare);
    await page.evaluate((hash) => {
      location.hash = hash;
    }, new URL(link).hash);
    await page.locator('#details h2').waitFor();
    for (const opened of [other, page]) {
      await opened.locator('#timeline[data-window]').waitFor();
      const { from, to } = await windowOf(opened);
      expect(from).toBeCloseTo(shown.from, 4);
      expect(to).toBeCloseTo(shown.to, 4);
      expect(await opened.locator('#voice').textContent()).toBe(said);
      expect(await opened.locator('#by-stream').getAttribute('aria-pressed')).toBe('true');
    }
    await other.close();
  });
});
