// The command queue: the order of streams, as a graph of commands.
//
// A stream's *frontier* is the set of commands that its next operation waits for: its last
// command, and whatever it was told to wait for since. Everything follows from frontiers:
// - A command depends on its stream's frontier and becomes the new frontier.
// - Recording an event keeps the frontier; waiting for one joins the event's points to it. Neither
//   is a command, so neither can delay an engine.
// - The legacy default stream: its operations also wait for the frontiers of all blocking
//   streams, and the operations of those also wait for its frontier.
// - An error travels along the graph, so that a stream has failed exactly when a command of its
//   frontier has. The synchronisation that throws the error takes the failed commands out of
//   the frontier, and the stream goes on afresh. Once an error was thrown, the default stream's
//   rule no longer carries it from stream to stream; events still do.
//
// This is the same on every device; a Carrier carries the commands out.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Allocation } from './arrays.ts';
import { type Carrier, Command, type Stamp, type Work } from './command.ts';

/** How the default stream orders itself to the others, as nvcc's `--default-stream`. */
export type DefaultStreamMode = 'legacy' | 'perThread';

/** The part of a stream that the order knows. */
export interface Lane {
  readonly name: string;
  readonly priority: number;
  /** Whether it synchronises with the legacy default stream. */
  readonly blocking: boolean;
  frontier: readonly Command[];
}

/** Commands without repetition, less those that are done: what still has to be waited for or reported. */
function outstanding(commands: Iterable<Command>): readonly Command[] {
  return [...new Set(commands)].filter((command) => command.status !== 'done');
}

export class CommandQueue {
  readonly defaultLane: Lane;
  readonly #carrier: Carrier;
  readonly #mode: DefaultStreamMode;
  readonly #lanes = new Set<Lane>();
  readonly #thrown = new WeakSet<WarpstageError>();
  #issued = 0;
  #named = 0;

  constructor(carrier: Carrier, mode: DefaultStreamMode) {
    this.#carrier = carrier;
    this.#mode = mode;
    this.defaultLane = { name: 'default stream', priority: 0, blocking: mode === 'perThread', frontier: [] };
    this.#lanes.add(this.defaultLane);
  }

  addLane(priority: number, blocking: boolean): Lane {
    const lane: Lane = { name: `stream ${++this.#named}`, priority, blocking, frontier: [] };
    this.#lanes.add(lane);
    return lane;
  }

  removeLane(lane: Lane): void {
    this.#lanes.delete(lane);
  }

  /** What an operation that is issued to the lane now waits for. */
  #before(lane: Lane): readonly Command[] {
    return outstanding([...lane.frontier, ...this.#beforeByDefault(lane)]);
  }

  /** What it waits for by the rule of the legacy default stream. */
  #beforeByDefault(lane: Lane): readonly Command[] {
    if (this.#mode === 'perThread') return [];
    let others: readonly Command[] = [];
    if (lane.blocking) others = this.defaultLane.frontier;
    else if (lane === this.defaultLane) {
      others = [...this.#lanes].flatMap((other) => (other.blocking ? other.frontier : []));
    }
    return others.filter(({ failure }) => failure === null || !this.#thrown.has(failure));
  }

  /** Issues a command. */
  issue(lane: Lane, work: Work, uses: readonly Allocation[]): Command {
    const before = this.#before(lane);
    const failed = before.find((command) => command.status === 'failed');
    const command = new Command(++this.#issued, lane, failed === undefined ? before : [], uses);
    if (failed !== undefined) {
      command.settle(failed.failure, command.queued, command.queued);
    } else {
      try {
        this.#carrier.carry(command, work);
      } catch (error) {
        command.settle(null, command.queued, command.queued); // it was never issued
        throw error;
      }
    }
    lane.frontier = [command];
    return command;
  }

  /** An operation without work: what it would wait for, which later operations of the lane wait for too. */
  join(lane: Lane, points: readonly Command[] = []): readonly Command[] {
    lane.frontier = outstanding([...this.#before(lane), ...points]);
    return lane.frontier;
  }

  /** The device's own time of the lane's present point, if it keeps time. */
  stamp(lane: Lane): Stamp | null {
    return this.#carrier.stamp?.(lane, lane.frontier) ?? null;
  }

  /** Whether these commands are all settled. */
  settled(commands: readonly Command[]): boolean {
    this.#carrier.poll();
    return commands.every((command) => command.status !== 'queued');
  }

  /** Resolves when these commands are all settled. */
  async completion(commands: readonly Command[]): Promise<void> {
    if (this.settled(commands)) return;
    const open = commands.filter((command) => command.status === 'queued');
    await new Promise<void>((resolve) => {
      let left = open.length;
      for (const command of open) {
        command.whenSettled(() => {
          if (--left === 0) resolve();
        });
        this.#carrier.watch(command);
      }
    });
  }

  /** Throws the errors of these commands, which are settled, after which the lanes go on afresh. */
  report(commands: readonly Command[], lanes: Iterable<Lane>): void {
    const failed = new Set(commands.filter((command) => command.status === 'failed'));
    if (failed.size === 0) return;
    for (const lane of lanes) lane.frontier = lane.frontier.filter((command) => !failed.has(command));
    const failures = [...new Set([...failed].map((command) => command.failure!))];
    for (const failure of failures) this.#thrown.add(failure);
    if (failures.length === 1) throw failures[0]!;
    throw new WarpstageError(
      failures.flatMap((failure) => failure.issues),
      { cause: failures[0] },
    );
  }

  /** Every lane, the default one included. */
  get lanes(): Iterable<Lane> {
    return this.#lanes;
  }
}
