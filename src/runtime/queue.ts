// The command queue: the order of streams, as a graph of commands.
//
// A stream's *frontier* is the set of commands that its next operation waits for: its last
// command, and what it has to wait for since. Everything follows from frontiers:
// - A command depends on its stream's frontier and becomes the new frontier.
// - Recording an event keeps the frontier; waiting for one joins the event's points to it. Neither
//   is a command, so neither can delay an engine. The dispatcher marks the point where the event is recorded,
//   so that who waits for it later waits for nothing that was issued in between.
// - The legacy default stream: its operations also wait for the frontiers of all blocking
//   streams, and the operations of those also wait for its frontier.
// - An error travels along the graph, so that a stream has failed exactly when a command of its
//   frontier has. The synchronisation that throws the error takes the failed commands out of
//   the frontier, and the stream goes on afresh (failures.ts).
//   Once an error was thrown, the default stream's rule no longer carries it from stream to stream;
//   events still do.
//
// This is the same on every device; a Dispatcher gives the commands to what carries them out.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Allocation } from './arrays.ts';
import { Capture, type CapturedPoints, captureProblem } from './capture.ts';
import { Command, type Dispatcher, failedOf, type Stamp, type Work } from './command.ts';
import { Failures, unsettled, without } from './failures.ts';
import type { ForeignPoints } from './foreign-wait.ts';
import type { GraphWork } from './graph-work.ts';
import { noteFilling, refuseEarlyReads } from './host-memory.ts';
import { Turns } from './turn.ts';

/** How the default stream orders itself to the others, as nvcc's `--default-stream`. */
export type DefaultStreamMode = 'legacy' | 'perThread';

/** The part of a stream that the order knows. */
export interface StreamState {
  readonly name: string;
  readonly priority: number;
  /** Whether it synchronises with the legacy default stream. */
  readonly blocking: boolean;
  frontier: readonly Command[];
}

const nothing: readonly Command[] = [];
const noAllocations: readonly Allocation[] = [];
/** Up to so many commands are compared with each other sooner than a set of them is made. */
const fewCommands = 8;

/** Commands of both lists without repetition, less those that are done: what still has to be waited for or reported. */
function outstanding(commands: readonly Command[], more: readonly Command[] = nothing): readonly Command[] {
  if (more.length === 0 && commands.length < 2)
    return commands.length === 0 || commands[0]!.status === 'done' ? nothing : commands;
  if (commands.length === 1 && more.length === 1) {
    const [one, other] = [commands[0]!, more[0]!];
    if (one === other || other.status === 'done') return one.status === 'done' ? nothing : commands;
    return one.status === 'done' ? more : [one, other];
  }
  if (commands.length + more.length > fewCommands)
    return [...new Set([...commands, ...more])].filter(({ status }) => status !== 'done');
  const left: Command[] = [];
  for (const command of commands)
    if (command.status !== 'done' && !left.includes(command)) left.push(command);
  for (const command of more) if (command.status !== 'done' && !left.includes(command)) left.push(command);
  return left;
}

export class CommandQueue {
  readonly defaultStream: StreamState;
  readonly #dispatcher: Dispatcher;
  readonly #turns = new Turns();
  readonly #mode: DefaultStreamMode;
  readonly #streams = new Set<StreamState>();
  readonly #failures = new Failures();
  #capture: Capture | null = null;
  #issued = 0;
  #named = 0;

  constructor(dispatcher: Dispatcher, mode: DefaultStreamMode) {
    this.#dispatcher = dispatcher;
    this.#mode = mode;
    this.defaultStream = {
      name: 'default stream',
      priority: 0,
      blocking: mode === 'perThread',
      frontier: [],
    };
    this.#streams.add(this.defaultStream);
  }

  addStream(priority: number, blocking: boolean): StreamState {
    const stream: StreamState = { name: `stream ${++this.#named}`, priority, blocking, frontier: [] };
    this.#streams.add(stream);
    return stream;
  }

  removeStream(stream: StreamState): void {
    this.#streams.delete(stream);
    this.#dispatcher.forget?.(stream.name);
  }

  /** What an operation that is issued to the stream now waits for. */
  #before(stream: StreamState): readonly Command[] {
    return outstanding(stream.frontier, this.#beforeByDefault(stream));
  }

  /** What it waits for by the rule of the legacy default stream. */
  #beforeByDefault(stream: StreamState): readonly Command[] {
    if (this.#mode === 'perThread') return nothing;
    let others = nothing;
    if (stream.blocking) {
      others = this.defaultStream.frontier;
      if (others.length === 0) return nothing;
      // An event of the default stream leaves it the ends of all other streams, for every operation to look at.
      const left = outstanding(others);
      if (left.length === 0) this.defaultStream.frontier = nothing;
      others = left;
    } else if (stream === this.defaultStream) {
      others = [...this.#streams].flatMap((other) => (other.blocking ? other.frontier : []));
    }
    if (failedOf(others) === null) return others;
    return without(others, ({ failure }) => this.#failures.wasThrown(failure!));
  }

  /** The same for this work. Throws WS4010 if it would read what a copy under way has still to fill. */
  #beforeWork(stream: StreamState, work: Work): readonly Command[] {
    const before = this.#before(stream);
    if (work.kind === 'launch' || !refuseEarlyReads(this.#dispatcher, stream.name, before, work))
      return before;
    return this.#before(stream);
  }

  /** Issues a command, or notes it down if the stream is being captured. */
  submit(stream: StreamState, work: Work, uses: readonly Allocation[]): void {
    const capture = this.#captureOf(stream);
    if (capture === null) this.issue(stream, work, uses);
    else capture.add(stream, work, uses);
  }

  /** Issues a command. */
  issue(stream: StreamState, work: Work, uses: readonly Allocation[]): Command {
    const before = this.#beforeWork(stream, work);
    const command = this.#dispatch(stream, before, work, uses);
    stream.frontier = [command];
    return command;
  }

  #dispatch(
    stream: { readonly name: string; readonly priority: number },
    before: readonly Command[],
    work: Work,
    uses: readonly Allocation[],
  ): Command {
    const failed = failedOf(before);
    const command = new Command(++this.#issued, stream, before, uses);
    if (work.kind === 'wait') command.across = work.others;
    if (failed !== null) {
      command.settle(failed.failure, command.queued, command.queued);
      return command;
    }
    try {
      this.#dispatcher.dispatch(command, work);
      if (work.kind !== 'launch') noteFilling(this.#dispatcher, command, work);
    } catch (error) {
      command.settle(null, command.queued, command.queued); // it was never issued
      this.#failures.noteThrown(error);
      throw error;
    }
    return command;
  }

  // Graphs

  /** The capture that a stream takes part in. Throws where the legacy default stream would have to wait for it. */
  #captureOf(stream: StreamState): Capture | null {
    const capture = this.#capture;
    if (capture === null) return null;
    if (capture.has(stream)) return capture;
    if (
      stream === this.defaultStream &&
      this.#mode === 'legacy' &&
      [...capture.streams].some(({ blocking }) => blocking)
    ) {
      throw captureProblem(
        'an operation of the default stream waits for all blocking streams, one of which is being captured',
        'use another stream, or capture a stream made with { nonBlocking: true }',
      );
    }
    return null;
  }

  /** Notes down what `issue` issues to a stream. */
  capture(stream: StreamState, issue: () => void): GraphWork {
    if (typeof issue !== 'function') {
      throw captureProblem(
        `capture takes a function, not ${issue === null ? 'null' : typeof issue}`,
        'write for example stream.capture(() => { stream.launch(…); })',
      );
    }
    if (this.#capture !== null) {
      throw captureProblem(
        `${stream.name} cannot be captured while ${this.#capture.origin.name} is`,
        'end one capture before the next; a stream joins a capture by waiting for an event of it',
      );
    }
    if (stream === this.defaultStream && this.#mode === 'legacy') {
      throw captureProblem(
        'the legacy default stream cannot be captured',
        "capture a stream of your own, or open the device with { defaultStream: 'perThread' }",
      );
    }
    const capture = new Capture(stream);
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

  /** Carries a graph out behind what was issued to the stream before; what carries it out, in words. */
  launchGraph(stream: StreamState, graph: GraphWork): string {
    const { nodes } = graph;
    const uses = [...new Set(nodes.flatMap((node) => node.uses))];
    if (uses.some(({ freed }) => freed) || graph.pinned.some(({ buffer }) => buffer === null)) {
      throw new WarpstageError({
        code: 'WS4002',
        message: 'launch of a graph: an array that it uses was freed',
        hint: 'free the arrays of a graph after its last launch',
      });
    }
    if (this.#dispatcher.takesGraph?.(graph) || this.#captureOf(stream) !== null) {
      this.submit(stream, graph, uses);
      return 'graph';
    }
    const before = this.#beforeWork(stream, graph);
    const commands: Command[] = [];
    for (const { work, branch, dependencies, uses: used } of nodes) {
      const of =
        branch === 0 ? stream : { name: `${stream.name}, branch ${branch}`, priority: stream.priority };
      const waits = dependencies.length === 0 ? before : outstanding(dependencies.map((at) => commands[at]!));
      commands.push(this.#dispatch(of, waits, work, used));
    }
    const awaited = new Set(nodes.flatMap(({ dependencies }) => dependencies));
    const ends = commands.filter((_, position) => !awaited.has(position));
    if (ends.length > 0) stream.frontier = ends;
    return 'commands';
  }

  /** The present point of a stream that is being captured; null for any other. */
  captured(stream: StreamState): CapturedPoints | null {
    return this.#captureOf(stream)?.points(stream) ?? null;
  }

  /** Has a stream wait for a recorded event. */
  wait(stream: StreamState, points: readonly Command[], captured: CapturedPoints | null): void {
    if (captured !== null && captured.capture === this.#capture) {
      captured.capture.join(stream, captured);
      return;
    }
    if (captured !== null) {
      throw captureProblem(
        'waitEvent: the event was recorded in a capture that has ended',
        'record an event after graph.launch(stream), and wait for that one',
      );
    }
    if (this.#captureOf(stream) !== null) {
      throw captureProblem(
        `waitEvent: ${stream.name} is being captured, and the event was recorded outside the capture`,
        'wait for it in the stream that the graph is launched in',
      );
    }
    this.join(stream, points);
    // Here it has come behind the present ends of other streams, which go on before anything waits for it.
    if (stream === this.defaultStream && this.#mode === 'legacy') this.mark(stream, false);
  }

  /** Points of this device, for a stream of another one to wait for. */
  foreign(points: readonly Command[]): ForeignPoints {
    return { dispatcher: this.#dispatcher, commands: outstanding(points) };
  }

  /** Has a stream wait for a recorded event of another device. */
  waitForeign(stream: StreamState, others: ForeignPoints, captured: CapturedPoints | null): void {
    if (captured !== null || this.#captureOf(stream) !== null) {
      throw captureProblem(
        'waitEvent: the event belongs to another device, and a graph that is captured is of one device',
        'wait for it in the stream that the graph is launched in, before the launch',
      );
    }
    if (others.commands.length > 0) this.issue(stream, { kind: 'wait', others }, noAllocations);
    else this.wait(stream, nothing, null);
  }

  /** What a stream has still to do. Throws for one that is being captured, which does nothing. */
  frontier(stream: StreamState): readonly Command[] {
    if (this.#captureOf(stream) !== null) {
      throw captureProblem(
        `${stream.name} is being captured, and cannot be waited for or asked`,
        'synchronise after graph.launch(stream)',
      );
    }
    return stream.frontier;
  }

  /** An operation without work: what it would wait for, which later operations of the stream wait for too. */
  join(stream: StreamState, points: readonly Command[] = nothing): readonly Command[] {
    stream.frontier = outstanding(this.#before(stream), points);
    return stream.frontier;
  }

  /** Marks the stream's present point; the device's own time of it, if that is wanted and the device keeps time. */
  mark(stream: StreamState, timed: boolean): Stamp | null {
    try {
      return this.#dispatcher.mark?.(stream, stream.frontier, timed) ?? null;
    } catch (error) {
      this.#failures.noteThrown(error);
      throw error;
    }
  }

  /** Whether these commands, and all that had to come before them, are settled. */
  settled(commands: readonly Command[]): boolean {
    if (commands.length === 0) return true;
    this.#dispatcher.poll(unsettled(commands));
    return unsettled(commands).length === 0;
  }

  /** Whether these commands are over; throws their failures, after which the streams go on afresh. */
  query(commands: readonly Command[], streams: Iterable<StreamState>): boolean {
    if (!this.settled(commands)) return false;
    this.#failures.report(commands, streams);
    return true;
  }

  /** Waits until these commands are over; throws their failures, after which the streams go on afresh. */
  async synchronize(
    commands: readonly Command[],
    streams: Iterable<StreamState>,
    completed?: () => void,
  ): Promise<void> {
    await this.#failures.awaiting(commands, this.#completion(commands), () => {
      completed?.();
      this.#failures.report(commands, streams);
    });
  }

  async #completion(commands: readonly Command[]): Promise<void> {
    if (this.settled(commands)) {
      if (commands.length > 0) await this.#turns.due();
      return;
    }
    for (let open = unsettled(commands); open.length > 0; open = unsettled(commands)) {
      if (this.#dispatcher.waitBriefly?.(open)) {
        await this.#turns.due();
        continue;
      }
      await new Promise<void>((resolve) => {
        let left = open.length;
        for (const command of open) {
          command.whenSettled(() => {
            if (--left === 0) resolve();
          });
          this.#dispatcher.watch(command);
        }
      });
    }
  }

  /** Notes that a call of the device has thrown this failure. */
  noteThrown(error: unknown): void {
    this.#failures.noteThrown(error);
  }

  /** Throws what was not reported, when the device is closed and all commands are settled. */
  reportLeft(): void {
    this.#failures.reportLeft(this.#streams);
  }

  /** Every stream, the default one included. */
  get streams(): Iterable<StreamState> {
    return this.#streams;
  }
}
