// check() and expectClean(): what they give, on kernels that are right and on kernels that are not.

import { describe, expect, test } from 'vitest';
import { kernel, WarpstageError } from 'warpstage';
import { check, expectClean } from 'warpstage/check';
import { withSingleStage } from '../../examples/guide/single-stage.ts';
import { withSpecializedStaging } from '../../examples/guide/specialized-staging.ts';
import { withStaging } from '../../examples/guide/staging.ts';
import { withStagingScopeThread } from '../../examples/guide/staging-scope-thread.ts';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import { twoArrays } from '../../examples/guide/two-arrays.ts';

const grid = 2;
const block = 32;
const batchCount = 5;
const filled = (length: number) => Int32Array.from({ length }, (_, i) => i);

describe('the kernels of the guide, as corrected, are clean', () => {
  const n = grid * block * batchCount;
  const staged = { globalOut: { length: n }, globalIn: filled(n), batchCount };

  test.each([1, 2, 3, 4])('%i stages', (stagesCount) => {
    for (const one of [withStagingUnified, withStagingScopeThread]) {
      expectClean(one, { grid, block, arguments: { ...staged, stagesCount } });
    }
    const half = { globalOut: { length: n / 2 }, globalIn: filled(n / 2), batchCount, stagesCount };
    expectClean(withSpecializedStaging, { grid, block, arguments: half });
  });

  test('one and two stages, and two arrays', () => {
    expectClean(withSingleStage, { grid, block, arguments: staged });
    expectClean(withStaging, { grid, block, arguments: staged });
    const m = block * 4;
    const arrays = { globalOut: { length: m }, global0: filled(m), global1: filled(m), subsetCount: 4 };
    expectClean(twoArrays, { grid: 1, block, arguments: arrays });
  });
});

const mirrored = kernel({ out: 'i32[]', x: 'readonly i32[]' }, ({ out, x }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  const shared = cuda.sharedArray('i32', 32);
  shared[t] = x[t]!;
  out[t] = shared[31 - t]!;
});
test('many threads, each with a queue of copies of its own, over many batches', () => {
  const [block, batchCount] = [256, 64];
  const length = block * batchCount;
  const { verdict } = check(
    withStagingScopeThread,
    {
      grid: 1,
      block,
      arguments: { globalOut: { length }, globalIn: { length }, batchCount, stagesCount: 4 },
    },
    { schedules: 1 },
  );
  expect(verdict).toBe('clean');
});

const launch = { grid: 1, block: 32, arguments: { out: new Int32Array(32), x: filled(32) } };

describe('a finding', () => {
  const { verdict, findings, schedules } = check(mirrored, launch);

  test('names both places, the threads and the bytes, once for all schedules', () => {
    expect(verdict).toBe('findings');
    expect(schedules).toEqual(['eager', 'late', ...[1, 2, 3, 4, 5, 6].map((n) => `seed ${n}`)]);
    const [race] = findings;
    expect(race).toMatchObject({
      code: 'WS7001',
      severity: 'error',
      block: [0, 0, 0],
      part: { array: 'shared', space: 'shared', bytes: [expect.any(Number), expect.any(Number)] },
      schedules,
    });
    const text = race!.location.text.split('\n');
    expect(text[race!.location.line - 1]).toContain(
      race!.message.includes('reads `') ? 'out[t]' : 'shared[t]',
    );
    expect(race!.related[0]!.location.line).not.toBe(race!.location.line);
  });

  test('is reported with code frames, particulars and the mend', () => {
    const report = check(mirrored, launch, { delivery: 'eager' }).report();
    const shape = report
      .replaceAll(/\/\S*\/check\.test\.ts:\d+/g, 'check.test.ts')
      .replaceAll(/\d+ \|/g, '00 |');
    expect(shape).toMatchInlineSnapshot(`
      "WS7001: the kernel: thread 16 writes \`shared[16]\`, which thread 15 reads, and nothing orders the two
        check.test.ts:3
          00 |   const shared = cuda.sharedArray('i32', 32);
        > 00 |   shared[t] = x[t]!;
             |   ^^^^^^^^^
          00 |   out[t] = shared[31 - t]!;
        thread 15 reads it here:
        check.test.ts:12
        > 00 |   out[t] = shared[31 - t]!;
             |            ^^^^^^^^^^^^^^
        threads 16 to 31 of block (0, 0, 0)
        elements 16 to 31 of shared \`shared\` (bytes 64 to 127)
        hint: put a block sync between the two: \`cuda.syncthreads()\`, or the sync() of a group that both are in.

      the kernel in 1 schedule: 1 finding"
    `);
  });

  test('makes expectClean() throw the report', () => {
    const thrown = (() => {
      try {
        expectClean(mirrored, launch);
        return null;
      } catch (error) {
        return error as WarpstageError;
      }
    })();
    expect(thrown).toBeInstanceOf(WarpstageError);
    expect(thrown!.code).toBe('WS7001');
    expect(thrown!.message).toContain('hint: put a block sync between the two');
    expect(thrown!.stack!.split('\n').find((line) => line.includes(' at '))).toContain('check.test.ts');
  });

  test('leaves the arrays of the caller as they are', () => {
    expect(launch.arguments.out).toEqual(new Int32Array(32));
  });
});

describe('schedules', () => {
  test('seeds count on from the first', () => {
    const { schedules } = check(mirrored, launch, { delivery: 'random', schedules: 3, seed: 7 });
    expect(schedules).toEqual(['seed 7', 'seed 8', 'seed 9']);
  });

  test('one array under two names is said to be one', () => {
    const moved = kernel({ out: 'i32[]', x: 'readonly i32[]', y: 'i32[]' }, ({ out, x, y }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      y[t] = 0;
      out[t] = x[(t + 1) % 32]!;
    });
    const data = new Int32Array(40);
    const [x, y] = [data.subarray(0, 36), data.subarray(4)];
    const { findings } = check(moved, { grid: 1, block: 32, arguments: { out: { length: 32 }, x, y } });
    expect(findings).not.toHaveLength(0);
    for (const { code, details, part } of findings) {
      expect(code).toBe('WS7001');
      const [name, other] = part!.array === 'x' ? ['x', 'y'] : ['y', 'x'];
      expect(details).toContain(`the launch passes the same memory as \`${name}\` and \`${other}\``);
    }
  });

  test('an assertion that does not hold is a finding', () => {
    const short = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      cuda.assert(t < out.length - 1, 'too short');
      out[t] = 1;
    });
    const { findings } = check(short, { grid: 1, block: 32, arguments: { out: { length: 32 } } });
    expect(findings).toMatchObject([{ code: 'WS3012', threads: [31] }]);
    expect(findings[0]!.message).toBe(
      'the kernel: t < out.length - 1 does not hold, where t is 31 and out.length - 1 is 31: too short',
    );
  });

  test('a fault in one does not keep the others from running', () => {
    const wild = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      out[cuda.thisThreadBlock().threadRank() + 1] = 1;
    });
    const result = check(wild, { grid: 1, block: 32, arguments: { out: { length: 32 } } });
    expect(result.schedules).toHaveLength(8);
    expect(result.findings).toMatchObject([{ code: 'WS3001', threads: [31], schedules: result.schedules }]);
    expect(result.findings[0]!.message).toBe(
      'the kernel: thread 31 writes `out[32]`, but `out` has 32 elements',
    );
  });
});

describe('inconclusive is no pass', () => {
  const long = kernel({ out: 'i32[]', n: 'index' }, ({ out, n }, cuda) => {
    const t = cuda.thisThreadBlock().threadRank();
    let sum = 0;
    for (let i = 0; i < n; i++) sum += i;
    out[t] = sum;
  });

  test('steps', () => {
    const arguments_ = { out: { length: 32 }, n: 1000 };
    const result = check(long, { grid: 1, block: 32, arguments: arguments_ }, { steps: 100 });
    expect(result).toMatchObject({ verdict: 'inconclusive', findings: [] });
    expect(result.inconclusive).toMatchObject([{ code: 'WS3007' }]);
    expect(() => expectClean(long, { grid: 1, block: 32, arguments: arguments_ }, { steps: 100 })).toThrow(
      'WS3007',
    );
  });

  test('memory', () => {
    const result = check(mirrored, launch, { memory: 1000 });
    expect(result.verdict).toBe('inconclusive');
    expect(result.inconclusive[0]!.message).toContain('the checker needs more than its 0 MiB of memory');
  });
});

describe('wrong calls', () => {
  test.each([
    [{ schedules: 0 }, '`schedules` must be a whole number from 1 on, and is 0'],
    [{ delivery: 'soon' }, '`delivery` must be one of eager, late, random, all, and is soon'],
    [{ speed: 1 }, 'there is no option `speed`'],
    [{ outputs: { x: 'once' } }, "outputs.x must be 'whole', 'partial' or 'any', and is once"],
    [{ outputs: { z: 'any' } }, 'outputs names `z`, which is no array of the kernel'],
  ])('options %j', (options, message) => {
    expect(() => check(mirrored, launch, options as never)).toThrow(message);
  });

  test.each([
    [
      { out: new Float32Array(32) },
      'argument `out` must be a Int32Array or { length: n }, and is a Float32Array',
    ],
    [{ out: [1, 2] }, 'and is an array of JavaScript values'],
    [{ x: undefined }, 'argument `x` is missing'],
    [{ z: 1 }, 'there is no parameter `z`'],
  ])('arguments %j', (given, message) => {
    const wrong = { ...launch, arguments: { ...launch.arguments, ...given } };
    expect(() => check(mirrored, wrong as never)).toThrow(message);
  });

  test('a block that no GPU has', () => {
    expect(() => check(mirrored, { ...launch, block: 2048 })).toThrow('WS2003');
  });
});

test.each([
  [[[]], 'WS2001: check takes a kernel first, and was given an array of JavaScript values'],
  [[undefined], 'WS2001: check takes a kernel first, and was given undefined'],
  [
    [{ kind: 'kernel' }],
    'WS2001: check takes a launch second, with a grid, a block and arguments, and was given something else',
  ],
  [[{ kind: 'kernel' }, []], 'and was given something else'],
  [[{ kind: 'kernel' }, { grid: 1, block: 1 }], 'and was given a launch without `arguments`'],
])('what is no kernel and no launch is refused: %j', (given, message) => {
  expect(() => (check as (...args: unknown[]) => unknown)(...given)).toThrow(message);
});
