// Copies of groups of any lanes, for the thread's own queue, a pipeline and a barrier: every element arrives, on every
// target and under every delivery, and the checker finds a wait that is missing.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { check } from 'warpstage/check';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import {
  awaited,
  batches,
  branches,
  coalesced,
  copied,
  promised,
  schema,
  staged,
} from './lane-copy-kernels.ts';
import { outcomeOf, outputOf } from './support.ts';

sayWithoutGpu();

const lengths = { minLength: 1, maxLength: 2 };
/** The labels of one or two warps. */
const someLabels = fc
  .array(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 32, maxLength: 32 }), lengths)
  .map((warps) => warps.flat());

const inputs = (labels: readonly number[], per: number) => ({
  labels: Int32Array.from(labels),
  x: Int32Array.from({ length: 512 }, (_, n) => 1000 + ((n * 7919) % 997)),
  out: new Int32Array(labels.length),
  per,
});

/** What a group of lanes copies to its own part: `per` elements for each, from 8 times its lowest lane on. */
function expected(labels: readonly number[], per: number): number[] {
  const { x } = inputs(labels, per);
  return labels.map((label, t) => {
    const group = labels.flatMap((o, n) => (o === label && n >> 5 === t >> 5 ? [n] : []));
    const count = group.length * per;
    return count === 0 ? -1 : x[8 * group[0]! + ((group.indexOf(t) * 5 + 1) % count)]!;
  });
}

test.each([
  ['its threads’ own queues', copied],
  ['a pipeline of each thread, with a promise', promised],
  ['a pipeline of the block', staged],
  ['a barrier of the block', awaited],
])('copies of any labels, for %s', (_, each) => {
  fc.assert(
    fc.property(someLabels, fc.integer({ min: 0, max: 2 }), (labels, per) => {
      const given = { grid: 1, block: labels.length, arguments: inputs(labels, per) };
      expect(outputOf(each, given, 'states')).toEqual(expected(labels, per));
    }),
    { numRuns: 4 },
  );
});

test('copies of some lanes in a branch of theirs, of which the youngest is not waited for', () => {
  fc.assert(
    fc.property(someLabels, fc.integer({ min: 0, max: 2 }), (labels, per) => {
      const given = { grid: 1, block: labels.length, arguments: inputs(labels, per) };
      const { x } = given.arguments;
      const right = labels.map((label, t) => {
        const group = labels.flatMap((o, n) => (o > 1 === label > 1 && n >> 5 === t >> 5 ? [n] : []));
        return label > 1 ? x[group.length - 1 - group.indexOf(t)]! : -group.length;
      });
      expect(outputOf(branches, given, 'states')).toEqual(right);
    }),
    { numRuns: 4 },
  );
});

test('copies of the lanes that happen to be there', () => {
  const x = Int32Array.from({ length: 40 }, (_, n) => 7 * n + 1);
  const given = { grid: 1, block: 40, arguments: { x, out: new Int32Array(40) } };
  expect(outputOf(coalesced, given, 'states')).toEqual(
    [...x.keys()].map((t) => (t % 3 > 0 ? x[39 - t]! : 0)),
  );
});

const waits = kernel({ ...schema, kind: 'constant index' }, ({ out, x, labels, per, kind }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 64);
  const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), labels[t]!);
  const own = shared.subarray(group.shfl(t, 0) * 2);
  cuda.cg.memcpyAsync(group, own, x, group.size() * per);
  if (kind === 0) cuda.cg.wait(group);
  if (kind === 1) cuda.cg.wait(cuda.thisThread());
  if (kind === 2) group.sync();
  out[t] = own[(group.threadRank() + 1) % group.size()]!;
});

test.each([
  ['nothing, with the group’s wait', 0, []],
  ['a race, where each waits for its own copies alone', 1, ['WS7002']],
  ['a race, where they meet and wait for no copy', 2, ['WS7002', 'WS7013']],
] as const)('the checker finds %s', (_, kind, codes) => {
  const labels = Array.from({ length: 32 }, (_, t) => (t < 16 ? 0 : 1));
  const report = check(waits, { grid: 1, block: 32, arguments: { ...inputs(labels, 1), kind } });
  expect(report.findings.map(({ code }) => code)).toEqual(codes);
});

const wrong = kernel(schema, ({ out, x, labels, per }, cuda) => {
  const group = cuda.labeledPartition(cuda.tiledPartition(cuda.thisThreadBlock(), 32), 0);
  const shared = cuda.sharedArray('i32', 128);
  if (labels[0] === 0) cuda.cg.memcpyAsync(group, shared, x, per);
  if (labels[0] === 1) cuda.cg.memcpyAsync(group, shared, x, cuda.alignedSize(16, per));
  if (labels[0] === 2) cuda.cg.memcpyAsync(group, shared.subarray(per), shared, 32);
  cuda.cg.wait(group);
  out[cuda.threadIdx.x] = 0;
});

test.each([
  ['fewer than no elements', 0, -5, { kind: 'misuse', message: /-5/ }],
  ['more elements than the array has', 0, 129, { kind: 'out-of-range', index: 128, length: 128 }],
  ['a promise that is not kept', 1, 30, { kind: 'misuse', message: /16/ }],
  ['an array over itself', 2, 31, { kind: 'misuse', message: /overlap/ }],
] as const)('refused is a copy of %s', (_, which, per, fault) => {
  const labels = Array.from({ length: 32 }, () => which);
  const outcome = outcomeOf(wrong, { grid: 1, block: 32, arguments: inputs(labels, per) });
  expect(outcome.fault).toMatchObject({
    ...fault,
    ...('message' in fault ? { message: expect.stringMatching(fault.message) } : {}),
  });
});

const batchesOf = (labels: readonly number[]) => {
  const { x, labels: given, out } = inputs(labels, 0);
  return { x, labels: given, out };
};

test('batches of a group in two stages, with a pipeline of each lane', () => {
  fc.assert(
    fc.property(someLabels, (labels) => {
      const { x } = batchesOf(labels);
      const right = labels.map((label, t) => {
        const group = labels.flatMap((o, n) => (o === label && n >> 5 === t >> 5 ? [n] : []));
        const next = (group.indexOf(t) + 1) % group.length;
        return [0, 1, 2, 3, 4].reduce((sum, batch) => sum * 3 + x[16 * batch + next]!, 0);
      });
      const given = { grid: 1, block: labels.length, arguments: { ...batchesOf(labels), mended: true } };
      expect(outputOf(batches, given, 'states')).toEqual(right);
    }),
    { numRuns: 3 },
  );
});

test.each([
  [true, []],
  [false, ['WS7002']],
])('of such batches with all syncs (%s) the checker finds %j', (mended, codes) => {
  const labels = Array.from({ length: 32 }, (_, t) => t % 3);
  const report = check(batches, { grid: 1, block: 32, arguments: { ...batchesOf(labels), mended } });
  expect([...new Set(report.findings.map(({ code }) => code))]).toEqual(codes);
});
