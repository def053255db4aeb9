// The trace file: valid JSON in Chrome's format, whatever the spans are called and however many there are.

import { expect, test } from 'vitest';
import { chromeTrace } from '#warpstage/timeline/chrome-trace.js';
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
