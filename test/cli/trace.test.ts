// `warpstage trace`: trace files as a page, served or written.

import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { chromeTrace, type Span } from 'warpstage';
import { Folder, outcomeOf, runHere, start } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const spans: Span[] = [{ name: 'scale', engine: 'compute', stream: 's', queued: 0, started: 0, ended: 1 }];
const file = folder.file('t.json', [...chromeTrace(spans, { title: 'first' })].join(''));
const other = folder.file('u.json', [...chromeTrace(spans, { title: 'second' })].join(''));

test('writes one page of two traces', async () => {
  const page = folder.file('page.html');
  const { code } = await runHere('trace', file, other, '-o', page);
  expect(code).toBe(0);
  const text = readFileSync(page, 'utf8');
  expect(text).toContain('<title>first and second</title>');
  expect(text).not.toMatch(/<(script|link|img)[^>]+(src|href)="(?!data:)/);
});

test('serves the page until Ctrl-C', async () => {
  const child = start(['trace', file]);
  const ended = outcomeOf(child);
  const address = await new Promise<string>((resolve) => {
    child.stdout?.once('data', (text: Buffer) => resolve(text.toString().trim()));
  });
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  expect(await (await fetch(address)).text()).toContain('<title>first</title>');
  expect((await fetch(`${address}other`)).status).toBe(404);
  child.kill('SIGINT');
  expect((await ended).code).toBe(130);
});

test('a file that is no trace, and one that is not there', async () => {
  const wrong = await runHere('trace', folder.file('wrong.json', '{}'));
  expect(wrong.stderr).toContain('WS5004');
  const missing = await runHere('trace', folder.file('missing.json'));
  expect(missing.stderr).toMatch(/WS5003: the trace file .*missing\.json cannot be read/);
});
