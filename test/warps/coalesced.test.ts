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
