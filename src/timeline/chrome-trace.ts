// Spans as a trace file in Chrome's JSON format, which Perfetto (ui.perfetto.dev) opens.
//
// Every engine is a track. Each span is one complete event on its engine's track, with the
// stream, the bytes, the grid and the time it waited among its arguments; arrows lead from each
// operation of a stream to the next. What blocks of kernels did with the stages of their pipelines is a
// second process, with a track for each thing that is done, or several where two of them overlap. The
// text comes in pieces, so that a large trace is never one string.

import { inFlowOrder } from './overlap.ts';
import type { Span } from './span.ts';

/** What the trace says beside the spans. */
export interface TraceDescription {
  /** Names the process, for example `affine on cpu`. */
  readonly title: string;
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
  const tracks = new Map(
    inFlowOrder(new Set(spans.map((span) => span.engine))).map((name, i) => [name, i + 1]),
  );
  const origin = spans.reduce((earliest, span) => Math.min(earliest, span.queued, span.started), Infinity);
  const arrows = streamArrows(spans);

  yield `{"displayTimeUnit":"ms","otherData":${JSON.stringify(description.facts ?? {})},"traceEvents":[\n`;
  const names: object[] = [{ ph: 'M', pid: 1, name: 'process_name', args: { name: description.title } }];
  for (const [name, tid] of tracks) {
    names.push({ ph: 'M', pid: 1, tid, name: 'thread_name', args: { name } });
    names.push({ ph: 'M', pid: 1, tid, name: 'thread_sort_index', args: { sort_index: tid } });
  }
  yield names.map((event) => JSON.stringify(event)).join(',\n');

  for (let begin = 0; begin < spans.length; begin += spansPerPiece) {
    let piece = '';
    for (let i = begin; i < Math.min(begin + spansPerPiece, spans.length); i++) {
      for (const event of eventsOf(spans[i]!, i)) piece += `,\n${JSON.stringify(event)}`;
    }
    yield piece;
  }
  yield* stageEvents(spans, origin);
  yield '\n]}\n';

  function* eventsOf(span: Span, id: number): Generator<object> {
    const place = { pid: 1, tid: tracks.get(span.engine)! };
    const ts = microseconds(span.started - origin);
    yield {
      ph: 'X',
      ...place,
      name: span.name,
      cat: span.engine,
      ts,
      dur: microseconds(span.ended - span.started),
      args: {
        stream: span.stream,
        waited_ms: microseconds(span.started - span.queued) / 1000,
        ...(span.id === undefined ? {} : { id: span.id }),
        ...(span.after === undefined ? {} : { after: span.after }),
        ...(span.bytes === undefined ? {} : { bytes: span.bytes }),
        ...(span.channel === undefined ? {} : { channel: span.channel }),
        ...(span.grid === undefined ? {} : { grid: span.grid.join(' x ') }),
      },
    };
    const arrow = { ...place, name: span.stream, cat: 'stream', ts };
    const { from, leads } = arrows[id]!;
    if (from !== undefined) yield { ph: 'f', bp: 'e', id: from, ...arrow };
    if (leads) yield { ph: 's', id, ...arrow };
  }
}

/** The events of stages. Their arguments say of which operation they are, and of which block. */
function* stageEvents(spans: readonly Span[], origin: number): Generator<string> {
  const place = { pid: 2 };
  const tracks = new Map<string, number>();
  /** When a track is free again; no two events of one overlap. */
  const free = new Map<string, number>();
  const event = (content: object) => `,\n${JSON.stringify({ ...content, ...place })}`;
  const track = (part: string, started: number, ended: number): string => {
    for (let row = 1; ; row++) {
      const name = row === 1 ? part : `${part} ${row}`;
      if ((free.get(name) ?? -Infinity) > started) continue;
      free.set(name, ended);
      return name;
    }
  };
  for (const [position, { stages, name: kernel, id }] of spans.entries()) {
    if (stages === undefined) continue;
    const block = stages.block.join(', ');
    let piece = tracks.size === 0 ? event({ ph: 'M', name: 'process_name', args: { name: 'stages' } }) : '';
    for (const span of [...stages.spans].sort((a, b) => a.started - b.started)) {
      const name = track(span.engine, span.started, span.ended);
      if (!tracks.has(name)) {
        const tid = tracks.size + 1;
        tracks.set(name, tid);
        piece += event({ ph: 'M', tid, name: 'thread_name', args: { name } });
      }
      piece += event({
        ph: 'X',
        tid: tracks.get(name)!,
        name: span.name,
        cat: span.engine,
        ts: microseconds(span.started - origin),
        dur: microseconds(span.ended - span.started),
        args: { stream: span.stream, kernel, block, of: id ?? position, id: span.id, after: span.after },
      });
    }
    yield piece;
  }
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

/** Milliseconds to microseconds, in whole nanoseconds. */
function microseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1e6) / 1000;
}
