// The parts of the viewer that need no browser: the window of time, lanes, and the data of the page.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chromeTrace, type Span } from 'warpstage';
import { readTrace } from '#warpstage/timeline/read-trace.js';
import { ratesOf } from '#warpstage/timeline/viewer/bandwidth.js';
import { decodeTrace, encodeTrace } from '#warpstage/timeline/viewer/data.js';
import { lanesOf, spanAt } from '#warpstage/timeline/viewer/lanes.js';
import { layOut } from '#warpstage/timeline/viewer/layout.js';
import { linkOf, type View, viewOf } from '#warpstage/timeline/viewer/link.js';
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

describe('bandwidth over time', () => {
  const stretches = fc.record({
    from: fc.double({ min: -50, max: 1000, noNaN: true }),
    length: fc.double({ min: 0.01, max: 1200, noNaN: true }),
    width: fc.integer({ min: 1, max: 300 }),
  });
  test('has every byte of what is in sight once, wherever it is cut', () => {
    fc.assert(
      fc.property(spans, stretches, (list, { from, length, width }) => {
        const window = { from, to: from + length, width };
        for (const lane of lanesOf({ title: '', facts: {}, spans: list }, 'engine')) {
          // Where rows are used up, spans overlap and are not found by bisection.
          if (lane.rows.length === 8) continue;
          const inSight = list.filter(
            ({ engine, started, ended }) => engine === lane.name && ended > started && ended > from,
          );
          const expected = inSight.reduce((sum, { started, ended, bytes = 0 }) => {
            const seen = Math.max(0, Math.min(ended, window.to) - Math.max(started, from));
            return sum + (bytes * seen) / (ended - started);
          }, 0);
          const rates = ratesOf(lane, list, window);
          const moved = rates.reduce((sum, rate) => sum + (rate * length) / width, 0);
          expect(Math.abs(moved - expected)).toBeLessThanOrEqual(1e-6 * (1 + expected));
          expect(rates.every((rate) => rate >= 0)).toBe(true);
        }
      }),
    );
  });
  test('is shown for engines that move bytes, not for streams or steps', () => {
    const list = ['copy in', 'compute'].map(
      (engine, i): Span => ({
        name: '',
        engine,
        stream: 's',
        queued: 0,
        started: i,
        ended: i + 1,
        ...(i === 0 ? { bytes: 8 } : {}),
      }),
    );
    const charts = (kind: 'engine' | 'stream', unit: 'ms' | 'steps') =>
      layOut([{ title: '', facts: {}, spans: list, unit }], kind).charts.map(({ lane }) => lane.name);
    expect(charts('engine', 'ms')).toEqual(['copy in']);
    expect(charts('stream', 'ms')).toEqual([]);
    expect(charts('engine', 'steps')).toEqual([]);
  });
});

describe('the link to what is shown', () => {
  const traces = [{ title: '', facts: {}, spans: Array<Span>(5).fill({} as Span) }];
  const views = fc.record({
    range: fc.option(
      fc
        .record({
          from: fc.double({ min: -1e5, max: 1e5, noNaN: true }),
          length: fc.double({ min: 1e-6, max: 1e5, noNaN: true }),
        })
        .map(({ from, length }) => [from, from + length] as const),
    ),
    chosen: fc.option(fc.record({ trace: fc.constant(0), position: fc.nat(4) })),
    kind: fc.constantFrom('engine', 'stream'),
  });
  test('leads back, to less than a pixel', () => {
    fc.assert(
      fc.property(views, (view: View) => {
        const { range, chosen, kind } = viewOf(`#${linkOf(view)}`, traces);
        expect({ chosen, kind }).toEqual({ chosen: view.chosen, kind: view.kind });
        expect(range === null).toBe(view.range === null);
        if (range === null || view.range === null) return;
        const length = view.range[1] - view.range[0];
        for (const i of [0, 1] as const)
          expect(Math.abs(range[i] - view.range[i])).toBeLessThanOrEqual(length * 1e-4);
      }),
    );
  });
  test('of another page, or of none, shows everything', () => {
    const opening = { range: null, chosen: null, kind: 'engine' };
    for (const link of [
      '',
      '#',
      '#from=1',
      '#from=2&to=1',
      '#from=a&to=b',
      '#from=0&to=Infinity',
      '#summary',
    ])
      expect(viewOf(link, traces)).toEqual(opening);
    for (const span of ['0.5', '1.0', '-1.0', '0', '0.x', '']) {
      expect(viewOf(`#span=${span}&lanes=other`, traces)).toEqual(opening);
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        const { chosen } = viewOf(text, traces);
        expect(chosen === null || traces[chosen.trace]!.spans[chosen.position] !== undefined).toBe(true);
      }),
    );
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
