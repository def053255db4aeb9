// The tuner, fed by made-up runs in which every stage takes as long as the test says.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { job, kernel, run } from 'warpstage';
import { type StageName, stageNames } from '#warpstage/overlap/options.js';
import { type CutStep, type Freedom, Tuner } from '#warpstage/overlap/tuner.js';

const MiB = 2 ** 20;
const first: CutStep = { row: 0, chunkRows: 4 * MiB, chunkBytes: 32 * MiB, depth: 2, why: 'usual' };
const free: Freedom = { granularity: 1, greatestDepth: 8, rows: 4000 * MiB, engines: false };

type Cost = (rows: number, depth: number) => number;

/** Runs a job of which every stage takes what `costs` says, as the loop does; returns the wall time and the chunks. */
function play(tuner: Tuner, rows: number, costs: Partial<Record<StageName, Cost>>) {
  const free = Object.fromEntries(stageNames.map((stage) => [stage, 0])) as Record<StageName, number>;
  const busy = { ...free };
  const chunks: number[] = [];
  const slots: number[] = Array.from({ length: tuner.depth }, () => 0);
  let end = 0;
  const waiting: { rows: number; at: number; busy: Record<StageName, number> }[] = [];
  for (let left = rows; left > 0; ) {
    // The slot that is free first takes the next chunk; by then all chunks that ended before are through.
    slots.sort((a, b) => a - b);
    const slot = slots[0]!;
    while (waiting.length > 0 && waiting[0]!.at <= slot) {
      const done = waiting.shift()!;
      tuner.complete(done.rows, done.at, () => done.busy);
    }
    while (slots.length > tuner.depth) slots.pop();
    while (slots.length < tuner.depth) slots.push(slot);
    const size = Math.min(left, tuner.nextRows());
    tuner.read(size);
    chunks.push(size);
    let time = slot;
    for (const stage of stageNames) {
      const cost = costs[stage]?.(size, tuner.depth) ?? 0;
      time = Math.max(time, free[stage]) + cost;
      busy[stage] += cost;
      free[stage] = time;
    }
    slots[0] = time;
    end = time;
    waiting.push({ rows: size, at: time, busy: { ...busy } });
    left -= size;
  }
  return { wall: end, chunks };
}

const even: Partial<Record<StageName, Cost>> = {
  read: (rows) => 2 + rows / MiB,
  compute: (rows) => 2 + rows / MiB,
  write: (rows) => 2 + rows / MiB,
};

describe('the tuner', () => {
  test('leaves the cut as it is where an engine of a GPU hardly rests', () => {
    // Each chunk costs something beside its bytes, so that shorter ones are found out about only if they are tried.
    const costs: Partial<Record<StageName, Cost>> = { 'copy in': (rows) => 1 + rows / MiB };
    const shortest = (engines: boolean) =>
      Math.min(...play(new Tuner(first, { ...free, engines }), 4000 * MiB, costs).chunks);
    expect(shortest(true)).toBe(4 * MiB);
    expect(shortest(false)).toBe(2 * MiB);
    // One that rests is helped.
    const tuner = new Tuner(first, { ...free, engines: true });
    play(tuner, 4000 * MiB, even);
    expect(tuner.steps.length).toBeGreaterThan(1);
  });

  test('puts more chunks in flight where stages wait for each other, and says by how much it helped', () => {
    const still = play(
      new Tuner(first, { ...free, granularity: null, greatestDepth: null }),
      4000 * MiB,
      even,
    );
    const tuner = new Tuner(first, free);
    const tuned = play(tuner, 4000 * MiB, even);
    expect(tuner.depth).toBeGreaterThan(2);
    expect(tuned.wall).toBeLessThan(still.wall * 0.8);
    expect(tuner.steps).toMatchObject([
      first,
      { why: expect.stringMatching(/^measured 1\.\d\d times as fast$/) },
    ]);
  });

  test('goes back where a prediction did not hold', () => {
    // More in flight only slow each other down.
    const crowded: Partial<Record<StageName, Cost>> = {
      read: (rows, depth) => (rows / MiB) * depth,
      write: (rows, depth) => (rows / MiB) * depth,
      compute: (rows, depth) => (rows / MiB) * depth,
    };
    const tuner = new Tuner(first, { ...free, granularity: null });
    play(tuner, 4000 * MiB, crowded);
    expect(tuner.steps).toHaveLength(3);
    expect(tuner.steps[2]).toMatchObject({ depth: 2, chunkRows: first.chunkRows });
    expect(tuner.steps[2]!.why).toMatch(/: back$/);
  });

  test('leaves as it is what one stage binds', () => {
    const bound = { ...even, write: (rows: number) => (10 * rows) / MiB };
    const tuner = new Tuner({ ...first, depth: 4 }, free);
    play(tuner, 4000 * MiB, bound);
    expect(tuner.steps).toEqual([{ ...first, depth: 4 }]);
  });

  test('does not take chunks of less than a mebibyte, however much it is to bring', () => {
    // Filling and draining takes most of a run of few chunks: the shorter, the better.
    const small: CutStep = { ...first, chunkRows: 2 ** 18, chunkBytes: 1.5 * MiB };
    const cached: Cost = (rows) => (rows > 2 ** 17 ? 10 : 1) * (rows / MiB);
    const tuner = new Tuner(small, free);
    play(tuner, 4000 * MiB, { read: cached, compute: cached, write: cached });
    for (const { chunkBytes } of tuner.steps) expect(chunkBytes).toBeGreaterThanOrEqual(MiB);
  });

  test('does not try where too little is left for it', () => {
    const tuner = new Tuner(first, { ...free, rows: 40 * MiB });
    expect(play(tuner, 40 * MiB, even).chunks.every((rows) => rows === 4 * MiB)).toBe(true);
    expect(tuner.steps).toEqual([first]);
    // What is left counts, and not what the whole has.
    const few = new Tuner({ ...first, depth: 2 }, { ...free, rows: 70 * MiB });
    expect(play(few, 70 * MiB, even).chunks.every((rows) => rows <= 4 * MiB)).toBe(true);
    expect(few.steps).toHaveLength(1);
  });

  test.each([2, 3, 4])(
    'puts no more than %i chunks in flight where no more fit, though more would be faster',
    (most) => {
      const tuner = new Tuner({ ...first, depth: most }, { ...free, granularity: null, greatestDepth: most });
      // Four stages wait for each other, and each one more in flight helps.
      play(tuner, 4000 * MiB, { ...even, 'copy in': even.read!, 'copy out': even.write! });
      expect(Math.max(...tuner.steps.map(({ depth }) => depth))).toBe(most);
    },
  );

  test('keeps what a user asked for, and rows go through once whatever it does', () => {
    fc.assert(
      fc.property(
        fc.record({
          granularity: fc.constantFrom(null, 1, 3, 64),
          greatestDepth: fc.constantFrom(null, 2, 3, 8),
          rows: fc.constantFrom(undefined, 900 * MiB),
          engines: fc.boolean(),
        }),
        fc.array(fc.double({ min: 0, max: 3, noNaN: true }), { minLength: 10, maxLength: 10 }),
        (freedom, numbers) => {
          const costs = Object.fromEntries(
            stageNames.map((stage, i) => [
              stage,
              (rows: number) => numbers[i]! + (numbers[i + 5]! * rows) / MiB,
            ]),
          );
          const granularity = freedom.granularity ?? 1;
          const chunkRows = Math.floor((4 * MiB) / granularity) * granularity;
          const tuner = new Tuner({ ...first, chunkRows }, freedom);
          const { chunks } = play(tuner, 900 * MiB, costs);
          expect(chunks.reduce((a, b) => a + b)).toBe(900 * MiB);
          for (const rows of chunks.slice(0, -1)) {
            expect(rows % granularity).toBe(0);
            expect(rows).toBeLessThanOrEqual(chunkRows);
            if (freedom.granularity === null) expect(rows).toBe(chunkRows);
          }
          for (const { depth } of tuner.steps) {
            expect(depth).toBeGreaterThanOrEqual(1);
            expect(depth).toBeLessThanOrEqual(freedom.greatestDepth ?? 2);
            if (freedom.greatestDepth === null) expect(depth).toBe(2);
          }
        },
      ),
    );
  });
});

describe('a run', () => {
  const chunk = 2 * MiB;
  /** Every 64th element, and one: much in, little out. */
  const every64th = job({
    name: 'every64th',
    kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = x[64 * i]! + 1;
    }),
    inputs: { x: {} },
    outputs: { y: { ratio: [1, 64] } },
    launch: ({ rows }) => ({ grid: Math.ceil(rows / 64 / 256), block: 256 }),
  });
  const pieces = 60;
  const part = Float32Array.from({ length: chunk }, (_, i) => i / 64);
  function* input() {
    for (let i = 0; i < pieces; ++i) yield part;
  }

  test('tries shorter chunks, and gives what it would have given without', async () => {
    const sizes: number[] = [];
    let before = 0;
    const { outputs, report } = await run(every64th, {
      input: { stream: input() },
      onProgress: ({ rows }) => {
        sizes.push(rows - before);
        before = rows;
      },
    });
    expect(sizes.filter((rows) => rows === report.chunkRows / 2).length).toBeGreaterThanOrEqual(6);
    const { auto, steps } = report.chosen;
    expect(auto).toEqual({ chunk: true, depth: true });
    expect(steps[0]).toMatchObject({ row: 0, chunkRows: report.chunkRows, depth: report.depth });
    const { y } = outputs;
    expect(y).toHaveLength((pieces * chunk) / 64);
    for (let i = 0; i < y!.length; ++i) if (y![i] !== part[(64 * i) % chunk]! + 1) expect(y![i]).toBe(i);
  });

  test('does not where chunk and depth were asked for', async () => {
    const sizes = new Set<number>();
    let before = 0;
    const { report } = await run(every64th, {
      input: { stream: input() },
      chunk: MiB,
      depth: 2,
      onProgress: ({ rows }) => {
        sizes.add(rows - before);
        before = rows;
      },
    });
    expect([...sizes]).toEqual([MiB]);
    expect(report.chosen).toMatchObject({
      auto: { chunk: false, depth: false },
      steps: [{ why: 'as asked' }],
    });
  });
});
