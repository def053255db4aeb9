// Commands: what streams are made of, whichever device carries them out.
//
// A command is issued once, waits for the commands it depends on, and is settled once: done, or failed with
// an error. A command whose dependency failed is not carried out and fails with the same error. A command
// that is done was settled after all that it waited for; one that failed names what it left behind
// (failures.ts). The order of streams (queue.ts) makes the dependencies; a dispatcher, that is a device's
// engines, does the work.

import type { WarpstageError } from '../diagnostics/error.ts';
import type { Allocation } from './arrays.ts';
import type { CopyWork, SetWork } from './copies.ts';
import type { ForeignPoints, WaitWork } from './foreign-wait.ts';
import type { GraphWork } from './graph-work.ts';
import type { HostWork } from './host-call.ts';
import type { LaunchWork } from './launch.ts';

/** What a command does, with operands that were checked. */
export type Work = CopyWork | SetWork | LaunchWork | HostWork | WaitWork | GraphWork;

/** Carries commands out. */
export interface Dispatcher {
  /** Takes a command into its queues. The command is settled later, by `poll` or on its own. */
  dispatch(command: Command, work: Work): void;
  /** Settles commands that are complete by now: all that somebody waits for, and those that are asked about here. */
  poll(asked?: readonly Command[]): void;
  /** Sees to it that the command is settled as soon as it is complete, and that the process lives until then. */
  watch(command: Command): void;
  /** Waits for commands for some microseconds, no longer than a turn of the event loop takes; whether they were settled by then. */
  waitBriefly?(commands: readonly Command[]): boolean;
  /**
   * Whether some of these commands wait for a host function, on this device or another: then it is no use to block for them.
   * `clear`: commands of all devices that are known not to; those that are found not to are added.
   */
  isBehindFunction?(commands: readonly Command[], clear: Set<Command>): boolean;
  /** Whether a captured graph can be carried out as one command. */
  takesGraph?(graph: GraphWork): boolean;
  /** No more commands will come in this stream, and none is in flight. */
  forget?(stream: string): void;
  /**
   * Marks the present point of a stream, behind these commands, which something may wait for later: then it waits for no more
   * than this. `timed`: with the time on the device's own clock, if it keeps one. Without it, the commands mark the point.
   */
  mark?(
    stream: { readonly name: string; readonly priority: number },
    behind: readonly Command[],
    timed: boolean,
  ): Stamp | null;
}

/** A point of a stream on the device's own clock. */
export interface Stamp {
  /** When it was reached, on the clock of `performance.now()`; what lies before it must be complete. */
  time(): number;
  /** Milliseconds between two points of one device, where its clock is finer than that. */
  since?(start: Stamp): number | null;
  release(): void;
}

const noCommands: readonly Command[] = [];
const noIds: readonly number[] = [];
const noAllocations: readonly Allocation[] = [];

/** One operation of a stream. */
export class Command {
  /** Ascending in the order of issue; a command's dependencies have smaller ids. */
  readonly id: number;
  /** Name of the stream that it was issued to. */
  readonly stream: string;
  /** Lower is more urgent. */
  readonly priority: number;
  /**
   * When it was issued, began and ended, on the clock of `performance.now()`, or that of its dispatcher. Where nothing is
   * recorded, a dispatcher need not note the first: reading the clock takes a part of what a launch does.
   */
  queued = 0;
  started = 0;
  ended = 0;
  /** The ids of what it waited for when it was issued. */
  readonly after: readonly number[];
  /** What it waits for on another device; null once it is settled. */
  across: ForeignPoints | null = null;
  #dependencies: readonly Command[];
  #uses: readonly Allocation[];
  /** Null as long as there are none: most commands have none. */
  #listeners: (() => void)[] | null = null;
  #left = noCommands;
  #status: 'queued' | 'done' | 'failed' = 'queued';
  #failure: WarpstageError | null = null;

  constructor(
    id: number,
    stream: { readonly name: string; readonly priority: number },
    dependencies: readonly Command[],
    uses: readonly Allocation[],
  ) {
    this.id = id;
    this.stream = stream.name;
    this.priority = stream.priority;
    this.#dependencies = dependencies;
    this.after = idsOf(dependencies);
    this.#uses = uses;
    for (const allocation of uses) allocation.retain();
  }

  get status(): 'queued' | 'done' | 'failed' {
    return this.#status;
  }

  /** Why it failed: its own error, or that of the command it depended on. */
  get failure(): WarpstageError | null {
    return this.#failure;
  }

  /** What it waits for; empty once it is settled, so that a chain of commands is not kept alive. */
  get dependencies(): readonly Command[] {
    return this.#dependencies;
  }

  /**
   * Of a command that failed: what it waited for and who waits for it has still to wait for and to hear of.
   * That is what was not settled by then, and what failed with another error.
   */
  get left(): readonly Command[] {
    return this.#left;
  }

  /** Calls back when the command is settled; at once if it is. */
  whenSettled(listener: () => void): void {
    if (this.#status !== 'queued') listener();
    else if (this.#listeners === null) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  /** Marks it done, or failed, and gives back what it held. */
  settle(failure: WarpstageError | null, started: number, ended: number): void {
    this.#status = failure === null ? 'done' : 'failed';
    this.#failure = failure;
    this.started = started;
    this.ended = ended;
    if (failure !== null) {
      const left = new Set<Command>();
      for (const before of this.#dependencies) {
        if (before.status === 'queued') left.add(before);
        else if (before.failure !== null && before.failure !== failure) left.add(before);
        else for (const one of before.left) left.add(one);
      }
      this.#left = [...left];
    }
    this.#dependencies = noCommands;
    this.across = null;
    for (const allocation of this.#uses) allocation.release();
    this.#uses = noAllocations;
    const listeners = this.#listeners;
    this.#listeners = null;
    if (listeners !== null) for (const listener of listeners) listener();
  }
}

function idsOf(commands: readonly Command[]): readonly number[] {
  if (commands.length === 0) return noIds;
  if (commands.length === 1) return [commands[0]!.id];
  if (commands.length === 2) return [commands[0]!.id, commands[1]!.id];
  return commands.map(({ id }) => id);
}

/** The first of these that has failed, if one has. */
export function failedOf(commands: readonly Command[]): Command | null {
  for (const command of commands) if (command.status === 'failed') return command;
  return null;
}
