// The checker's hints: each is given for a kernel of the corpus, whose mended twin is clean, or in a test of its own; and
// what stands in it as code is a line of JavaScript with the names of that kernel.

import { readFileSync } from 'node:fs';
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

/** Tests of hints of what no kernel of the corpus is: of checks that are asked wrongly, of broken lowerings, and of locks. */
const others = [
  'test/misuse/written-hints.test.ts',
  'test/core/parts-of-warps.test.ts',
  'test/checker/orders.test.ts',
];

test('every hint of the checker is given', () => {
  const hints = hintTexts([...filesIn('src/targets'), ...filesIn('src/checker')]);
  expect(hints.size).toBeGreaterThan(60);
  const texts = others.map((file) => readFileSync(file, 'utf8'));
  const read = [...given.map(({ hint }) => hint), ...texts].join('\n');
  expect([...hints.keys()].filter((hint) => !new RegExp(hint, 'i').test(read))).toEqual([]);
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
