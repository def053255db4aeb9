// Trace files of Chrome's JSON format, read back: those that warpstage wrote, and as far as they go those of
// others. Every complete event is a span; its thread is the engine.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Trace } from './page.ts';
import type { BlockStages, Span } from './span.ts';

interface TraceEvent {
  readonly ph?: unknown;
  readonly name?: unknown;
  readonly cat?: unknown;
  readonly pid?: unknown;
  readonly tid?: unknown;
  readonly ts?: unknown;
  readonly dur?: unknown;
  readonly args?: Readonly<Record<string, unknown>>;
}

/**
 * The trace in the text of a file.
 *
 * @throws WarpstageError WS5004 if it is not a trace
 */
export function readTrace(path: string, text: string): Trace {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw notATrace(`${path} is not JSON: ${(error as Error).message}`, error);
  }
  const {
    traceEvents = content,
    otherData,
    wallMilliseconds: wall,
  } = (content ?? {}) as Record<string, unknown>;
  if (!Array.isArray(traceEvents)) throw notATrace(`${path} has no \`traceEvents\``);
  if (traceEvents.some((event) => typeof event !== 'object' || event === null)) {
    throw notATrace(`${path} has an event that is not an object`);
  }
  const events = traceEvents as readonly TraceEvent[];
  const named = (kind: string) => events.filter(({ ph, name }) => ph === 'M' && name === kind);
  const lanes = new Map(
    named('thread_name').map(({ pid, tid, args }) => [`${pid} ${tid}`, String(args?.name)]),
  );
  const title = named('process_name')[0]?.args?.name;
  const complete = events.filter(({ ph }) => ph === 'X');
  const operations = complete.filter((event) => !isOfStage(event));
  const stages = stagesOf(path, complete.filter(isOfStage));
  const spans = operations.map((event, position): Span => {
    const span = spanOf(path, event, lanes);
    const own = stages.get(span.id ?? position);
    return own === undefined ? span : { ...span, stages: own };
  });
  const shownAs = new Map(operations.map((event, i) => [`${event.pid} ${event.tid}`, spans[i]!.engine]));
  const shown = [...lanes.keys()].flatMap((track) => shownAs.get(track) ?? []);
  return {
    title: typeof title === 'string' ? title : path,
    facts: (typeof otherData === 'object' ? (otherData ?? {}) : {}) as Trace['facts'],
    spans,
    lanes: [...new Set(shown)],
    ...(typeof wall === 'number' ? { wall } : {}),
  };
}

/** Whether an event is one of those that warpstage writes: its category is its engine, on whichever track it is. */
function isOwn({ cat, args }: TraceEvent): boolean {
  return typeof cat === 'string' && typeof args?.waited_ms === 'number' && typeof args.stream === 'string';
}

/** Whether an event tells of a stage of a block's pipelines. */
function isOfStage({ args }: TraceEvent): boolean {
  return typeof args?.of === 'number' && typeof args.block === 'string' && args.kernel !== undefined;
}

/** What blocks did with their stages, by the operations that they are of. */
function stagesOf(path: string, events: readonly TraceEvent[]): ReadonlyMap<number, BlockStages> {
  const found = new Map<number, { block: BlockStages['block']; spans: Span[] }>();
  for (const event of events) {
    const { of, block } = event.args as { readonly of: number; readonly block: string };
    const position = block.split(', ').map(Number);
    if (position.length !== 3 || position.some(Number.isNaN)) continue;
    const stages = found.get(of) ?? { block: position as unknown as BlockStages['block'], spans: [] };
    stages.spans.push({ ...spanOf(path, event, new Map()), engine: String(event.cat) });
    found.set(of, stages);
  }
  return found;
}

function spanOf(path: string, event: TraceEvent, lanes: ReadonlyMap<string, string>): Span {
  const { name, cat, pid, tid, ts, dur = 0 } = event;
  const args = event.args ?? {};
  if (!isTime(ts) || !isTime(dur)) {
    throw notATrace(`${path} has an event \`${String(name)}\` without a time`);
  }
  const started = milliseconds(ts);
  const { stream, waited_ms: waited, id, after, bytes, grid, channel } = args;
  const blocks = typeof grid === 'string' ? grid.split(' x ').map(Number) : [];
  return {
    name: String(name),
    engine: isOwn(event)
      ? String(cat)
      : (lanes.get(`${pid} ${tid}`) ?? String(cat ?? `thread ${String(tid)}`)),
    stream: typeof stream === 'string' ? stream : `process ${String(pid)}`,
    queued: milliseconds(ts - (isTime(waited) ? waited * 1000 : 0)),
    started,
    ended: milliseconds(ts + dur),
    ...(typeof id === 'number' ? { id } : {}),
    ...(Array.isArray(after) ? { after: after.map(Number) } : {}),
    ...(typeof bytes === 'number' ? { bytes } : {}),
    ...(typeof channel === 'string' ? { channel } : {}),
    ...(blocks.length === 3 ? { grid: blocks as unknown as [number, number, number] } : {}),
  };
}

/** Whether microseconds are some that can be added and shown: within some three thousand years. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) < 1e17;
}

/** Microseconds of a file in milliseconds: whole nanoseconds, unless they count from so long ago that there are none. */
function milliseconds(microseconds: number): number {
  const nanoseconds = microseconds * 1000;
  return Math.abs(nanoseconds) < 2 ** 52 ? Math.round(nanoseconds) / 1e6 : microseconds / 1000;
}

function notATrace(message: string, cause?: unknown): WarpstageError {
  return new WarpstageError(
    {
      code: 'WS5004',
      message,
      hint: "name a file that `--trace timeline.json` wrote, or another of Chrome's trace format",
    },
    { cause },
  );
}
