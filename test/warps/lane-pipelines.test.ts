// Pipelines and barriers of any lanes: right for random groups on every target and under every delivery, clean under the
// checker.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { check } from 'warpstage/check';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import * as kernels from './lane-pipeline-kernels.ts';
import { outcomeOf, outputOf } from './support.ts';

sayWithoutGpu();

const { batches } = kernels;
const someLabels = fc
  .array(fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 32, maxLength: 32 }), {
    minLength: 1,
    maxLength: 2,
  })
  .map((warps) => warps.flat());

const inputs = (labels: readonly number[]) => ({
  labels: Int32Array.from(labels),
  x: Int32Array.from({ length: 64 * batches }, (_, n) => 1000 + ((n * 7919) % 997)),
  out: new Int32Array(labels.length),
});

/** The ranks of a thread's group, from the lowest: those of its warp that bring the same. */
const groupOf = (bring: (rank: number) => number, rank: number, threads: number) =>
  Array.from({ length: threads }, (_, n) => n).filter(
    (n) => n >> 5 === rank >> 5 && bring(n) === bring(rank),
  );

/** What a thread sums up of its batches, where another lane of its group gives what it reads. */
function sums(labels: readonly number[], source: (group: readonly number[], rank: number) => number | null) {
  const { x } = inputs(labels);
  return labels.map((_, t) => {
    const group = groupOf((n) => labels[n]!, t, labels.length);
    const from = source(group, group.indexOf(t));
    if (from === null) return -1;
    const start = source === ofProducer ? -1 : 0;
    return Array.from({ length: batches }, (_, b) => b).reduce(
      (sum, b) => (sum * 3 + x[64 * b + group[from]!]!) | 0,
      start,
    );
  });
}

/** Groups of the two warps of a block whose lowest lanes have the same place in them. */
const alike = Array.from({ length: 64 }, (_, t) => t % 3);

const ofNext = (group: readonly number[], rank: number) => (rank + 1) % group.length;
const ofLowest = () => 0;
function ofProducer(group: readonly number[], rank: number): number | null {
  const half = Math.trunc(group.length / 2);
  return half === 0 || rank < half ? null : rank % half;
}

const cases = [
  ['a pipeline of all', kernels.unified, ofNext, {}],
  ['a pipeline with roles', kernels.roles, ofProducer, { byRole: true }],
  ['a pipeline with a number of producers', kernels.roles, ofProducer, { byRole: false }],
  ['a pipeline that is made again', kernels.again, ofNext, {}],
  ['a barrier', kernels.barriers, ofNext, {}],
  ['arrays of barriers', kernels.barrierArrays, ofLowest, {}],
] as const;

describe.each(cases)('%s', (_, kernel, source, constants) => {
  test('gives right results for any labels', () => {
    fc.assert(
      fc.property(someLabels, (labels) => {
        const given = { grid: 1, block: labels.length, arguments: { ...inputs(labels), ...constants } };
        expect(outputOf(kernel, given, 'states')).toEqual(sums(labels, source));
      }),
      { numRuns: 2, examples: [[alike]] },
    );
  });

  test('is clean', () => {
    const labels = Array.from({ length: 64 }, (_, t) => (t * 7) % 5);
    const report = check(kernel, { grid: 1, block: 64, arguments: { ...inputs(labels), ...constants } });
    expect(report.findings).toEqual([]);
  });
});

test('groups that change from turn to turn make theirs anew, and one of each quits last', () => {
  fc.assert(
    fc.property(someLabels, (labels) => {
      const { x } = inputs(labels);
      const last = new Int32Array(3 * labels.length);
      const right = labels.map((_, t) =>
        [0, 1, 2].reduce((sum, turn) => {
          const group = groupOf((n) => (labels[n]! >> turn) & 1, t, labels.length);
          if (group[0] === t) last[3 * t + turn] = 1;
          return sum * 3 + x[64 * turn + group[ofNext(group, group.indexOf(t))]!]!;
        }, 0),
      );
      const given = {
        grid: 1,
        block: labels.length,
        arguments: { ...inputs(labels), last: new Int32Array(last.length) },
      };
      expect(outputOf(kernels.remade, given, 'states')).toEqual(right);
      expect(outputOf(kernels.remade, given, 'states', 'last')).toEqual([...last]);
    }),
    { numRuns: 2 },
  );
});

test('the lanes that happen to be there share one', () => {
  const x = Int32Array.from({ length: 40 }, (_, n) => 7 * n + 1);
  const given = { grid: 1, block: 40, arguments: { x, out: new Int32Array(40).fill(9) } };
  expect(outputOf(kernels.coalesced, given, 'states')).toEqual([...x.keys()].map((t) => (t % 3 > 0 ? 0 : 9)));
});

test('lanes that make nothing are none of a group, whatever was made in the block before', () => {
  const blocks = 6;
  const labels = Array.from({ length: 64 * blocks }, (_, n) => {
    const [block, t] = [n >> 6, n & 63];
    return block % 2 === 0 ? t % 3 : t % 5 < block ? -1 : t % 2;
  });
  const right = labels.flatMap((_, n) => {
    const [first, t] = [n - (n & 63), n & 63];
    return labels[n]! < 0 ? 0 : sums(labels.slice(first, first + 64), ofNext)[t]!;
  });
  const given = { grid: blocks, block: 64, arguments: { ...inputs(labels) } };
  expect(outputOf(kernels.ofSomeLanes, given, 'states')).toEqual(right);
});

test.each([false, true])(
  'a lane that returned is not waited for, where it has made a barrier: %s',
  (makes) => {
    const given = { grid: 1, block: 64, arguments: { out: new Int32Array(64).fill(-1), makes } };
    const right = Array.from({ length: 64 }, (_, t) => {
      const rank = (t & 31) >> 1;
      return rank === 15 ? -1 : 7 * (t - 2 * rank + 2 * ((rank + 1) % 15));
    });
    expect(outputOf(kernels.withoutLast, given, 'states')).toEqual(right);
  },
);

test('a lane that returned between two barriers is not waited for at the second', () => {
  const given = { grid: 1, block: 64, arguments: { out: new Int32Array(64).fill(-1) } };
  const right = Array.from({ length: 64 }, (_, t) => {
    const rank = (t & 31) >> 1;
    const next = t - 2 * rank + 2 * ((rank + 1) % 15);
    return rank === 15 ? -1 : 3 * (7 * next) + 7 * next + 1;
  });
  expect(outputOf(kernels.againWithoutLast, given, 'states')).toEqual(right);
});

test.each<[string, (t: number) => number, string]>([
  ['differ', (t) => (t === 5 ? 3 : 4), 'the threads make `pipe` with different counts of producers: 3, 4'],
  ['are none', () => 0, '`pipe` has 0 producers among 16 threads'],
  ['are all', () => 16, '`pipe` has 16 producers among 16 threads'],
])('producers of lanes that %s are refused', (_, own, message) => {
  const producers = Int32Array.from({ length: 64 }, (_, t) => own(t));
  const given = { grid: 1, block: 64, arguments: { out: new Int32Array(64), producers } };
  expect(outcomeOf(kernels.counted, given).fault).toMatchObject({ message });
});
