// A stream of the driver, and the commands on it that are not known to be complete.
//
// The driver does not say when a command is complete, only when an event or a whole stream is. A
// *mark* is an event behind a command: once it is reached, that command and all before it on the
// stream are complete. Marks are made where the user records an event, so that who waits for that point waits
// for no more, and where something waits or asks without one: the default stream, a synchronisation that was followed
// by more commands. Who waits for the last command asks the stream itself, which costs no event. So a launch costs no
// more than the driver's own call. Commands that are recorded have an event each: they are settled as soon as it is seen
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
/** After so many marks a stream is asked which are reached, so that these do not pile up either. */
const askEvery = 256;

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
  /** Its calls, by their positions among those that were written down for the issuing thread; none where both are the same. */
  firstCall: number;
  endOfCalls: number;
  /** Why one of these failed, once that is known. */
  refused: WarpstageError | null;
}

/** What a flight has that nothing is known of yet. */
export const fresh = { firstCall: 0, endOfCalls: 0, refused: null } as const;

/** Called with what is complete, and whether somebody had asked for a mark there or for the end of the stream. */
export type Settle = (flights: readonly Flight[], asked: boolean) => void;

interface Mark {
  /** The last command that it covers. */
  readonly upTo: number;
  readonly event: number;
  /** The same, if the mark is a user of it; null for the event of a command that is recorded, which who reads its time gives back. */
  readonly own: SharedEvent | null;
  /** Whether something waits for it, or may only do so later. */
  isAsked: boolean;
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
    const result = this.#driver.cuEventRecord(event, stream);
    if (result !== driverResults.success) this.#driver.check(result, 'recording an event');
    return event;
  }

  give(event: number): void {
    this.#free.push(event);
  }

  /** The same for several users. */
  recordShared(stream: number): SharedEvent {
    return new SharedEvent(this, this.record(stream));
  }

  close(): void {
    for (const event of this.#free.splice(0)) this.#driver.cuEventDestroy_v2(event);
  }
}

/** An event of a pool, given back when its last user lets it go. It begins with one user. */
export class SharedEvent {
  readonly handle: number;
  readonly #pool: EventPool;
  #users = 1;

  constructor(pool: EventPool, handle: number) {
    this.#pool = pool;
    this.handle = handle;
  }

  share(): this {
    ++this.#users;
    return this;
  }

  release(): void {
    if (--this.#users === 0) this.#pool.give(this.handle);
  }
}

export class DriverStream {
  readonly name: string;
  readonly priority: number;
  readonly handle: number;
  /** How many zeroings of fresh memory this stream has waited for. */
  zeroings = 0;
  /** The last command that is known to be complete, and was handed out. */
  completeTo = 0;
  /** How many copies and sets the stream was given that are no commands, but prepare some. */
  preparations = 0;
  readonly #driver: Driver;
  readonly #pool: EventPool;
  readonly #spans: Pick<SpanClock, 'isReached'>;
  #pending: Flight[] = [];
  #marks: Mark[] = [];
  /** How many of the pending ones are recorded by events. */
  #recorded = 0;
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
    if (flight.span !== null) this.#recorded += 1;
    else if (this.#pending.length % markEvery === 0) this.mark(flight.command);
  }

  /**
   * An event that is reached when the command, which is not settled, is complete; good until this stream is polled.
   * `isAsked`: whether something waits for it, or may only do so later.
   */
  mark(command: Command, isAsked = true): number {
    const covering = this.#markCovering(command.id);
    if (covering !== null) {
      covering.isAsked ||= isAsked;
      return covering.event;
    }
    const recorded = this.spanOf(command);
    if (recorded !== null) {
      this.#marks.push({ upTo: command.id, event: recorded.stop, own: null, isAsked });
      return recorded.stop;
    }
    const own = this.#pool.recordShared(this.handle);
    // A recorder that issues commands may do so when all of these are complete, and only some are settled.
    const upTo = this.#pending.at(-1)?.command.id ?? command.id;
    this.#marks.push({ upTo, event: own.handle, own, isAsked });
    return own.handle;
  }

  /** Makes a mark of an event that stands at the present end of the stream, unless the last command has one. */
  markBy(event: SharedEvent): void {
    const last = this.#pending.at(-1)?.command;
    if (last === undefined || this.#markCovering(last.id) !== null) return;
    this.#marks.push({ upTo: last.id, event: event.handle, own: event.share(), isAsked: false });
  }

  /** The first mark that covers a command; null if there is none. */
  #markCovering(id: number): Mark | null {
    const marks = this.#marks;
    // Mostly it is the last command that is marked or waited for.
    const last = marks.length - 1;
    if (last < 0 || marks[last]!.upTo < id) return null;
    if (last === 0 || marks[last - 1]!.upTo < id) return marks[last]!;
    return marks[firstFrom(marks.length, (position) => marks[position]!.upTo >= id)]!;
  }

  /** Whether there are so many marks that it is time to ask which of them are reached. */
  get isFull(): boolean {
    return this.#marks.length > 0 && this.#marks.length % askEvery === 0;
  }

  /** The events of a command that is pending here; null if it has none, or is known to be complete. */
  spanOf(command: Command): SpanMarks | null {
    const pending = this.#pending;
    if (this.#recorded === 0) return null;
    const flight = pending[firstFrom(pending.length, (at) => pending[at]!.command.id >= command.id)];
    return flight?.command === command ? flight.span : null;
  }

  /** Takes out the marks up to a command. */
  #dropMarks(last: number): void {
    const marks = this.#marks;
    const dropped = marks.splice(
      0,
      firstFrom(marks.length, (position) => marks[position]!.upTo > last),
    );
    for (const { own } of dropped) own?.release();
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
        settle(this.#take(this.#pending.length), true);
        return result;
      }
      if (result !== driverResults.notReady) return result;
    }
    const result = this.#pollMarks(settle);
    if (result !== driverResults.success) return result;
    this.#pollRecorded(settle);
    return driverResults.success;
  }

  /** Hands on what the marks that are reached cover. Returns an error of the device, or 0. */
  #pollMarks(settle: Settle): number {
    const reached = this.#reachedMarks();
    if (reached <= 0) return -reached;
    const covered = this.#marks.slice(0, reached);
    const { upTo } = covered.at(-1)!;
    this.#dropMarks(upTo);
    const pending = this.#pending;
    // Taken out before anybody is told, who may issue more at once.
    const complete = this.#take(firstFrom(pending.length, (at) => pending[at]!.command.id > upTo));
    // A mark may be reached just after the stream was asked.
    const isLast = this.#pending.length === 0;
    const asked = covered.some(({ isAsked }) => isAsked) || (isLast && this.#awaited !== null);
    if (isLast) this.#awaited = null;
    settle(complete, asked);
    return driverResults.success;
  }

  /** How many marks are reached; an error of the device, as a negative number. */
  #reachedMarks(): number {
    const marks = this.#marks;
    // One that is reached speaks for all before it. Mostly none is or all are: the first is asked, then the last.
    let [reached, open] = [0, marks.length];
    for (let turn = 0; reached < open; ++turn) {
      const at = turn === 0 ? 0 : turn === 1 ? open - 1 : (reached + open) >> 1;
      const result = this.#driver.cuEventQuery(marks[at]!.event);
      if (result === driverResults.success) reached = at + 1;
      else if (result === driverResults.notReady) open = at;
      else return -result;
    }
    return reached;
  }

  /** Takes so many pending commands out. */
  #take(count: number): readonly Flight[] {
    if (count > 0) this.completeTo = this.#pending[count - 1]!.command.id;
    if (count === this.#pending.length) {
      const all = this.#pending;
      this.#pending = [];
      this.#recorded = 0;
      return all;
    }
    const taken = this.#pending.splice(0, count);
    if (this.#recorded > 0) for (const { span } of taken) if (span !== null) this.#recorded -= 1;
    return taken;
  }

  #pollRecorded(settle: Settle): void {
    if (this.#recorded === 0) return;
    let reached = 0;
    for (const [position, { span }] of this.#pending.entries()) {
      if (span === null) continue;
      if (!this.#spans.isReached(span)) break;
      reached = position + 1;
    }
    if (reached === 0) return;
    const complete = this.#take(reached);
    const last = complete.at(-1)!.command.id;
    // Marks of these may not be reached yet, but nobody needs them: who waits for one in a stream goes on waiting.
    const isLast = this.#pending.length === 0;
    const asked =
      this.#marks.some((mark) => mark.isAsked && mark.upTo <= last) || (isLast && this.#awaited !== null);
    this.#dropMarks(last);
    if (isLast) this.#awaited = null;
    settle(complete, asked);
  }

  /** Takes every pending command out, when the device is lost or closed. */
  abandon(): readonly Flight[] {
    this.#marks = [];
    this.#awaited = null;
    return this.#take(this.#pending.length);
  }
}

/** The first of so many ascending positions for which this is true; their number if there is none. */
function firstFrom(count: number, isFrom: (position: number) => boolean): number {
  let [begin, end] = [0, count];
  while (begin < end) {
    const middle = (begin + end) >> 1;
    if (isFrom(middle)) end = middle;
    else begin = middle + 1;
  }
  return begin;
}
