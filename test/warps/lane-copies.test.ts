// Copies of groups of any lanes, for the thread's own queue, a pipeline and a barrier: every element arrives, on every
// target and under every delivery, and the checker finds a wait that is missing.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { check } from 'warpstage/check';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { outcomeOf, outputOf } from './support.ts';

sayWithoutGpu();

const lengths = { minLength: 1, maxLength: 2 };
/** The labels of one or two warps. */
const someLabels = fc
  .array(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 32, maxLength: 32 }), lengths)
  .map((warps) => warps.flat());

const schema = { out: 'i32[]', x: 'readonly i32[]', labels: 'readonly i32[]', per: 'index' } as const;
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

const copied = kernel(schema, ({ out, x, labels, per }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 64 * 64);
  const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), labels[t]!);
  const first = group.shfl(t, 0);
  const count = group.size() * per;
  const own = shared.subarray(64 * first);
  cuda.cg.memcpyAsync(group, own, x.subarray(8 * first), count);
  cuda.cg.wait(group);
  out[t] = count === 0 ? -1 : own[(group.threadRank() * 5 + 1) % count]!;
});

const promised = kernel(schema, ({ out, x, labels, per }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 64 * 64);
  const pipe = cuda.makePipeline();
  const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), labels[t]!);
  const first = group.shfl(t, 0);
  const count = group.size() * per;
  const own = shared.subarray(64 * first);
  cuda.memcpyAsync(group, own, x.subarray(8 * first), cuda.alignedSize(16, Math.ceil(count / 4) * 4), pipe);
  pipe.producerCommit();
  pipe.consumerWait();
  group.sync();
  out[t] = count === 0 ? -1 : own[(group.threadRank() * 5 + 1) % count]!;
});

const staged = kernel(schema, ({ out, x, labels, per }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 64 * 64);
  const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
  const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), labels[t]!);
  const first = group.shfl(t, 0);
  const count = group.size() * per;
  const own = shared.subarray(64 * first);
  pipe.producerAcquire();
  cuda.memcpyAsync(group, own, x.subarray(8 * first), count, pipe);
  pipe.producerCommit();
  pipe.consumerWait();
  out[t] = count === 0 ? -1 : own[(group.threadRank() * 5 + 1) % count]!;
  pipe.consumerRelease();
});

const awaited = kernel(schema, ({ out, x, labels, per }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 64 * 64);
  const barrier = cuda.barrier(block);
  const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), labels[t]!);
  const first = group.shfl(t, 0);
  const count = group.size() * per;
  const own = shared.subarray(64 * first);
  cuda.memcpyAsync(group, own, x.subarray(8 * first), count, barrier);
  barrier.arriveAndWait();
  out[t] = count === 0 ? -1 : own[(group.threadRank() * 5 + 1) % count]!;
});

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

const branches = kernel(schema, ({ out, x, labels, per }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 64);
  const group = cuda.binaryPartition(cuda.tiledPartition(block, 32), labels[t]! > 1);
  if (labels[t]! > 1) {
    // Two commits of each lane: of the older one nothing is under way any more.
    const own = shared.subarray(t - cuda.laneId);
    cuda.cg.memcpyAsync(group, own, x, group.size());
    cuda.cg.memcpyAsync(group, own.subarray(group.size()), 4 * per, x.subarray(256), 32 - group.size());
    cuda.cg.waitPrior(group, 1);
    out[t] = own[group.size() - 1 - group.threadRank()]!;
    cuda.cg.wait(group);
  } else {
    out[t] = -group.size();
  }
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

const coalesced = kernel({ out: 'i32[]', x: 'readonly i32[]' }, ({ out, x }, cuda) => {
  const t = cuda.threadIdx.x;
  const shared = cuda.sharedArray('i32', 40 * 40);
  if (t % 3 > 0) {
    // Which lanes are here is not known: whoever they are, they copy all to a place of theirs.
    const group = cuda.coalescedThreads();
    const own = shared.subarray(40 * group.shfl(t, 0));
    cuda.cg.memcpyAsync(group, own, x, 40);
    cuda.cg.wait(group);
    out[t] = own[39 - t]!;
  }
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
