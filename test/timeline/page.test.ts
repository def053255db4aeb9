// The timeline's page in a real browser: loads, zooms, finds, measures, by pointer and by keys alone.

import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { job, kernel, run, type Span, tracePage } from 'warpstage';
import { reportText } from '#warpstage/timeline/report.js';
import { describePage, nextLane, one, Pages, positionOf, rowTop, schedule, windowOf } from './pages.ts';

describePage('the page, in Chromium', () => {
  const pages = new Pages();
  const show: Pages['show'] = (...operands) => pages.show(...operands);
  const headerOf = async (page: Page) => (await page.locator('#stage').boundingBox())!.y;

  test('says what it shows, and what bound it', async () => {
    const page = await show(one);
    expect(await page.title()).toBe('a schedule');
    expect(await page.locator('#summary').innerText()).toContain(
      '6.00 ms in all. Bound by copy in: it worked 67 % of the time, so the whole ran at 67 % of the speed that ' +
        "copy in alone allows. Of the other stages' time, at least 75 % passed while something else was running.",
    );
    const rows = await page.locator('#summary tbody').first().locator('tr').allInnerTexts();
    expect(rows.map((row) => row.split('\t').slice(0, 6))).toEqual([
      ['copy in', '4.00 ms', '67 %', '1000 MiB/s', '4.00 MiB', '4'],
      ['compute', '4.00 ms', '67 %', '', '', '4'],
      ['copy out', '4.00 ms', '67 %', '1000 MiB/s', '4.00 MiB', '4'],
    ]);
  });

  test.each([
    ['one device', 1],
    ['two devices', 2],
  ])('its figures are those of the report in the terminal: %s', async (_, devices) => {
    const affine = job({
      name: 'affine',
      kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i < y.length) y[i] = 2 * x[i]!;
      }),
      inputs: { x: {} },
      outputs: { y: {} },
    });
    const { report, spans } = await run(affine, {
      input: new Float32Array(2 ** 18),
      output: new Float32Array(2 ** 18),
      device: Array(devices).fill('cpu'),
      chunk: 2 ** 15,
      trace: true,
    });
    const text = reportText({ ...report, title: 'affine' }, 1000).split('\n');
    const page = await show([{ title: 'affine', facts: {}, spans, wall: report.wall }]);
    const shown = (await page.locator('#summary p').first().innerText()).split(' in all. ');
    expect(text[1]).toContain(`, ${shown[0]}, `);
    expect(text).toContain(shown[1]);
    const rows = await page.locator('#summary tbody').first().locator('tr').allInnerTexts();
    for (const row of rows.map((cells) => cells.split('\t'))) {
      const line = text.find((other) => other.startsWith(`  ${row[0]} `));
      if (devices === 1) expect(line).toContain(`${row[1]}  `);
      if (devices === 1) expect(line).toContain(` ${row[2]} `);
    }
    expect(rows.length).toBe(2 + 3 * devices);
  });

  test('the wheel zooms at the pointer, a drag pans, 0 shows everything', async () => {
    const page = await show(one);
    const before = await windowOf(page);
    const y = (await headerOf(page)) + rowTop + 10;
    const x = await positionOf(page, 2);
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, -600);
    const zoomed = await windowOf(page);
    expect(zoomed.to - zoomed.from).toBeLessThan((before.to - before.from) / 2);
    expect(await positionOf(page, 2)).toBeCloseTo(x, 0);
    await page.mouse.down();
    await page.mouse.move(x + 100, y, { steps: 4 });
    await page.mouse.up();
    expect(await positionOf(page, 2)).toBeCloseTo(x + 100, 0);
    await page.keyboard.press('0');
    expect(await windowOf(page)).toEqual(before);
  });

  test('the tooltip says what is under the pointer', async () => {
    const page = await show(one);
    await page.mouse.move(await positionOf(page, 1.5), (await headerOf(page)) + rowTop + nextLane + 10);
    const tooltip = page.locator('#tooltip');
    await tooltip.waitFor();
    const text = await tooltip.innerText();
    expect(text.split('\n')[0]).toBe('scale');
    for (const part of ['compute', 'stream 1', '1.00 ms', '64 x 1 x 1']) expect(text).toContain(part);
    await page.mouse.move(600, (await headerOf(page)) + 8);
    expect(await tooltip.isVisible()).toBe(false);
  });

  test('a click shows what an operation waited for, and leads there', async () => {
    const page = await show(one);
    await page.mouse.click(await positionOf(page, 1.5), (await headerOf(page)) + rowTop + nextLane + 10);
    const details = page.locator('#details');
    expect(await details.locator('h2').innerText()).toBe('scale');
    const buttons = await details.locator('li button').allInnerTexts();
    expect(buttons).toEqual([
      'memcpy host to device on copy in, stream 1, takes 1.00 ms, began at 0.0000 ms',
      'memcpy device to host on copy out, stream 1, takes 1.00 ms, began at 2.0000 ms',
      'scale on compute, stream 2, takes 1.00 ms, began at 2.0000 ms',
      'memcpy host to device on copy in, stream 1, takes 1.00 ms, began at 2.0000 ms',
    ]);
    await details.locator('li button').first().click();
    expect(await details.locator('h2').innerText()).toBe('memcpy host to device');
  });

  test('everything by keys alone, said aloud', async () => {
    const page = await show(one);
    const voice = page.locator('#voice');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('timeline');
    await page.keyboard.press('ArrowRight');
    expect(await voice.innerText()).toMatch(/^memcpy host to device on copy in, stream 1/);
    await page.keyboard.press('ArrowRight');
    expect(await voice.innerText()).toMatch(/^memcpy host to device on copy in, stream 2/);
    await page.keyboard.press('ArrowDown');
    expect(await voice.innerText()).toMatch(/^scale on compute, stream 1/);
    await page.keyboard.press('m');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('m');
    expect(await voice.innerText()).toBe('2.0000 milliseconds to the end of scale.');
    await page.keyboard.press('f');
    const { from, to } = await windowOf(page);
    expect(to - from).toBeCloseTo(1.04, 5);
    await page.keyboard.press('e');
    expect(await page.locator('#by-stream').getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.press('?');
    expect(await page.locator('#help').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
  });

  test('a search counts, and goes from one to the next', async () => {
    const page = await show(one);
    await page.keyboard.press('/');
    await page.keyboard.type('scale stream 2');
    expect(await page.locator('#found').innerText()).toBe('2 found');
    await page.keyboard.press('Enter');
    expect(await page.locator('#voice').innerText()).toContain(
      'scale on compute, stream 2, takes 1.00 ms, began at 2.0000',
    );
    await page.keyboard.press('Enter');
    expect(await page.locator('#voice').innerText()).toContain('began at 4.0000');
    await page.keyboard.press('Escape');
    expect(await page.locator('#found').innerText()).toBe('');
  });

  test('Shift and drag measures, and keeps to the edges of operations', async () => {
    const page = await show(one);
    const y = (await headerOf(page)) + rowTop + 10;
    await page.keyboard.down('Shift');
    await page.mouse.move((await positionOf(page, 1)) + 2, y);
    await page.mouse.down();
    await page.mouse.move((await positionOf(page, 3)) + 3, y, { steps: 3 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    expect(await page.locator('#voice').innerText()).toBe('2.0000 milliseconds measured');
  });

  test('two traces lie on one axis, in the dark as well', async () => {
    const page = await show(
      [
        { title: 'V1', facts: {}, spans: schedule(4) },
        { title: 'V2', facts: {}, spans: schedule(8) },
      ],
      true,
    );
    expect(await page.locator('#summary h2').allInnerTexts()).toEqual(['V1', 'V2']);
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(background).toBe('rgb(20, 23, 27)');
  });

  test('the stages of a kernel lie below it, on the same axis', async () => {
    const spans = schedule(4).map((span): Span => {
      if (span.engine !== 'compute' || span.id !== 5) return span;
      const of = (name: string, engine: string, from: number, to: number, id: number): Span => {
        const [queued, started, ended] = [span.started + from, span.started + from, span.started + to];
        return {
          name,
          engine,
          stream: 'pipeline stage 0',
          queued,
          started,
          ended,
          id,
          after: id > 1 ? [id - 1] : [],
        };
      };
      const stages = [
        of('copy batch 0', 'copy', 0.1, 0.3, 1),
        of('wait batch 0', 'wait', 0.2, 0.3, 2),
        of('compute batch 0', 'compute', 0.3, 0.8, 3),
      ];
      return { ...span, stages: { block: [2, 0, 0], spans: stages } };
    });
    const page = await show([{ title: 'a schedule', facts: {}, spans }]);
    expect(await page.locator('#summary h2').allInnerTexts()).toEqual([
      'a schedule',
      'stages of block (2, 0, 0) in a schedule',
    ]);
    await page.keyboard.press('/');
    await page.keyboard.type('compute batch 0');
    await page.keyboard.press('Enter');
    // The kernel begins 2 ms after the first operation.
    expect(await page.locator('#voice').innerText()).toContain(
      'compute batch 0 on compute, pipeline stage 0, takes 500 µs, began at 2.3000 ms',
    );
    const links = await page.locator('#details li button').allInnerTexts();
    expect(links[0]).toMatch(/^wait batch 0 on wait, pipeline stage 0/);
  });

  test('a single trace says its title once, several say each', async () => {
    const page = await show(one);
    await page.locator('#summary table').first().waitFor();
    expect((await page.locator('body').innerText()).split('a schedule').length - 1).toBe(1);
    // The first lane follows the axis: the canvas says no title either.
    await page.mouse.move(await positionOf(page, 0.5), (await headerOf(page)) + 26 + 4);
    expect(await page.locator('#tooltip strong').innerText()).toBe('memcpy host to device');
  });

  test('a trace without spans says so', async () => {
    const page = await show([{ title: 'nothing', facts: {}, spans: [] }]);
    expect(await page.locator('#summary').innerText()).toContain('Nothing was recorded.');
    await page.keyboard.press('ArrowRight');
  });

  test('what a name says is text, never markup', async () => {
    const spans = schedule(1).map((span) => ({ ...span, name: '</script><b>bold</b>' }));
    const page = await show([{ title: '<i>&"title"</i>', facts: {}, spans }]);
    expect(await page.title()).toBe('<i>&"title"</i>');
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('#details h2').innerText()).toBe('</script><b>bold</b>');
  });

  test('100,000 spans are there, and each can be found', async () => {
    const page = await show([{ title: 'many', facts: {}, spans: schedule(33_334, 0.01) }]);
    await page.keyboard.press('/');
    await page.keyboard.type('scale');
    expect(await page.locator('#found').innerText()).toBe('33334 found');
    await page.keyboard.press('Enter');
    expect(await page.locator('#voice').innerText()).toContain('scale on compute, stream 1');
    const before = await windowOf(page);
    await page.mouse.move(600, 200);
    for (let i = 0; i < 10; ++i) await page.mouse.wheel(0, -400);
    const after = await windowOf(page);
    expect(after.to - after.from).toBeLessThan((before.to - before.from) / 100);
  });

  test('at 400 pixels nothing is wider than the page: tables scroll by themselves', async () => {
    const page = await show([
      { title: 'a schedule of many words, longer than the page is wide', facts: {}, spans: schedule(40) },
    ]);
    await page.setViewportSize({ width: 400, height: 760 });
    const { page: whole, panels } = await page.evaluate(() => {
      const panels = document.getElementById('panels')!;
      return { page: document.documentElement.scrollWidth, panels: panels.scrollWidth - panels.clientWidth };
    });
    expect({ whole, panels }).toEqual({ whole: 400, panels: 0 });
    const heights = await page
      .locator('tbody td, tbody th')
      .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().height));
    // A number stands beside its unit, and an engine's name in one line.
    expect(Math.max(...heights)).toBeLessThan(2 * Math.min(...heights));
  });

  test('the tooltip goes where the keyboard goes, and away', async () => {
    const page = await show(one);
    const tooltip = page.locator('#tooltip');
    await page.mouse.move(await positionOf(page, 1.5), (await headerOf(page)) + rowTop + nextLane + 10);
    expect(await tooltip.locator('strong').innerText()).toBe('scale');
    await page.keyboard.press('ArrowRight');
    expect(await tooltip.locator('strong').innerText()).toBe('memcpy host to device');
    await page.keyboard.press('Escape');
    expect(await tooltip.isVisible()).toBe(false);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    expect(await tooltip.isVisible()).toBe(false);
  });

  test('what a search finds moves nothing', async () => {
    const page = await show(one);
    for (const width of [1132, 640, 400]) {
      await page.setViewportSize({ width, height: 760 });
      await page.keyboard.press('Escape');
      const before = (await page.locator('header').boundingBox())!.height;
      await page.keyboard.press('/');
      await page.keyboard.type('scale');
      expect(await page.locator('#found').innerText()).toBe('4 found');
      expect((await page.locator('header').boundingBox())!.height).toBe(before);
      await page.keyboard.press('Escape');
    }
  });
});

test.each([
  [{ title: 'x', facts: {}, spans: [] }, 'tracePage() takes a list of traces, and was given object'],
  [null, 'tracePage() takes a list of traces, and was given null'],
  [undefined, 'tracePage() takes a list of traces, and was given undefined'],
  [[null], 'tracePage(): trace 1 has no `title`'],
  [[{ title: 'x', spans: [] }], 'tracePage(): trace 1 has no `facts`'],
  [[{ title: 'x', facts: {} }], 'tracePage(): trace 1 has no list of `spans`'],
  [
    [{ title: 'x', facts: {}, spans: [{ name: 'k' }] }],
    'has a span 1 without a name, an engine, a stream or its times',
  ],
])('a page of %j is refused', (traces, message) => {
  expect(() => tracePage(traces as never)).toThrow(`WS4007: ${message}`.replace('WS4007: has', 'has'));
});
