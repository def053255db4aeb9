// Subsets of a block: right for random predicates on every target and under every delivery, and clean under the checker.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { check } from 'warpstage/check';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import * as kernels from './subset-kernels.ts';
import { outcomeOf, outputOf } from './support.ts';

sayWithoutGpu();

const { batches, most } = kernels;

/** What each thread brings, of blocks of one warp and of several, the last of which may be partly there. */
const someFlags = fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 2, maxLength: most });
/** In the lower bit, which most kernels ask for. */
const flagsOf = (given: readonly number[]) => given.map((each) => each & 1);

const x = Int32Array.from({ length: most * batches }, (_, n) => 1000 + ((n * 7919) % 997));
const inputs = (flags: readonly number[]) => ({
  flags: Int32Array.from(flags),
  x,
  out: new Int32Array(flags.length),
});

const launchOf = <More extends object>(flags: readonly number[], more: More = {} as More) => ({
  grid: 1,
  block: flags.length,
  arguments: { ...inputs(flags), ...more },
});

/** The ranks of a thread's subset, from the lowest. */
const subsetOf = (flags: readonly number[], t: number) =>
  [...flags.keys()].filter((n) => flags[n]! > 0 === flags[t]! > 0);

/** What a thread sums up of its batches, where another thread of its subset gives what it reads. */
function sums(flags: readonly number[], source: (subset: readonly number[], rank: number) => number | null) {
  return flags.map((_, t) => {
    const subset = subsetOf(flags, t);
    const from = source(subset, subset.indexOf(t));
    if (from === null) return -1;
    const start = source === ofProducer ? -1 : 0;
    return Array.from({ length: batches }, (_, b) => b).reduce(
      (sum, b) => (sum * 3 + x[most * b + subset[from]!]!) | 0,
      start,
    );
  });
}

const ofNext = (subset: readonly number[], rank: number) => (rank + 1) % subset.length;
function ofProducer(subset: readonly number[], rank: number): number | null {
  const half = Math.trunc(subset.length / 2);
  return half === 0 || rank < half ? null : rank % half;
}

const ofOneHalf = (flags: readonly number[]) =>
  flags.map((flag, t) => {
    const subset = subsetOf(flags, t);
    return flag > 0 ? x[subset.length - 1 - subset.indexOf(t)]! : -1;
  });

const ofCopies = (flags: readonly number[]) =>
  flags.map((flag, t) => {
    const subset = subsetOf(flags, t);
    const rank = subset.indexOf(t);
    const [first, second] = flag > 0 ? [3, 256] : [128, 300];
    return 9 * x[first + subset.length - 1 - rank]! + 3 * x[second + rank]! + x[second + 1 + rank]!;
  });

const cases = [
  ['that meets', kernels.neighbours, (flags: readonly number[]) => sums(flags, ofNext), {}],
  ['beside which the others end', kernels.oneHalf, ofOneHalf, {}],
  ['with a pipeline of all', kernels.unified, (flags: readonly number[]) => sums(flags, ofNext), {}],
  ['with roles', kernels.roles, (flags: readonly number[]) => sums(flags, ofProducer), { byRole: true }],
  [
    'with a number of producers',
    kernels.roles,
    (flags: readonly number[]) => sums(flags, ofProducer),
    { byRole: false },
  ],
  ['that copies together', kernels.copies, ofCopies, {}],
] as const;

const alternating = Array.from({ length: 100 }, (_, t) => (t % 3) & 1);
const oneOfAll = Array.from({ length: 70 }, (_, t) => (t === 68 ? 1 : 0));

describe.each(cases)('a subset %s', (_, made, right, constants) => {
  test('gives right results for any predicate', () => {
    fc.assert(
      fc.property(someFlags, (given) => {
        const flags = flagsOf(given);
        expect(outputOf(made, launchOf(flags, constants), 'states')).toEqual(right(flags));
      }),
      { numRuns: 2, examples: [[alternating], [oneOfAll]] },
    );
  });

  test('is clean', () => {
    const report = check(made, launchOf(alternating, constants));
    expect(report.findings).toEqual([]);
  });
});

test('ranks, votes, reductions and scans are those of the subset', () => {
  fc.assert(
    fc.property(someFlags, (given) => {
      const flags = flagsOf(given);
      const right = flags.flatMap((_, t) => {
        const subset = subsetOf(flags, t);
        const values = subset.map((n) => x[n]!);
        const rank = subset.indexOf(t);
        const sum = (some: readonly number[]) => some.reduce((a, b) => a + b, 0);
        return [
          rank,
          subset.length,
          sum(values),
          Math.min(...values),
          sum(values.slice(0, rank + 1)),
          Math.max(-(2 ** 31), ...values.slice(0, rank)),
          values.some((v) => v % 7 === 0) ? 1 : 0,
          values.every((v) => v % 7 !== 1) ? 1 : 0,
        ];
      });
      const more = { out: new Int32Array(8 * flags.length), f: new Float32Array(flags.length) };
      const { fault, arguments: given_ } = outcomeOf(kernels.collectives, launchOf(flags, more));
      expect(fault).toBe(null);
      expect([...(given_.out as Int32Array)]).toEqual(right);
      for (const [t, sum] of (given_.f as Float32Array).entries()) {
        const exact = subsetOf(flags, t).reduce((a, n) => a + x[n]! / 3, 0);
        expect(Math.abs(sum - exact) / exact).toBeLessThan(1e-5);
      }
    }),
    { numRuns: 2, examples: [[alternating], [oneOfAll]] },
  );
  const more = { out: new Int32Array(800), f: new Float32Array(100) };
  expect(check(kernels.collectives, launchOf(alternating, more)).findings).toEqual([]);
});

test('subsets that change from turn to turn make theirs anew, and one of each quits last', () => {
  fc.assert(
    fc.property(someFlags, (flags) => {
      const bit = (turn: number) => flags.map((flag) => (flag >> turn) & 1);
      const right = flags.map((_, t) =>
        [0, 1, 2].reduce((sum, turn) => {
          const subset = subsetOf(bit(turn), t);
          return sum * 3 + x[most * turn + subset[ofNext(subset, subset.indexOf(t))]!]!;
        }, 0),
      );
      const last = [0, 1, 2].flatMap((turn) => [0, 1].map((half) => (bit(turn).includes(half) ? 1 : 0)));
      const given = launchOf(flags, { last: new Int32Array(6) });
      expect(outputOf(kernels.remade, given, 'states')).toEqual(right);
      expect(outputOf(kernels.remade, given, 'states', 'last')).toEqual(last);
    }),
    { numRuns: 2 },
  );
  expect(check(kernels.remade, launchOf(alternating, { last: new Int32Array(6) })).findings).toEqual([]);
});

test('a thread that has returned is told', () => {
  const early = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    if (t >= 40) return;
    const own = cuda.binaryPartition(block, t % 2 === 0);
    out[t] = own.size();
  });
  const { fault } = outcomeOf(early, { grid: 1, block: 64, arguments: { out: new Int32Array(64) } });
  expect(fault).toMatchObject({
    message:
      'cuda.binaryPartition cuts a block of 64 threads, and all must come: 40 did, the others had returned',
  });
});

test('what one half reads of the other, without a sync of the block, is a race', () => {
  const racy = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const shared = cuda.sharedArray('i32', 96);
    const own = cuda.binaryPartition(block, t % 3 === 0);
    shared[t] = t;
    own.sync();
    out[t] = shared[(t + 1) % 96]!;
  });
  const report = check(racy, { grid: 1, block: 96, arguments: { out: new Int32Array(96) } });
  expect(report.findings.map(({ code }) => code)).toContain('WS7001');
});

test('a subset is not cut again: the hint says what to write', () => {
  const again = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
    const own = cuda.binaryPartition(cuda.thisThreadBlock(), cuda.threadIdx.x % 3 === 0);
    // @ts-expect-error: a subset is no block
    out[0] = cuda.binaryPartition(own, true).size();
  });
  expect(() => check(again, { grid: 1, block: 96, arguments: { out: new Int32Array(96) } })).toThrow(
    'hint: cut the block by both: cuda.binaryPartition(cuda.thisThreadBlock(), first && second)',
  );
});

test('a thread that never comes to its subset is a deadlock', () => {
  const missing = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const own = cuda.binaryPartition(block, t % 3 === 0);
    if (t !== 33) own.sync();
    out[t] = 1;
  });
  const { fault } = outcomeOf(missing, { grid: 1, block: 96, arguments: { out: new Int32Array(96) } });
  expect(fault).toMatchObject({ kind: 'deadlock' });
});
