// What spans say about overlap: how long each engine was busy, and how much of that was hidden.
//
// An engine's busy time is the time in which at least one of its spans ran: kernels may share an engine.
// Without any overlap a schedule takes the sum of all busy times; with perfect overlap it takes
// as long as its busiest engine. Where the wall time lies between the two is the overlap that
// was achieved.

import type { Span } from './span.ts';

/** How long one engine or stage worked, on how much. */
export interface Busy {
  /** The engine's name: `read`, `copy in`, `compute`, … */
  readonly name: string;
  /** Milliseconds. */
  readonly busy: number;
  readonly bytes: number;
  /** Spans. */
  readonly operations: number;
  /** Whether `busy` is of a virtual device's own clock, while the wall time is this machine's. */
  readonly virtual?: boolean;
}

/** The figures of a schedule. */
export interface OverlapFigures {
  readonly engines: readonly Busy[];
  /** Milliseconds from the first span's start to the last one's end. */
  readonly wall: number;
  /** The busiest engine that works, and does not wait; null if there was no span. */
  readonly bound: Busy | null;
  /** The busiest engine's share of the wall time: 1 is as fast as that engine allows. */
  readonly nearness: number;
  /** 0: one after the other. 1: everything hidden behind the busiest engine. */
  readonly achieved: number;
}

/** Whether spans of an engine are threads that wait for a stage (`BlockStages`), which is no work. */
export function isWaiting(engine: string): boolean {
  return engine === 'acquire' || engine === 'wait';
}

/** The order in which data passes through the engines; what is not named here comes last. */
const order = ['read', 'copy in', 'compute', 'copy out', 'write'];

/** What an engine does, and whose it is: of several devices, `copy in` of `cuda:1` is `cuda:1 copy in`. */
export function partsOfEngine(engine: string): { readonly device: string; readonly task: string } {
  const task = order.find((name) => engine.endsWith(` ${name}`));
  return task === undefined
    ? { device: '', task: engine }
    : { device: engine.slice(0, -task.length - 1), task };
}

/** Sorts engines' names in the order in which data passes through them; of several devices, one after the other. */
export function inFlowOrder(names: Iterable<string>): string[] {
  const rank = (task: string) => (order.includes(task) ? order.indexOf(task) : order.length);
  const stretch = (task: string) => ({ read: 0, write: 2 })[task] ?? (order.includes(task) ? 1 : 3);
  return [...names].sort((one, other) => {
    const [a, b] = [partsOfEngine(one), partsOfEngine(other)];
    return (
      stretch(a.task) - stretch(b.task) ||
      (a.device === b.device ? 0 : a.device.localeCompare(b.device, 'en', { numeric: true })) ||
      rank(a.task) - rank(b.task)
    );
  });
}

/**
 * Measures the overlap of spans, in whichever order they come.
 *
 * @example
 * const { bound, nearness, achieved } = measureOverlap(spans);
 * console.log(`bound by ${bound?.name}, ${Math.round(100 * achieved)} % of the rest hidden`);
 */
export function measureOverlap(spans: Iterable<Span>): OverlapFigures {
  const engines = new Map<string, Span[]>();
  let [first, last] = [Infinity, -Infinity];
  for (const span of spans) {
    const own = engines.get(span.engine);
    if (own === undefined) engines.set(span.engine, [span]);
    else own.push(span);
    first = Math.min(first, span.started);
    last = Math.max(last, span.ended);
  }
  const inOrder = inFlowOrder(engines.keys()).map((name) => busyOf(name, engines.get(name)!));
  return overlapOf(inOrder, engines.size === 0 ? 0 : last - first);
}

function busyOf(name: string, spans: Span[]): Busy {
  spans.sort((a, b) => a.started - b.started);
  let [busy, bytes, until] = [0, 0, -Infinity];
  for (const span of spans) {
    busy += Math.max(0, span.ended - Math.max(span.started, until));
    bytes += span.bytes ?? 0;
    until = Math.max(until, span.ended);
  }
  return { name, busy, bytes, operations: spans.length };
}

/**
 * Engines of several devices as stages of the job: `cuda:0 copy in` and `cuda:1 copy in` are one, as busy
 * as the busier of them.
 */
export function asStages(engines: readonly Busy[]): Busy[] {
  const stages = new Map<string, Busy>();
  for (const engine of engines) {
    const { task: name } = partsOfEngine(engine.name);
    const { busy, bytes, operations } = stages.get(name) ?? { busy: 0, bytes: 0, operations: 0 };
    stages.set(name, {
      name,
      busy: Math.max(busy, engine.busy),
      bytes: bytes + engine.bytes,
      operations: operations + engine.operations,
    });
  }
  return [...stages.values()];
}

/** The figures of engines whose busy times are known already. */
export function overlapOf(engines: readonly Busy[], wall: number): OverlapFigures {
  let bound: Busy | null = null;
  let serial = 0;
  for (const engine of engines) {
    if (isWaiting(engine.name)) continue;
    serial += engine.busy;
    if (bound === null || engine.busy > bound.busy) bound = engine;
  }
  const longest = bound?.busy ?? 0;
  const hideable = serial - longest;
  return {
    engines,
    wall,
    bound,
    nearness: wall > 0 ? Math.min(1, longest / wall) : 0,
    achieved: hideable > 0 ? Math.max(0, Math.min(1, (serial - wall) / hideable)) : 0,
  };
}
