// The trace file: valid JSON in Chrome's format, whatever the spans are called and however many there are.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WarpstageError } from 'warpstage';
import { chromeTrace } from '#warpstage/timeline/chrome-trace.js';
import { tracePage } from '#warpstage/timeline/page.js';
import { readTrace } from '#warpstage/timeline/read-trace.js';
import type { Span } from '#warpstage/timeline/span.js';

interface TraceEvent {
  readonly ph: string;
  readonly pid: number;
  readonly tid?: number;
  readonly name: string;
  readonly ts?: number;
  readonly dur?: number;
  readonly id?: number;
  readonly args?: Readonly<Record<string, unknown>>;
}

function parse(spans: readonly Span[]): { traceEvents: TraceEvent[]; otherData: object } {
  return JSON.parse([...chromeTrace(spans, { title: 'affine on cpu', facts: { chunk: 8 } })].join(''));
}

const spans: Span[] = [
  {
    name: 'affine',
    engine: 'compute',
    stream: 'stream 1',
    queued: 1001,
    started: 1002.5,
    ended: 1004,
    grid: [64, 2, 1],
  },
  {
    name: 'read',
    engine: 'read',
    stream: 'stream 1',
    queued: 1000,
    started: 1000,
    ended: 1001.25,
    bytes: 4096,
  },
  {
    name: 'read',
    engine: 'read',
    stream: 'stream 2',
    queued: 1001.25,
    started: 1001.25,
    ended: 1002.5,
    bytes: 4096,
  },
];

test('every engine is a named track, in the order of the data, and every span an event in microseconds', () => {
  const { traceEvents, otherData } = parse(spans);
  expect(otherData).toEqual({ chunk: 8 });
  const names = traceEvents.filter((event) => event.name === 'thread_name');
  expect(names.map((event) => [event.tid, event.args?.name])).toEqual([
    [1, 'read'],
    [2, 'compute'],
  ]);
  expect(traceEvents.find((event) => event.name === 'process_name')?.args).toEqual({ name: 'affine on cpu' });

  const complete = traceEvents.filter((event) => event.ph === 'X');
  expect(complete.map(({ name, tid, ts, dur }) => ({ name, tid, ts, dur }))).toEqual([
    { name: 'affine', tid: 2, ts: 2500, dur: 1500 },
    { name: 'read', tid: 1, ts: 0, dur: 1250 },
    { name: 'read', tid: 1, ts: 1250, dur: 1250 },
  ]);
  expect(complete[0]!.args).toEqual({ stream: 'stream 1', waited_ms: 1.5, grid: '64 x 2 x 1' });
  expect(complete[1]!.args).toEqual({ stream: 'stream 1', waited_ms: 0, bytes: 4096 });
});

test('an arrow leads from each operation of a stream to the next', () => {
  const { traceEvents } = parse(spans);
  const arrows = traceEvents.filter((event) => event.ph === 's' || event.ph === 'f');
  expect(arrows.map(({ ph, tid, ts, id, name }) => ({ ph, tid, ts, id, name }))).toEqual([
    { ph: 'f', tid: 2, ts: 2500, id: 1, name: 'stream 1' },
    { ph: 's', tid: 1, ts: 0, id: 1, name: 'stream 1' },
  ]);
});

test('names are escaped, no span is lost in a long trace, and no trace is one long string', () => {
  const many = Array.from(
    { length: 5000 },
    (_, i): Span => ({
      name: `a "quoted"\n\\ name ${i}`,
      engine: `engine ${i % 7}`,
      stream: 's',
      queued: i,
      started: i,
      ended: i + 1,
    }),
  );
  const pieces = [...chromeTrace(many, { title: 't' })];
  expect(pieces.length).toBeGreaterThan(8);
  const { traceEvents } = JSON.parse(pieces.join('')) as { traceEvents: TraceEvent[] };
  expect(traceEvents.filter((event) => event.ph === 'X').map((event) => event.name)).toEqual(
    many.map((span) => span.name),
  );
});

test('a trace without spans is valid too', () => {
  expect(parse([]).traceEvents.map((event) => event.name)).toEqual(['process_name']);
});

/** Times as clocks give them: any fraction of a nanosecond, one span after the other or at the same time. */
const anySpans = fc
  .array(
    fc.record({
      engine: fc.constantFrom('copy in', 'compute', 'compute 2'),
      gap: fc.oneof(fc.constant(0), fc.double({ min: -0.01, max: 0.01, noNaN: true })),
      length: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 0.01, noNaN: true })),
      waited: fc.double({ min: 0, max: 0.01, noNaN: true }),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .chain((steps) => fc.tuple(fc.constant(steps), fc.double({ min: 0, max: 1e7, noNaN: true })))
  .map(([steps, origin]) => {
    let at = origin;
    return steps.map(({ engine, gap, length, waited }): Span => {
      const started = Math.max(origin, at + gap);
      at = started + length;
      return { name: 'k', engine, stream: 's', queued: started - waited, started, ended: at };
    });
  });

/** A file's microseconds as the nanoseconds that Perfetto makes of them. */
const inPerfetto = (microseconds: number) => Math.trunc(microseconds * 1000);

test('events of one track never overlap, by the nanosecond in which Perfetto reads them', () => {
  const check = (spans: readonly Span[]) => {
    const tracks = new Map<string, { from: number; to: number }[]>();
    for (const { ph, pid, tid, ts, dur } of parse(spans).traceEvents) {
      if (ph !== 'X') continue;
      const track = tracks.get(`${pid} ${tid}`) ?? [];
      tracks.set(`${pid} ${tid}`, [
        ...track,
        { from: inPerfetto(ts!), to: inPerfetto(ts!) + inPerfetto(dur!) },
      ]);
    }
    for (const events of tracks.values()) {
      events.sort((a, b) => a.from - b.from || a.to - b.to);
      for (const [i, { from }] of events.entries()) {
        if (i === 0) continue;
        expect(from).toBeGreaterThanOrEqual(events[i - 1]!.to);
        // What takes no time would lie in what begins with it.
        expect(from).toBeGreaterThan(events[i - 1]!.from);
      }
    }
  };
  const stages = (spans: Span[]): Span[] => [{ ...spans[0]!, stages: { block: [0, 0, 0], spans } }];
  fc.assert(
    fc.property(anySpans, (list) => check(list)),
    { numRuns: 300 },
  );
  fc.assert(fc.property(anySpans, (list) => check(stages(list))));
});

test('nothing begins before the origin, not even a stage before its launch', () => {
  const stages = {
    block: [0, 0, 0],
    spans: [{ ...spans[1]!, queued: 990, started: 995, ended: 999 }],
  } as const;
  const { traceEvents } = parse([{ ...spans[0]!, stages }]);
  const begins = traceEvents.filter(({ ph }) => ph === 'X').map(({ pid, ts }) => [pid, ts]);
  expect(begins).toEqual([
    [1, 12_500],
    [2, 5000],
  ]);
});

test('what is read back has the same engines and times, to the nanosecond', () => {
  fc.assert(
    fc.property(anySpans, (list) => {
      const read = readTrace('t.json', [...chromeTrace(list, { title: 't', wall: 12.5 })].join(''));
      expect(read.wall).toBe(12.5);
      expect(new Set(read.lanes)).toEqual(new Set(list.map(({ engine }) => engine)));
      const origin = Math.min(...list.map(({ queued, started }) => Math.min(queued, started)));
      for (const [i, { engine, queued, started, ended }] of list.entries()) {
        const span = read.spans[i]!;
        expect(span.engine).toBe(engine);
        for (const [time, written] of [
          [span.queued, queued],
          [span.started, started],
          [span.ended, ended],
        ] as const) {
          expect(Math.abs(time - (written - origin))).toBeLessThan(2e-6);
        }
      }
    }),
  );
});

test('whatever is in a file of JSON, it is read and shown, or refused as no trace', () => {
  const any = fc.oneof(
    fc.constantFrom(null, true, 0, -1, 1e308, -1e308, '', 'X', '1, 2, 3', '2 x 1 x 1', [], {}, [null]),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const names = ['ph', 'name', 'cat', 'pid', 'tid', 'ts', 'dur', 'args'];
  const inner = [
    'of',
    'block',
    'kernel',
    'stream',
    'waited_ms',
    'id',
    'after',
    'bytes',
    'grid',
    'channel',
    'name',
  ];
  const objectOf = (keys: readonly string[], value: fc.Arbitrary<unknown>) =>
    fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: keys.length });
  const event = fc
    .tuple(objectOf(names, any), objectOf(inner, any), fc.constantFrom('X', 'X', 'M'), fc.boolean())
    .map(([outer, args, ph, whole]) => (whole ? { name: 'a', ts: 1, ...outer, args, ph } : { ...outer, ph }));
  const content = fc.oneof(
    any,
    fc.array(fc.oneof(event, any)),
    fc.record({ traceEvents: fc.array(event), otherData: any, wallMilliseconds: any }),
  );
  fc.assert(
    fc.property(content, (value) => {
      try {
        tracePage([readTrace('t.json', JSON.stringify(value))]);
      } catch (error) {
        expect(error).toBeInstanceOf(WarpstageError);
        expect((error as WarpstageError).code).toBe('WS5004');
      }
    }),
    { numRuns: 300 },
  );
});
