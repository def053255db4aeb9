// Groups of any lanes of a warp: their members are those of a model in JavaScript, on every target.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { outcomeOf, outputOf } from './support.ts';

sayWithoutGpu();

const parts = kernel({ out: 'i32[]', x: 'readonly i32[]' }, ({ out, x }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), x[t]!);
  const last = group.shfl(t, group.size() - 1);
  const odd = cuda.binaryPartition(group, t % 3 === 0);
  const isAny = group.any(t % 5 === 0) ? 1 : 0;
  const isAll = odd.all(t < 20) ? 1 : 0;
  out[t] =
    group.threadRank() +
    100 * group.size() +
    10000 * odd.threadRank() +
    1000000 * odd.size() +
    100000000 * (isAny + 2 * isAll);
  out[block.size() + t] = last;
});

/** What each thread of a block finds, by filtering the threads of its warp. */
function expected(labels: readonly number[]): number[] {
  const ranks = labels.map((_, t) => t);
  const groups = ranks.map((t) => ranks.filter((o) => o >> 5 === t >> 5 && labels[o] === labels[t]));
  const found = ranks.map((t) => {
    const group = groups[t]!;
    const odd = group.filter((o) => (o % 3 === 0) === (t % 3 === 0));
    const isAny = group.some((o) => o % 5 === 0) ? 1 : 0;
    const isAll = odd.every((o) => o < 20) ? 1 : 0;
    const whole = group.indexOf(t) + 100 * group.length + 10000 * odd.indexOf(t) + 1000000 * odd.length;
    return (whole + 100000000 * (isAny + 2 * isAll)) | 0;
  });
  return [...found, ...groups.map((group) => group.at(-1)!)];
}

test('of any labels, in blocks of one to three warps', () => {
  const anyLabels = fc
    .integer({ min: 1, max: 70 })
    .chain((size) => fc.array(fc.integer({ min: -1, max: 2 }), { minLength: size, maxLength: size }));
  fc.assert(
    fc.property(anyLabels, (labels) => {
      // A tile divides its block: lanes without a label share one.
      const x = [...labels, ...Array.from({ length: (32 - (labels.length % 32)) % 32 }, () => 9)];
      const launch = {
        grid: 1,
        block: x.length,
        arguments: { out: new Int32Array(2 * x.length), x: Int32Array.from(x) },
      };
      expect(outputOf(parts, launch, 'states')).toEqual(expected(x));
    }),
    { numRuns: 12 },
  );
});

const combined = kernel(
  { out: 'i32[]', sums: 'f32[]', x: 'readonly i32[]', v: 'readonly f32[]' },
  ({ out, sums, x, v }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, n] = [block.threadRank(), block.size()];
    const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), x[t]!);
    const own = (t * 37) % 23;
    out[t] = cuda.cg.reduce(group, own, 'plus');
    out[n + t] = cuda.cg.reduce(group, own, 'less');
    out[2 * n + t] = cuda.cg.inclusiveScan(group, own);
    out[3 * n + t] = cuda.cg.exclusiveScan(group, own, 'greater');
    out[4 * n + t] = group.shflUp(own, 2);
    out[5 * n + t] = group.shflDown(own, 3);
    sums[t] = cuda.cg.reduce(group, v[t]!, 'plus');
    sums[n + t] = cuda.cg.inclusiveScan(group, v[t]!, 'plus');
  },
);

/** The same in JavaScript. Floats are combined as a tree: what lies 16 ranks above first, then 8, 4, 2 and 1. */
function combinedInJavaScript(labels: readonly number[], v: Float32Array) {
  const ranks = labels.map((_, t) => t);
  const of = (t: number) => (t * 37) % 23;
  const groups = ranks.map((t) => ranks.filter((o) => o >> 5 === t >> 5 && labels[o] === labels[t]));
  const each = (value: (group: readonly number[], rank: number) => number) =>
    ranks.map((t) => value(groups[t]!, groups[t]!.indexOf(t)));
  const plus = (list: readonly number[]) => list.reduce((a, b) => a + b, 0);
  const tree = (group: readonly number[]) => {
    const sums = group.map((t) => v[t]!);
    for (let distance = 16; distance >= 1; distance /= 2)
      for (let rank = 0; rank + distance < sums.length; ++rank)
        sums[rank] = Math.fround(sums[rank]! + sums[rank + distance]!);
    return sums[0]!;
  };
  const scanned = (group: readonly number[]) => {
    let sums = group.map((t) => v[t]!);
    for (let distance = 1; distance < 32; distance *= 2)
      sums = sums.map((sum, rank) => (rank < distance ? sum : Math.fround(sums[rank - distance]! + sum)));
    return sums;
  };
  const least = -(2 ** 31);
  return {
    out: [
      ...each((group) => plus(group.map(of))),
      ...each((group) => Math.min(...group.map(of))),
      ...each((group, rank) => plus(group.slice(0, rank + 1).map(of))),
      ...each((group, rank) => Math.max(least, ...group.slice(0, rank).map(of))),
      ...each((group, rank) => of(group[rank - 2] ?? group[rank]!)),
      ...each((group, rank) => of(group[rank + 3] ?? group[rank]!)),
    ],
    sums: [...each(tree), ...each((group, rank) => scanned(group)[rank]!)],
  };
}

test('reductions, scans and shuffles of any labels', () => {
  const labels = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 64, maxLength: 64 });
  fc.assert(
    fc.property(labels, fc.integer({ min: 1, max: 1000 }), (x, seed) => {
      const n = x.length;
      const v = Float32Array.from(x, (_, t) => ((t * seed) % 101) / 7);
      const given = { x: Int32Array.from(x), v, out: new Int32Array(6 * n), sums: new Float32Array(2 * n) };
      const { arguments: results, fault } = outcomeOf(combined, { grid: 1, block: n, arguments: given });
      expect(fault).toBeNull();
      const right = combinedInJavaScript(x, v);
      expect([...(results.out as Int32Array)]).toEqual(right.out);
      expect([...(results.sums as Float32Array)]).toEqual(right.sums);
    }),
    { numRuns: 6 },
  );
});

const voted = kernel({ out: 'u32[]', x: 'readonly i32[]' }, ({ out, x }, cuda) => {
  const block = cuda.thisThreadBlock();
  const [t, n] = [block.threadRank(), block.size()];
  const group = cuda.labeledPartition(cuda.tiledPartition(block, 32), x[t]!);
  out[t] = group.ballot(t % 3 === 0);
  out[n + t] = group.matchAny(t % 4);
  out[2 * n + t] = group.matchAll(group.size());
  out[3 * n + t] = group.matchAll(t & 16);
});

test('votes and matches of any labels count ranks', () => {
  const labels = fc
    .integer({ min: 0, max: 5 })
    .chain((max) => fc.array(fc.integer({ min: 0, max }), { minLength: 64, maxLength: 64 }));
  fc.assert(
    fc.property(labels, (x) => {
      const ranks = x.map((_, t) => t);
      const groups = ranks.map((t) => ranks.filter((o) => o >> 5 === t >> 5 && x[o] === x[t]));
      const each = (holds: (other: number, t: number, group: readonly number[]) => boolean) =>
        groups.map((group, t) =>
          group.reduce((bits, other, rank) => (holds(other, t, group) ? bits + 2 ** rank : bits), 0),
        );
      const given = { out: new Uint32Array(4 * x.length), x: Int32Array.from(x) };
      expect(outputOf(voted, { grid: 1, block: x.length, arguments: given }, 'states')).toEqual([
        ...each((other) => other % 3 === 0),
        ...each((other, t) => other % 4 === t % 4),
        ...each(() => true),
        ...each((_, t, group) => group.every((other) => (other & 16) === (t & 16))),
      ]);
    }),
    { numRuns: 6 },
  );
});

describe('on ways of their own', () => {
  test('a filter aggregated by warps adds once for each group', () => {
    const filter = kernel({ out: 'i32[]', adds: 'i32[]', x: 'readonly i32[]' }, ({ out, adds, x }, cuda) => {
      const block = cuda.thisThreadBlock();
      const v = x[block.threadRank()]!;
      const group = cuda.binaryPartition(cuda.tiledPartition(block, 32), v > 0);
      if (v > 0) {
        let first = 0;
        if (group.threadRank() === 0) {
          first = cuda.atomicAdd(adds, 0, group.size());
          cuda.atomicAdd(adds, 1, 1);
        }
        const at = group.shfl(first, 0) + group.threadRank();
        group.sync();
        out[at] = v;
      }
    });
    const x = Int32Array.from({ length: 64 }, (_, i) => ((i * 37) % 23) - 9);
    const once = kernel({ out: 'i32[]', x: 'readonly i32[]' }, ({ out, x }, cuda) => {
      const t = cuda.threadIdx.x;
      const group = cuda.binaryPartition(cuda.tiledPartition(cuda.thisThreadBlock(), 32), x[t]! > 0);
      if (x[t]! > 0) out[t - (t % 32) + group.threadRank()] = group.shfl(x[t]!, group.size() - 1);
    });
    const { arguments: given, fault } = outcomeOf(filter, {
      grid: 1,
      block: 32,
      arguments: { out: new Int32Array(32), adds: new Int32Array(2), x: x.slice(0, 32) },
    });
    expect(fault).toBeNull();
    const here = [...x.slice(0, 32)].filter((v) => v > 0);
    expect([...(given.adds as Int32Array)]).toEqual([here.length, 1]);
    expect([...(given.out as Int32Array)].slice(0, here.length)).toEqual(here);
    const last = outputOf(
      once,
      { grid: 1, block: 32, arguments: { out: new Int32Array(32), x: x.slice(0, 32) } },
      'states',
    );
    expect(last.slice(0, here.length)).toEqual(here.map(() => here.at(-1)));
  });

  test('a rank that the group does not have is found', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      const group = cuda.binaryPartition(cuda.tiledPartition(cuda.thisThreadBlock(), 32), t < 8);
      if (t < 8) out[t] = group.shfl(t, group.size());
    });
    const { fault } = outcomeOf(k, { grid: 1, block: 32, arguments: { out: new Int32Array(32) } });
    if (fault?.kind !== 'misuse') throw new Error('no misuse was found');
    expect(fault.code).toBe('WS3010');
    expect(fault.message).toContain('reads from lane 31 of warp 0, which does not take part');
  });

  test('coalescedThreads has the calling thread', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      if (t % 2 === 0) {
        const group = cuda.coalescedThreads();
        out[t] = group.shfl(t, group.threadRank());
      }
    });
    const out = outputOf(k, { grid: 1, block: 32, arguments: { out: new Int32Array(32) } }, 'states');
    expect(out).toEqual(Array.from({ length: 32 }, (_, t) => (t % 2 === 0 ? t : 0)));
  });
});
