// What the page is given: traces with their spans in columns, so that 100,000 of them are small
// text and quick to read. The page's script and the program that writes the page share this.

import type { Span } from '../span.ts';
import type { Unit } from './units.ts';

/** A schedule on a device. */
export interface Trace {
  /** For example `V1 on model:k20c`. */
  readonly title: string;
  readonly facts: Readonly<Record<string, string | number>>;
  readonly spans: readonly Span[];
  /** What the spans' times count. Default milliseconds. */
  readonly unit?: Unit;
  /** Lanes in the order in which they are shown; those that are missing come after. */
  readonly lanes?: readonly string[];
  /** Milliseconds that the whole took, as the report has it. Default: from the first span's start to the last one's end. */
  readonly wall?: number;
  /** The time at which the axis begins. Default: when the first span was issued or began. */
  readonly origin?: number;
}

type Text = number;
/** A span: texts are positions in the list of texts; times are milliseconds from the trace's origin. */
type Row = readonly [
  name: Text,
  engine: Text,
  stream: Text,
  queued: number,
  started: number,
  ended: number,
  id: number | null,
  after: readonly number[] | 0,
  bytes: number | null,
  grid: readonly [number, number, number] | 0,
  channel: Text | null,
];

export interface EncodedTrace {
  readonly title: string;
  readonly facts: Readonly<Record<string, string | number>>;
  readonly unit: Unit;
  readonly lanes: readonly string[];
  readonly wall: number | null;
  readonly texts: readonly string[];
  readonly rows: readonly Row[];
}

/** When the first span of a trace was issued or began. */
export function originOf(spans: readonly Span[]): number {
  return spans.reduce((earliest, span) => Math.min(earliest, span.queued, span.started), Infinity);
}

/** A trace in columns; its times count from its origin. */
export function encodeTrace(trace: Trace): EncodedTrace {
  const { title, facts, spans, unit = 'ms', lanes = [], origin, wall = null } = trace;
  const texts = new Map<string, number>();
  const text = (value: string) => {
    const found = texts.get(value) ?? texts.size;
    texts.set(value, found);
    return found;
  };
  const begin = origin ?? (spans.length === 0 ? 0 : originOf(spans));
  const time = (milliseconds: number) => Math.round((milliseconds - begin) * 1e6) / 1e6;
  const rows = spans.map(
    (span): Row => [
      text(span.name),
      text(span.engine),
      text(span.stream),
      time(span.queued),
      time(span.started),
      time(span.ended),
      span.id ?? null,
      span.after?.length ? span.after : 0,
      span.bytes ?? null,
      span.grid ?? 0,
      span.channel === undefined ? null : text(span.channel),
    ],
  );
  return { title, facts, unit, lanes, wall, texts: [...texts.keys()], rows };
}

export function decodeTrace({ title, facts, unit, lanes, wall, texts, rows }: EncodedTrace): Trace {
  const spans = rows.map(
    ([name, engine, stream, queued, started, ended, id, after, bytes, grid, channel]): Span => ({
      name: texts[name]!,
      engine: texts[engine]!,
      stream: texts[stream]!,
      queued,
      started,
      ended,
      ...(id === null ? {} : { id }),
      ...(after === 0 ? {} : { after }),
      ...(bytes === null ? {} : { bytes }),
      ...(grid === 0 ? {} : { grid }),
      ...(channel === null ? {} : { channel: texts[channel]! }),
    }),
  );
  return { title, facts, unit, spans, lanes, ...(wall === null ? {} : { wall }) };
}
