// The pages for the first hour: every module has the types of a strict project, every command does what the page says.

import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compileFiles, root } from '../support/compile-project.ts';
import { atLength, everyOf } from '../support/thorough.ts';
import { Page, Project, patternOf } from './page.ts';

const docs = join(root, 'docs');
const lessons = readdirSync(join(docs, 'tutorial')).sort();
const pages = ['start.md', ...lessons.map((name) => `tutorial/${name}`)];
const followed = everyOf(4, pages);

test('the tutorial has eight lessons, each of which leads to the next', () => {
  expect(lessons).toHaveLength(8);
  for (const [i, name] of lessons.entries()) {
    expect(name).toMatch(new RegExp(`^${i + 1}-`));
    const next = lessons[i + 1];
    if (next !== undefined) expect(new Page(join(docs, 'tutorial', name)).links.at(-1)).toBe(next);
  }
});

test.runIf(atLength)('all modules have the types of a strict project', () => {
  const modules = pages.flatMap((name) =>
    Array.from(new Page(join(docs, name)).modules, ([file, text]) => [`${name}/${file}`, text] as const),
  );
  expect(compileFiles(new Map(modules)).errors).toEqual([]);
});

describe.each(pages)('%s', (name) => {
  const page = new Page(join(docs, name));

  test('is short, and shows nothing that cannot be run', () => {
    expect(page.words).toBeLessThan(1000);
    expect(page.nameless).toEqual([]);
    expect(page.commands.length).toBeGreaterThan(0);
  });

  test('links to what is there', () => {
    const there = page.links.map((link) => join(docs, dirname(name), link.replace(/#.*/, '')));
    expect(there.filter((path) => !existsSync(path))).toEqual([]);
  });

  test.runIf(followed.includes(name))('does what it says', async () => {
    using project = new Project(page.modules);
    for (const { lines, fails, output } of page.commands) {
      for (const [i, line] of lines.entries()) {
        const isLast = i === lines.length - 1;
        const ran = await project.run(line);
        expect(ran.code, `${line}\n${ran.output}`).toBe(fails && isLast ? 1 : 0);
        if (isLast && output !== undefined) expect(ran.output).toMatch(patternOf(output));
      }
    }
  });
});
