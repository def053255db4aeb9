// What bound a schedule: the chain of operations that could not have been later, and what a
// faster engine would have gained.
//
// A span waits for those that its `after` names, for the one before it in its stream, and for the
// one before it on its engine. The critical path leads from the last span to end back through
// whichever of these ended last. For a faster engine, all spans are placed anew in their order:
// each keeps the delay that it had behind what it waited for.

import type { Span } from './span.ts';

/** The spans that every span waits for, by its position. */
export function predecessors(spans: readonly Span[]): readonly (readonly number[])[] {
  const positions = new Map(spans.flatMap(({ id }, position) => (id === undefined ? [] : [[id, position]])));
  const before: number[][] = spans.map(() => []);
  const lastOf = { engine: new Map<string, number>(), stream: new Map<string, number>() };
  for (const position of inOrder(spans)) {
    const span = spans[position]!;
    const found = new Set((span.after ?? []).flatMap((id) => positions.get(id) ?? []));
    for (const lane of ['engine', 'stream'] as const) {
      const last = lastOf[lane].get(span[lane]);
      // Kernels may share an engine, and the host's reads and writes a stream: then neither waits.
      if (last !== undefined && spans[last]!.ended <= span.started + tick) found.add(last);
      lastOf[lane].set(span[lane], position);
    }
    before[position] = [...found];
  }
  return before;
}

/** Times nearer than this, in milliseconds, are the same. */
const tick = 1e-6;

function inOrder(spans: readonly Span[]): number[] {
  return spans
    .map((_, position) => position)
    .sort((a, b) => spans[a]!.started - spans[b]!.started || spans[a]!.ended - spans[b]!.ended || a - b);
}

/** Where the time of a schedule went. */
export interface CriticalPath {
  /** Positions of the spans, first to last. */
  readonly positions: readonly number[];
  /** Milliseconds of the path by engine. */
  readonly engines: ReadonlyMap<string, number>;
  /** Milliseconds in which the path waited: for the host to issue, or for a signal. */
  readonly waiting: number;
}

/** The chain of operations that the end of the schedule hung on. */
export function criticalPath(spans: readonly Span[], before = predecessors(spans)): CriticalPath {
  const positions: number[] = [];
  const engines = new Map<string, number>();
  let waiting = 0;
  let at = latest(
    spans,
    spans.map((_, position) => position),
  );
  while (at !== undefined) {
    const span = spans[at]!;
    positions.unshift(at);
    engines.set(span.engine, (engines.get(span.engine) ?? 0) + span.ended - span.started);
    const next = latest(spans, before[at]!);
    if (next !== undefined) waiting += Math.max(0, span.started - spans[next]!.ended);
    at = next;
  }
  return { positions, engines, waiting };
}

function latest(spans: readonly Span[], positions: readonly number[]): number | undefined {
  return positions.reduce<number | undefined>(
    (best, position) => (best === undefined || spans[position]!.ended > spans[best]!.ended ? position : best),
    undefined,
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
  const ends = new Float64Array(spans.length);
  let [first, last] = [Infinity, -Infinity];
  for (const position of inOrder(spans)) {
    const span = spans[position]!;
    let [ready, readyNow] = [-Infinity, -Infinity];
    for (const other of before[position]!) {
      ready = Math.max(ready, spans[other]!.ended);
      readyNow = Math.max(readyNow, ends[other]!);
    }
    const started = ready === -Infinity ? span.started : readyNow + Math.max(0, span.started - ready);
    const duration = (span.ended - span.started) / (span.engine === engine ? factor : 1);
    ends[position] = started + duration;
    first = Math.min(first, started);
    last = Math.max(last, ends[position]!);
  }
  return last - first;
}
