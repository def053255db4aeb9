// The package in a browser: what its condition `browser` gives is bundled without anything of Node, and does there
// what it does here.

import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { atLength, partOf } from '../support/thorough.ts';
import { describePage, Pages } from '../timeline/pages.ts';
import { bundleForBrowser } from './bundle.ts';
import { casesOf, turns } from './cases-in-page.ts';
import { type Served, serve } from './serve.ts';
import { expectedOfThreads, runOnThreads } from './threads-in-page.ts';

test('a bundle for browsers asks for nothing of Node', async () => {
  const files = await bundleForBrowser(`
    export * from 'warpstage';
    export * as checker from 'warpstage/check';
  `);
  expect(
    [...files.values()].join('').match(/["']node:(?!inspector|url|path|fs|module)[a-z]+["']/g),
  ).toBeNull();
});

test('the formats are not there', async () => {
  await expect(
    bundleForBrowser("import { registerFormat } from 'warpstage'; registerFormat;"),
  ).rejects.toThrow('No matching export in "dist/browser.js" for import "registerFormat"');
});

test('a bundle for Node has what Node loads', async () => {
  const { metafile } = await build({
    stdin: { contents: "export { job } from 'warpstage';", resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    external: ['koffi'],
    format: 'esm',
    logLevel: 'silent',
    tsconfigRaw: {},
  });
  expect(Object.keys(metafile.inputs)).toContain('dist/index.js');
  expect(Object.keys(metafile.inputs)).not.toContain('dist/browser.js');
});

test('threads do in Node what they do in a page', async () => {
  expect(await runOnThreads(true)).toEqual(expectedOfThreads);
});

const html =
  '<!doctype html><title>t</title><link rel="icon" href="data:,"><script type="module" src="main.js"></script>';

describePage('in Chromium', () => {
  const pages = new Pages();
  let served: Served;
  beforeAll(async () => {
    const files = await bundleForBrowser(`
      import { chromeTrace, kernel, open, WarpstageError } from 'warpstage';
      import { check } from 'warpstage/check';
      import { runCases } from './cases-in-page.ts';
      import { runOnThreads } from './threads-in-page.ts';
      Object.assign(globalThis, { chromeTrace, check, kernel, open, runCases, runOnThreads, WarpstageError });
      globalThis.isReady?.();
      globalThis.onmessage = async ({ data: [name, ...given] }) =>
        postMessage(await (name === 'threads' ? runOnThreads(...given) : runCases(name, ...given)));
    `);
    files.set('index.html', html);
    served = await serve(files);
  });
  afterAll(() => served.close());

  /** A page in which the package is loaded. */
  const show = async (path = '') => {
    const page = await pages.another();
    await page.goto(served.url + path);
    await page.waitForFunction(() => 'runCases' in globalThis);
    return page;
  };

  /** Each case has its turn in one way of a page and in one of an isolated page, so also as WebAssembly. */
  const ways = [
    ['a worker', '', 'cpu', {}, /^wasm/],
    ['a worker', '', 'cpu', { target: 'interpreter' }, /^interpreter$/],
    ['a worker', '', 'model:h200', {}, /^wasm/],
    ['a window', '', 'cpu', {}, /^wasm/],
    ['a worker', 'isolated/', 'cpu', { threads: 3 }, /^wasm/],
    ['a worker', 'isolated/', 'cpu', { threads: 1 }, /^wasm/],
    ['a worker', 'isolated/', 'model:h200', { threads: 2 }, /^wasm/],
    ['a window', 'isolated/', 'cpu', {}, /^wasm/],
  ] as const;
  test.each(partOf(ways, 0))(
    'does the conformance cases in %s, %s: %s %o',
    async (where, path, name, options, kind) => {
      expect(ways).toHaveLength(2 * turns);
      const turn = ways.findIndex((way) => way[3] === options) % turns;
      const page = await show(path);
      expect(await page.evaluate(() => crossOriginIsolated)).toBe(path !== '');
      const result = await page.evaluate(
        ([isInWorker, ...request]) =>
          new Promise<Awaited<ReturnType<typeof import('./cases-in-page.ts').runCases>>>(
            (resolve, reject) => {
              if (!isInWorker) {
                const { runCases } = globalThis as never as typeof import('./cases-in-page.ts');
                runCases(...request).then(resolve, reject);
                return;
              }
              const worker = new Worker('main.js', { type: 'module' });
              worker.onmessage = ({ data }) => resolve(data);
              worker.onerror = (event) => reject(new Error(event.message));
              worker.postMessage(request);
            },
          ),
        [where === 'a worker', name, options, turn] as const,
      );
      expect(result.problems).toEqual([]);
      expect(result.ran).toBe(casesOf(turn));
      for (const one of result.ranOn) expect(one).toMatch(kind);
      if (name === 'cpu' && where === 'a worker')
        expect(result.threads).toBe('threads' in options ? options.threads : 1);
      await page.close();
    },
  );

  const [launches, jobs] = Array.from(
    readFileSync('docs/browsers.md', 'utf8').matchAll(/```ts\n(.*?)```/gs),
    ([, program]) => program!,
  );
  test.each([
    [`${launches}\nglobalThis.shown = [result[999]];`, [6]],
    [
      `${jobs}\nglobalThis.shown = [...outputs.y, values.length, values.every((value) => value === 1)];`,
      [1, 2, 1e6, true],
    ],
  ])('runs a program of docs/browsers.md', async (program, shown) => {
    const files = await bundleForBrowser(program);
    files.set('index.html', html);
    const own = await serve(files);
    const page = await pages.another();
    await page.goto(own.url);
    await page.waitForFunction(() => 'shown' in globalThis);
    expect(await page.evaluate(() => (globalThis as never as { shown: unknown }).shown)).toEqual(shown);
    await page.close();
    await own.close();
  });

  test('has one thread where no worker may be made', async () => {
    const page = await show('isolated/');
    const threads = await page.evaluate(async () => {
      globalThis.Worker = class {
        constructor() {
          throw new Error('none may be made');
        }
      } as never;
      const { open } = globalThis as never as typeof import('warpstage');
      const device = await open('cpu', { threads: 3 });
      await device.close();
      return device.properties.multiProcessorCount;
    });
    expect(threads).toBe(1);
    await page.close();
  });

  test.each(partOf(['a worker', 'a window'], 0))('has threads in %s of an isolated page', async (where) => {
    const page = await show('isolated/');
    const result = await page.evaluate(
      ([isInWorker, stops]) =>
        new Promise((resolve, reject) => {
          if (!isInWorker) {
            const { runOnThreads } = globalThis as never as typeof import('./threads-in-page.ts');
            runOnThreads(stops).then(resolve, reject);
            return;
          }
          const worker = new Worker('main.js', { type: 'module' });
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = (event) => reject(new Error(event.message));
          worker.postMessage(['threads', stops]);
        }),
      [where === 'a worker', atLength] as const,
    );
    expect(result).toEqual(expectedOfThreads);
    await page.close();
  });
});
