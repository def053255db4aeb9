// A stream of the driver, and the commands on it that are not known to be complete.
//
// The driver does not say when a command is complete, only when an event or a whole stream is. A
// *mark* is an event behind a command: once it is reached, that command and all before it on the
// stream are complete. Marks are made only where somebody asks: another stream that waits, an
// event of the user's, a synchronisation that was followed by more commands. Who waits for the
// last command asks the stream itself, which costs no event. So a launch costs no more than the
// driver's own call. Commands that are recorded have an event each: they are settled as soon as it is seen
// to be reached, while later ones run, so that little is left to be done for them at the end.

import type { WarpstageError } from '../../diagnostics/error.ts';
import type { Command, Work } from '../command.ts';
import type { Traced } from './cupti/activity.ts';
import { type Driver, driverResults } from './driver.ts';
import type { SpanClock, SpanMarks } from './span-marks.ts';

/** CU_EVENT_DEFAULT and CU_EVENT_DISABLE_TIMING. */
const eventFlags = { timed: 0, untimed: 2 } as const;
/** A stream that nobody asks makes a mark after so many commands, so that they do not pile up. */
const markEvery = 512;

/** A command on its way. */
export interface Flight {
  readonly command: Command;
  readonly work: Work;
  /** What the main thread does when it is complete, given whether something before it failed: its error, if there is one. */
  readonly land: ((failed: boolean) => WarpstageError | null) | null;
  /** Where it began and ended, while somebody records spans. */
  readonly span: SpanMarks | null;
  /** What tells of it when it has CUPTI's records, while those are recorded. */
  readonly activity: Traced | null;
}

/** Called with what is complete, and whether somebody had asked for a mark there or for the end of the stream. */
export type Settle = (flights: readonly Flight[], asked: boolean) => void;

interface Mark {
  /** The last command that it covers. */
  readonly upTo: number;
  readonly event: number;
  /** Whether it is the event of a command that is recorded, which whoever reads its time gives back. */
  readonly isRecords: boolean;
}

/**
 * Events that are used again. One that takes the time holds the engine of copies up for some 3 µs; one that does not, not
 * measurably.
 */
export class EventPool {
  readonly #driver: Driver;
  readonly #flags: number;
  readonly #free: number[] = [];

  constructor(driver: Driver, kind: keyof typeof eventFlags) {
    this.#driver = driver;
    this.#flags = eventFlags[kind];
  }

  take(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const event = [0];
    this.#driver.check(this.#driver.cuEventCreate(event, this.#flags), 'creating an event');
    return Number(event[0]);
  }

  /** An event at the present end of a stream. */
  record(stream: number): number {
    const event = this.take();
    this.#driver.check(this.#driver.cuEventRecord(event, stream), 'recording an event');
    return event;
  }

  give(event: number): void {
    this.#free.push(event);
  }

  close(): void {
    for (const event of this.#free.splice(0)) this.#driver.cuEventDestroy_v2(event);
  }
}

export class DriverStream {
  readonly name: string;
  readonly priority: number;
  readonly handle: number;
  /** How many zeroings of fresh memory this stream has waited for. */
  zeroings = 0;
  /** How many copies and sets the stream was given that are no commands, but prepare some. */
  preparations = 0;
  readonly #driver: Driver;
  readonly #pool: EventPool;
  readonly #spans: Pick<SpanClock, 'isReached'>;
  #pending: Flight[] = [];
  #marks: Mark[] = [];
  /** The last command, if somebody waits for it and nothing was added behind it. */
  #awaited: Command | null = null;

  constructor(
    driver: Driver,
    pool: EventPool,
    spans: Pick<SpanClock, 'isReached'>,
    { name, priority, handle }: { readonly name: string; readonly priority: number; readonly handle: number },
  ) {
    this.#driver = driver;
    this.#pool = pool;
    this.#spans = spans;
    this.name = name;
    this.priority = priority;
    this.handle = handle;
  }

  /** What is not known to be complete, in the order of issue. */
  get pending(): readonly Flight[] {
    return this.#pending;
  }

  /** Called before a command is given to the stream. */
  prepare(): void {
    if (this.#awaited === null) return;
    this.mark(this.#awaited);
    this.#awaited = null;
  }

  /** A command that the stream was given. */
  add(flight: Flight): void {
    this.#pending.push(flight);
    if (flight.span === null && this.#pending.length % markEvery === 0) this.mark(flight.command);
  }

  /** An event that is reached when the command, which is not settled, is complete; good until this stream is polled. */
  mark(command: Command): number {
    const covering = this.#marks.find(({ upTo }) => upTo >= command.id);
    if (covering !== undefined) return covering.event;
    const recorded = this.spanOf(command);
    if (recorded !== null) {
      this.#marks.push({ upTo: command.id, event: recorded.stop, isRecords: true });
      return recorded.stop;
    }
    const event = this.#pool.record(this.handle);
    // A recorder that issues commands may do so when all of these are complete, and only some are settled.
    const upTo = this.#pending.at(-1)?.command.id ?? command.id;
    this.#marks.push({ upTo, event, isRecords: false });
    return event;
  }

  /** The events of a command that is pending here; null if it has none, or is known to be complete. */
  spanOf(command: Command): SpanMarks | null {
    return this.#pending.findLast((flight) => flight.command === command)?.span ?? null;
  }

  /** Takes out the marks up to a command. */
  #dropMarks(last: number): void {
    while (this.#marks.length > 0 && this.#marks[0]!.upTo <= last) {
      const { event, isRecords } = this.#marks.shift()!;
      if (!isRecords) this.#pool.give(event);
    }
  }

  /** From now on `poll` tells when the command is complete. */
  watch(command: Command): void {
    if (this.#pending.at(-1)?.command === command) this.#awaited = command;
    else this.mark(command);
  }

  /** Blocks until a command that is pending here is complete. Returns an error of the device, or 0. */
  block(command: Command): number {
    return this.#driver.cuEventSynchronize(this.mark(command));
  }

  /** Hands what is complete to `settle`. Returns an error of the device, or 0. */
  poll(settle: Settle): number {
    if (this.#awaited !== null) {
      const result = this.#driver.cuStreamQuery(this.handle);
      if (result === driverResults.success) {
        this.#dropMarks(Number.POSITIVE_INFINITY);
        this.#awaited = null;
        settle(this.#pending.splice(0), true);
        return result;
      }
      if (result !== driverResults.notReady) return result;
    }
    while (this.#marks.length > 0) {
      const [{ upTo, event }] = this.#marks as [Mark];
      const result = this.#driver.cuEventQuery(event);
      if (result === driverResults.notReady) break;
      if (result !== driverResults.success) return result;
      this.#dropMarks(upTo);
      const next = this.#pending.findIndex(({ command }) => command.id > upTo);
      // Out of the list first: whoever hears of it may issue more.
      const complete = this.#pending.splice(0, next < 0 ? this.#pending.length : next);
      // A mark may be reached just after the stream was asked.
      if (this.#pending.length === 0) this.#awaited = null;
      settle(complete, true);
    }
    this.#pollRecorded(settle);
    return driverResults.success;
  }

  #pollRecorded(settle: Settle): void {
    let reached = 0;
    for (const [position, { span }] of this.#pending.entries()) {
      if (span === null) continue;
      if (!this.#spans.isReached(span)) break;
      reached = position + 1;
    }
    if (reached === 0) return;
    const complete = this.#pending.splice(0, reached);
    const last = complete.at(-1)!.command.id;
    // Marks of these may not be reached yet, but nobody needs them: who waits for one in a stream goes on waiting.
    const isLast = this.#pending.length === 0;
    const asked =
      (this.#marks[0]?.upTo ?? Number.POSITIVE_INFINITY) <= last || (isLast && this.#awaited !== null);
    this.#dropMarks(last);
    if (isLast) this.#awaited = null;
    settle(complete, asked);
  }

  /** Takes every pending command out, when the device is lost or closed. */
  abandon(): readonly Flight[] {
    this.#marks = [];
    this.#awaited = null;
    return this.#pending.splice(0);
  }
}
