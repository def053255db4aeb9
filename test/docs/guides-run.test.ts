// The blocks of the guides are run: each module and each command line, in a folder with the files that they name, and what
// they print where the page shows it. Not here: whole programs of pages (test/browser/runtime.test.ts,
// test/host/page.test.ts), and what needs a GPU, of which as much is run as there is without one.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runHere } from '../cli/support.ts';
import { everyOf } from '../support/thorough.ts';
import { blocksOf, isFragment, modulesOfGuides, pages } from './guide-blocks.ts';
import { results } from './guide-results.ts';
import { GuideFolder } from './make-guide-files.ts';
import { patternOf } from './page.ts';

const modules = modulesOfGuides();
const inPages = [...modules.keys()].filter((name) => name.startsWith('browsers-'));
/** Without a GPU they end where they ask for one. */
const onGpu: Readonly<Record<string, RegExp>> = {
  'gpu-2.ts': /WS4003|WS2\d\d\d|CUDA/,
  'gpu-3.ts': /WS4003/,
};

let folder: GuideFolder;
const before = process.cwd();
beforeAll(() => {
  folder = new GuideFolder(modules);
  process.chdir(folder.path);
});
afterAll(() => {
  process.chdir(before);
  rmSync(folder.path, { recursive: true });
});

test('every block of ts is run', () => {
  const run = [...Object.keys(results), ...Object.keys(onGpu), ...inPages];
  expect(run.sort()).toEqual([...modules.keys()].sort());
});

describe('modules', () => {
  test.each(everyOf(5, Object.entries(results)))('%s', async (name, result) => {
    const module = (await import(/* @vite-ignore */ join(folder.path, name))) as { shown: unknown };
    expect(module.shown).toEqual(result);
  });

  test.each(Object.entries(onGpu))('%s', async (name, error) => {
    await expect(import(/* @vite-ignore */ join(folder.path, name))).rejects.toThrow(error);
  });
});

/** The words of a command line, its stars replaced by the names of files. */
const wordsOf = (line: string) =>
  line
    .replace(/\s+#.*/, '')
    .split(' ')
    .flatMap((word) => (word === 'src/*.ts' ? readdirSync('src').map((name) => `src/${name}`) : [word]))
    .slice(1);

const commands = pages.flatMap(({ path }) => [
  ...blocksOf(path)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.trim().split('\n')),
  ...blocksOf(path)
    .filter(({ language }) => ['ts', 'yaml', 'json'].includes(language))
    .flatMap(({ text }) => Array.from(text.matchAll(/npx (warpstage [^`"\n]+)/g), ([, line]) => line!)),
]);

describe('command lines', () => {
  const lines = [...new Set(commands)].filter((line) => !isFragment(line));
  test.each(everyOf(6, lines))('%s', async (line) => {
    for (const words of folder.before(wordsOf(line))) expect((await runHere(...words)).code).toBe(0);
    const { code, text, stderr } = await runHere(...wordsOf(line));
    expect([code, text + stderr]).toEqual([folder.findsMistakes(line) ? 1 : 0, expect.any(String)]);
  });

  test('print what the page of formats shows', async () => {
    const [block] = blocksOf('formats').filter(({ text }) => text.startsWith('$ warpstage info'));
    const shown = block!.text.split(/^\$ (.*)\n/m).slice(1);
    expect(shown).toHaveLength(4);
    for (let i = 0; i < shown.length; i += 2) {
      const { text } = await runHere(...wordsOf(shown[i]!));
      expect(text).toBe(shown[i + 1]);
    }
  });
});

describe('findings', () => {
  test('of the page of the checker', async () => {
    const [block] = blocksOf('checker').filter(({ text }) => text.startsWith('WS7001'));
    const { text } = await runHere('check', 'mirrored.ts');
    expect(text).toContain(block!.text);
  });

  test('as an editor reads them', async () => {
    const [block] = blocksOf('checker').filter(({ text }) => text.startsWith('src/scale.ts('));
    const [task] = blocksOf('checker').filter(({ language }) => language === 'json');
    const { pattern } = (JSON.parse(task!.text) as Tasks).tasks[0]!.problemMatcher;
    const { text } = await runHere('check', '--static', 'src/scale.ts');
    expect(text.split('\n')[0]).toMatch(patternOf(block!.text));
    const found = new RegExp(pattern.regexp).exec(text.split('\n')[0]!)!;
    const { file, line, column, code } = pattern;
    expect([file, line, column, code].map((part) => found[part])).toEqual([
      'src/scale.ts',
      '4',
      '14',
      'WS1002',
    ]);
  });

  test('of a launch that writes too far', async () => {
    const [block] = blocksOf('gpu').filter(({ text }) => text.startsWith('WS3001'));
    const error = await import(/* @vite-ignore */ join(folder.path, 'scale.ts')).then(
      () => '',
      (thrown: Error) => thrown.message,
    );
    const said = error.replaceAll(`${folder.path}/`, '').replace('the kernel', 'kernel `scale`').split('\n');
    const trimmed = (lines: readonly string[]) => lines.map((line) => line.trim());
    expect(trimmed(said)).toEqual(expect.arrayContaining(trimmed(block!.text.trim().split('\n'))));
  });

  test('a device file of the page of models is one', async () => {
    const [block] = blocksOf('models').filter(({ language }) => language === 'json');
    const { open } = await import('warpstage');
    await using device = await open(`model:${folder.file('card.json', block!.text)}`);
    expect(device.properties.name).toBe('my card');
  });
});

interface Tasks {
  readonly tasks: readonly {
    readonly problemMatcher: {
      readonly pattern: { regexp: string; file: number; line: number; column: number; code: number };
    };
  }[];
}
