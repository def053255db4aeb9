// Carries commands out on a GPU.
//
// What comes behind a host function is deferred until that has returned (deferred-commands.ts): the driver
// is given nothing that does not end by itself, so any call of it may wait for all that it was given. Events of other GPUs are
// waited for by the GPU itself, where the driver has been given what they stand behind; any other device by the host.

import type { WarpstageError } from '../../diagnostics/error.ts';
import { aborted, Cancellations } from '../cancellations.ts';
import { deviceClosed } from '../closed.ts';
import { type Command, type Dispatcher, failedOf, type Stamp, type Work } from '../command.ts';
import type { CopyWork } from '../copies.ts';
import { failureOfWait, type WaitWork } from '../foreign-wait.ts';
import type { GraphWork } from '../graph-work.ts';
import { thrownIsKnown } from '../host-call.ts';
import { Blocking } from './blocking.ts';
import { Channels } from './channels.ts';
import { GpuClock } from './clock.ts';
import { Completion } from './completion.ts';
import type { Context } from './context.ts';
import { DeferredCommands } from './deferred-commands.ts';
import type { Driver } from './driver.ts';
import { type DriverStream, EventPool, type Flight, fresh } from './driver-stream.ts';
import { DriverStreams, type StreamPlace } from './driver-streams.ts';
import { EventStamp } from './event-stamp.ts';
import { isGpuGraph } from './graphs.ts';
import { type Abandoned, Guard } from './guard.ts';
import { HostFunctions } from './host-functions.ts';
import { IssueLater } from './issue-later.ts';
import { type GpuWork, Issuer, type Prepared } from './issuer.ts';
import type { IssuingFailure } from './issuing/issuing-thread.ts';
import { noteRefusals } from './issuing/refusals.ts';
import type { Launcher } from './launcher.ts';
import { launchesOf } from './lost.ts';
import type { DeviceMemory, PinnedMemory } from './memory.ts';
import { peersOf } from './peers.ts';
import type { GpuRecording } from './recording.ts';
import { SpanClock } from './span-marks.ts';
import { Waiting } from './waiting.ts';

const nobody: readonly Command[] = [];

/** What the dispatcher needs of its device. */
export interface DispatcherHost {
  readonly driver: Driver;
  readonly context: Context;
  readonly launcher: Launcher;
  readonly memory: DeviceMemory;
  readonly pinned: PinnedMemory;
  /** Called with each line that a kernel prints. */
  print(line: string): void;
  /** Asked when a command is issued whether and how it is recorded, and notified when it is complete. */
  readonly recording: GpuRecording;
}

export class CudaDispatcher implements Dispatcher {
  readonly #host: DispatcherHost;
  readonly #driver: Driver;
  readonly #pool: EventPool;
  readonly #clock: GpuClock;
  readonly #spans: SpanClock;
  readonly #channels: Channels;
  readonly #issuer: Issuer;
  readonly #deferred = new DeferredCommands();
  readonly #functions: HostFunctions;
  readonly #cancellations = new Cancellations();
  readonly #later: IssueLater;
  readonly #streams: DriverStreams;
  readonly #completion: Completion;
  readonly #waiting = new Waiting(() => this.poll());
  readonly #guard: Guard;
  readonly #blocking: Blocking;

  constructor(host: DispatcherHost) {
    this.#host = host;
    this.#guard = new Guard(host.driver, host.context, () => this.#abandon());
    this.#driver = host.driver;
    this.#pool = new EventPool(host.driver, 'timed');
    this.#clock = new GpuClock(host.driver, this.#pool);
    this.#spans = new SpanClock(this.#clock, this.#pool);
    const { driver, recording } = host;
    this.#streams = new DriverStreams({ driver, recording, spans: this.#spans, timed: this.#pool });
    this.#completion = new Completion(this.#streams);
    this.#blocking = new Blocking(this.#streams, this.#deferred, (result) => {
      this.#guard.check(result);
      this.poll();
    });
    this.#channels = new Channels(host.driver, host.memory, host.pinned, (line) => host.print(line));
    this.#issuer = new Issuer({
      driver: host.driver,
      launcher: host.launcher,
      pinned: host.pinned,
      recording: host.recording,
      channels: this.#channels,
      spans: this.#spans,
      pool: this.#pool,
      cancellations: this.#cancellations,
      settleFillings: (memory) => this.#blocking.settleFillings(memory),
      settleOldestCopy: () => this.#blocking.settleOldestCopy(),
      attempt: (call) => this.#guard.attempt(call),
    });
    this.#later = new IssueLater({
      context: host.context,
      guard: this.#guard,
      issuer: this.#issuer,
      deferred: this.#deferred,
      cancellations: this.#cancellations,
      issue: (command, work, prepared) => this.#issue(command, work, prepared),
      watch: (command) => this.watch(command),
    });
    this.#functions = new HostFunctions({
      deferred: this.#deferred,
      watch: (command) => this.#guard.attempt(() => this.watch(command)),
      finished: (command, work) => {
        host.recording.finished(command, work);
        this.#waiting.progressed();
      },
    });
  }

  /** Why nothing can be done any more, if so. */
  get lost(): WarpstageError | null {
    return this.#guard.lost;
  }

  // Issuing

  dispatch(command: Command, work: Work): void {
    this.#guard.call(() => this.#dispatch(command, work));
  }

  #dispatch(command: Command, work: Work): void {
    const isHeld = work.kind === 'host' || this.#deferred.defers(command.stream, command.dependencies);
    if (isHeld || this.#host.recording.isOn) command.queued = performance.now();
    const failure = aborted(work);
    if (failure !== null) command.settle(failure, command.queued, command.queued);
    else if (work.kind === 'host') this.#functions.add(command, work);
    else if (work.kind === 'wait') this.#waitForDevice(command, work, isHeld);
    else if (isHeld) this.#later.defer(command, work);
    else this.#issue(command, work, null);
  }

  #issue(command: Command, work: GpuWork, prepared: Prepared | null): void {
    const stream = this.#streams.ofCommand(command);
    stream.prepare();
    this.#host.memory.awaitZeroing(stream);
    const peers = peersOf(work);
    if (peers.length > 0) this.#awaitPeers(stream, peers);
    const { issuing } = this.#driver;
    const firstCall = issuing?.position ?? 0;
    const waited = this.#streams.waitFor(stream, command.dependencies);
    const flight = this.#issuer.issue(command, work, stream, waited, prepared);
    flight.firstCall = firstCall;
    flight.endOfCalls = issuing?.position ?? 0;
    stream.add(flight);
  }

  /** Has a stream wait for another device: for the driver's events if it is a GPU whose driver has been given what to wait for. */
  #waitForDevice(command: Command, work: WaitWork, isHeld: boolean): void {
    const { dispatcher, commands } = work.others;
    const events = !isHeld && dispatcher instanceof CudaDispatcher ? dispatcher.#eventsOf(commands) : null;
    this.#host.context.use();
    if (events === null) {
      this.#functions.addWait(command, work);
      return;
    }
    const stream = this.#streams.ofCommand(command);
    stream.prepare();
    this.#streams.waitFor(stream, command.dependencies);
    for (const event of events) this.#streams.waitForEvent(stream, event);
    const land = () => {
      for (const other of commands) (dispatcher as CudaDispatcher).#settleReached(other);
      this.#host.context.use();
      return failureOfWait(command, work);
    };
    stream.add({ command, work, land, span: null, activity: null, ...fresh });
  }

  /** Has a stream wait until arrays of other GPUs are zero. */
  #awaitPeers(stream: DriverStream, peers: readonly DeviceMemory[]): void {
    const others = peers.filter((memory) => memory !== this.#host.memory);
    const events = others.map((memory) => memory.zeroedFor(stream));
    this.#host.context.use();
    for (const event of events) if (event !== null) this.#streams.waitForEvent(stream, event);
  }

  /** Events behind these commands; null if the driver was not given all of them, or does nothing any more. */
  #eventsOf(commands: readonly Command[]): readonly number[] | null {
    const open = commands.filter(({ status }) => status === 'queued');
    if (this.lost !== null || open.some((command) => this.#deferred.has(command))) return null;
    return this.guarded(() => {
      const events = open.map((command) => this.#streams.ofCommand(command).mark(command));
      // Another GPU may wait for an event only behind its recording.
      this.#driver.issuing?.settle();
      return events;
    });
  }

  /** Settles a command that the GPU has reached, and what was issued before it. */
  #settleReached(command: Command): void {
    if (command.status !== 'queued' || this.lost !== null) return;
    this.#host.context.use();
    const result = this.#streams.ofCommand(command).poll(this.#completion.collect);
    this.#settleComplete(command.id);
    if (result !== 0) this.#guard.lose(result);
  }

  isBehindFunction(commands: readonly Command[]): boolean {
    return commands.some((command) => this.#deferred.has(command));
  }

  takesGraph(graph: GraphWork): boolean {
    return isGpuGraph(graph, this.#host.pinned);
  }

  forget(name: string): void {
    if (this.lost !== null) return;
    const stream = this.#streams.find(name);
    // Behind something that failed, commands are settled before those that the stream was given earlier.
    const last = this.#deferred.lastOf(name) ?? stream?.pending.at(-1)?.command;
    if (last !== undefined) {
      this.watch(last);
      last.whenSettled(() => this.forget(name));
      return;
    }
    if (stream === undefined) return;
    this.#host.context.use();
    this.#channels.forget(name);
    this.#host.recording.forget(stream.handle);
    this.#streams.remove(stream);
  }

  mark(stream: StreamPlace, behind: readonly Command[], timed: boolean): Stamp | null {
    if (!timed && behind.length === 0) return null;
    const stamp = timed ? new EventStamp(this.#driver, this.#clock) : null;
    if (!this.#deferred.defers(stream.name, behind)) this.#place(stamp, stream, behind);
    else {
      this.#deferred.deferPoint(stream.name, behind, () =>
        this.#guard.attempt(() => this.#place(stamp, stream, behind)),
      );
    }
    return stamp;
  }

  #place(stamp: EventStamp | null, stream: StreamPlace, behind: readonly Command[]): void {
    this.#guard.call(() => {
      if (stamp === null) this.#markEnds(behind);
      else this.#placeStamp(stamp, this.#streams.of(stream.name, stream.priority), behind);
    });
  }

  /** Marks the ends of streams that commands are, for what waits for them later. */
  #markEnds(commands: readonly Command[]): void {
    for (const command of commands) {
      if (command.status !== 'queued' || this.#deferred.has(command)) continue;
      if (this.#streams.markEnd(command)) this.poll();
    }
  }

  #placeStamp(stamp: EventStamp, own: DriverStream, behind: readonly Command[]): void {
    stamp.place(this.#streams.timePoint(own, behind));
    if (own.isFull) this.poll();
  }

  /** Commands under way: when these are settled, all are. */
  get last(): readonly Command[] {
    const issued = [...this.#streams.values()].flatMap((stream) => stream.pending.at(-1)?.command ?? []);
    return [...issued, ...this.#deferred.commands.map(({ command }) => command)];
  }

  // Completion

  /** Settles what is known to be complete, up to the command of this number. */
  #settleComplete(upTo: number = Number.POSITIVE_INFINITY): void {
    if (this.#driver.issuing?.hasFailures) this.#refuse(this.#driver.issuing.takeFailures());
    let flight = this.#completion.next(upTo);
    if (flight === null) return;
    // What is only recorded does not have the main thread look more often than it would without.
    if (this.#completion.takeAsked()) this.#waiting.progressed();
    const now = performance.now();
    for (; flight !== null; flight = this.#completion.next(upTo)) this.#settle(flight, now);
    if (this.#host.recording.isOn) this.#clock.renew(now);
  }

  /** Has those commands fail whose calls failed when the issuing thread made them. */
  #refuse(failures: readonly IssuingFailure[]): void {
    const issued = [...this.#streams.values()].flatMap(({ pending }) => pending);
    const refusal = (work: Work, result: number) => this.#issuer.refusal(work, result);
    const lost = noteRefusals(failures, [...this.#completion.left, ...issued], this.#driver, refusal);
    if (lost !== null) this.#guard.lose(lost);
  }

  #settle({ command, work, land, span, activity, refused }: Flight, now: number): void {
    const before = failedOf(command.dependencies)?.failure ?? refused;
    const own = land === null ? null : land(before !== null);
    const failure = before ?? own ?? aborted(work);
    if (span === null) {
      command.settle(failure, Math.min(command.queued, now), now);
      activity?.settled();
      return;
    }
    const { started, ended } = this.#spans.read(span);
    command.settle(failure, started, ended);
    this.#host.recording.finished(command, work);
  }

  poll(asked: readonly Command[] = nobody): void {
    if (this.lost !== null) return;
    this.#functions.ask();
    this.#host.context.use();
    for (const command of asked) {
      if (command.status !== 'queued' || this.#deferred.has(command)) continue;
      this.#streams.ofCommand(command).watch(command);
    }
    let result = 0;
    for (const stream of this.#streams.values()) {
      result = stream.poll(this.#completion.collect);
      if (result !== 0) break;
    }
    this.#channels.deliver();
    this.#settleComplete();
    if (result !== 0) this.#guard.lose(result);
  }

  waitBriefly(commands: readonly Command[]): boolean {
    const [first] = commands;
    if (first === undefined || commands.length > 1 || this.#deferred.has(first)) return false;
    this.guarded(() => this.#streams.ofCommand(first).watch(first));
    return this.#waiting.lookAtOnce(() => first.status !== 'queued');
  }

  watch(command: Command): void {
    if (command.status !== 'queued' || this.#deferred.watch(command)) return;
    this.guarded(() => this.#streams.ofCommand(command).watch(command));
    this.#waiting.add();
    command.whenSettled(() => this.#waiting.remove());
  }

  /** Waits until all that the driver was given is done, for memory that is short; false if that was nothing. */
  drain(): boolean {
    return this.lost === null && this.#blocking.drain();
  }

  /** Fails copies that are deferred and use memory that is about to go. */
  giveUp(uses: (work: CopyWork) => boolean): void {
    this.#deferred.failCopies(uses, deviceClosed('a copy from or to another device was not done'));
  }

  // Errors

  /** Calls; if the GPU stopped, everything fails and so does this. */
  guarded<T>(call: () => T): T {
    return this.#guard.call(call);
  }

  /** Takes back what is in flight when the GPU has stopped. */
  #abandon(): Abandoned {
    this.#channels.deliver();
    const issued = [...this.#streams.values()].flatMap((stream) => stream.abandon());
    const flights = [...this.#completion.abandon(), ...issued];
    return {
      launches: flights.flatMap(({ work }) => launchesOf(work)),
      fail: (error) => {
        for (const { command, activity } of flights) {
          command.settle(error, command.queued, performance.now());
          activity?.settled('lost');
        }
        this.#deferred.abandon(error);
      },
    };
  }

  /**
   * Fails what is behind host functions, waits until all that the driver was given is complete, and gives back
   * streams and events. A function that has not returned is not waited for; what one has thrown by now is known.
   */
  async close(): Promise<void> {
    const { called } = this.#functions;
    const failure = deviceClosed('a command behind a host function was not done');
    this.#deferred.abandon(failure, called);
    if (called.size > 0) {
      await thrownIsKnown();
      this.#deferred.abandon(failure);
    }
    if (this.lost === null) {
      this.#host.context.use();
      const result = this.#driver.cuCtxSynchronize();
      if (result !== 0) this.#guard.lose(result);
    }
    if (this.lost !== null) {
      this.#issuer.abandon();
      return;
    }
    for (const stream of this.#streams.values()) {
      stream.prepare();
      this.#completion.collect(stream.abandon(), true);
    }
    this.#settleComplete();
    for (const { handle } of this.#streams.values()) this.#host.recording.forget(handle);
    this.#streams.close();
    this.#channels.close();
    this.#issuer.close();
    this.#clock.close();
    this.#pool.close();
  }
}
