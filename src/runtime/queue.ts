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
//   the frontier, and the stream goes on afresh (failures.ts).
//   Once an error was thrown, the default stream's rule no longer carries it from stream to stream;
//   events still do.
//
// This is the same on every device; a Carrier carries the commands out.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Allocation } from './arrays.ts';
import { Capture, type CapturedPoints, captureProblem } from './capture.ts';
import { type Carrier, Command, type Stamp, type Work } from './command.ts';
import { Failures, unsettled, without } from './failures.ts';
import type { GraphWork } from './graph-work.ts';
import { noteFilling, refuseEarlyReads } from './host-memory.ts';

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

const nothing: readonly Command[] = [];

/** Commands without repetition, less those that are done: what still has to be waited for or reported. */
function outstanding(commands: readonly Command[]): readonly Command[] {
  if (commands.length < 2)
    return commands[0] === undefined || commands[0].status === 'done' ? nothing : commands;
  return [...new Set(commands)].filter((command) => command.status !== 'done');
}

export class CommandQueue {
  readonly defaultLane: Lane;
  readonly #carrier: Carrier;
  readonly #mode: DefaultStreamMode;
  readonly #lanes = new Set<Lane>();
  readonly #failures = new Failures();
  #capture: Capture | null = null;
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
    this.#carrier.forget?.(lane.name);
  }

  /** What an operation that is issued to the lane now waits for. */
  #before(lane: Lane): readonly Command[] {
    const byDefault = this.#beforeByDefault(lane);
    return outstanding(byDefault.length === 0 ? lane.frontier : [...lane.frontier, ...byDefault]);
  }

  /** What it waits for by the rule of the legacy default stream. */
  #beforeByDefault(lane: Lane): readonly Command[] {
    if (this.#mode === 'perThread') return nothing;
    let others = nothing;
    if (lane.blocking) {
      others = this.defaultLane.frontier;
      if (others.length === 0) return nothing;
      // An event of the default stream leaves it the ends of all other streams, for every operation to look at.
      if (others.every(({ status }) => status === 'done')) {
        this.defaultLane.frontier = nothing;
        return nothing;
      }
    } else if (lane === this.defaultLane) {
      others = [...this.#lanes].flatMap((other) => (other.blocking ? other.frontier : []));
    }
    if (others.length === 0) return nothing;
    return without(others, ({ failure }) => this.#failures.wasThrown(failure!));
  }

  /** The same for this work. Throws WS4010 if it would read what a copy under way has still to fill. */
  #beforeWork(lane: Lane, works: readonly Work[]): readonly Command[] {
    const before = this.#before(lane);
    let settled = false;
    for (const work of works) {
      if (refuseEarlyReads(this.#carrier, lane.name, before, work)) settled = true;
    }
    return settled ? this.#before(lane) : before;
  }

  /** Issues a command, or notes it down if the lane is being captured. */
  submit(lane: Lane, work: Work, uses: readonly Allocation[]): void {
    const capture = this.#captureOf(lane);
    if (capture === null) this.issue(lane, work, uses);
    else capture.add(lane, work, uses);
  }

  /** Issues a command. */
  issue(lane: Lane, work: Work, uses: readonly Allocation[]): Command {
    const before = this.#beforeWork(lane, [work]);
    const command = this.#carry(lane, before, work, uses);
    lane.frontier = [command];
    return command;
  }

  #carry(
    stream: { readonly name: string; readonly priority: number },
    before: readonly Command[],
    work: Work,
    uses: readonly Allocation[],
  ): Command {
    const failed = before.find((command) => command.status === 'failed');
    const command = new Command(++this.#issued, stream, before, uses);
    if (failed !== undefined) {
      command.settle(failed.failure, command.queued, command.queued);
      return command;
    }
    try {
      this.#carrier.carry(command, work);
      noteFilling(this.#carrier, command, work);
    } catch (error) {
      command.settle(null, command.queued, command.queued); // it was never issued
      this.#failures.noteThrown(error);
      throw error;
    }
    return command;
  }

  // Graphs

  /** The capture that a lane takes part in. Throws where the legacy default stream would have to wait for it. */
  #captureOf(lane: Lane): Capture | null {
    const capture = this.#capture;
    if (capture === null) return null;
    if (capture.has(lane)) return capture;
    if (
      lane === this.defaultLane &&
      this.#mode === 'legacy' &&
      [...capture.lanes].some(({ blocking }) => blocking)
    ) {
      throw captureProblem(
        'an operation of the default stream waits for all blocking streams, one of which is being captured',
        'use another stream, or capture a stream made with { nonBlocking: true }',
      );
    }
    return null;
  }

  /** Notes down what `issue` issues to a lane. */
  capture(lane: Lane, issue: () => void): GraphWork {
    if (typeof issue !== 'function') {
      throw captureProblem(
        `capture takes a function, not ${issue === null ? 'null' : typeof issue}`,
        'write for example stream.capture(() => { stream.launch(…); })',
      );
    }
    if (this.#capture !== null) {
      throw captureProblem(
        `${lane.name} cannot be captured while ${this.#capture.origin.name} is`,
        'end one capture before the next; a stream joins a capture by waiting for an event of it',
      );
    }
    if (lane === this.defaultLane && this.#mode === 'legacy') {
      throw captureProblem(
        'the legacy default stream cannot be captured',
        "capture a stream of your own, or open the device with { defaultStream: 'perThread' }",
      );
    }
    const capture = new Capture(lane);
    this.#capture = capture;
    try {
      const result: unknown = issue();
      if (result instanceof Promise) {
        result.catch(() => {});
        throw captureProblem(
          'capture takes a function that issues its operations before it returns, and was given an async one',
          'do not await anything while a stream is captured',
        );
      }
    } finally {
      this.#capture = null;
    }
    return capture.finish();
  }

  /** Carries a graph out behind what was issued to the lane before; what carries it out, in words. */
  launchGraph(lane: Lane, graph: GraphWork): string {
    const { nodes } = graph;
    const uses = [...new Set(nodes.flatMap((node) => node.uses))];
    if (uses.some(({ freed }) => freed) || graph.pinned.some(({ buffer }) => buffer === null)) {
      throw new WarpstageError({
        code: 'WS4002',
        message: 'launch of a graph: an array that it uses was freed',
        hint: 'free the arrays of a graph after its last launch',
      });
    }
    if (this.#carrier.takesGraph?.(graph) || this.#captureOf(lane) !== null) {
      this.submit(lane, graph, uses);
      return 'graph';
    }
    const before = this.#beforeWork(
      lane,
      nodes.map(({ work }) => work),
    );
    const commands: Command[] = [];
    for (const { work, branch, dependencies, uses: used } of nodes) {
      const stream =
        branch === 0 ? lane : { name: `${lane.name}, branch ${branch}`, priority: lane.priority };
      const waits = dependencies.length === 0 ? before : outstanding(dependencies.map((at) => commands[at]!));
      commands.push(this.#carry(stream, waits, work, used));
    }
    const awaited = new Set(nodes.flatMap(({ dependencies }) => dependencies));
    const ends = commands.filter((_, position) => !awaited.has(position));
    if (ends.length > 0) lane.frontier = ends;
    return 'commands';
  }

  /** The present point of a lane that is being captured; null for any other. */
  captured(lane: Lane): CapturedPoints | null {
    return this.#captureOf(lane)?.points(lane) ?? null;
  }

  /** Has a lane wait for a recorded event. */
  wait(lane: Lane, points: readonly Command[], captured: CapturedPoints | null): void {
    if (captured !== null && captured.capture === this.#capture) {
      captured.capture.join(lane, captured);
      return;
    }
    if (captured !== null) {
      throw captureProblem(
        'waitEvent: the event was recorded in a capture that has ended',
        'record an event after graph.launch(stream), and wait for that one',
      );
    }
    if (this.#captureOf(lane) !== null) {
      throw captureProblem(
        `waitEvent: ${lane.name} is being captured, and the event was recorded outside the capture`,
        'wait for it in the stream that the graph is launched in',
      );
    }
    this.join(lane, points);
  }

  /** What a lane has still to do. Throws for one that is being captured, which does nothing. */
  frontier(lane: Lane): readonly Command[] {
    if (this.#captureOf(lane) !== null) {
      throw captureProblem(
        `${lane.name} is being captured, and cannot be waited for or asked`,
        'synchronise after graph.launch(stream)',
      );
    }
    return lane.frontier;
  }

  /** An operation without work: what it would wait for, which later operations of the lane wait for too. */
  join(lane: Lane, points: readonly Command[] = []): readonly Command[] {
    lane.frontier = outstanding([...this.#before(lane), ...points]);
    return lane.frontier;
  }

  /** The device's own time of the lane's present point, if it keeps time. */
  stamp(lane: Lane): Stamp | null {
    try {
      return this.#carrier.stamp?.(lane, lane.frontier) ?? null;
    } catch (error) {
      this.#failures.noteThrown(error);
      throw error;
    }
  }

  /** Whether these commands, and all that had to come before them, are settled. */
  settled(commands: readonly Command[]): boolean {
    if (commands.length === 0) return true;
    this.#carrier.poll(unsettled(commands));
    return unsettled(commands).length === 0;
  }

  /** Whether these commands are over; throws their failures, after which the lanes go on afresh. */
  query(commands: readonly Command[], lanes: Iterable<Lane>): boolean {
    if (!this.settled(commands)) return false;
    this.#failures.report(commands, lanes);
    return true;
  }

  /** Waits until these commands are over; throws their failures, after which the lanes go on afresh. */
  async synchronize(
    commands: readonly Command[],
    lanes: Iterable<Lane>,
    completed?: () => void,
  ): Promise<void> {
    await this.#failures.awaiting(commands, this.#completion(commands), () => {
      completed?.();
      this.#failures.report(commands, lanes);
    });
  }

  async #completion(commands: readonly Command[]): Promise<void> {
    if (this.settled(commands)) return;
    for (let open = unsettled(commands); open.length > 0; open = unsettled(commands)) {
      if (this.#carrier.waitBriefly?.(open)) continue;
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
  }

  /** Notes that a call of the device has thrown this failure. */
  noteThrown(error: unknown): void {
    this.#failures.noteThrown(error);
  }

  /** Throws what nobody was told of, when the device is closed and all commands are settled. */
  reportLeft(): void {
    this.#failures.reportLeft(this.#lanes);
  }

  /** Every lane, the default one included. */
  get lanes(): Iterable<Lane> {
    return this.#lanes;
  }
}
