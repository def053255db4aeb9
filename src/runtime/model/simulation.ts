// The clockwork of a virtual device: operations in, their times out, the same on every machine.
//
// Time goes from one start or end to the next. Between them every running operation makes
// progress at its own rate: 1, or less for a copy while one in the other direction runs too.
// An engine takes its operations in the order of issue; it may pass over one that is not ready for
// one that came through another hardware queue. Nothing that is issued later changes what has happened, so the clock may stand
// anywhere while the host goes on issuing.

import { type EngineModel, engineOf, type Operation, type Stay } from './engines.ts';

interface Entry {
  readonly operation: Operation;
  readonly engine: string;
  readonly issued: number;
  /** What it waits for; empty once it has started, so that a chain of operations is not kept alive. */
  dependencies: readonly Entry[];
  /** The operation that was issued next, if any: what the delayed signal looks at. */
  next: Entry | null;
  started: number;
  /** Milliseconds of work left, at rate 1. */
  left: number;
  ended: number;
  signalled: number;
}

/** Times nearer than this are the same: sums of the same durations in another order. */
const tick = 1e-9;

export class Simulation {
  readonly model: EngineModel;
  /** Virtual milliseconds. */
  now = 0;
  /** When an operation last started or ended: until the next such time all rates stay, and `left` is as of then. */
  private settled = 0;
  private readonly entries = new Map<number, Entry>();
  /** Issued and not started, in the order of issue. */
  private waiting: Entry[] = [];
  private running: Entry[] = [];
  private last: Entry | null = null;
  /** The stream whose copy each copy engine carried out last. */
  private readonly lastStream = new Map<string, number>();

  constructor(model: EngineModel) {
    this.model = model;
  }

  /** Adds an operation that the host issues at that time; time must not go back. */
  issue(operation: Operation, at: number): void {
    const dependencies = operation.dependencies.map((id) => this.entry(id));
    this.advance(at);
    const engine = engineOf(this.model, operation.kind);
    const never = Number.POSITIVE_INFINITY;
    const entry: Entry = {
      operation,
      engine,
      issued: at,
      dependencies,
      next: null,
      started: never,
      left: operation.duration,
      ended: never,
      signalled: never,
    };
    this.entries.set(operation.id, entry);
    this.waiting.push(entry);
    if (this.last !== null) this.last.next = entry;
    this.last = entry;
  }

  /** Lets time go on to `until`, if it is later than now. */
  advance(until: number): void {
    for (;;) {
      this.startWhatCan();
      const end = this.nextEnd();
      if (end > until) break;
      this.moveTo(end);
    }
    if (until > this.now && until !== Number.POSITIVE_INFINITY) this.now = until;
  }

  /** Lets time go on until the first of these operations is complete, and says which that is. */
  completeFirst(ids: readonly number[]): number {
    const entries = ids.map((id) => this.entry(id));
    for (;;) {
      this.startWhatCan();
      const complete = entries.find(({ signalled }) => signalled <= this.now);
      if (complete !== undefined) return complete.operation.id;
      this.moveTo(this.nextEnd());
    }
  }

  /** When an operation ran, or null if it is not complete by now. */
  stayOf(id: number): Stay | null {
    const entry = this.entry(id);
    return entry.signalled > this.now ? null : this.stay(entry);
  }

  /** Forgets an operation that is complete; nothing that is issued later may depend on it. */
  forget(id: number): void {
    this.entries.delete(id);
  }

  /** Lets time go on until the operation is complete, and says when it ran. */
  complete(id: number): Stay {
    this.completeFirst([id]);
    return this.stay(this.entry(id));
  }

  private entry(id: number): Entry {
    const entry = this.entries.get(id);
    if (entry === undefined) throw new RangeError(`no operation ${id} was issued`);
    return entry;
  }

  /** When every operation ran, in the order of issue. */
  completeAll(): readonly Stay[] {
    return [...this.entries.values()].map(({ operation }) => this.complete(operation.id));
  }

  private stay({ operation, issued, started, ended, signalled }: Entry): Stay {
    return { operation, issued, started, ended, signalled };
  }

  /** How fast a running operation goes. */
  private rate(entry: Entry): number {
    const { kind } = entry.operation;
    if (kind === 'kernel' || kind === 'none') return 1;
    const other = kind === 'host to device' ? 'device to host' : 'host to device';
    return this.running.some(({ operation }) => operation.kind === other) ? 1 / this.model.bothWays : 1;
  }

  private nextEnd(): number {
    return this.running.reduce(
      (earliest, entry) => Math.min(earliest, this.settled + entry.left / this.rate(entry)),
      Number.POSITIVE_INFINITY,
    );
  }

  /** Takes what was done since the rates last changed off the work that is left. */
  private settle(): void {
    const rates = this.running.map((entry) => this.rate(entry));
    for (const [position, entry] of this.running.entries())
      entry.left -= (this.now - this.settled) * rates[position]!;
    this.settled = this.now;
  }

  private moveTo(time: number): void {
    this.now = time;
    this.settle();
    const ended = this.running.filter(({ left }) => left <= tick);
    this.running = this.running.filter(({ left }) => left > tick);
    for (const entry of ended) this.end(entry);
  }

  private end(entry: Entry): void {
    entry.ended = this.now;
    if (this.heldBack(entry)) return;
    // Whoever waited for this kernel's end to be told is told with it.
    entry.signalled = this.now;
    for (const earlier of this.entries.values()) {
      if (
        earlier.ended <= this.now &&
        earlier.signalled === Number.POSITIVE_INFINITY &&
        !this.heldBack(earlier)
      ) {
        earlier.signalled = this.now;
      }
    }
  }

  /** Whether a complete kernel's signal still waits for the kernels of other streams behind it. */
  private heldBack(entry: Entry): boolean {
    if (!this.model.delayedSignal || entry.operation.kind !== 'kernel') return false;
    for (let behind = entry.next; behind?.operation.kind === 'kernel'; behind = behind.next) {
      if (behind.operation.stream !== entry.operation.stream && behind.ended === Number.POSITIVE_INFINITY)
        return true;
    }
    return false;
  }

  private ready({ operation, dependencies }: Entry): boolean {
    // The compute engine itself knows at once that a kernel is complete.
    const known = (before: Entry) => (operation.kind === 'kernel' ? before.ended : before.signalled);
    return dependencies.every((before) => known(before) <= this.now);
  }

  private engineHasRoom(entry: Entry): boolean {
    if (entry.engine === 'none') return true;
    const there = this.running.filter(({ engine }) => engine === entry.engine);
    if (entry.engine !== 'compute') return there.length === 0;
    const share = there.reduce(
      (sum, { operation }) => sum + (operation.share ?? 1),
      entry.operation.share ?? 1,
    );
    return there.length === 0 || (there.length < this.model.kernelsAtOnce && share <= 1);
  }

  private start(entry: Entry): void {
    this.settle();
    entry.started = this.now;
    entry.dependencies = [];
    const { kind, stream } = entry.operation;
    if (kind === 'host to device' || kind === 'device to host') {
      if ((this.lastStream.get(entry.engine) ?? stream) !== stream) entry.left += this.model.switchTime;
      this.lastStream.set(entry.engine, stream);
    }
    if (entry.left <= tick) this.end(entry);
    else this.running.push(entry);
  }

  private startWhatCan(): void {
    for (let again = true; again; ) {
      again = false;
      /** Engines without room, and queues of an engine whose next operation is not ready. */
      const blocked = new Set<string>();
      for (const entry of this.waiting) {
        const { engine, operation } = entry;
        const queue = `${engine} ${operation.stream % this.model.hardwareQueues}`;
        if (blocked.has(engine) || blocked.has(queue)) continue;
        if (!this.ready(entry)) {
          if (engine !== 'none') blocked.add(queue);
        } else if (!this.engineHasRoom(entry)) blocked.add(engine);
        else {
          this.start(entry);
          again = true;
        }
      }
      if (again) this.waiting = this.waiting.filter(({ started }) => started === Number.POSITIVE_INFINITY);
    }
  }
}

/** Runs a whole schedule that is issued at once, each operation `issueTime` after the one before. */
export function simulate(model: EngineModel, operations: readonly Operation[]): readonly Stay[] {
  const simulation = new Simulation(model);
  for (const [position, operation] of operations.entries())
    simulation.issue(operation, position * model.issueTime);
  return simulation.completeAll();
}
