// What must hold for the site that lies in dist/: every page opens in Chromium without an error, leads only to what is
// there, and has no serious finding of axe, light and dark; the search finds.
//
// The pages of the API are made alike: each tenth is opened, and all are looked through for links.

import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { chromium } from 'playwright-core';
import { sections } from './sections.mjs';

const dist = join(import.meta.dirname, 'dist');
/** The path under which the server has axe: a script with an address is compiled once for all pages. */
const axe = '/axe.min.js';
const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.png': 'image/png' };
const problems = [];
const expect = (holds, problem) => {
  if (!holds) problems.push(problem);
};

/** The file of an address, as servers of such sites find it: `start` is `start.html`, a folder its index. */
function fileOf(path) {
  const plain = join(dist, decodeURIComponent(path));
  const found = [plain, `${plain}.html`, join(plain, 'index.html')];
  return found.find((file) => existsSync(file) && statSync(file).isFile());
}

const server = createServer(({ url }, response) => {
  const { pathname } = new URL(url, 'http://site');
  const file = pathname === axe ? axeFile : fileOf(pathname);
  const headers = { 'content-type': types[extname(file ?? '')] ?? '', 'cache-control': 'max-age=3600' };
  response.writeHead(file === undefined ? 404 : 200, headers);
  if (file === undefined) response.end();
  else createReadStream(file).pipe(response);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

const all = readdirSync(dist, { recursive: true })
  .filter((name) => name.endsWith('.html') && name !== '404.html')
  .map((name) => `/${name.slice(0, -'.html'.length).replace(/(^|\/)index$/, '$1')}`)
  .sort();
const ids = new Map();
for (const path of all) {
  const text = readFileSync(fileOf(path), 'utf8');
  ids.set(path, new Set(Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => id)));
}
for (const path of all) {
  const text = readFileSync(fileOf(path), 'utf8');
  for (const [, link] of text.matchAll(/<a [^>]*href="([^"]+)"/g)) {
    const { host, pathname, hash } = new URL(link.replaceAll('&amp;', '&'), `http://site${path}`);
    if (host !== 'site') continue;
    expect(fileOf(pathname) !== undefined, `${path} leads to ${pathname}, which is not there`);
    const there = ids.get(pathname.replace(/\.html$/, '').replace(/(^|\/)index$/, '$1'));
    const id = decodeURIComponent(hash.slice(1));
    expect(id === '' || there === undefined || there.has(id), `${path} leads to ${link}, where no ${id} is`);
  }
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
});
const home = await browser.newPage();
await home.goto(origin, { waitUntil: 'networkidle' });
await home.locator('.DocSearch-Button').click();
await home.locator('#localsearch-input').fill('consumerWait');
await home.locator('.results .result').first().waitFor();
await home.close();

const opened = all.filter(
  (path, i) => (!path.startsWith('/reference/api/') && !path.startsWith('/decisions/')) || i % 10 === 0,
);
const waiting = [...opened];
await Promise.all([1, 2].map(openInTurn));

/** Opens one page after the other, until none waits any more. */
async function openInTurn() {
  const page = await browser.newPage();
  let at = '';
  page.on('pageerror', ({ message }) => problems.push(`${at}: ${message}`));
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    at = path;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(origin + path, { waitUntil: 'load' });
    // The switch between light and dark has its name once the page is alive.
    await page.waitForFunction(() => !document.querySelector('.VPSwitchAppearance[title=""]'));
    await page.addScriptTag({ url: axe });
    await page.evaluate(keepOneTokenOfEachLook);
    await look(page, path, 'light', {});
    // In the dark a page differs by nothing but colours.
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html.dark').waitFor();
    await look(page, path, 'dark', { runOnly: ['color-contrast'] });
  }
  await page.close();
}

/** What axe says of a page. */
async function look(page, path, colours, rules) {
  const run = (options) => window.axe.run({ resultTypes: ['violations'], ...options });
  const { violations } = await page.evaluate(run, rules);
  for (const { id, impact, nodes } of violations) {
    const isSerious = impact === 'serious' || impact === 'critical';
    const places = nodes.slice(0, 3).map(({ html }) => html.slice(0, 200));
    expect(!isSerious, `${path}, ${colours}: ${id}, ${nodes.length} times: ${places.join(' ')}`);
  }
}

/**
 * In a page: leaves of code's tokens one of each look by itself; the others become text of their line. Axe takes most
 * of its time over the contrast of tokens, hundreds of which are alike.
 */
function keepOneTokenOfEachLook() {
  const seen = new Set();
  for (const token of document.querySelectorAll('pre .line > span')) {
    const block = token.closest('pre');
    const name = [
      token.getAttribute('style'),
      token.className,
      token.parentElement.className,
      block.className,
    ].join();
    if (seen.has(name)) token.replaceWith(...token.childNodes);
    else seen.add(name);
  }
  for (const line of document.querySelectorAll('pre .line')) line.normalize();
}

await browser.close();
server.close();

for (const { path } of sections.flatMap(({ pages }) => pages))
  expect(existsSync(join(dist, `${path}.html`)), `${path} is not there`);

if (problems.length > 0) {
  console.error([...new Set(problems)].join('\n'));
  process.exit(1);
}
console.log(`${all.length} pages, ${opened.length} of them opened, light and dark`);
