// The corpus: each fault is found where it is, under every policy of delivery (or, where it depends on
// timing, by one of 32 seeds), and its mended twin is clean.

import { describe, expect, test } from 'vitest';
import { corpus } from './corpus.ts';
import { checkMisuse, type Found, foundIn } from './findings.ts';
import { type Misuse, markedLines } from './misuse.ts';

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

const policies = [
  { delivery: 'eager', schedules: 1 },
  { delivery: 'late', schedules: 1 },
  { delivery: 'random', schedules: 1, seed: 1 },
  { delivery: 'random', schedules: 1, seed: 2 },
] as const;

describe.each(policies)('delivery $delivery', (policy) => {
  test.each(corpus.filter(({ timed }) => !timed))('$row: $name, $code', (misuse) => {
    expectFound(misuse, foundIn(checkMisuse(misuse, false, { ...policy, advice: isAdvice(misuse) })));
  });

  test.each(corpus)('$row, mended: $name', (misuse) => {
    const result = checkMisuse(misuse, true, { ...policy, advice: isAdvice(misuse) });
    const wrong = foundIn(result).filter(({ code }) => !code.startsWith('WS71') || code === misuse.code);
    expect(wrong).toEqual([]);
  });
});

test.each(corpus.filter(({ timed }) => timed))('by one of 32 seeds: $row: $name, $code', (misuse) => {
  const options = { delivery: 'random', schedules: 32 } as const;
  expectFound(misuse, foundIn(checkMisuse(misuse, false, options)));
});
