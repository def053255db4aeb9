// Memory that was never written, and outputs that are written in part or twice.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { check, expectClean } from 'warpstage/check';

const filled = (length: number) => Int32Array.from({ length }, (_, i) => i + 1);
const io = { out: 'i32[]', x: 'readonly i32[]' } as const;

describe('what counts as an output', () => {
  test('a filter decides by its data what it writes', () => {
    const positives = kernel({ ...io, count: 'i32[]' }, ({ out, x, count }, cuda) => {
      const value = x[cuda.thisThreadBlock().threadRank()]!;
      if (value % 2 === 0) out[cuda.atomicAdd(count, 0, 1)] = value;
    });
    const arrays = { out: new Int32Array(32), x: filled(32), count: new Int32Array(1) };
    expectClean(positives, { grid: 1, block: 32, arguments: arrays });
  });

  test('sums that are read before they are written are none', () => {
    const sums = kernel(io, ({ out, x }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      for (let i = t; i < x.length; i += block.size()) out[t] = out[t]! + x[i]!;
    });
    expectClean(sums, { grid: 1, block: 8, arguments: { out: new Int32Array(16), x: filled(32) } });
  });

  const half = kernel(io, ({ out, x }, cuda) => {
    const t = cuda.thisThreadBlock().threadRank();
    out[2 * t] = x[t]!;
  });
  const launch = { grid: 1, block: 8, arguments: { out: { length: 16 }, x: filled(8) } };

  test('what is never written is reported by stretches', () => {
    const { findings } = check(half, launch);
    expect(findings).toMatchObject([
      {
        code: 'WS7004',
        message:
          'kernel `half`: 8 of the 16 elements of `out` are never written: 1, 3, 5, 7 and 4 more stretches'.replace(
            'kernel `half`',
            'the kernel',
          ),
      },
    ]);
  });

  test('who means it so says so', () => {
    expectClean(half, launch, { outputs: { out: 'partial' } });
    expectClean(half, launch, { outputs: { out: 'any' } });
  });
});

test('an output that is written by two threads in turn', () => {
  const twice = kernel(io, ({ out, x }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    out[t] = x[t]!;
    block.sync();
    out[31 - t] = x[t]!;
  });
  const launch = { grid: 1, block: 32, arguments: { out: { length: 32 }, x: filled(32) } };
  const { findings } = check(twice, launch);
  expect(findings).toMatchObject([{ code: 'WS7005', related: [{ label: 'it was written here before' }] }]);
  expectClean(twice, launch, { outputs: { out: 'any' } });
});

describe('memory that was never written', () => {
  test('a local array is zero at first', () => {
    const locals = kernel(io, ({ out, x }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const own = cuda.localArray('i32', 2);
      own[0] = x[t]!;
      out[t] = own[0]! + own[x[t]! & 1]!;
    });
    expectClean(locals, { grid: 1, block: 32, arguments: { out: { length: 32 }, x: filled(32) } });
  });

  const doubled = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
    const t = cuda.thisThreadBlock().threadRank();
    y[t] = 2 * y[t]!;
  });

  test('global memory holds numbers, unless the launch says that it does not', () => {
    expectClean(doubled, { grid: 1, block: 32, arguments: { y: { length: 32 } } });
    const { findings } = check(doubled, {
      grid: 1,
      block: 32,
      arguments: { y: { length: 32, unfilled: true } },
    });
    expect(findings).toMatchObject([
      { code: 'WS7003', part: { array: 'y', space: 'global', bytes: [0, 128] } },
    ]);
  });

  test('what a block left in shared memory is nothing to the next one', () => {
    const left = kernel(io, ({ out, x }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 8);
      if (block.groupIndex().x === 0) shared[t] = x[t]!;
      block.sync();
      out[cuda.thisGrid().threadRank()] = shared[7 - t]!;
    });
    const launch = { grid: 2, block: 8, arguments: { out: { length: 16 }, x: filled(8) } };
    const { findings } = check(left, launch, { delivery: 'eager' });
    expect(findings).toMatchObject([{ code: 'WS7003', block: [1, 0, 0] }]);
  });
});

describe('index arithmetic', () => {
  test('that wraps on its way to an index', () => {
    const far = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
      const t = cuda.i32(cuda.thisThreadBlock().threadRank());
      const i = t * 100_000_000;
      y[Math.max(0, Math.min(i, 31))] = 1;
    });
    const { findings } = check(
      far,
      { grid: 1, block: 32, arguments: { y: new Int32Array(32) } },
      { outputs: { y: 'any' } },
    );
    expect(findings).toMatchObject([{ code: 'WS7006', threads: [22] }]);
    expect(findings[0]!.message).toContain(
      'computed as 2200000000, which 32 bits do not hold: it becomes -2094967296',
    );
  });

  test('that wraps on purpose, before it is brought into range', () => {
    const hash = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
      const t = cuda.i32(cuda.thisThreadBlock().threadRank());
      cuda.atomicAdd(y, (t * 1103515245 + 12345) & 31, 1);
    });
    expectClean(hash, { grid: 1, block: 32, arguments: { y: new Int32Array(32) } });
  });
});
