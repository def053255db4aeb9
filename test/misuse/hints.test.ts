// The checker's hints: each is given for a kernel of the corpus, whose mended twin is clean, and what stands in it as
// code is a line of JavaScript with the names of that kernel.

import ts from 'typescript';
import { expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { filesIn, hintTexts } from '../support/hint-texts.ts';
import { corpus } from './corpus.ts';
import { checkMisuse } from './findings.ts';
import { type Misuse, schema } from './misuse.ts';

const alike: Misuse = {
  name: 'all threads store the same',
  row: 'race',
  code: 'WS7001',
  kernel: kernel(schema, ({ out }) => {
    out[0] = 7;
  }),
};

const given = [...corpus, alike].flatMap((misuse) => {
  const options = { schedules: misuse.timed ? 32 : 2, advice: true };
  const { findings } = checkMisuse(misuse, false, options);
  return findings.map(({ hint, code }) => ({ hint, code, misuse }));
});

/** Hints of what no kernel of the corpus is: of checks that are asked wrongly, and of what other targets notice. */
const unread: readonly string[] = [
  'A lowering of warpstage is wrong; please report it with the kernel\\.',
  'Call makePipeline\\(\\) in all threads of the group, before any of them uses the pipeline\\.',
  'Do nothing with a pipeline after quit\\(\\)\\.',
  'Give the variable the token of an arrival before every wait\\.',
  'Make the barrier in all threads of the group, before any of them uses it\\.',
  'See whether this loop ends; a thread cannot wait in a loop for what another thread writes\\.',
  'check a smaller launch, or give it more by the option `memory`',
  'check a smaller launch: the same faults show with fewer batches and blocks',
  'let `npx tsc --noEmit` say what is wrong with it',
  'make one with kernel\\(\\{ … \\}, \\(\\{ … \\}, cuda\\) => \\{ … \\}\\); that of a job is job\\.definition\\.kernel',
  'of the threads that find it so, this is the first that was noticed',
  'the options are [^\\n]*?',
  'write check\\(scale, \\{ grid: 2, block: 64, arguments: \\{ y: \\{ length: 100 \\} \\} \\}\\)',
];

test('every hint of the checker is given for a kernel of the corpus', () => {
  const hints = hintTexts([...filesIn('src/targets'), ...filesIn('src/checker')]);
  expect(hints.size).toBeGreaterThan(60);
  const read = given.map(({ hint }) => hint).join('\n');
  const left = [...hints.keys()].filter((hint) => !new RegExp(hint, 'i').test(read));
  expect(left.sort()).toEqual([...unread].sort());
});

test('code in them has the names of the kernel', () => {
  for (const { hint, misuse } of given) {
    for (const [, code] of hint.matchAll(/`([^`]+)`/g)) {
      const source = ts.createSourceFile('hint.ts', code!, ts.ScriptTarget.Latest, true);
      const { parseDiagnostics } = source as unknown as { parseDiagnostics: readonly unknown[] };
      expect(parseDiagnostics, hint).toEqual([]);
      const text = String(misuse.kernel.body);
      const names = code!.match(/(?<![.\w'])[A-Za-z]\w*/g) ?? [];
      for (const name of names) {
        const isKnown =
          name === 'const' ||
          name === 'cuda' ||
          /^(u32|index)$/.test(name) ||
          new RegExp(`\\b${name}\\b`).test(text);
        expect(isKnown, `${hint}\n${name}\n${text}`).toBe(true);
      }
    }
  }
});
