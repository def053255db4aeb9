// The pages of the guides: every block of `ts` has the types of a strict project, and every command line is one that
// there is. Start and the tutorial are run as they stand (tutorial.test.ts), as are whole programs of guides, by
// test/browser/runtime.test.ts and test/host/page.test.ts.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sections } from '../../packages/site/sections.mjs';
import { runHere } from '../cli/support.ts';
import { compileFiles, root } from '../support/compile-project.ts';
import { blocksOf, fragments, isFragment, modulesOfGuides, pages } from './guide-blocks.ts';

test('every block of ts has the types of a strict project', () => {
  const files = modulesOfGuides();
  expect(files.size).toBeGreaterThan(12);
  expect(compileFiles(files).errors).toEqual([]);
});

test('there are no other blocks of code than those', () => {
  const others = pages.flatMap(({ path }) =>
    blocksOf(path)
      .filter(({ language }) => !['ts', 'sh', 'text', 'json', 'yaml', ''].includes(language))
      .map(({ language }) => `${path}: ${language}`),
  );
  // It is run by test/host/page.test.ts.
  expect(others).toEqual(['host: js']);
});

test('each fragment stands in a guide', () => {
  const all = pages.flatMap(({ path }) => blocksOf(path)).map(({ text }) => text);
  expect(Object.keys(fragments).filter((each) => !all.some((text) => text.includes(each)))).toEqual([]);
});

test('the pages that one reads first are short', () => {
  const first = sections.filter(({ title }) => ['Start', 'Tutorial', 'Guides'].includes(title));
  const texts = first.flatMap((section) =>
    section.pages.map(({ path }) => readFileSync(join(root, `docs/${path}.md`), 'utf8')),
  );
  expect(texts.length).toBeGreaterThan(15);
  const words = texts.reduce((sum, text) => sum + text.split(/\s+/).length, 0);
  expect(words).toBeLessThan(25_000);
});

const lines = pages.flatMap(({ path }) =>
  blocksOf(path)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.trim().split('\n'))
    .filter((line) => !isFragment(line)),
);

describe('command lines', () => {
  test.each(lines)('%s', async (line) => {
    const [program, command, ...rest] = line.replace(/\s+#.*/, '').split(' ');
    expect(program).toBe('warpstage');
    const { code, text } = await runHere(command!, '--help');
    expect(code).toBe(0);
    for (const option of rest.filter((word) => word.startsWith('--'))) expect(text).toContain(option);
  });
});
