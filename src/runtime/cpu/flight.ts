// A command of the CPU on its way: what it became, and what it waits for.

import type { WarpstageError } from '../../diagnostics/error.ts';
import type { Fault } from '../../targets/executable.ts';
import type { Command, Work } from '../command.ts';
import type { Assignment } from './dispatcher.ts';
import type { Order, RecordedStages } from './messages.ts';

export interface Flight {
  readonly command: Command;
  readonly work: Work;
  /** Null for a host function, and for a wait for another device. */
  readonly assignment: Assignment | null;
  readonly ticket: number;
  readonly order: Extract<Order, { kind: 'command' }> | null;
  readonly dependencies: readonly Flight[];
  /** Flights not settled yet that depend on this one. */
  dependents: number;
  settled: boolean;
  /** Somebody awaits it. */
  watched: boolean;
  /** Why it is being cancelled. */
  cancellation: WarpstageError | null;
  stopListening: () => void;
  /** What its engine has reported of it so far: faults, why it broke off, what a block did with its stages. */
  readonly faults: Fault[];
  broken: string | null;
  stages: RecordedStages | undefined;
  /** What its host function threw. */
  thrown: WarpstageError | null;
}

/** Whether a host function comes before it, which the thread that would be blocked has to call. */
export function waitsForFunction(flight: Flight, clear: Set<Command> = new Set()): boolean {
  const seen = new Set([flight]);
  for (const { command, assignment, dependencies, settled, work } of seen) {
    if (settled || clear.has(command)) continue;
    if (work.kind === 'wait') {
      const { dispatcher, commands } = work.others;
      if (dispatcher.isBehindFunction?.(commands, clear)) return true;
    } else if (assignment === null) return true;
    for (const dependency of dependencies) seen.add(dependency);
  }
  for (const { command } of seen) clear.add(command);
  return false;
}
