// Predictions of a job: the loop in numbers, and plans made by trying the beginning of an input.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { job, kernel, plan, run } from 'warpstage';
import { stageNames } from '#warpstage/overlap/options.js';
import {
  bestCut,
  costOf,
  extrapolate,
  predictWall,
  type StageCosts,
  stageTimes,
} from '#warpstage/overlap/predict.js';
import { affine } from './jobs.ts';
import { npyFile, temporaryDirectory } from './support.ts';

const costs = (perByte: readonly number[], fixed = 0): StageCosts =>
  Object.fromEntries(stageNames.map((name, i) => [name, { fixed, perByte: perByte[i]! }])) as StageCosts;

describe('the wall time', () => {
  const even = costs([1, 1, 1, 1, 1]);
  test('without overlap is the sum of all stages', () => {
    expect(predictWall(even, 40, { chunkBytes: 10, depth: 1 })).toBe(200);
  });
  test('with enough chunks in flight is the slowest stage and one chunk through the others', () => {
    expect(predictWall(even, 40, { chunkBytes: 10, depth: 5 })).toBe(40 + 4 * 10);
    expect(predictWall(costs([1, 1, 4, 1, 1]), 40, { chunkBytes: 10, depth: 5 })).toBe(160 + 4 * 10);
  });
  test('with two in flight: a slot is free when its chunk is written', () => {
    expect(predictWall(even, 40, { chunkBytes: 10, depth: 2 })).toBe(10 + 2 * 50);
  });
  test('counts a rest as what it is', () => {
    expect(predictWall(even, 25, { chunkBytes: 10, depth: 1 })).toBe(125);
  });
  test('is never below the busiest stage, nor above the sum, and never longer with more depth', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 5, maxLength: 5 }),
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 7 }),
        (perByte, fixed, bytes, chunkBytes, depth) => {
          const each = costs(perByte, fixed);
          const wall = predictWall(each, bytes, { chunkBytes, depth });
          const times = Object.values(stageTimes(each, bytes, { chunkBytes, depth }));
          expect(wall).toBeGreaterThanOrEqual(Math.max(...times));
          expect(wall).toBeLessThanOrEqual(times.reduce((a, b) => a + b) + 1e-9);
          expect(predictWall(each, bytes, { chunkBytes, depth: depth + 1 })).toBeLessThanOrEqual(wall);
        },
      ),
    );
  });
});

test('a cost comes from two sizes, and is never negative', () => {
  expect(costOf({ bytes: 10, time: 15 }, { bytes: 20, time: 25 })).toEqual({ fixed: 5, perByte: 1 });
  expect(costOf({ bytes: 10, time: 30 }, { bytes: 20, time: 20 })).toEqual({ fixed: 0, perByte: 1 });
});

test('the best cut is the fastest, or the first that is as good', () => {
  const each = costs([1, 1, 1, 1, 1], 2);
  const cuts = [5, 10, 20].flatMap((chunkBytes) => [1, 4].map((depth) => ({ chunkBytes, depth })));
  const best = bestCut(each, 400, cuts);
  const walls = cuts.map((cut) => predictWall(each, 400, cut));
  expect(best.wall).toBeLessThanOrEqual(Math.min(...walls) * 1.01);
  expect(best.depth).toBe(4);
});

test('of cuts that differ by less than a hundredth the first is taken', () => {
  // Only reading takes time, so that each depth is as good.
  const each = costs([1, 0, 0, 0, 0]);
  const cuts = [1, 2, 4].map((depth) => ({ chunkBytes: 10, depth }));
  expect(bestCut(each, 400, cuts)).toMatchObject({ depth: 1 });
  expect(bestCut(each, 400, cuts.toReversed())).toMatchObject({ depth: 4 });
  // Each chunk costs as much as `fixed` bytes more.
  const walls = (fixed: number) =>
    bestCut({ ...each, read: { fixed, perByte: 1 } }, 400, [
      { chunkBytes: 10, depth: 1 },
      { chunkBytes: 20, depth: 1 },
    ]);
  expect(walls(0.1)).toMatchObject({ chunkBytes: 10 });
  expect(walls(0.5)).toMatchObject({ chunkBytes: 20 });
});

describe('the whole by a sample', () => {
  /** A pipeline that is full after `late` milliseconds, and then lets a chunk of 10 rows through every so often. */
  const marksOf = (late: number, times: readonly number[]) => {
    let elapsed = late;
    return times.map((time, i) => {
      elapsed += i === 0 ? 0 : time;
      return { rows: 10 * (i + 1), elapsed };
    });
  };
  const known = { rows: 1000, depth: 2, wall: 5 + 19 * 4 + 3, cold: 2, finishing: 0 };

  test('is what the sample took, and as much for each row beyond it as when the pipeline was full', () => {
    const marks = marksOf(
      5,
      Array.from({ length: 20 }, () => 4),
    );
    const whole = 2 + 5 + 99 * 4 + 3;
    expect(extrapolate(marks, known)).toEqual([whole, whole, whole]);
  });

  test('counts the first chunks, which are slower, once', () => {
    const marks = marksOf(
      5,
      Array.from({ length: 20 }, (_, i) => (i < 4 ? 50 : 4)),
    );
    const { elapsed } = marks.at(-1)!;
    expect(extrapolate(marks, { ...known, wall: elapsed + 3 })[0]).toBe(2 + elapsed + 3 + 80 * 4);
  });

  test('has a range where some parts went faster than others', () => {
    const marks = marksOf(
      5,
      Array.from({ length: 21 }, (_, i) => (i <= 12 ? 4 : 8)),
    );
    const wall = marks.at(-1)!.elapsed + 3;
    expect(extrapolate(marks, { ...known, wall })).toEqual([6, 4, 8].map((each) => 2 + wall + 79 * each));
  });

  test('of one chunk, or of none, is at least what is known', () => {
    expect(extrapolate([], known)).toEqual([86, 86, 86]);
    expect(extrapolate([{ rows: 1000, elapsed: 7 }], { ...known, wall: 8 })).toEqual([10, 10, 10]);
    expect(extrapolate([{ rows: 500, elapsed: 7 }], { ...known, wall: 8 })[0]).toBe(17);
    // What the end takes grows with what was written.
    expect(extrapolate([{ rows: 500, elapsed: 7 }], { ...known, wall: 9, finishing: 1 })[0]).toBe(19);
  });
});

describe('a plan', () => {
  test.each(['cpu', 'model:h200'])('on %s says what binds, and leaves no file', async (device) => {
    const folder = temporaryDirectory();
    const input = join(folder, 'x.npy');
    writeFileSync(input, npyFile({ shape: [300_000], data: new Float32Array(300_000).fill(2) }));
    const planned = await plan(affine, { input, output: join(folder, 'y.npy'), device });
    expect(planned).toMatchObject({ job: 'affine', rows: 300_000, bytesIn: 1_200_000, bytesOut: 1_200_000 });
    expect(planned.wall).toBeGreaterThanOrEqual(planned.stages[planned.bound]);
    expect(planned.best.wall).toBeGreaterThan(0);
    for (const stage of stageNames) expect(planned.stages[stage]).toBeGreaterThan(0);
    expect(readdirSync(folder)).toEqual(['x.npy']);
  });

  test('leaves an output that is there as it is', async () => {
    const folder = temporaryDirectory();
    const output = join(folder, 'y.raw');
    writeFileSync(output, 'of another run');
    await plan(affine, { input: new Float32Array(1000), output });
    expect(readdirSync(folder)).toEqual(['y.raw']);
    expect(readFileSync(output, 'utf8')).toBe('of another run');
  });

  test.each([
    [
      'a directory that is not there',
      'no/y.raw',
      'WS5006: .*y.raw cannot be written: its directory does not exist',
    ],
    ['a directory', '.', 'WS5006: .* cannot be written: it is a directory'],
    ['the input', 'x.raw', 'WS5006: .*x.raw is an input of the job, and cannot be its output as well'],
  ])('refuses %s as an output, as a run does, and leaves nothing', async (_, name, message) => {
    const folder = temporaryDirectory();
    const input = join(folder, 'x.raw');
    writeFileSync(input, new Float32Array(1000));
    const about = { input, output: join(folder, name) };
    await expect(run(affine, about)).rejects.toThrow(new RegExp(message));
    await expect(plan(affine, about)).rejects.toThrow(new RegExp(message));
    expect(readdirSync(folder)).toEqual(['x.raw']);
  });

  test('writes to no device, pipe or array', async () => {
    const output = new Float32Array(1000).fill(7);
    const input = new Float32Array(1000);
    expect((await plan(affine, { input, output })).rows).toBe(1000);
    expect(output.every((value) => value === 7)).toBe(true);
    expect((await plan(affine, { input, output: '/dev/null' })).rows).toBe(1000);
    expect(readdirSync('/dev').filter((name) => name.startsWith('.warpstage'))).toEqual([]);
  });

  test('of a job on this machine comes with a range, and says how run would begin', async () => {
    const input = new Float32Array(6_000_000);
    const planned = await plan(affine, { input });
    const { report } = await run(affine, { input });
    expect(planned.usual).toMatchObject({ chunkRows: report.chunkRows, depth: report.depth });
    const [least, most] = planned.range;
    expect(least).toBeLessThanOrEqual(planned.wall);
    expect(most).toBeGreaterThanOrEqual(planned.wall);
  });

  test('of a job whose output has a row for several tries as many rows as that takes', async () => {
    const pairs = job({
      name: 'pairs',
      kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i < y.length) y[i] = x[3 * i]! + x[3 * i + 1]! + x[3 * i + 2]!;
      }),
      inputs: { x: {} },
      outputs: { y: { ratio: [1, 3] } },
    });
    const planned = await plan(pairs, { input: new Float32Array(300_000) });
    expect(planned).toMatchObject({ rows: 300_000, bytesIn: 1_200_000, bytesOut: 400_000 });
  });

  test('needs an input whose length is known', async () => {
    const pieces = (function* () {
      yield new Float32Array(8);
    })();
    await expect(plan(affine, { input: { stream: pieces } })).rejects.toThrow(
      'WS5005: how long the input is shows only at its end',
    );
  });
});

describe('only the first rows', () => {
  test('are read, and the report says of how many', async () => {
    const { outputs, report } = await run(affine, { input: new Float32Array([1, 2, 3, 4, 5]), rows: 3 });
    expect(outputs.y).toEqual(new Float32Array([3, 5, 7]));
    expect(report).toMatchObject({ rows: 3, totalRows: 5 });
  });
  test('more than there are is all of them; less than one is an error', async () => {
    const { report } = await run(affine, { input: new Float32Array(5), rows: 9 });
    expect(report).toMatchObject({ rows: 5, totalRows: 5 });
    await expect(run(affine, { input: new Float32Array(5), rows: 0 })).rejects.toThrow(
      'WS5008: `rows` must be a whole number from 1 on, and is 0',
    );
  });
  test('of a stream as well', async () => {
    const pieces = (function* () {
      yield new Float32Array(8).fill(1);
    })();
    const { outputs } = await run(affine, { input: { stream: pieces }, rows: 2 });
    expect(outputs.y).toEqual(new Float32Array([3, 3]));
  });
});
