// Known kernels without one of the things that order their threads: the checker finds each, and nothing where all are there.

import { describe, expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { check } from 'warpstage/check';
import type { Case } from '../conformance/case.ts';
import { allCases } from '../conformance/cases.ts';

/** What is taken away, at which of its places, and what there is in its stead. */
type Twin = readonly [name: string, what: RegExp, instead: string, place?: number];

const meeting = /(?:cuda\.syncthreads|block\.sync|group\.sync)\(\)/g;
const released = /['"]release['"]/g;
const acquired = /['"]acquire['"]/g;
const fence = /cuda\.threadFence\(\)/g;

const ports: Readonly<Record<string, readonly Twin[]>> = {
  'the last block adds up what all have left': [
    ['its first fence', fence, '0'],
    ['its last fence', fence, '0', -1],
  ],
  'a scan in one pass': [['a fence', fence, '0']],
  'a look-back by loads and stores': [
    ['what it releases', released, "'relaxed'"],
    ['what it acquires', acquired, "'relaxed'"],
  ],
  'a breadth-first search over records of nodes': [
    ['the atomic load', /cuda\.atomicLoad\(level, i\)/g, 'level[i]'],
  ],
  'a step of n bodies with vectors of three': [
    ['the meeting before the tile is read', meeting, '0', 0],
    ['the meeting before it is written anew', meeting, '0', 1],
  ],
  'a mean of pixels of four bytes': [['the meeting between loads and sums', meeting, '0']],
  'a transposition through padded tiles': [['the meeting between rows and columns', meeting, '0']],
  'Monte Carlo: points in a circle': [
    ['the meeting of each round', meeting, '0'],
    ['the atomic addition', /cuda\.atomicAdd\(hits, 0, (partial\[0\])\)/g, '(hits[0] = hits[0] + $1)'],
  ],
  'a filter and a count of keys, aggregated by warps': [
    ['the meeting of the warps', meeting, '0'],
    [
      'the atomic addition',
      /cuda\.atomicAdd\(buckets, key, (cuda\.popc\(same\))\)/g,
      '(buckets[key] = buckets[key] + $1)',
    ],
  ],
  'a binary partition of each warp': [['the meeting of a group', meeting, '0']],
  'a hash table with open addressing': [
    ['the meeting before keys come in', meeting, '0', 0],
    ['the meeting before counts are read', meeting, '0', 1],
    ['the atomic addition', /cuda\.atomicAdd\(counts, slot, 1\)/g, '(counts[slot] = counts[slot] + 1)'],
  ],
  'a digit of a radix sort, with look-back': [
    ['the meeting before the ticket is read', meeting, '0', 0],
    ['the meeting before keys are written', meeting, '0', 1],
    ['the release of its own counts', released, "'relaxed'", 0],
    ['the release of its sums', released, "'relaxed'", 1],
    ['what it acquires', acquired, "'relaxed'"],
  ],
  'a step of k-means over records of points': [
    ['the meeting before points are added', meeting, '0', 0],
    ['the meeting before sums are read', meeting, '0', 1],
  ],
};

const all = new Map(
  Object.values(allCases)
    .flat()
    .map((one) => [one.name, one]),
);

/** The kernel with what stands at a place of those that a pattern finds replaced; -1 is the last. */
function without(original: Kernel, what: RegExp, instead: string, place: number): Kernel {
  const text = String(original.body);
  const found = [...text.matchAll(what)];
  const at = found.at(place);
  if (at === undefined) throw new Error(`${what} does not stand ${place + 1} times in the kernel`);
  const there = at[0].replace(new RegExp(what.source), instead);
  const weak = text.slice(0, at.index) + there + text.slice(at.index + at[0].length);
  return kernel(original.schema, new Function(`return ${weak}`)(), { name: 'weakened' });
}

function codesOf(given: Kernel, { grid, block, data, expected }: Case): readonly string[] {
  const copies = Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, typeof value === 'object' ? value.slice() : value]),
  );
  const outputs = Object.fromEntries(Object.keys(expected).map((name) => [name, 'any' as const]));
  return check(given, { grid, block, arguments: copies } as never, { schedules: 3, outputs }).findings.map(
    ({ code }) => code,
  );
}

describe.each(Object.entries(ports))('%s', (name, twins) => {
  const one = all.get(name);
  if (one === undefined) throw new Error(`there is no case '${name}'`);

  test('is clean', () => {
    expect(codesOf(one.kernel, one)).toEqual([]);
  });

  test.each(twins.map((twin) => [twin[0], twin] as const))('needs %s', (_, [, what, instead, place = 0]) => {
    const weak = without(one.kernel, what, instead, place);
    expect(codesOf(weak, one)).toContain('WS7001');
  });
});
