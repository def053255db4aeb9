// docs/seeds.md names what shows each promise: the files are there, and each test that is named stands in the file
// that its row links behind it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const rows = readFileSync('docs/seeds.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|') && !/^\| (-|promise)/.test(line));

/** The links of a row's last cell, each with the quoted names in front of it. */
function shownBy(row: string) {
  const [, , shown = ''] = row.split(/(?<!\\)\|/);
  return [...shown.matchAll(/((?:"[^"]+"(?:, )?)*)(?: in )?\[[^\]]+\]\(([^)]+)\)/g)].map(
    ([, names, path]) => ({
      path: join('docs', path!),
      names: [...names!.matchAll(/"([^"]+)"/g)].map(([, name]) => name!),
      shown,
    }),
  );
}

test('there are rows for each of the five texts', () => {
  expect(rows.length).toBeGreaterThan(38);
});

describe('each promise is shown', () => {
  test.each(rows.map((row) => [row.split('|')[1]!.trim(), row] as const))('%s', (_, row) => {
    const links = shownBy(row);
    expect(links.length).toBeGreaterThan(0);
    // No name is left without a link.
    const quoted = row.split('|')[2]!.match(/"[^"]+"/g)?.length ?? 0;
    expect(links.flatMap(({ names }) => names)).toHaveLength(quoted);
    for (const { path, names } of links) {
      const text = readFileSync(path, 'utf8');
      for (const name of names) expect(text, `${name} in ${path}`).toContain(name);
    }
  });
});
