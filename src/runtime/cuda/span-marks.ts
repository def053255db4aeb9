// When the commands of a GPU began and ended, told from as few events as that takes.
//
// Every command that is recorded has an event behind it. An event before it as well would say when it
// began, but such an event goes to the engine that its stream used last: before a copy in, it queues
// behind the copies out of other streams, and the copy waits with it. So a beginning is told from ends
// wherever these tell it: a command begins when the one before it in its stream has ended, and a copy
// between host and device, besides, no sooner than the copy that its engine was given before. An event
// before is left for what can begin at any time: a kernel on an idle stream, whatever waits for
// other streams.

import type { Work } from '../command.ts';
import type { GpuClock } from './clock.ts';
import type { EventPool, Flight } from './lane.ts';

/** The events of a command that is recorded. */
export interface SpanMarks {
  /** An event before it; 0 where its beginning is told from ends. */
  readonly start: number;
  readonly stop: number;
  /** When it was given to the driver, staged if it had to be: it did not begin before. */
  readonly issued: number;
  /** What had to end before it began. Empty once it is told. */
  bounds: readonly SpanMarks[];
  /** When it ended, in the host's time, once somebody asked. */
  ended: number | null;
}

/** Where a command comes to stand. */
export interface Standing {
  readonly stream: number;
  /** The command before it in the stream: null if that was not recorded, undefined if none is under way. */
  readonly previous: SpanMarks | null | undefined;
  /** Whether it waits for commands of other streams. */
  readonly waits: boolean;
}

/** Sets marks around commands, and reads them. */
export class SpanClock {
  readonly #clock: GpuClock;
  readonly #pool: EventPool;
  /** What the engines of copies between host and device were given last. */
  readonly #last = new Map<string, SpanMarks>();

  constructor(clock: GpuClock, pool: EventPool) {
    this.#clock = clock;
    this.#pool = pool;
  }

  /** Marks a command: `issue` gives it to the driver. */
  around(
    work: Work,
    { stream, previous, waits }: Standing,
    issue: () => Flight['land'],
  ): { readonly land: Flight['land']; readonly marks: SpanMarks } {
    const engine = engineOf(work);
    const isTold = !waits && (engine === null ? Boolean(previous) : previous !== null);
    const start = isTold ? 0 : this.#pool.record(stream);
    const before = performance.now();
    const land = issue();
    const issued = land === null ? before : performance.now();
    const stop = this.#pool.record(stream);
    const last = engine === null ? undefined : this.#last.get(engine);
    const bounds = isTold ? [previous, last].filter((marks) => marks != null) : [];
    const marks = { start, stop, issued, bounds, ended: null };
    if (engine !== null) this.#last.set(engine, marks);
    return { land, marks };
  }

  /** When a command that is complete began and ended; its events are used again. */
  read(marks: SpanMarks): { readonly started: number; readonly ended: number } {
    const { start, stop, issued, bounds } = marks;
    const ended = this.#end(marks) ?? performance.now();
    marks.ended = ended;
    const from =
      start === 0
        ? bounds.reduce((latest, bound) => Math.max(latest, this.#end(bound) ?? 0), issued)
        : (this.#clock.timeOf(start) ?? ended);
    marks.bounds = [];
    if (start !== 0) this.#pool.give(start);
    this.#pool.give(stop);
    return { started: Math.min(from, ended), ended };
  }

  #end(marks: SpanMarks): number | null {
    marks.ended ??= this.#clock.timeOf(marks.stop);
    return marks.ended;
  }
}

/** The engine that does one such copy after the other, for a copy that has one. */
function engineOf(work: Work): string | null {
  if (work.kind !== 'copy') return null;
  const { direction } = work;
  return direction === 'host to device' || direction === 'device to host' ? direction : null;
}
