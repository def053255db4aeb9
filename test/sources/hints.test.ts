// Hints outside of the compiler and the checker that have code: each is read by a test, or by an example of
// docs/errors.md.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filesIn, hintTexts } from '../support/hint-texts.ts';

const rooms = ['runtime', 'kernel', 'host', 'formats', 'overlap', 'queue', 'cli', 'timeline', 'diagnostics'];

/** What is meant to be written as it stands: a call, an object, an option, or what is between backticks. */
const isCode = (hint: string) => /`|\w\\\(|\\\{ |--\w|: '/.test(hint);

test('every hint with code is read by a test or an example', () => {
  const hints = [...hintTexts(rooms.flatMap((room) => filesIn(`src/${room}`))).keys()].filter(isCode);
  expect(hints.length).toBeGreaterThan(80);
  const read = [...filesIn('test'), 'docs/errors.md']
    .map((file) => readFileSync(file, 'utf8').replaceAll(/\\([^\w\s])/g, '$1'))
    .join('\n');
  expect(hints.filter((hint) => !new RegExp(hint).test(read))).toEqual([]);
});
