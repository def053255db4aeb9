// What is a race, and what is none.

import { describe, expect, test } from 'vitest';
import { deviceFunction, kernel } from 'warpstage';
import { check, expectClean } from 'warpstage/check';

const filled = (length: number) => Int32Array.from({ length }, (_, i) => i);
const io = { out: 'i32[]', x: 'readonly i32[]' } as const;
const launch = (length = 32, block = length) =>
  ({ grid: 1, block, arguments: { out: { length }, x: filled(length) } }) as const;
const codes = (...args: Parameters<typeof check>) => check(...args).findings.map(({ code }) => code);

describe('no races', () => {
  test('atomic operations among themselves, and a look at their result after a sync', () => {
    const histogram = kernel({ ...io, bins: 'constant index = 4' }, ({ out, x, bins }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const counts = cuda.sharedArray('i32', bins);
      if (t < bins) counts[t] = 0;
      block.sync();
      cuda.atomicAdd(counts, x[t]! & 3, 1);
      block.sync();
      out[t] = counts[t & 3]!;
    });
    expectClean(histogram, launch());
  });

  test('atomics of several blocks', () => {
    const total = kernel(io, ({ out, x }, cuda) => {
      cuda.atomicAdd(out, 0, x[cuda.thisGrid().threadRank()]!);
    });
    expectClean(total, { grid: 4, block: 8, arguments: { out: new Int32Array(1), x: filled(32) } });
  });

  test('several threads that store the same value, unless advice is asked for', () => {
    const flag = kernel(io, ({ out, x }, cuda) => {
      if (x[cuda.thisThreadBlock().threadRank()]! >= 0) out[0] = 1;
    });
    const one = { grid: 1, block: 32, arguments: { out: new Int32Array(1), x: filled(32) } };
    expectClean(flag, one);
    const { verdict, findings } = check(flag, one, { advice: true });
    expect(verdict).toBe('clean');
    expect(findings).toMatchObject([{ code: 'WS7001', severity: 'advice' }]);
  });

  test('shared memory that is used again after a sync, by all threads in turn', () => {
    const rounds = kernel(io, ({ out, x }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      let sum = 0;
      for (let round = 0; round < 4; round++) {
        shared[t] = x[t]! + round;
        block.sync();
        for (let i = 0; i < 32; i++) sum += shared[i]!;
        block.sync();
      }
      out[t] = sum;
    });
    expectClean(rounds, launch());
  });

  test('bytes that lie side by side, written by different threads', () => {
    const bytes = kernel({ out: 'u8[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('u8', 32);
      shared[t] = t;
      block.sync();
      out[t] = shared[31 - t]!;
    });
    expectClean(bytes, { grid: 1, block: 32, arguments: { out: { length: 32 } } });
  });

  test('a reduction by halves within tiles', () => {
    const sums = kernel(io, ({ out, x }, cuda) => {
      const block = cuda.thisThreadBlock();
      const tile = cuda.tiledPartition(block, 8);
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      shared[t] = x[t]!;
      for (let half = 4; half > 0; half = half >> 1) {
        tile.sync();
        if (t % 8 < half) shared[t] = shared[t]! + shared[t + half]!;
      }
      tile.sync();
      out[t] = shared[t - (t % 8)]!;
    });
    expectClean(sums, launch());
  });

  test('a copy in place: threads change their own elements of an array that is read and written', () => {
    const scale = kernel({ y: 'i32[]', x: 'readonly i32[]' }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      y[i] = 2 * x[i]!;
    });
    const both = filled(64);
    expectClean(scale, { grid: 2, block: 32, arguments: { y: both, x: both } });
  });
});

describe('a grid that meets', () => {
  const rotate = kernel(
    { y: 'i32[]', x: 'readonly i32[]', mended: 'constant bool = true' },
    ({ y, x, mended }, cuda) => {
      const grid = cuda.thisGrid();
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const i = grid.threadRank();
      const shared = cuda.sharedArray('i32', 4);
      shared[t] = x[i]!;
      block.sync();
      y[i] = shared[3 - t]!;
      if (mended) grid.sync();
      else block.sync();
      const next = y[(i + 4) % y.length]!;
      grid.sync();
      y[i] = next;
    },
  );
  const launch = { grid: 3, block: 4, cooperative: true };

  test('is in order, and each block has its own shared memory', () => {
    expectClean(rotate, { ...launch, arguments: { y: { length: 12 }, x: filled(12) } });
  });

  test('is not where only blocks meet', () => {
    const given = { y: { length: 12 }, x: filled(12), mended: false };
    const { findings } = check(rotate, { ...launch, arguments: given });
    expect(new Set(findings.map(({ code }) => code))).toEqual(new Set(['WS7001']));
  });
});

describe('races', () => {
  test('between blocks', () => {
    const neighbours = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      y[i] = y[(i + 1) % y.length]! + 1;
    });
    const { findings } = check(neighbours, { grid: 2, block: 1, arguments: { y: filled(2) } });
    expect(findings).toMatchObject([{ code: 'WS7001' }]);
    expect(findings[0]!.message).toMatch(/of block \(\d, 0, 0\)/);
    expect(findings[0]!.hint).toContain('blocks run in any order');
  });

  test('of a sync of tiles, where the neighbour is in another tile', () => {
    const across = kernel(io, ({ out, x }, cuda) => {
      const block = cuda.thisThreadBlock();
      const tile = cuda.tiledPartition(block, 8);
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      shared[t] = x[t]!;
      tile.sync();
      out[t] = shared[(t + 1) % 32]!;
    });
    expect(codes(across as never, launch() as never)).toEqual(['WS7001']);
  });

  test('of arguments that overlap', () => {
    const shift = kernel({ y: 'i32[]', x: 'readonly i32[]' }, ({ y, x }, cuda) => {
      const i = cuda.thisThreadBlock().threadRank();
      y[i] = x[i]!;
    });
    const all = filled(33);
    const overlapping = { y: all.subarray(0, 32), x: all.subarray(1, 33) };
    const found = codes(shift as never, { grid: 1, block: 32, arguments: overlapping } as never);
    expect(new Set(found)).toEqual(new Set(['WS7001']));
  });

  test('of an atomic operation and a plain store', () => {
    const mixed = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      if (t === 0) y[0] = 7;
      else cuda.atomicAdd(y, 0, 1);
    });
    const { findings } = check(mixed, { grid: 1, block: 4, arguments: { y: new Int32Array(1) } });
    expect(findings).not.toEqual([]);
    expect(findings.every(({ code }) => code === 'WS7001')).toBe(true);
  });
});

describe('copies', () => {
  const early = deviceFunction({ out: 'i32[]', from: 'readonly i32[]' }, ({ out, from }, cuda) => {
    const t = cuda.thisThreadBlock().threadRank();
    out[t] = from[31 - t]!;
  });

  test.each(['eager', 'late', 'random'] as const)('read before the wait, %s delivery', (delivery) => {
    const staged = kernel({ ...io, early }, ({ out, x, early }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit();
      early({ out, from: shared });
      pipe.consumerWait();
      pipe.consumerRelease();
    });
    const { findings } = check(staged, launch() as never, { delivery, schedules: 1 });
    expect(findings).toMatchObject([{ code: 'WS7002', stage: { pipeline: 'pipe', stage: 0, batch: 0 } }]);
    expect(findings[0]!.related.map(({ label }) => label)).toContain('the copy was committed here');
  });

  test('a wait of thread scope covers the own copies, not all of the group’s', () => {
    const own = kernel(io, ({ out, x }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline();
      // Which thread copies which element of a group's copy is nobody's promise.
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = shared[t]!;
    });
    const { findings } = check(own, launch() as never);
    expect(findings).toMatchObject([{ code: 'WS7002' }]);
    expect(findings[0]!.message).toContain('a thread-scoped wait orders no other thread');
    expect(findings[0]!.hint).toContain('sync the block');
  });

  test('over an element that its thread has just stored to: another may copy it', () => {
    const overwrites = kernel(
      { ...io, by: 'constant index', synced: 'constant bool' },
      ({ out, x, by, synced }, cuda) => {
        const block = cuda.thisThreadBlock();
        const t = block.threadRank();
        const tile = cuda.tiledPartition(block, 8);
        const shared = cuda.sharedArray('i32', 32);
        const copied = cuda.barrier(block);
        const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
        pipe.producerAcquire();
        shared[t] = -1;
        if (synced) block.sync();
        if (by === 0) cuda.memcpyAsync(block, shared, x, 32, pipe);
        if (by === 1) cuda.memcpyAsync(block, shared, x, 32, copied);
        if (by === 2) cuda.memcpyAsync(tile, shared.subarray(t - (t % 8)), x.subarray(t - (t % 8)), 8, pipe);
        if (by === 3) cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe);
        pipe.producerCommit();
        copied.arriveAndWait();
        pipe.consumerWait();
        out[t] = shared[31 - t]!;
        pipe.consumerRelease();
      },
    );
    const given = launch().arguments;
    const found = (by: number, synced: boolean) =>
      check(overwrites, { grid: 1, block: 32, arguments: { ...given, by, synced } }).findings;
    for (const by of [0, 1, 2, 3]) expect(found(by, true), `${by}`).toEqual([]);
    for (const by of [0, 1, 2]) {
      const [finding, ...others] = found(by, false);
      expect(finding, `${by}`).toMatchObject({
        code: 'WS7002',
        hint: 'put a sync of the group between the access and the copy.',
      });
      expect(finding!.message).toContain('which thread of the group copies which element is not promised');
      expect(others).toEqual([]);
    }
    // A thread that copies by itself copies what it stored to.
    expect(found(3, false)).toEqual([]);
  });

  // Atomic operations without a fence say who comes first in time, and order nothing.
  describe.each([
    ['before the other half has waited', false],
    ['when each half has waited for its own shares', true],
  ])('a wait of one tile for a copy of the block, %s', (_, isLast) => {
    const halves = kernel({ ...io, isLast: 'constant bool' }, ({ out, x, isLast }, cuda) => {
      const block = cuda.thisThreadBlock();
      const tile = cuda.tiledPartition(block, 8);
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 16);
      const counts = cuda.sharedArray('i32', 3);
      if (t < 3) counts[t] = 0;
      block.sync();
      cuda.cg.memcpyAsync(block, shared, x, 16);
      cuda.atomicAdd(counts, 0, 1);
      while (cuda.atomicAdd(counts, 0, 0) < 16) cuda.nanosleep(50);
      if (t < 8) {
        while (isLast && cuda.atomicAdd(counts, 1, 0) < 8) cuda.nanosleep(50);
        cuda.cg.wait(tile);
        out[t] = shared[15 - t]!;
        cuda.atomicAdd(counts, 2, 1);
      } else {
        while (!isLast && cuda.atomicAdd(counts, 2, 0) < 8) cuda.nanosleep(50);
        cuda.cg.wait(tile);
        cuda.atomicAdd(counts, 1, 1);
        out[t] = 0;
      }
    });
    const given = { out: new Int32Array(16), x: filled(16), isLast };
    test.each(['eager', 'late', 'random'] as const)('shows it its own shares, %s delivery', (delivery) => {
      const { findings } = check(
        halves,
        { grid: 1, block: 16, arguments: given },
        { delivery, schedules: 1 },
      );
      expect(findings).toMatchObject([{ code: 'WS7002' }]);
    });
  });

  test('a barrier that half of the threads bind their shares to shows it those', () => {
    const halves = kernel({ ...io, all: 'constant bool' }, ({ out, x, all }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 16);
      const counts = cuda.sharedArray('i32', 1);
      const bound = cuda.barrier(block, all ? 16 : 8);
      if (t === 0) counts[0] = 0;
      block.sync();
      cuda.memcpyAsync(block, shared, x, 16, cuda.makePipeline());
      cuda.atomicAdd(counts, 0, 1);
      while (cuda.atomicAdd(counts, 0, 0) < 16) cuda.nanosleep(50);
      if (all || t < 8) {
        cuda.pipelineArriveOn(bound);
        bound.arriveAndWait();
        out[t] = shared[15 - t]!;
      } else out[t] = 0;
    });
    const found = (all: boolean) =>
      codes(halves, { grid: 1, block: 16, arguments: { out: new Int32Array(16), x: filled(16), all } });
    expect(found(true)).toEqual([]);
    expect(found(false)).toContain('WS7002');
  });

  test('a copy of the same values over those that are there is none, two of different ones are', () => {
    const twice = kernel({ ...io, apart: 'constant index = 0' }, ({ out, x, apart }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      cuda.memcpyAsync(block, shared.subarray(16), x.subarray(16 - apart), 16, pipe);
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = shared[31 - t]!;
      pipe.consumerRelease();
    });
    expectClean(twice, launch());
    const { arguments: given } = launch();
    expect(codes(twice as never, { grid: 1, block: 32, arguments: { ...given, apart: 1 } } as never)).toEqual(
      ['WS7002'],
    );
  });
});

describe('a waiter that comes late, when its stage was committed many times more', () => {
  const late = kernel(
    { data: 'i32[]', seen: 'i32[]', commits: 'index', looksAt: 'index' },
    ({ data, seen, commits, looksAt }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const state = cuda.pipelineSharedState('block', 1);
      const pipe = cuda.makePipeline(block, state, t === 0 ? 'producer' : 'consumer');
      if (t === 0) {
        for (let i = 0; i < commits; i++) {
          data[i] = i;
          pipe.producerCommit();
        }
      } else {
        pipe.consumerWait();
        seen[0] = data[looksAt]!;
        pipe.consumerRelease();
      }
    },
  );
  const found = (commits: number, looksAt: number) => {
    const arrays = { data: new Int32Array(200), seen: new Int32Array(1) };
    const launch = { grid: 1, block: 2, arguments: { ...arrays, commits, looksAt } };
    return check(late, launch).findings.map(({ code }) => code);
  };

  // It is ordered behind the first commit alone, whatever has come since.
  test.each([2, 3, 60, 66, 200])('of %d commits', (commits) => {
    expect(found(commits, 1)).toContain('WS7001');
    if (commits <= 60) expect(found(commits, 0)).not.toContain('WS7001');
  });
});
