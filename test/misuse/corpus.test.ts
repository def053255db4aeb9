// The corpus: each fault is found where it is, under every policy of delivery (or, where it depends on
// timing, by one of 32 seeds), and its mended twin is clean.

import { expect, test } from 'vitest';
import { corpus } from './corpus.ts';
import { checkMisuse, foundIn } from './findings.ts';
import { type Misuse, markedLines } from './misuse.ts';

const isAdvice = ({ code }: Misuse) => code.startsWith('WS71');

/** Checks a misuse, and expects its finding at the lines that are marked; gives the schedules that found it. */
function schedulesThatFind(misuse: Misuse, schedules: number): Set<string> {
  const { at, other } = markedLines(misuse);
  const all = foundIn(checkMisuse(misuse, false, { schedules, advice: isAdvice(misuse) }));
  const those = all.filter(({ code }) => code === misuse.code);
  const reported = JSON.stringify(all, null, 2);
  expect(those.length, reported).toBeGreaterThan(0);
  for (const { line } of those) expect(at, reported).toContain(line);
  const named = those.flatMap((one) => [one.line, ...one.other]);
  expect(named, reported).toEqual(expect.arrayContaining([...other]));
  expect(those.map(({ message }) => message).join('\n')).toContain(misuse.says ?? '');
  return new Set(those.flatMap(({ by }) => by));
}

test('the corpus has a fault of each kind, and no two of one name', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(60);
  expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
});

test.each(corpus.filter(({ timed }) => !timed))('$row, $code under every policy: $name', (misuse) => {
  expect([...schedulesThatFind(misuse, 4)].sort()).toEqual(['eager', 'late', 'seed 1', 'seed 2']);
});

test.each(corpus.filter(({ timed }) => timed))('$row, $code by one of 32 schedules: $name', (misuse) => {
  schedulesThatFind(misuse, 32);
});

test.each(corpus)('$row, mended: $name', (misuse) => {
  const found = foundIn(checkMisuse(misuse, true, { schedules: 4, advice: isAdvice(misuse) }));
  expect(found.filter(({ code }) => !code.startsWith('WS71') || code === misuse.code)).toEqual([]);
});
