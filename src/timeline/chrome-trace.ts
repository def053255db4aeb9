// Spans as a trace file in Chrome's JSON format, which Perfetto (ui.perfetto.dev) opens.
//
// Every engine is a track, or several where its spans overlap (`compute`, `compute 2`): events of one track
// never do, for Perfetto drops an event that begins in another and ends after it. Each span is one
// complete event, with the stream, the bytes, the grid and the time it waited among its arguments;
// arrows lead from each operation of a stream to the next. What blocks of kernels did with the stages of
// their pipelines is a second process. Times are whole nanoseconds from the origin, rounded before anything is
// subtracted. The text comes in pieces, so that a large trace is never one string.

import { inFlowOrder } from './overlap.ts';
import type { Span } from './span.ts';

/** What the trace says beside the spans. */
export interface TraceDescription {
  /** Names the process, for example `affine on cpu`. */
  readonly title: string;
  /** Milliseconds that the whole took, where that is more than from the first span to the last. */
  readonly wall?: number;
  /** Further facts, shown under the trace's metadata. */
  readonly facts?: Readonly<Record<string, string | number>>;
}

/** Spans to a piece: large enough for few writes, small enough to hold in memory. */
const spansPerPiece = 512;

/**
 * The text of the trace file, in pieces.
 *
 * @example
 * const spans: Span[] = [];
 * device.recorder = (span) => spans.push(span);
 * // …
 * await writeFile('timeline.json', chromeTrace(spans, { title: 'my schedule' }));
 */
export function* chromeTrace(spans: readonly Span[], description: TraceDescription): Generator<string> {
  const clock = new Clock(earliestOf(spans));
  const { tracks, trackOf } = tracksOf(spans, clock);
  const arrows = streamArrows(spans);
  const { title, wall, facts = {} } = description;

  const own = wall === undefined ? '' : `"wallMilliseconds":${wall},`;
  yield `{"displayTimeUnit":"ms",${own}"otherData":${JSON.stringify(facts)},"traceEvents":[\n`;
  const names: object[] = [{ ph: 'M', pid: 1, name: 'process_name', args: { name: title } }];
  for (const [i, name] of tracks.entries()) {
    names.push({ ph: 'M', pid: 1, tid: i + 1, name: 'thread_name', args: { name } });
    names.push({ ph: 'M', pid: 1, tid: i + 1, name: 'thread_sort_index', args: { sort_index: i + 1 } });
  }
  yield names.map((event) => JSON.stringify(event)).join(',\n');

  for (let begin = 0; begin < spans.length; begin += spansPerPiece) {
    let piece = '';
    for (let i = begin; i < Math.min(begin + spansPerPiece, spans.length); i++) {
      for (const event of eventsOf(spans[i]!, i)) piece += `,\n${JSON.stringify(event)}`;
    }
    yield piece;
  }
  yield* stageEvents(spans, clock);
  yield '\n]}\n';

  function* eventsOf(span: Span, id: number): Generator<object> {
    const place = { pid: 1, tid: trackOf[id]! + 1 };
    const times = clock.times(span);
    yield {
      ph: 'X',
      ...place,
      name: span.name,
      cat: span.engine,
      ...times,
      args: {
        stream: span.stream,
        waited_ms: (clock.at(span.started) - clock.at(span.queued)) / 1e6,
        ...(span.id === undefined ? {} : { id: span.id }),
        ...(span.after === undefined ? {} : { after: span.after }),
        ...(span.bytes === undefined ? {} : { bytes: span.bytes }),
        ...(span.channel === undefined ? {} : { channel: span.channel }),
        ...(span.grid === undefined ? {} : { grid: span.grid.join(' x ') }),
      },
    };
    const arrow = { ...place, name: span.stream, cat: 'stream', ts: times.ts };
    const { from, leads } = arrows[id]!;
    if (from !== undefined) yield { ph: 'f', bp: 'e', id: from, ...arrow };
    if (leads) yield { ph: 's', id, ...arrow };
  }
}

/** The origin: Perfetto drops what begins before it. */
function earliestOf(spans: readonly Span[]): number {
  const earliest = (least: number, { queued, started, stages }: Span): number =>
    Math.min(least, queued, started, stages?.spans.reduce(earliest, Infinity) ?? Infinity);
  return spans.reduce(earliest, Infinity);
}

/** The events of stages. Their arguments say of which operation they are, and of which block. */
function* stageEvents(spans: readonly Span[], clock: Clock): Generator<string> {
  const staged = spans.flatMap(({ stages, name: kernel, id }, position) =>
    stages === undefined
      ? []
      : stages.spans.map((span) => ({ span, kernel, of: id ?? position, block: stages.block.join(', ') })),
  );
  if (staged.length === 0) return;
  const { tracks, trackOf } = tracksOf(
    staged.map(({ span }) => span),
    clock,
  );
  const event = (content: object) => `,\n${JSON.stringify({ ...content, pid: 2 })}`;
  let piece = event({ ph: 'M', name: 'process_name', args: { name: 'stages' } });
  for (const [i, name] of tracks.entries()) {
    piece += event({ ph: 'M', tid: i + 1, name: 'thread_name', args: { name } });
  }
  for (const [i, { span, ...launch }] of staged.entries()) {
    piece += event({
      ph: 'X',
      tid: trackOf[i]! + 1,
      name: span.name,
      cat: span.engine,
      ...clock.times(span),
      args: { stream: span.stream, ...launch, id: span.id, after: span.after },
    });
    if (i % spansPerPiece !== 0) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** The names of the tracks in the order of the flow, and for each span the position of its own. */
function tracksOf(spans: readonly Span[], clock: Clock): { tracks: string[]; trackOf: Int32Array } {
  const engines = inFlowOrder(new Set(spans.map(({ engine }) => engine)));
  /** For each engine when each of its rows is free again. */
  const free = new Map(engines.map((name): [string, number[]] => [name, []]));
  const rows = new Int32Array(spans.length);
  for (const position of [...spans.keys()].sort((a, b) => spans[a]!.started - spans[b]!.started)) {
    const { engine, started, ended } = spans[position]!;
    const ends = free.get(engine)!;
    const open = ends.findIndex((end) => end <= clock.at(started));
    const row = open < 0 ? ends.length : open;
    // Perfetto would show what takes no time inside what begins with it: it has its nanosecond for itself.
    ends[row] = Math.max(clock.at(ended), clock.at(started) + 1);
    rows[position] = row;
  }
  const first = new Map<string, number>();
  const tracks: string[] = [];
  for (const [engine, ends] of free) {
    first.set(engine, tracks.length);
    tracks.push(...ends.map((_, row) => (row === 0 ? engine : `${engine} ${row + 1}`)));
  }
  return { tracks, trackOf: rows.map((row, position) => first.get(spans[position]!.engine)! + row) };
}

/** For each span the one before it in its stream, if there is one, and whether one comes after it. */
function streamArrows(spans: readonly Span[]): { from?: number; leads: boolean }[] {
  const arrows = spans.map((): { from?: number; leads: boolean } => ({ leads: false }));
  const latest = new Map<string, number>();
  const byStart = [...spans.keys()].sort((a, b) => spans[a]!.started - spans[b]!.started);
  for (const id of byStart) {
    const { stream } = spans[id]!;
    const before = latest.get(stream);
    if (before !== undefined) {
      arrows[id]!.from = before;
      arrows[before]!.leads = true;
    }
    latest.set(stream, id);
  }
  return arrows;
}

/** Milliseconds as whole nanoseconds from an origin, and these as the microseconds of a trace file. */
class Clock {
  readonly #origin: number;

  constructor(origin: number) {
    this.#origin = origin;
  }

  at(milliseconds: number): number {
    return Math.round((milliseconds - this.#origin) * 1e6);
  }

  times({ started, ended }: Span): { ts: number; dur: number } {
    const [from, to] = [this.at(started), this.at(ended)];
    return { ts: microseconds(from), dur: microseconds(to - from) };
  }
}

/** The least number whose thousandfold is so many nanoseconds when its fraction is cut off, as Perfetto does. */
function microseconds(nanoseconds: number): number {
  const amount = nanoseconds / 1000;
  return Math.trunc(amount * 1000) < nanoseconds ? amount * (1 + Number.EPSILON) : amount;
}
