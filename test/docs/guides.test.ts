// The pages of the guides: every block of `ts` has the types of a strict project, and every command line is one that
// there is. Start and the tutorial are run as they stand (tutorial.test.ts), as are whole programs of guides, by
// test/browser/runtime.test.ts and test/host/page.test.ts.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sections } from '../../packages/site/sections.mjs';
import { runHere } from '../cli/support.ts';
import { compileFiles, root } from '../support/compile-project.ts';

/** Blocks that are no module, and lines that are no command of the package: each with why. */
const fragments: Readonly<Record<string, string>> = {
  'export const axpb = kernel(/* … */);': 'shows comments around a kernel',
  'WARPSTAGE_CACHE=shipped WARPSTAGE_PTX=75,80 node app.mjs': "a user's program, on a GPU",
  'WARPSTAGE_CACHE=~/.cache/warpstage:shipped node app.mjs': "a user's program, on a GPU",
};
const isFragment = (text: string) => Object.keys(fragments).some((each) => text.includes(each));

/** What blocks use of a reader's program, and do not show: by its name, how it would be there. */
const surroundings: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['job', 'kernel', 'open', 'registerFormat', 'run', 'tracePage'].map((name) => [
      name,
      `import { ${name} } from 'warpstage';`,
    ]),
  ),
  Span: "import type { Span } from 'warpstage';",
  writeFile: "import { writeFile } from 'node:fs/promises';",
  device: "declare const device: import('warpstage').Device;",
  stream: "declare const stream: import('warpstage').Stream;",
  spans: "declare const spans: import('warpstage').Span[];",
  source: 'declare const source: string;',
  grid: 'declare const grid: number;',
  block: 'declare const block: number;',
  n: 'declare const n: number;',
  x: "declare const x: import('warpstage').DeviceArray<'f32'>;",
  y: "declare const y: import('warpstage').DeviceArray<'f32'>;",
  withStaging: "import { withStaging } from '../../examples/guide/staging.ts';",
  withStagingUnified: "import { withStagingUnified } from '../../examples/guide/staging-unified.ts';",
};

/** The same for one page, before those of all. */
const ownSurroundings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  checker: {
    kernel: "import { withStaging as kernel } from '../../examples/guide/staging.ts';",
    launch: "declare const launch: import('warpstage/check').CheckLaunch<typeof kernel.schema>;",
    histogram: `import { kernel as newKernel } from 'warpstage';
      const histogram = newKernel({ bins: 'u32[]', x: 'readonly u8[]' }, ({ bins, x }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i < x.length) cuda.atomicAdd(bins, cuda.index(x[i]!), 1);
      });`,
    x: 'declare const x: Uint8Array;',
  },
  timelines: {
    scale: `import { kernel } from 'warpstage';
      const scale = kernel({ y: 'f32[]', a: 'f32' }, ({ y, a }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i < y.length) y[i]! *= a;
      });`,
  },
  formats: {
    readIndex: `declare function readIndex(file: import('warpstage').OpenBytes):
      Promise<{ columns: { name: string; lengths: number[] }[] }>;`,
    unpack: `declare function unpack(file: import('warpstage').OpenBytes, name: string, unit: number):
      Promise<Uint8Array>;`,
    sum: 'declare function sum(lengths: readonly number[]): number;',
  },
};

interface Block {
  readonly language: string;
  readonly text: string;
}

const { pages } = sections.find(({ title }) => title === 'Guides')!;
const blocksOf = (path: string): Block[] =>
  Array.from(
    readFileSync(join(root, `docs/${path}.md`), 'utf8').matchAll(/^```(\w*).*\n([\s\S]*?)^```$/gm),
    ([, language, text]) => ({ language: language!, text: text! }),
  );

/** Whether a text uses a name that it does not declare. */
function asksFor(name: string, text: string): boolean {
  const code = text.replace(/\/\/.*|'[^'\n]*'/g, '');
  const isDeclared = new RegExp(
    `(?:const|let|using|function|class|import type|import) (?:[[{][^\\]}]*\\b)?${name}\\b`,
  ).test(code);
  return !isDeclared && new RegExp(`(?<![.\\w])${name}\\b(?!\\s*:)`).test(code);
}

test('every block of ts has the types of a strict project', () => {
  const files = new Map<string, string>();
  for (const { path } of pages) {
    const exported: Record<string, string> = {};
    const blocks = blocksOf(path).filter(({ language, text }) => language === 'ts' && !isFragment(text));
    for (const [position, { text }] of blocks.entries()) {
      const file = `${path}-${position + 1}.ts`;
      const around = { ...surroundings, ...ownSurroundings[path], ...exported };
      const before: string[] = [];
      let whole = text;
      for (const [name, line] of Object.entries(around).reverse()) {
        if (!asksFor(name, whole)) continue;
        before.push(line);
        whole = `${line}\n${whole}`;
      }
      files.set(file, `${whole}\nexport {};\n`);
      for (const [, name] of text.matchAll(/^export const (\w+)/gm))
        exported[name!] = `import { ${name} } from './${file}';`;
    }
  }
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
