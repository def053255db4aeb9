// The commands of a virtual device that are on their way, in the order of their issue.

import type { Command, Work } from '../command.ts';
import type { EngineKind } from './engines.ts';
import type { Staged } from './operation-times.ts';
import type { Simulation } from './simulation.ts';

export interface Flight {
  readonly command: Command;
  readonly work: Work;
  readonly kind: EngineKind;
  /** What the CPU executes. */
  readonly executed: Command;
  /** Whether an event of the driver stands behind it, for other streams to wait for. */
  isMarked: boolean;
  /** What of it passes page-locked memory. */
  readonly staged: Staged | undefined;
}

export class Flights extends Map<Command, Flight> {
  /** Those of commands that are on their way. */
  of(commands: readonly Command[]): readonly Flight[] {
    return commands.flatMap((command) => this.get(command) ?? []);
  }

  /** What has still to be executed of some commands and of all that waits for them. */
  behind(isOne: (flight: Flight) => boolean): Set<Command> {
    const behind = new Set<Command>();
    for (const flight of this.values()) {
      const { executed } = flight;
      if (executed.status !== 'queued') continue;
      if (isOne(flight) || executed.dependencies.some((one) => behind.has(one))) behind.add(executed);
    }
    return behind;
  }

  /** Those that are complete by then, in the order of virtual time. */
  completeAt(time: number, simulation: Simulation): readonly Flight[] {
    const ended = (flight: Flight) => simulation.stayOf(flight.command.id)?.signalled;
    return [...this.values()]
      .filter((flight) => (ended(flight) ?? Number.POSITIVE_INFINITY) <= time)
      .sort((a, b) => ended(a)! - ended(b)! || a.command.id - b.command.id);
  }
}

/** Has an event of the driver stand behind each of these; how many had none. */
export function markAll(flights: readonly Flight[]): number {
  const unmarked = flights.filter(({ isMarked }) => !isMarked);
  for (const flight of unmarked) flight.isMarked = true;
  return unmarked.length;
}
