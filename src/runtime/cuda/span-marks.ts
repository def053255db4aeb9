// When the commands of a GPU began and ended, found from as few events as that takes.
//
// Every command that is recorded has an event behind it. An event before it as well would say when it
// began, but such an event goes to the engine that its stream used last: before a copy in, it queues
// behind the copies out of other streams, and the copy waits with it. So a beginning is found from ends
// wherever these tell it: a command begins when the one before it in its stream has ended and those in
// other streams that it waits for, and a copy between host and device, besides, no sooner than the copy that
// its engine was given before. An event before is left for what can begin at any time: a kernel on an idle
// stream, whatever waits for what is not recorded.
//
// The driver is asked once for each command: when the event was reached, which also says whether it was.

import type { Work } from '../command.ts';
import type { GpuClock } from './clock.ts';
import type { EventPool } from './driver-stream.ts';

/** The events of a command that is recorded. */
export interface SpanMarks {
  /** An event before it; 0 where its beginning is found from ends. */
  readonly start: number;
  readonly stop: number;
  /** When it was issued, staged if it had to be: it did not begin before. */
  readonly issued: number;
  /** What had to end before it began: the command before it in its stream, its engine's, others. Null once it is reported. */
  previous: SpanMarks | null;
  last: SpanMarks | null;
  waited: readonly (SpanMarks | null)[] | null;
  /** When it ended, in the host's time, once somebody asked and it had. */
  ended: number | null;
}

/** Where a command comes to stand. */
export interface Standing {
  readonly stream: number;
  /** The command before it in the stream: null if that was not recorded, undefined if none is under way. */
  readonly previous: SpanMarks | null | undefined;
  /** The commands of other streams that it waits for; null for one that was not recorded. */
  readonly waited: readonly (SpanMarks | null)[];
}

const nothing: readonly SpanMarks[] = [];

/** Sets marks around commands, and reads them. */
export class SpanClock {
  readonly #clock: GpuClock;
  readonly #pool: EventPool;
  /** What the engines of copies between host and device were given last. */
  readonly #last: Record<Engine, SpanMarks | null> = { 'host to device': null, 'device to host': null };

  constructor(clock: GpuClock, pool: EventPool) {
    this.#clock = clock;
    this.#pool = pool;
  }

  /** Called before a command is given to the driver: an event, or 0 where none is needed to tell when it begins. */
  before(work: Work, { stream, previous, waited }: Standing): number {
    const isOrdered = engineOf(work) !== null || previous !== undefined || waited.length > 0;
    const isTold = isOrdered && previous !== null && !waited.includes(null);
    return isTold ? 0 : this.#pool.record(stream);
  }

  /** Called when it was given: its marks. `start` is what `before` gave. */
  behind(work: Work, { stream, previous, waited }: Standing, start: number, issued: number): SpanMarks {
    const stop = this.#pool.record(stream);
    const engine = engineOf(work);
    const marks: SpanMarks = { start, stop, issued, previous: null, last: null, waited: null, ended: null };
    if (start === 0) {
      marks.previous = previous ?? null;
      if (engine !== null) marks.last = this.#last[engine];
      if (waited.length > 0) marks.waited = waited;
    }
    if (engine !== null) this.#last[engine] = marks;
    return marks;
  }

  /** Whether a command is complete. */
  isReached(marks: SpanMarks): boolean {
    return this.#end(marks) !== null;
  }

  /** When a command that is complete began and ended; its events are used again. */
  read(marks: SpanMarks): { readonly started: number; readonly ended: number } {
    const { start, stop, issued, previous, last, waited } = marks;
    const ended = this.#end(marks) ?? performance.now();
    marks.ended = ended;
    let started = issued;
    if (start === 0) {
      if (previous !== null) started = Math.max(started, this.#end(previous) ?? 0);
      if (last !== null) started = Math.max(started, this.#end(last) ?? 0);
      for (const other of waited ?? nothing) started = Math.max(started, this.#end(other!) ?? 0);
    } else {
      started = this.#clock.timeOf(start) ?? ended;
      this.#pool.give(start);
    }
    marks.previous = null;
    marks.last = null;
    marks.waited = null;
    this.#pool.give(stop);
    return { started: Math.min(started, ended), ended };
  }

  #end(marks: SpanMarks): number | null {
    marks.ended ??= this.#clock.timeOf(marks.stop);
    return marks.ended;
  }
}

type Engine = 'host to device' | 'device to host';

/** The engine that does one such copy after the other, for a copy that has one. */
function engineOf(work: Work): Engine | null {
  if (work.kind !== 'copy') return null;
  const { direction } = work;
  return direction === 'host to device' || direction === 'device to host' ? direction : null;
}
