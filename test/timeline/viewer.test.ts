// The parts of the viewer that need no browser: the window of time, lanes, and the data of the page.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chromeTrace, type Span } from 'warpstage';
import { readTrace } from '#warpstage/timeline/read-trace.js';
import { decodeTrace, encodeTrace } from '#warpstage/timeline/viewer/data.js';
import { lanesOf, spanAt } from '#warpstage/timeline/viewer/lanes.js';
import { framing, pan, positionOf, reveal, ticks, timeAt, zoom } from '#warpstage/timeline/viewer/window.js';

const spans = fc.array(
  fc
    .record({
      name: fc.constantFrom('scale', 'memcpy', '</script>'),
      engine: fc.constantFrom('copy in', 'compute', 'other'),
      stream: fc.constantFrom('stream 1', 'stream 2', 'stream 10'),
      started: fc.integer({ min: 0, max: 1000 }),
      length: fc.integer({ min: 0, max: 50 }),
      waited: fc.integer({ min: 0, max: 5 }),
      bytes: fc.option(fc.nat(), { nil: undefined }),
      channel: fc.option(fc.constantFrom('copy 12', 'compute 1'), { nil: undefined }),
    })
    .map(
      ({ started, length, waited, bytes, channel, ...span }): Span => ({
        ...span,
        queued: started - waited,
        started,
        ended: started + length,
        ...(bytes === undefined ? {} : { bytes }),
        ...(channel === undefined ? {} : { channel }),
      }),
    ),
  { minLength: 1 },
);

describe('the window of time', () => {
  const whole = framing(0, 100, 1000);
  test('positions and times are inverse', () => {
    for (const x of [0, 250, 1000]) expect(positionOf(whole, timeAt(whole, x))).toBeCloseTo(x, 9);
  });
  test('zooming keeps the time under the pointer, and never loses the whole', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            factor: fc.double({ min: 0.2, max: 5, noNaN: true }),
            x: fc.integer({ min: 0, max: 1000 }),
          }),
        ),
        (steps) => {
          let window = whole;
          for (const { factor, x } of steps) {
            window = zoom(window, factor, x, whole);
            expect(window.to).toBeGreaterThan(window.from);
            expect(window.to).toBeGreaterThan(whole.from);
            expect(window.from).toBeLessThan(whole.to);
          }
        },
      ),
    );
    const zoomed = zoom(whole, 4, 300, whole);
    expect(timeAt(zoomed, 300)).toBeCloseTo(timeAt(whole, 300), 9);
  });
  test('panning stops before everything is out of sight', () => {
    const far = pan(whole, 1e7, whole);
    expect(far.from).toBeLessThan(whole.to);
  });
  test('revealing moves only as far as needed', () => {
    const zoomed = zoom(whole, 10, 0, whole);
    expect(reveal(zoomed, 0, 1, whole)).toBe(zoomed);
    const moved = reveal(zoomed, 60, 61, whole);
    expect(moved.to - moved.from).toBeCloseTo(zoomed.to - zoomed.from, 9);
    expect(moved.from).toBeLessThan(60);
    expect(moved.to).toBeGreaterThan(61);
  });
  test('ticks are round and apart', () => {
    expect(ticks(framing(0, 9, 1100), 110)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});

describe('lanes', () => {
  test('hold every span once, in order, and without overlap while there are rows', () => {
    fc.assert(
      fc.property(spans, (list) => {
        for (const kind of ['engine', 'stream'] as const) {
          const lanes = lanesOf({ title: '', facts: {}, spans: list }, kind);
          const seen = lanes.flatMap(({ rows }) => rows.flatMap(({ positions }) => [...positions]));
          expect(seen.sort((a, b) => a - b)).toEqual(list.map((_, i) => i));
          for (const { name, rows } of lanes) {
            for (const { positions, starts, ends } of rows) {
              for (const [i, position] of positions.entries()) {
                expect(list[position]![kind]).toBe(name);
                if (i > 0 && rows.length < 8) expect(starts[i]).toBeGreaterThanOrEqual(ends[i - 1]!);
              }
            }
          }
        }
      }),
    );
  });
  test('find the span at a time, or one that is near', () => {
    const row = {
      positions: Int32Array.of(0, 1),
      starts: Float64Array.of(0, 5),
      ends: Float64Array.of(2, 6),
    };
    expect([1, 5.5, 3, 4.9, 7].map((time) => spanAt(row, time, 0.2))).toEqual([0, 1, -1, 1, -1]);
  });
  test('are sorted as data flows, streams by their numbers', () => {
    const list: Span[] = ['other', 'copy out', 'compute', 'copy in'].map((engine, i) => ({
      name: '',
      engine,
      stream: `stream ${10 - i}`,
      queued: 0,
      started: i,
      ended: i + 1,
    }));
    const names = (kind: 'engine' | 'stream') =>
      lanesOf({ title: '', facts: {}, spans: list }, kind).map(({ name }) => name);
    expect(names('engine')).toEqual(['copy in', 'compute', 'copy out', 'other']);
    expect(names('stream')).toEqual(['stream 7', 'stream 8', 'stream 9', 'stream 10']);
  });
});

describe('the data of a page', () => {
  test('comes back as it was, counted from its beginning', () => {
    fc.assert(
      fc.property(spans, (list) => {
        const origin = Math.min(...list.map(({ queued, started }) => Math.min(queued, started)));
        const shifted = list.map((span) => ({
          ...span,
          queued: span.queued - origin,
          started: span.started - origin,
          ended: span.ended - origin,
        }));
        const { spans: decoded } = decodeTrace(
          encodeTrace({ title: 't', facts: {}, spans: list, unit: 'steps' }),
        );
        expect(decoded).toEqual(shifted);
      }),
    );
  });
});

describe('a trace file', () => {
  test('that was written is read back', () => {
    const list: Span[] = [
      {
        name: 'a',
        engine: 'copy in',
        stream: 's',
        queued: 0,
        started: 1,
        ended: 2,
        id: 1,
        after: [],
        bytes: 8,
      },
      {
        name: 'k',
        engine: 'compute',
        stream: 's',
        queued: 0,
        started: 2,
        ended: 4,
        id: 2,
        after: [1],
        grid: [4, 2, 1],
      },
    ];
    const text = [...chromeTrace(list, { title: 'mine', facts: { depth: 3 } })].join('');
    expect(readTrace('t.json', text)).toEqual({
      title: 'mine',
      facts: { depth: 3 },
      spans: list,
      lanes: ['copy in', 'compute'],
    });
  });
  test.each([
    ['[null]', 'WS5004: t.json has an event that is not an object'],
    ['{', 'WS5004: t.json is not JSON'],
    ['{}', 'WS5004: t.json has no `traceEvents`'],
    ['[{"ph":"X","name":"a"}]', 'WS5004: t.json has an event `a` without a time'],
  ])('that is none: %s', (text, message) => {
    expect(() => readTrace('t.json', text)).toThrow(message);
  });
});
