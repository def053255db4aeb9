// What is complete, in an order in which it can be settled.
//
// Streams are asked one after the other, so a stream may say that a command is complete whose
// dependency on a stream that was asked before is not known to be: it was not, then. As errors travel
// along dependencies, each command is settled after those that it depends on.

import type { DriverStream, Flight, Settle } from './driver-stream.ts';

export class Completion {
  readonly #complete: Flight[] = [];

  #wasAsked = false;

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

  /** Hands out what was collected, with what it depends on, by the order of issue. */
  take(streamOf: (stream: string) => DriverStream | undefined): readonly Flight[] {
    if (this.#complete.length === 0) return [];
    const flights = this.#complete.splice(0);
    const known = new Set(flights.map(({ command }) => command));
    for (let i = 0; i < flights.length; ++i) {
      for (const before of flights[i]!.command.dependencies) {
        if (before.status !== 'queued' || known.has(before)) continue;
        streamOf(before.stream)?.poll(this.collect);
        for (const flight of this.#complete.splice(0)) {
          known.add(flight.command);
          flights.push(flight);
        }
      }
    }
    return flights.sort((a, b) => a.command.id - b.command.id);
  }
}
