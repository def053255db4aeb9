// The timeline's page in a real browser: loads, zooms, finds, measures, by pointer and by keys alone.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { job, kernel, run, type Span, tracePage } from 'warpstage';
import { reportText } from '#warpstage/timeline/report.js';

const executable = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);

/** A schedule of `chunks` chunks over three engines and two streams, a millisecond each step. */
function schedule(chunks: number, step = 1): Span[] {
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

describe.skipIf(executable === undefined)('the page, in Chromium', () => {
  let browser: Browser;
  let folder: string;
  const problems: string[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executable!, args: ['--no-sandbox'] });
    folder = mkdtempSync(join(tmpdir(), 'warpstage-page-'));
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
    expect(problems).toEqual([]);
  });

  async function show(traces: Parameters<typeof tracePage>[0], dark = false): Promise<Page> {
    const file = join(folder, `${Math.random()}.html`);
    writeFileSync(file, tracePage(traces));
    const page = await browser.newPage({
      viewport: { width: 1132, height: 800 },
      colorScheme: dark ? 'dark' : 'light',
    });
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => problems.push(message.text()));
    page.on('request', (request) => {
      if (!request.url().startsWith('file:') && !request.url().startsWith('data:'))
        problems.push(request.url());
    });
    await page.goto(pathToFileURL(file).href);
    await page.locator('#timeline[data-window]').waitFor();
    return page;
  }

  const windowOf = async (page: Page) => {
    // A picture is drawn in the next frame.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    const [from, to] = (await page.locator('#timeline').getAttribute('data-window'))!.split(' ').map(Number);
    return { from: from!, to: to! };
  };
  /** Where a time is on the page. */
  const positionOf = async (page: Page, time: number) => {
    const { from, to } = await windowOf(page);
    return 132 + ((time - from) / (to - from)) * 1000;
  };
  /** Where the first lane of a single trace is: below the axis. The next is below its row and its chart of bandwidth. */
  const rowTop = 26;
  const nextLane = 54;
  const headerOf = async (page: Page) => (await page.locator('#stage').boundingBox())!.y;

  const one = [{ title: 'a schedule', facts: { depth: 2 }, spans: schedule(4) }];

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
    await page.close();
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
    await page.close();
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
    await page.close();
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
    await page.close();
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
    await page.close();
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
    await page.close();
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
    await page.close();
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
    await page.close();
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
    await page.close();
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
    await page.close();
  });

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
    await page.close();
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
    await page.close();
  });

  test('a chart below each engine that moves bytes is as high as its rate', async () => {
    // The second copy in moves half of what the others do, in the same time; nothing is copied in after the fourth.
    const spans = schedule(4).map((span) => (span.id === 4 ? { ...span, bytes: 2 ** 19 } : span));
    const page = await show([{ title: 'a schedule', facts: {}, spans }]);
    await windowOf(page);
    // The picture is read once: Chromium warns of more.
    const { width, pixels } = await page.evaluate(() => {
      const { width, height } = document.getElementById('timeline') as HTMLCanvasElement;
      const pen = (document.getElementById('timeline') as HTMLCanvasElement).getContext('2d')!;
      return { width, pixels: [...pen.getImageData(0, 0, width, Math.min(height, 240)).data] };
    });
    /** How many pixels of the chart are coloured above a time, of its 24. */
    const heightAt = async (time: number, top: number) => {
      const x = Math.round(await positionOf(page, time));
      return Array.from({ length: 24 }, (_, y) => ((top + y) * width + x) * 4).filter((at) => {
        const colour = pixels.slice(at, at + 3);
        // The chart's colours are not grey, the grid and the ground are.
        return Math.max(...colour) - Math.min(...colour) > 40;
      }).length;
    };
    const chart = rowTop + 22 + 2;
    expect(await heightAt(0.55, chart)).toBe(24);
    expect(await heightAt(1.55, chart)).toBe(12);
    expect(await heightAt(4.55, chart)).toBe(0);
    // The chart of copies out lies below the lanes of kernels, which have none, and of copies out.
    const out = rowTop + nextLane + 28 + 22 + 2;
    expect(await heightAt(0.55, out)).toBe(0);
    expect(await heightAt(2.55, out)).toBe(24);
    await page.close();
  });

  test('the address of the page leads back to what it shows', async () => {
    const page = await show(one);
    const bare = page.url();
    await page.keyboard.press('e');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('f');
    const shown = await windowOf(page);
    const said = await page.locator('#voice').innerText();
    await page.waitForURL(/#from=.*&to=.*&span=0\.\d+&lanes=stream$/);
    const link = page.url();
    // In another page, and in this one after everything was let go of.
    const other = await browser.newPage({ viewport: { width: 700, height: 700 } });
    other.on('pageerror', (error) => problems.push(error.message));
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
      expect(await opened.locator('#voice').innerText()).toBe(said);
      expect(await opened.locator('#by-stream').getAttribute('aria-pressed')).toBe('true');
    }
    await other.close();
    await page.close();
  });

  test('a single trace says its title once, several say each', async () => {
    const page = await show(one);
    await page.locator('#summary table').first().waitFor();
    expect((await page.locator('body').innerText()).split('a schedule').length - 1).toBe(1);
    // The first lane follows the axis: the canvas says no title either.
    await page.mouse.move(await positionOf(page, 0.5), (await headerOf(page)) + 26 + 4);
    expect(await page.locator('#tooltip strong').innerText()).toBe('memcpy host to device');
    await page.close();
  });

  test('a trace without spans says so', async () => {
    const page = await show([{ title: 'nothing', facts: {}, spans: [] }]);
    expect(await page.locator('#summary').innerText()).toContain('Nothing was recorded.');
    await page.keyboard.press('ArrowRight');
    await page.close();
  });

  test('what a name says is text, never markup', async () => {
    const spans = schedule(1).map((span) => ({ ...span, name: '</script><b>bold</b>' }));
    const page = await show([{ title: '<i>&"title"</i>', facts: {}, spans }]);
    expect(await page.title()).toBe('<i>&"title"</i>');
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('#details h2').innerText()).toBe('</script><b>bold</b>');
    await page.close();
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
    await page.close();
  });

  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  test.each([
    ['light', 1132],
    ['dark', 1132],
    ['light', 400],
    ['dark', 400],
  ] as const)('axe finds nothing: %s, %i pixels wide', async (scheme, width) => {
    const traces = ['V1', 'V2'].map((title) => ({ title, facts: { depth: 2 }, spans: schedule(40) }));
    const page = await show(traces, scheme === 'dark');
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
    await page.close();
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
    await page.close();
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
    await page.close();
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
    await page.close();
  });
});

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

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
