// What bound a schedule, and what a faster engine would have gained.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { measureOverlap, open, type Span } from 'warpstage';
import { traceStages } from 'warpstage/check';
import { criticalPath, predecessors, wallWithFaster } from '#warpstage/timeline/what-if.js';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import { measure, type ScheduleName } from '../../examples/overlap/program.ts';

const span = (
  engine: string,
  stream: string,
  started: number,
  ended: number,
  more: Partial<Span> = {},
): Span => ({
  name: engine,
  engine,
  stream,
  queued: 0,
  started,
  ended,
  ...more,
});

/** Two chunks whose kernels take twice as long as their copies. */
const chunks = [
  span('copy in', 'a', 0, 1),
  span('copy in', 'b', 1, 2),
  span('compute', 'a', 1, 3),
  span('compute', 'b', 3, 5),
  span('copy out', 'a', 3, 4),
  span('copy out', 'b', 5, 6),
];

describe('predecessors', () => {
  test('are those of the engine and of the stream', () => {
    expect(predecessors(chunks)).toEqual([[], [0], [0], [2, 1], [2], [4, 3]]);
  });
  test('and those that are named', () => {
    const spans = [span('copy in', 'a', 0, 1, { id: 7 }), span('compute', 'b', 2, 3, { id: 8, after: [7] })];
    expect(predecessors(spans)).toEqual([[], [0]]);
  });
  test('spans that share an engine at the same time do not wait for each other', () => {
    expect(predecessors([span('compute', 'a', 0, 2), span('compute', 'b', 1, 3)])).toEqual([[], []]);
  });
});

describe('the critical path', () => {
  test('goes through the kernels', () => {
    const { positions, engines, waiting } = criticalPath(chunks);
    expect(positions).toEqual([0, 2, 3, 5]);
    expect(Object.fromEntries(engines)).toEqual({ 'copy in': 1, compute: 4, 'copy out': 1 });
    expect(waiting).toBe(0);
  });
  test('counts what it waited', () => {
    const late = [span('copy in', 'a', 0, 1), span('compute', 'a', 1.5, 2)];
    expect(criticalPath(late).waiting).toBe(0.5);
  });
  test('of nothing is nothing', () => {
    expect(criticalPath([])).toEqual({ positions: [], engines: new Map(), waiting: 0 });
    expect(wallWithFaster([], 'compute')).toBe(0);
  });
});

describe('an engine twice as fast', () => {
  test('gains what lies on the path', () => {
    expect(wallWithFaster(chunks, 'compute')).toBe(4);
    expect(wallWithFaster(chunks, 'copy in')).toBe(5.5);
    expect(wallWithFaster(chunks, 'copy out')).toBe(5.5);
    expect(wallWithFaster(chunks, 'compute', 1)).toBe(6);
  });

  test('gains what a virtual device with that engine gains', async () => {
    const record = async (kernelTime: number) => {
      await using device = await open('model:k20c', { execute: false, kernelTime: () => kernelTime });
      const spans = new Map<ScheduleName, Span[]>();
      await measure(device, 2 ** 20, (schedule) => {
        const list: Span[] = [];
        spans.set(schedule, list);
        device.recorder = (recorded) => list.push(recorded);
      });
      const wall = (list: readonly Span[]) =>
        Math.max(...list.map(({ ended }) => ended)) - Math.min(...list.map(({ started }) => started));
      return { V1: spans.get('V1')!, wall: wall(spans.get('V1')!) };
    };
    const [slow, fast] = [await record(2), await record(1)];
    expect(wallWithFaster(slow.V1, 'compute')).toBeCloseTo(fast.wall, 6);
  });
});

/** Spans of all kinds: some overlap on an engine, some wait, some began before the end of what they name. */
const anySpans = fc
  .array(
    fc.record({
      engine: fc.constantFrom('copy in', 'compute', 'copy', 'acquire', 'wait', 'release'),
      stream: fc.constantFrom('a', 'b', 'c'),
      started: fc.integer({ min: 0, max: 60 }),
      length: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.double({ min: 0, max: 20, noNaN: true })),
      after: fc.array(fc.nat(12), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((list) =>
    list.map(({ engine, stream, started, length, after }, id) =>
      span(engine, stream, started, started + length, { id, after }),
    ),
  );
const wallOf = (spans: readonly Span[]) =>
  Math.max(...spans.map(({ ended }) => ended)) - Math.min(...spans.map(({ started }) => started));

describe('of any spans', () => {
  const unified = traceStages(
    withStagingUnified,
    {
      grid: 1,
      block: 32,
      arguments: { globalOut: { length: 320 }, globalIn: { length: 320 }, batchCount: 10 },
    },
    { copyLatency: 40 },
  );
  /** As the property has it, and what a checker's page shows. */
  const cases = fc.oneof(anySpans, fc.constant(unified));

  test('an engine as fast as it is changes nothing, a faster one delays nothing', () => {
    fc.assert(
      fc.property(cases, fc.double({ min: 1, max: 8, noNaN: true }), (spans, factor) => {
        const [wall, before] = [wallOf(spans), predecessors(spans)];
        for (const engine of new Set(spans.map(({ engine }) => engine))) {
          expect(wallWithFaster(spans, engine, 1, before)).toBeCloseTo(wall, 6);
          const faster = wallWithFaster(spans, engine, factor, before);
          expect(faster).toBeLessThanOrEqual(wall + 1e-5);
          expect(faster).toBeGreaterThanOrEqual(wall / factor - 1e-5);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('the critical path and what it waited are the whole time', () => {
    fc.assert(
      fc.property(cases, (spans) => {
        const { engines, waiting } = criticalPath(spans);
        const sum = [...engines.values()].reduce((a, b) => a + b, waiting);
        expect(sum).toBeCloseTo(wallOf(spans), 6);
        for (const time of [waiting, ...engines.values()]) expect(time).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test('no engine is busy for longer than the whole takes, and one that waits binds nothing', () => {
    fc.assert(
      fc.property(cases, (spans) => {
        const { engines, wall, bound } = measureOverlap(spans);
        expect(wall).toBe(wallOf(spans));
        for (const { busy } of engines) expect(busy).toBeLessThanOrEqual(wall + 1e-9);
        expect(['acquire', 'wait']).not.toContain(bound?.name);
      }),
    );
  });

  test('faster copies shorten the waits for them', () => {
    const wall = wallOf(unified);
    expect(wallWithFaster(unified, 'copy')).toBeLessThan(0.75 * wall);
    expect(wallWithFaster(unified, 'compute')).toBeLessThan(wall);
  });
});
