// The dispatcher of a virtual device: the CPU does the work, the simulation keeps the time.
//
// Each command is dispatched twice. The CPU's dispatcher executes it as soon as it can, and the
// simulation hears of it at the host's virtual time; a command is settled when both are through
// with it, in the order of virtual time. The host's time goes on by what issuing costs, and by
// waiting. When all of a program's code waits for something, time goes on to the first command
// that anybody awaits. So nothing here depends on how fast this machine is, but for host functions that
// await something: nobody can say what, so other commands are settled meanwhile.

import { Command, type Dispatcher, type Stamp, type Work } from '../command.ts';
import type { WaitWork } from '../foreign-wait.ts';
import { inNextTurn, nextTurn } from '../turn.ts';
import { type Coupled, Coupling, type HostClock } from './coupling.ts';
import { type EngineModel, engineOf } from './engines.ts';
import { type Flight, Flights, markAll } from './flights.ts';
import type { OperationTimes, Staged } from './operation-times.ts';
import { Simulation } from './simulation.ts';

/** What executes the commands. */
export interface Executor extends Dispatcher {
  /** Blocks until a command is complete. */
  finish(command: Command): void;
  close(): Promise<void>;
}

/** Virtual milliseconds that asking costs at least, so that a loop of queries gets on. */
const queryTime = 1e-3;

/** Milliseconds without issuing anything after which the host is slow to issue, and for how long it is. */
const longWait = 1;
const slowFor = 1;

/** Bytes that copies under way have in page-locked memory at most before the next one waits for the oldest. */
const mostStaged = 256 * 2 ** 20;

/** Bytes of the page-locked stretch that a copy takes. */
const stretchOf = (bytes: number) => 2 ** Math.ceil(Math.log2(Math.max(bytes, 4096)));

/** Whether it is the host that ends it, in its own time: a function, what waits for a real device, or for another's function. */
function isFunction({ work }: Flight, clear: Set<Command> = new Set()): boolean {
  if (work.kind !== 'wait') return work.kind === 'host';
  const { dispatcher, commands } = work.others;
  return !(dispatcher instanceof ModelDispatcher) || dispatcher.isBehindFunction(commands, clear);
}

export class ModelDispatcher implements Dispatcher {
  readonly #model: EngineModel;
  readonly #times: OperationTimes;
  readonly #executor: Executor;
  readonly #finished: (command: Command, work: Work, engine: string) => void;
  readonly #simulation: Simulation;
  /** In the order of issue. */
  readonly #flights = new Flights();
  readonly #streams = new Map<string, number>();
  readonly #awaited = new Set<Command>();
  /** Streams in which an event with a time was recorded last. */
  readonly #timed = new Set<string>();
  #clock: HostClock = { now: 0, issued: 0, slowUntil: 0 };
  /** Until then, the host copies from page-locked memory. */
  #landed = 0;
  /** With the devices that wait for this one, or it for them. */
  #coupling: Coupling | null = null;
  readonly #coupled: Coupled;
  /** Functions that await something. */
  readonly #late = new Set<Command>();
  #waiting = false;
  /** Called when there may be something to settle again, while all that is awaited waits for functions. */
  #stir: () => void = () => {};

  constructor(
    model: EngineModel,
    times: OperationTimes,
    executor: Executor,
    finished: (command: Command, work: Work, engine: string) => void,
  ) {
    this.#model = model;
    this.#times = times;
    this.#executor = executor;
    this.#finished = finished;
    this.#simulation = new Simulation(model);
    const awaited = () => this.#awaitable().map(({ id }) => id);
    const join = (coupling: Coupling) => {
      this.#coupling = coupling;
      this.#clock = coupling.clock;
    };
    this.#coupled = { simulation: this.#simulation, awaited, join };
  }

  /** The host's virtual time. */
  get #now(): number {
    return this.#clock.now;
  }

  set #now(time: number) {
    this.#clock.now = time;
  }

  dispatch(command: Command, work: Work): void {
    if (work.kind === 'wait' && work.others.dispatcher instanceof ModelDispatcher) {
      this.#waitForDevice(command, work, work.others.dispatcher);
      return;
    }
    const { id, stream, priority, dependencies } = command;
    const before = this.#flights.of(dependencies);
    const executed = new Command(
      id,
      { name: stream, priority },
      before.map((flight) => flight.executed),
      [],
    );
    const { kind, duration, issue, load, staged, blocksHost } = this.#times.of(work);
    this.#executor.dispatch(executed, work);
    this.#issueFor(issue + this.#joinTime(stream, before));
    if (staged !== undefined) this.#stage(staged);
    command.queued = this.#now;
    const flight = { command, work, kind, executed, staged, isMarked: false };
    this.#flights.set(command, flight);
    const timing = this.#timed.delete(stream) ? this.#model.timingTime : 0;
    this.#simulation.issue(
      {
        id,
        kind,
        stream: this.#numberOf(stream),
        duration: duration + timing,
        dependencies: before.map((flight) => flight.command.id),
        priority,
        ...(load === undefined ? {} : { load }),
      },
      this.#now,
    );
    if (blocksHost) this.#waitForFirst([command.id]);
  }

  /** The host makes room for what is staged, and copies it if it is on its way to the device. */
  #stage({ bytes, time, when }: Staged): void {
    const used = () => {
      const flights = [...this.#flights.values()];
      return flights.reduce(
        (sum, { staged }) => sum + (staged === undefined ? 0 : stretchOf(staged.bytes)),
        0,
      );
    };
    while (used() + stretchOf(bytes) > mostStaged) {
      const oldest = [...this.#flights.values()].find(({ staged }) => staged !== undefined);
      if (oldest === undefined) break;
      this.#waitForFirst([oldest.command.id]);
      this.#executor.finish(oldest.executed);
      this.#settle(oldest);
    }
    if (when !== 'issued') return;
    this.#now += time;
    this.#advance();
  }

  /** Has a stream wait for another virtual device: for what that executes, and in the time that both have from now on. */
  #waitForDevice(command: Command, work: WaitWork, other: ModelDispatcher): void {
    const { id, stream, priority, dependencies } = command;
    this.#couple(other);
    const before = this.#flights.of(dependencies);
    const waits = before.map((flight) => flight.executed);
    const executed = new Command(id, { name: stream, priority }, waits, []);
    const others = work.others.commands.flatMap((one) => other.#flights.get(one) ?? []);
    const failed = work.others.commands.filter(({ status }) => status === 'failed');
    const commands = [...failed, ...others.map((flight) => flight.executed)];
    this.#executor.dispatch(executed, { kind: 'wait', others: { dispatcher: other.#executor, commands } });
    this.#issueFor(
      markAll(others) * other.#model.eventTime + this.#joinTime(stream, before) + this.#model.eventTime,
    );
    command.queued = this.#now;
    this.#flights.set(command, { command, work, kind: 'none', executed, staged: undefined, isMarked: false });
    const operation = {
      id,
      kind: 'none',
      stream: this.#numberOf(stream),
      duration: Number.POSITIVE_INFINITY,
      dependencies: before.map((flight) => flight.command.id),
    } as const;
    this.#simulation.issue(operation, this.#now);
    const ids = others.map((flight) => flight.command.id);
    this.#coupling!.wait(this.#simulation, id, other.#simulation, ids);
    this.#coupling!.advance(this.#now);
  }

  /** From now on both have one clock: the later one. */
  #couple(other: ModelDispatcher): void {
    if (this.#coupling !== null && this.#coupling === other.#coupling) return;
    const later = this.#now >= other.#now ? this.#clock : other.#clock;
    const coupling = new Coupling(later);
    for (const one of [this, other]) {
      if (one.#coupling === null) coupling.add(one.#coupled);
      else coupling.addAll(one.#coupling);
    }
    for (const { join } of coupling.members) join(coupling);
    coupling.advance(later.now);
  }

  isBehindFunction(commands: readonly Command[], clear: Set<Command>): boolean {
    const seen = new Set(commands);
    for (const command of seen) {
      if (clear.has(command)) continue;
      const flight = this.#flights.get(command);
      if (flight !== undefined && isFunction(flight, clear)) return true;
      for (const before of command.dependencies) seen.add(before);
    }
    for (const command of seen) clear.add(command);
    return false;
  }

  /** What has still to be executed of functions and of all behind them. */
  #held(): Set<Command> {
    const clear = new Set<Command>();
    return this.#flights.behind((flight) => isFunction(flight, clear));
  }

  #numberOf(stream: string): number {
    const number = this.#streams.get(stream) ?? this.#streams.size;
    this.#streams.set(stream, number);
    return number;
  }

  // Time

  /** Somebody asks: that takes a little time, and what is complete by then is settled. */
  poll(): void {
    this.#now += Math.max(queryTime, this.#model.issueTime);
    this.#advance();
    this.#settleComplete();
  }

  #advance(): void {
    if (this.#coupling === null) this.#simulation.advance(this.#now);
    else this.#coupling.advance(this.#now);
  }

  /**
   * The host waits until the first of some commands is complete. `orOther`: code that waits for another device goes on
   * when that is sooner.
   */
  #waitForFirst(ids: readonly number[], orOther = false): void {
    if (this.#coupling === null) this.#simulation.completeFirst(ids);
    else this.#coupling.completeFirst(this.#simulation, ids, orOther);
    this.#now = Math.max(this.#now, this.#simulation.now);
  }

  /** The host's time goes on by what issuing takes. */
  #issueFor(time: number): void {
    const clock = this.#clock;
    if (clock.now - clock.issued >= longWait) clock.slowUntil = clock.now + slowFor;
    clock.now += clock.now < clock.slowUntil ? time * this.#model.issueAfterWait : time;
    clock.issued = clock.now;
    this.#advance();
  }

  waitForOldest(): boolean {
    const held = this.#held();
    const oldest = [...this.#flights.values()].find(({ executed }) => !held.has(executed));
    if (oldest === undefined) return false;
    this.#waitForFirst([oldest.command.id]);
    this.#settleComplete();
    return true;
  }

  /** Settles what is complete at the host's time, in the order of virtual time. */
  #settleComplete(): void {
    // A host function is called by the thread that asks here, when that is at leisure.
    const held = this.#held();
    for (const flight of this.#complete) {
      if (held.has(flight.executed)) continue;
      this.#executor.finish(flight.executed);
      this.#settle(flight);
    }
  }

  get #complete(): readonly Flight[] {
    return this.#flights.completeAt(this.#now, this.#simulation);
  }

  #settle(flight: Flight): void {
    const { command, work, kind, executed } = flight;
    if (!this.#flights.delete(command)) return;
    this.#awaited.delete(command);
    const { started, ended } = this.#simulation.stayOf(command.id)!;
    this.#simulation.forget(command.id);
    if (flight.staged?.when === 'complete') this.#land(flight.staged.time, ended);
    command.settle(executed.failure, started, ended);
    if (executed.failure === null && work.kind !== 'wait')
      this.#finished(command, work, engineOf(this.#model, kind));
  }

  /** The host copies what is complete from page-locked memory, while it waits for more, one after the other. */
  #land(time: number, complete: number): void {
    this.#landed = Math.max(this.#landed, this.#clock.issued, complete) + time;
    this.#now = Math.max(this.#now, this.#landed);
  }

  // Waiting

  watch(command: Command): void {
    if (!this.#flights.has(command)) return;
    this.#awaited.add(command);
    this.#stir();
    if (this.#waiting) return;
    this.#waiting = true;
    // By then, all code that can go on without waiting has done so.
    inNextTurn(() => void this.#wait());
  }

  async #wait(): Promise<void> {
    while (this.#awaited.size > 0) {
      const behind = this.#flights.behind(({ executed }) => this.#late.has(executed));
      const awaited = this.#awaitable();
      if (awaited.length === 0) {
        await new Promise<void>((resolve) => {
          this.#stir = resolve;
        });
        continue;
      }
      this.#waitForFirst(
        awaited.map(({ id }) => id),
        true,
      );
      for (const flight of this.#complete) {
        const { executed } = flight;
        const waits = executed.dependencies.some((one) => one.status === 'queued' && behind.has(one));
        if (!waits) await this.#execution(flight);
        if (executed.status !== 'queued') {
          this.#settle(flight);
          continue;
        }
        behind.add(executed);
        if (!waits) this.#late.add(executed);
      }
      // Whoever awaited goes on now, and issues more or awaits again.
      await nextTurn();
    }
    this.#waiting = false;
    this.#late.clear();
  }

  /** What the host waits for, and what comes behind no function that awaits something. */
  #awaitable(): readonly Command[] {
    if (this.#late.size === 0) return [...this.#awaited];
    const behind = this.#flights.behind(({ executed }) => this.#late.has(executed));
    return [...this.#awaited].filter((one) => !behind.has(this.#flights.get(one)!.executed));
  }

  /** Resolves when the command was executed, or if it is a function, when that awaits something. */
  async #execution(flight: Flight): Promise<void> {
    const { executed } = flight;
    const settled = new Promise<void>((resolve) => {
      executed.whenSettled(resolve);
      this.#executor.watch(executed);
    });
    if (!isFunction(flight)) return settled;
    await Promise.race([settled, nextTurn()]);
    executed.whenSettled(() => this.#stir());
  }

  /** What it costs the host to have a stream wait for what others do. */
  #joinTime(stream: string, before: readonly Flight[]): number {
    const others = before.filter(({ command }) => command.stream !== stream);
    const { eventTime } = this.#model;
    return markAll(others) * eventTime + others.length * eventTime;
  }

  mark(
    stream: { readonly name: string; readonly priority: number },
    behind: readonly Command[],
    timed: boolean,
  ): Stamp | null {
    const flights = this.#flights.of(behind);
    if (!timed) {
      this.#issueFor(markAll(flights) * this.#model.eventTime);
      return null;
    }
    this.#issueFor(this.#model.eventTime + this.#joinTime(stream.name, flights));
    for (const flight of flights) flight.isMarked = true;
    this.#timed.add(stream.name);
    const pending = flights.map(({ command }) => command);
    const recorded = this.#now;
    const known = ({ stream: other, ended }: Command) =>
      other === stream.name ? ended : ended + this.#model.signalTime;
    return {
      time: () => pending.reduce((latest, command) => Math.max(latest, known(command)), recorded),
      release: () => {},
    };
  }

  /** Stops the executor; what was in flight is settled as that left it. */
  async close(): Promise<void> {
    await this.#executor.close();
    for (const { command, executed } of [...this.#flights.values()]) {
      this.#flights.delete(command);
      command.settle(executed.failure, this.#now, this.#now);
    }
    this.#awaited.clear();
    this.#coupling?.remove(this.#coupled);
  }
}
