// The CPU's dispatcher: gives commands to the engines and settles them.
//
// A command in flight holds a slot of the command table until it is settled and no command in flight
// depends on it, so that an engine can always look a dependency up there. The main thread is
// needed for nothing between issue and completion; settling (errors, spans, pageable
// destinations, memory that comes free) is done when it next looks.

import type { WarpstageError } from '../../diagnostics/error.ts';
import { aborted, Cancellations } from '../cancellations.ts';
import { deviceClosed, isOfClosing } from '../closed.ts';
import { type Command, type Dispatcher, failedOf, type Work } from '../command.ts';
import { faultError } from '../faults.ts';
import type { WaitWork } from '../foreign-wait.ts';
import type { GraphWork } from '../graph-work.ts';
import { type HostWork, sourceBehindFunction, thrownIsKnown } from '../host-call.ts';
import { KeepAlive } from '../keep-alive.ts';
import { BriefLook } from './brief-look.ts';
import {
  type CommandTable,
  type EngineName,
  engineNames,
  isComplete,
  State,
  slotCount,
  slotOf,
} from './command-table.ts';
import {
  brokeOff,
  destinationDetached,
  lostThread,
  noRoomBehindFunction,
  noRoomWhileStopping,
} from './errors.ts';
import { type Flight, waitsForFunction } from './flight.ts';
import { HostCommands } from './host-commands.ts';
import type { Order, RecordedStages, Report } from './messages.ts';
import type { EngineEvents, EngineSet } from './surroundings.ts';

/** Work that an engine does; a host function is called by the main thread, and a graph comes as its single commands. */
export type EngineWork = Exclude<Work, HostWork | WaitWork | GraphWork>;

/** What a command is turned into for its engine, and what the main thread does when it is settled. */
export interface Assignment {
  readonly engine: EngineName;
  readonly task: Extract<Order, { kind: 'command' }>['task'];
  /** Fills a pageable destination: done by the main thread if the command went well, as soon as it can. */
  readonly landing?: { readonly buffer: ArrayBufferLike; readonly land: () => void };
  /** Done in any case. */
  readonly release: () => void;
}

/** What the dispatcher needs of its device. */
export interface DispatcherHost {
  /** Turns checked work into an assignment. May throw; nothing was issued then. */
  assign(work: EngineWork): Assignment;
  print(line: string): void;
  /** Called once for each command that ran, after it was settled. */
  finished(command: Command, work: Work, engine: EngineName | 'host', stages?: RecordedStages): void;
}

/** Milliseconds after which a thread that has not started is taken for dead where the main thread is blocked. */
const startLimit = 20_000;

/** For so many milliseconds it is waited at a time while there are other devices to be asked. */
const besideOthers = 1;

/** The main thread sees what it has just completed itself; nobody needs to tell it. */
const silently = () => {};

export class CpuDispatcher implements Dispatcher, EngineEvents {
  readonly #table: CommandTable;
  readonly #host: DispatcherHost;
  readonly #engines: EngineSet;
  /** In flight, in the order of issue. */
  readonly #flights = new Map<Command, Flight>();
  readonly #freeSlots = Array.from({ length: slotCount }, (_, i) => slotCount - 1 - i);
  /** The same by their tickets, for what the engines report: of a command that is settled nobody wants to know. */
  readonly #byTicket = new Map<number, Flight>();
  readonly #cancellations = new Cancellations();
  readonly #hostCommands: HostCommands;
  #rung = false;
  readonly #brief = new BriefLook();
  /** Commands in flight that somebody has to wait for. */
  #watched = 0;
  /** Neither threads nor ports keep the process alive, so that a device that is left open does not; who awaits a command does. */
  readonly #keepAlive = new KeepAlive();
  #closed: Promise<void> | null = null;

  constructor(host: DispatcherHost, table: CommandTable, createEngines: (events: EngineEvents) => EngineSet) {
    this.#host = host;
    this.#table = table;
    this.#engines = createEngines(this);
    this.#hostCommands = new HostCommands({
      table,
      watch: (command) => this.watch(command),
      poll: () => this.poll(),
    });
  }

  get engines(): EngineSet {
    return this.#engines;
  }

  // Issuing

  dispatch(command: Command, work: Work): void {
    if (work.kind === 'graph') throw new TypeError('a graph of the CPU is launched as single commands');
    command.queued = performance.now();
    const assignment = work.kind === 'host' || work.kind === 'wait' ? null : this.#host.assign(work);
    let slot: number;
    try {
      slot = this.#takeSlot();
    } catch (error) {
      assignment?.release();
      throw error;
    }
    const failure = failedOf(command.dependencies)?.failure ?? aborted(work);
    if (failure !== null) {
      this.#freeSlots.push(slot);
      assignment?.release();
      command.settle(failure, command.queued, command.queued);
      return;
    }
    const flight = this.#open(command, work, assignment, slot);
    if (work.kind === 'launch' && work.signal !== null) {
      const cancel = (reason: WarpstageError) => this.#cancel(flight, reason);
      flight.stopListening = this.#cancellations.add(work, work.signal, cancel);
    }
    if (work.kind === 'host') this.#hostCommands.callInTurn(flight, work);
    else if (work.kind === 'wait') this.#hostCommands.waitInTurn(flight, work);
    else if (assignment !== null) {
      if (assignment.landing !== undefined) this.#table.watchFromMain(flight.ticket);
      if (!this.#engines.isStopping(assignment.engine)) this.#engines.post(assignment.engine, flight.order!);
    }
  }

  isBehindFunction(commands: readonly Command[], clear: Set<Command>): boolean {
    return commands.some((command) => {
      const flight = this.#flights.get(command);
      return flight !== undefined && waitsForFunction(flight, clear);
    });
  }

  #open(command: Command, work: Work, assignment: Assignment | null, slot: number): Flight {
    const dependencies = command.dependencies.flatMap((dependency) => this.#flights.get(dependency) ?? []);
    for (const dependency of dependencies) ++dependency.dependents;
    const ticket = this.#table.open(slot);
    const flight: Flight = {
      command,
      work,
      assignment,
      ticket,
      order: assignment && {
        kind: 'command',
        ticket,
        priority: command.priority,
        dependencies: dependencies.map((dependency) => dependency.ticket),
        task: assignment.task,
      },
      dependencies,
      dependents: 0,
      settled: false,
      watched: false,
      cancellation: null,
      stopListening: silently,
      faults: [],
      broken: null,
      stages: undefined,
      thrown: null,
    };
    this.#flights.set(command, flight);
    this.#byTicket.set(ticket, flight);
    return flight;
  }

  /** A slot; waits for one if a thousand commands are in flight. */
  #takeSlot(): number {
    for (;;) {
      const slot = this.#freeSlots.pop();
      if (slot !== undefined) return slot;
      this.waitForOldest();
    }
  }

  /** Settles something, for which it blocks if need be. False if nothing is in flight. */
  waitForOldest(): boolean {
    const before = this.#flights.size;
    this.poll();
    const [oldest] = this.#flights.values();
    if (oldest === undefined || this.#flights.size < before) return before > 0;
    this.#block(oldest);
    return true;
  }

  /** Blocks until no command in flight has still to fill a part of this pageable memory. */
  waitForLandings(buffer: ArrayBufferLike): void {
    for (const flight of this.#flights.values()) {
      if (flight.assignment?.landing?.buffer !== buffer) continue;
      if (waitsForFunction(flight)) throw sourceBehindFunction();
      this.#block(flight);
    }
  }

  /** Blocks until a command is complete. */
  finish(command: Command): void {
    const flight = this.#flights.get(command);
    if (flight !== undefined) this.#block(flight);
  }

  #block(flight: Flight): void {
    if (this.#engines.isStopping('compute')) throw noRoomWhileStopping(this.#flights.size);
    if (waitsForFunction(flight)) throw noRoomBehindFunction(this.#flights.size);
    const begin = performance.now();
    this.#engines.awaitKernels(true);
    while (!isComplete(this.#table.state(flight.ticket))) {
      this.#engines.wait(flight.ticket, this.#hostCommands.isAlone ? startLimit : besideOthers);
      this.#hostCommands.ask();
      // An engine whose thread cannot start is reported through the event loop, which is blocked here.
      const dead = engineNames.find((name, i) => this.#engines.isWanted(name) && !this.#table.isAlive(i));
      if (dead !== undefined && performance.now() - begin >= startLimit) {
        throw lostThread(dead, `it has not started within ${startLimit / 1000} s`);
      }
    }
    if (this.#watched === 0) this.#engines.awaitKernels(false);
    this.poll();
  }

  // Settling

  poll(): void {
    this.#engines.advance();
    this.#hostCommands.ask();
    do {
      this.#rung = false;
      const complete = [...this.#flights.values()].filter(({ ticket }) =>
        isComplete(this.#table.state(ticket)),
      );
      for (const flight of complete) this.#settle(flight);
      // A notice that arrived while reports were drained does not come again.
    } while (this.#rung);
  }

  #settle(flight: Flight): void {
    if (flight.settled) return;
    const { command, work, assignment, ticket } = flight;
    // An engine may have skipped this one because of a dependency that completed after we looked.
    for (const dependency of flight.dependencies) {
      if (isComplete(this.#table.state(dependency.ticket))) this.#settle(dependency);
    }
    const state = this.#table.state(ticket);
    if (work.kind === 'launch' || state === State.failed) this.#engines.drain();
    flight.settled = true;
    flight.stopListening();
    this.#flights.delete(command);
    this.#byTicket.delete(ticket);
    const failure = this.#failureOf(flight, state);
    const ran = state === State.done || (state === State.failed && flight.cancellation === null);
    const now = performance.now();
    const started = ran ? this.#table.started(ticket) : now;
    const ended = ran ? this.#table.ended(ticket) : now;
    assignment?.release();
    for (const dependency of flight.dependencies) {
      if (--dependency.dependents === 0 && dependency.settled)
        this.#freeSlots.push(slotOf(dependency.ticket));
    }
    if (flight.dependents === 0) this.#freeSlots.push(slotOf(ticket));
    if (flight.watched) {
      this.#keepAlive.remove();
      if (--this.#watched === 0) this.#engines.awaitKernels(false);
    }
    command.settle(failure, started, ended);
    if (ran && work.kind !== 'wait')
      this.#host.finished(command, work, assignment?.engine ?? 'host', flight.stages);
  }

  /** The error of a complete command, null if there is none. A pageable destination is filled here. */
  #failureOf(flight: Flight, state: number): WarpstageError | null {
    const { command, work, assignment, cancellation, faults, broken, thrown } = flight;
    // What went wrong before the device was closed counts more than that.
    const own = cancellation !== null && isOfClosing(cancellation) && faults.length > 0;
    if (cancellation !== null && state === State.failed && !own) return cancellation;
    // It was skipped; or the main thread could not do its part of a dependency, which no engine knows of.
    const failed = flight.dependencies.find((dependency) => dependency.command.status === 'failed');
    if (failed !== undefined) return failed.command.failure;
    if (thrown !== null) return thrown;
    if (state === State.failed) {
      if (work.kind === 'launch' && faults.length > 0) return faultError(work, faults);
      return brokeOff(work, command.stream, broken ?? 'for an unknown reason');
    }
    try {
      assignment?.landing?.land();
    } catch {
      return destinationDetached(work);
    }
    return null;
  }

  // Waiting

  waitBriefly(commands: readonly Command[]): boolean {
    const flights = commands.flatMap((command) => this.#flights.get(command) ?? []);
    // What the main thread does itself is not done while it looks.
    if (flights.some((flight) => flight.order === null || waitsForFunction(flight))) return false;
    const isDone = () => flights.every(({ ticket }) => isComplete(this.#table.state(ticket)));
    if (!this.#brief.look(isDone)) return false;
    this.poll();
    return true;
  }

  watch(command: Command): void {
    const flight = this.#flights.get(command);
    if (flight === undefined) return;
    if (!flight.watched) {
      flight.watched = true;
      this.#keepAlive.add();
      if (++this.#watched === 1) this.#engines.awaitKernels(true);
    }
    if (isComplete(this.#table.watchFromMain(flight.ticket))) this.poll();
  }

  // What the engines say

  report(report: Report): void {
    switch (report.kind) {
      case 'complete':
        this.#rung = true;
        break;
      case 'print':
        this.#host.print(report.line);
        break;
      default:
        this.#note(report, this.#byTicket.get(report.ticket));
    }
  }

  /** Notes what an engine tells of a command; nothing, where that was settled before it was heard, as when it was cancelled. */
  #note(report: Extract<Report, { ticket: number }>, flight: Flight | undefined): void {
    if (flight === undefined) return;
    if (report.kind === 'stages') flight.stages = report;
    else if (report.kind === 'fault') flight.faults.push(report.fault);
    else flight.broken = report.reason;
  }

  arrived(): void {
    this.poll();
  }

  // Stopping

  #cancel(flight: Flight, failure: WarpstageError): void {
    if (this.#table.advance(flight.ticket, State.pending, State.failed, silently)) {
      flight.cancellation = failure;
      this.poll();
    } else if (this.#table.advance(flight.ticket, State.running, State.cancelling, silently)) {
      flight.cancellation = failure;
      if (flight.assignment !== null) void this.#restart(flight.assignment.engine);
    }
  }

  /** Stops an engine's threads, fails what they were at, and has new ones go on with the rest. */
  async #restart(engine: EngineName): Promise<void> {
    if (this.#engines.isStopping(engine)) return;
    await this.#engines.stop(engine, false);
    if (this.#closed !== null) return;
    for (const flight of this.#flights.values()) {
      if (flight.assignment?.engine !== engine) continue;
      if (flight.cancellation !== null) {
        this.#table.advance(flight.ticket, State.cancelling, State.failed, silently);
      } else if (this.#table.state(flight.ticket) === State.pending) {
        this.#engines.post(engine, flight.order!);
      }
    }
    this.poll();
  }

  /** A thread of an engine died: what the engine had not completed fails. */
  lost(engine: EngineName, reason: string): void {
    if (this.#closed !== null) return;
    for (const flight of this.#flights.values()) {
      if (flight.assignment?.engine === engine) this.#abandon(flight, lostThread(engine, reason));
    }
    void this.#restart(engine);
  }

  /** Marks a command failed, unless it is complete; a running one only when its threads are gone. */
  #abandon(flight: Flight, failure: WarpstageError): void {
    const { ticket } = flight;
    const ours =
      this.#table.advance(ticket, State.pending, State.failed, silently) ||
      this.#table.advance(ticket, State.running, State.cancelling, silently) ||
      this.#table.state(ticket) === State.cancelling;
    if (ours) flight.cancellation ??= failure;
  }

  /** Cancels everything and ends all threads. */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    const stopped = deviceClosed('the command was not done');
    const isCalling = ({ assignment, ticket }: Flight) =>
      assignment === null && this.#table.state(ticket) === State.running;
    for (const flight of this.#flights.values()) if (!isCalling(flight)) this.#abandon(flight, stopped);
    await Promise.all(engineNames.map((name) => this.#engines.stop(name, true)));
    // A host function that has not returned is not waited for. One that has thrown by now is known to have.
    if ([...this.#flights.values()].some(isCalling)) await thrownIsKnown();
    for (const flight of this.#flights.values()) {
      this.#abandon(flight, stopped);
      this.#table.advance(flight.ticket, State.cancelling, State.failed, silently);
    }
    this.poll();
    this.#keepAlive.letGo();
  }
}
