// What bound a schedule: the chain of operations that could not have been later, and what a
// faster engine would have gained.
//
// A span waits for those that its `after` names, for the one before it in its stream, and for the
// one before it on its engine. One that began before the end of what it names (a thread that waits for
// a copy, or a clock that is a little off) depends on how far that one had come. The critical path leads
// from the last span to end back through whichever of these ended last. For a faster engine, all spans
// are placed anew in their order: each keeps the delay that it had after what it waited for. So with the
// speed that it has nothing moves, and with a higher one nothing comes later.

import { isWaiting } from './overlap.ts';
import type { Span } from './span.ts';

/** The spans that every span waits for, by its position. */
export function predecessors(spans: readonly Span[]): readonly (readonly number[])[] {
  const positions = new Map(spans.flatMap(({ id }, position) => (id === undefined ? [] : [[id, position]])));
  const before: number[][] = spans.map(() => []);
  // What a file names may begin later: nothing can have waited for it.
  const placed: boolean[] = spans.map(() => false);
  const lanes = { engine: new Map<string, LaneEnd>(), stream: new Map<string, LaneEnd>() };
  for (const position of inOrder(spans)) {
    const span = spans[position]!;
    const named = (span.after ?? []).flatMap((id) => positions.get(id) ?? []);
    const found = new Set(named.filter((other) => placed[other]));
    for (const kind of ['engine', 'stream'] as const) {
      const lane = lanes[kind].get(span[kind]) ?? new LaneEnd(spans);
      lanes[kind].set(span[kind], lane);
      const last = lane.lastBefore(span.started + tick);
      if (last !== undefined) found.add(last);
      lane.add(position);
    }
    before[position] = [...found];
    placed[position] = true;
  }
  return before;
}

/**
 * What ended last in a lane. Kernels may share an engine, and the host's reads and writes a stream: those
 * that still run are kept apart.
 */
class LaneEnd {
  readonly #spans: readonly Span[];
  #running: number[] = [];
  #last: number | undefined;

  constructor(spans: readonly Span[]) {
    this.#spans = spans;
  }

  add(position: number): void {
    this.#running.push(position);
  }

  lastBefore(time: number): number | undefined {
    const ended = this.#running.filter((position) => this.#spans[position]!.ended <= time);
    if (ended.length > 0) {
      this.#running = this.#running.filter((position) => this.#spans[position]!.ended > time);
      this.#last = latest(this.#spans, this.#last === undefined ? ended : [this.#last, ...ended]);
    }
    return this.#last !== undefined && this.#spans[this.#last]!.ended <= time ? this.#last : undefined;
  }
}

/** Times nearer than this, in milliseconds, are the same. */
const tick = 1e-6;

/** Positions such that each span comes after all that it depends on: one that waits, when its waiting ends. */
function inOrder(spans: readonly Span[]): number[] {
  const due = ({ engine, started, ended }: Span) => (isWaiting(engine) ? ended : started);
  return spans
    .map((_, position) => position)
    .sort((a, b) => due(spans[a]!) - due(spans[b]!) || spans[a]!.ended - spans[b]!.ended || a - b);
}

/** Where the time of a schedule went. */
export interface CriticalPath {
  /** Positions of the spans, first to last. */
  readonly positions: readonly number[];
  /** Milliseconds of the path by engine. */
  readonly engines: ReadonlyMap<string, number>;
  /** Milliseconds of the rest: the path waited for the host to issue, or for a signal. */
  readonly waiting: number;
}

/** The chain of operations that the end of the schedule depended on. */
export function criticalPath(spans: readonly Span[], before = predecessors(spans)): CriticalPath {
  const positions: number[] = [];
  const engines = new Map<string, number>();
  let waiting = 0;
  let at = latest(
    spans,
    spans.map((_, position) => position),
  );
  let until = at === undefined ? 0 : spans[at]!.ended;
  while (at !== undefined) {
    const span = spans[at]!;
    const waitedFor = isWaiting(span.engine) ? latest(spans, runningInto(spans, at, before[at]!)) : undefined;
    if (waitedFor === undefined) {
      positions.push(at);
      engines.set(span.engine, (engines.get(span.engine) ?? 0) + Math.max(0, until - span.started));
      until = Math.min(until, span.started);
    }
    const next = waitedFor ?? latest(spans, before[at]!);
    if (next !== undefined) {
      waiting += Math.max(0, until - spans[next]!.ended);
      until = Math.min(until, spans[next]!.ended);
    }
    at = next;
  }
  waiting += Math.max(0, until - spans.reduce((first, { started }) => Math.min(first, started), until));
  return { positions: positions.reverse(), engines, waiting };
}

function latest(spans: readonly Span[], positions: readonly number[]): number | undefined {
  return positions.reduce<number | undefined>(
    (best, position) => (best === undefined || spans[position]!.ended > spans[best]!.ended ? position : best),
    undefined,
  );
}

/** Of what a span depends on, that which still ran when it began, and ended before it did. */
function runningInto(spans: readonly Span[], position: number, before: readonly number[]): readonly number[] {
  const { started, ended } = spans[position]!;
  return before.filter(
    (other) => spans[other]!.ended > started + tick && spans[other]!.ended <= ended + tick,
  );
}

/** Milliseconds that the schedule would take if one engine were `factor` times as fast. */
export function wallWithFaster(
  spans: readonly Span[],
  engine: string,
  factor = 2,
  before = predecessors(spans),
): number {
  if (spans.length === 0) return 0;
  const [starts, ends] = [new Float64Array(spans.length), new Float64Array(spans.length)];
  let [first, last] = [Infinity, -Infinity];
  for (const position of inOrder(spans)) {
    const span = spans[position]!;
    let [ready, readyNow] = [-Infinity, -Infinity];
    for (const other of before[position]!) {
      const { started, ended } = spans[other]!;
      // One that waits may have begun before what it waits for.
      if (started > span.started) continue;
      const point = Math.min(ended, span.started);
      const share = ended > started ? (point - started) / (ended - started) : 1;
      ready = Math.max(ready, point);
      readyNow = Math.max(readyNow, starts[other]! + share * (ends[other]! - starts[other]!));
    }
    starts[position] = ready === -Infinity ? span.started : readyNow + span.started - ready;
    ends[position] = starts[position]! + (span.ended - span.started) / (span.engine === engine ? factor : 1);
    if (isWaiting(span.engine)) {
      const waitedFor = runningInto(spans, position, before[position]!);
      const endings = waitedFor.map((other) => ends[other]! + span.ended - spans[other]!.ended);
      if (endings.length > 0) ends[position] = Math.max(starts[position]!, ...endings);
    }
    first = Math.min(first, starts[position]!);
    last = Math.max(last, ends[position]!);
  }
  return last - first;
}
