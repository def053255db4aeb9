// What is complete, in an order in which it can be settled.
//
// Streams are asked one after the other, so a stream may say that a command is complete whose
// dependency on a stream that was asked before is not known to be: it was not, then. As errors travel
// along dependencies, each command is settled after those that it depends on.

import type { DriverStream, Flight, Settle } from './driver-stream.ts';

export class Completion {
  #complete: Flight[] = [];
  #wasAsked = false;
  /** Whether they came in the order of issue, as those of one stream do. */
  #isOrdered = true;

  /** Takes what a stream says is complete. */
  readonly collect: Settle = (flights, asked) => {
    let last = this.#complete.length === 0 ? 0 : this.#complete[this.#complete.length - 1]!.command.id;
    for (const flight of flights) {
      const { id } = flight.command;
      if (id < last) this.#isOrdered = false;
      last = id;
      this.#complete.push(flight);
    }
    this.#wasAsked ||= asked;
  };

  /** Whether any of what was taken since this was read last was asked for, and not just recorded. */
  takeAsked(): boolean {
    const was = this.#wasAsked;
    this.#wasAsked = false;
    return was;
  }

  /** Hands out what was collected, with what it depends on, by the order of issue. */
  take(streamOf: (stream: string) => DriverStream | undefined): readonly Flight[] {
    const flights = this.#complete;
    if (flights.length === 0) return flights;
    for (let i = 0; i < flights.length; ++i) {
      const { command } = flights[i]!;
      for (const before of command.dependencies) {
        // What comes before it in its own stream was complete before it.
        if (before.status !== 'queued' || before.stream === command.stream) continue;
        const other = streamOf(before.stream);
        if (other !== undefined && before.id > other.completeTo) other.poll(this.collect);
      }
    }
    this.#complete = [];
    if (!this.#isOrdered) flights.sort((a, b) => a.command.id - b.command.id);
    this.#isOrdered = true;
    return flights;
  }
}
