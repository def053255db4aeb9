// What is complete, in an order in which it can be settled.
//
// Streams are asked one after the other, so a stream may say that a command is complete whose
// dependency on a stream that was asked before is not known to be: it was not, then. As errors travel
// along dependencies, each command is settled after those that it depends on: all by the order of issue. A wait for another
// device is settled when that device has settled what it waited for, which may have this one settle earlier commands first.

import type { Command } from '../command.ts';
import type { Flight, Settle } from './driver-stream.ts';

/** What is asked for what a command depends on. */
interface Streams {
  find(stream: string): { readonly completeTo: number; poll(settle: Settle): number } | undefined;
}

export class Completion {
  readonly #streams: Streams;
  /** Complete and not settled. */
  #complete: Flight[] = [];
  /** The first of these that is left. */
  #first = 0;
  /** Up to where it is known that what they depend on is here, and that they are in order. */
  #checked = 0;
  #wasAsked = false;

  constructor(streams: Streams) {
    this.#streams = streams;
  }

  /** Takes what a stream says is complete. */
  readonly collect: Settle = (flights, asked) => {
    for (const flight of flights) this.#complete.push(flight);
    this.#wasAsked ||= asked;
  };

  /** Whether any of what was taken since this was read last was asked for, and not just recorded. */
  takeAsked(): boolean {
    const was = this.#wasAsked;
    this.#wasAsked = false;
    return was;
  }

  /** What is complete and not settled. */
  get left(): readonly Flight[] {
    return this.#complete.slice(this.#first);
  }

  /** The next to be settled, in the order of issue; null if there is none up to this one. */
  next(upTo: number): Flight | null {
    this.#check();
    const flight = this.#complete[this.#first];
    if (flight === undefined || flight.command.id > upTo) return null;
    this.#first += 1;
    if (this.#first === this.#complete.length) {
      this.#complete = [];
      this.#first = 0;
      this.#checked = 0;
    }
    return flight;
  }

  /** Takes out all that is complete and not settled, when the device is lost. */
  abandon(): readonly Flight[] {
    const { left } = this;
    this.#complete = [];
    this.#first = 0;
    this.#checked = 0;
    return left;
  }

  /** Adds what those that came last depend on, and puts all in order. */
  #check(): void {
    const complete = this.#complete;
    if (this.#checked === complete.length) return;
    for (let i = this.#checked; i < complete.length; ++i) this.#completeBefore(complete[i]!.command);
    if (this.#first > 0) {
      this.#complete = complete.slice(this.#first);
      this.#first = 0;
    }
    if (!isOrdered(this.#complete)) this.#complete.sort((a, b) => a.command.id - b.command.id);
    this.#checked = this.#complete.length;
  }

  #completeBefore({ stream, dependencies }: Command): void {
    for (const before of dependencies) {
      // What comes before it in its own stream was complete before it.
      if (before.status !== 'queued' || before.stream === stream) continue;
      const other = this.#streams.find(before.stream);
      if (other !== undefined && before.id > other.completeTo) other.poll(this.collect);
    }
  }
}

function isOrdered(flights: readonly Flight[]): boolean {
  for (let i = 1; i < flights.length; ++i)
    if (flights[i]!.command.id < flights[i - 1]!.command.id) return false;
  return true;
}
