// The streams of a GPU, and the points at which they wait for each other.
//
// Every stream of the queue is a stream of the driver, a non-blocking one: the queue has made the order of streams into
// dependencies of commands, and a dependency on another stream is an event that the stream waits for.

import type { Command } from '../command.ts';
import { type Driver, driverResults } from './driver.ts';
import { DriverStream, EventPool, type SharedEvent } from './driver-stream.ts';
import type { SpanClock, SpanMarks, Standing } from './span-marks.ts';
import { StreamPool } from './stream-pool.ts';

const noMarks: Standing['waited'] = [];

/** A stream of the queue. */
export interface StreamPlace {
  readonly name: string;
  readonly priority: number;
}

export interface DriverStreamsHost {
  readonly driver: Driver;
  readonly spans: SpanClock;
  /** Events that take the time. */
  readonly timed: EventPool;
  readonly recording: { readonly isOn: boolean };
}

export class DriverStreams {
  readonly #host: DriverStreamsHost;
  readonly #driver: Driver;
  readonly #marks: EventPool;
  readonly #pool: StreamPool;
  readonly #streams = new Map<string, DriverStream>();

  constructor(host: DriverStreamsHost) {
    this.#host = host;
    this.#driver = host.driver;
    this.#marks = new EventPool(host.driver, 'untimed');
    this.#pool = new StreamPool(host.driver);
  }

  /** The driver's stream of a stream of the queue. */
  of(name: string, priority: number): DriverStream {
    let stream = this.#streams.get(name);
    if (stream === undefined) {
      const handle = this.#pool.take(priority);
      stream = new DriverStream(this.#driver, this.#marks, this.#host.spans, { name, priority, handle });
      this.#streams.set(name, stream);
    }
    return stream;
  }

  /** The same, if the driver was given anything for it. */
  find(name: string): DriverStream | undefined {
    return this.#streams.get(name);
  }

  /** The stream that a command was given to. */
  ofCommand({ stream, priority }: Command): DriverStream {
    return this.of(stream, priority);
  }

  values(): IterableIterator<DriverStream> {
    return this.#streams.values();
  }

  /** Has a stream wait for commands of other streams; the events of those, as far as they are recorded. */
  waitFor(stream: DriverStream, commands: readonly Command[]): Standing['waited'] {
    let waited: (SpanMarks | null)[] | null = null;
    for (const command of commands) {
      if (command.stream === stream.name || command.status !== 'queued') continue;
      const other = this.ofCommand(command);
      this.waitForEvent(stream, other.mark(command));
      if (!this.#host.recording.isOn) continue;
      waited ??= [];
      waited.push(other.spanOf(command));
    }
    return waited ?? noMarks;
  }

  waitForEvent(stream: DriverStream, event: number): void {
    const result = this.#driver.cuStreamWaitEvent(stream.handle, event, 0);
    if (result !== driverResults.success) this.#driver.check(result, 'waiting for another stream');
  }

  /** Marks the end of the stream that a command is, for what waits for it later. Whether there are many marks by now. */
  markEnd(command: Command): boolean {
    const own = this.ofCommand(command);
    own.mark(command, false);
    return own.isFull;
  }

  /** An event with the time at which a stream comes behind these commands. It marks the end of the stream too. */
  timePoint(own: DriverStream, behind: readonly Command[]): SharedEvent {
    this.waitFor(own, behind);
    const event = this.#host.timed.recordShared(own.handle);
    own.markBy(event);
    return event;
  }

  /** Gives a stream back in which everything is complete. */
  remove(stream: DriverStream): void {
    this.#streams.delete(stream.name);
    this.#pool.give(stream.handle, stream.priority);
  }

  /** Gives everything back. */
  close(): void {
    for (const { handle } of this.#streams.values()) this.#driver.cuStreamDestroy_v2(handle);
    this.#streams.clear();
    this.#pool.close();
    this.#marks.close();
  }
}
