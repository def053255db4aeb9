// The figures of a schedule, by what they mean: an engine is busy where any of its spans is.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { measureOverlap } from 'warpstage';
import { asStages, overlapOf } from '#warpstage/timeline/overlap.js';
import { verdict } from '#warpstage/timeline/verdict.js';

const span = (engine: string, started: number, ended: number) => ({
  engine,
  stream: 's',
  name: 'n',
  queued: started,
  started,
  ended,
});

describe('an overlap', () => {
  test('has engines that are busy where a span of theirs is, whatever the spans', () => {
    const times = fc.tuple(fc.nat(30), fc.nat(30)).map(([start, length]) => [start, start + length] as const);
    const engines = fc.constantFrom('copy in', 'compute', 'copy out');
    fc.assert(
      fc.property(fc.array(fc.tuple(engines, times), { minLength: 1, maxLength: 12 }), (all) => {
        const figures = measureOverlap(all.map(([engine, [from, to]]) => span(engine, from, to)));
        for (const { name, busy } of figures.engines) {
          const own = all.filter(([engine]) => engine === name).map(([, one]) => one);
          const units = Array.from({ length: 60 }, (_, at) =>
            own.some(([from, to]) => from <= at && at < to),
          );
          expect(busy).toBe(units.filter(Boolean).length);
        }
        const longest = Math.max(...figures.engines.map(({ busy }) => busy));
        expect(figures.bound?.busy).toBe(longest);
        expect(figures.nearness).toBeCloseTo(figures.wall === 0 ? 0 : longest / figures.wall);
      }),
    );
  });

  test('hides all that is not the longest at best, and nothing one after the other', () => {
    const together = measureOverlap([span('copy in', 0, 4), span('compute', 0, 4)]);
    expect([together.nearness, together.achieved]).toEqual([1, 1]);
    const apart = measureOverlap([span('copy in', 0, 4), span('compute', 4, 8)]);
    expect([apart.nearness, apart.achieved]).toEqual([0.5, 0]);
    const half = measureOverlap([span('copy in', 0, 4), span('compute', 2, 6)]);
    expect(half.achieved).toBe(0.5);
  });

  test('is not bound by threads that wait', () => {
    const { bound } = measureOverlap([span('wait', 0, 10), span('compute', 2, 6)]);
    expect(bound?.name).toBe('compute');
  });

  test('is not praised where there was next to nothing to hide', () => {
    const stage = (name: string, busy: number) => ({ name, busy, bytes: 0, operations: 1 });
    expect(verdict(overlapOf([stage('compute', 99), stage('copy in', 2)], 100))).not.toContain(
      'Of the other',
    );
    expect(verdict(overlapOf([stage('compute', 90), stage('copy in', 40)], 100))).toContain(
      "Of the other stages' time, at least 75 % passed",
    );
  });

  test('has stages as busy as the busiest of their devices', () => {
    const engines = ['cuda:0 copy in', 'cuda:1 copy in'].map((name, at) => {
      return { name, busy: 3 + at, bytes: 10, operations: 1 };
    });
    expect(asStages(engines)).toEqual([{ name: 'copy in', busy: 4, bytes: 20, operations: 2 }]);
  });
});
