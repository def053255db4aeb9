// The corpus: each fault is found where it is, under every policy of delivery (or, where it depends on
// timing, by one of 32 seeds), and its mended twin is clean.

import { describe, expect, test } from 'vitest';
import { corpus } from './corpus.ts';
import { type Found, findingsOf } from './findings.ts';
import { type Misuse, markedLines } from './misuse.ts';

/** What the rules of the protocol find; races and memory are not theirs. */
const found = corpus.filter(({ code }) => !/WS700[1-6]/.test(code));

const isAdvice = ({ code }: Misuse) => code.startsWith('WS71');

function expectFound(misuse: Misuse, all: readonly Found[]): void {
  const { at, other } = markedLines(misuse);
  const those = all.filter(({ code }) => code === misuse.code);
  const told = JSON.stringify(all, null, 2);
  expect(those.length, told).toBeGreaterThan(0);
  for (const { line } of those) expect(at, told).toContain(line);
  expect(
    those.flatMap((one) => one.other),
    told,
  ).toEqual(expect.arrayContaining([...other]));
  expect(those.map(({ message }) => message).join('\n')).toContain(misuse.says ?? '');
}

test('the corpus has a fault of each kind, and no two of one name', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(60);
  expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
});

describe.each(['eager', 'late', 1, 2] as const)('delivered by policy %s', (delivery) => {
  test.each(found.filter(({ timed }) => !timed))('$row: $name, $code', (misuse) => {
    expectFound(misuse, findingsOf(misuse, false, delivery, isAdvice(misuse)));
  });

  test.each(corpus)('$row, mended: $name', (misuse) => {
    const all = findingsOf(misuse, true, delivery, isAdvice(misuse));
    const advised = all.filter(({ code }) => !code.startsWith('WS71') || code === misuse.code);
    expect(advised).toEqual([]);
  });
});

const seeds = Array.from({ length: 32 }, (_, seed) => seed);
test.each(found.filter(({ timed }) => timed))('by one of 32 seeds: $row: $name, $code', (misuse) => {
  const all = seeds.flatMap((seed) => findingsOf(misuse, false, seed));
  expectFound(misuse, all);
});
