// The clockwork of a virtual device: operations in, their times out, the same on every machine.
//
// Time goes from one start or end to the next. Between them every running operation makes
// progress at its own rate: 1, or less for a copy while one in the other direction runs too, and for kernels that
// share the device (sharing.ts).
// Operations wait before their engine in queues, and in a queue one that is not ready holds up those
// behind it. The compute engine takes whatever was issued first of what is ready at the head of a queue; a
// copy engine stays with a queue for as long as there is work ready in it, and then goes round to the next.
// Nothing that is issued later changes what has happened, so the clock may stand anywhere while the host goes
// on issuing.

import { type EngineModel, engineOf, type Operation, type Stay } from './engines.ts';
import { hasPlace, type KernelLoad, type RunningKernel, speedsOf, tailOf } from './sharing.ts';

interface Entry {
  readonly operation: Operation;
  readonly engine: string;
  /** Which of the engine's queues it waits in. */
  readonly queue: number;
  readonly issued: number;
  /** What it waits for; empty once it has started, so that a chain of operations is not kept alive. */
  dependencies: readonly Entry[];
  /** The operation that was issued next, if any: what the delayed signal looks at. */
  next: Entry | null;
  started: number;
  /** Milliseconds of work left, at rate 1. */
  left: number;
  /** How fast it goes while what runs stays as it is. */
  rate: number;
  ended: number;
  signalled: number;
}

/** A queue before an engine, and the stream that used it last. */
interface Queue {
  readonly number: number;
  stream: number;
}

/** Times nearer than this are the same: sums of the same durations in another order. */
const least = 1e-9;

/** What counts as the same at a time: late ones have no finer steps than a few parts of 2 ** 52. */
function tickAt(time: number): number {
  return Math.max(least, 8 * Number.EPSILON * time);
}

export class Simulation {
  readonly model: EngineModel;
  /** Virtual milliseconds. */
  now = 0;
  /** When an operation last started or ended: until the next such time all rates stay, and `left` is as of then. */
  #settled = 0;
  readonly #entries = new Map<number, Entry>();
  /** Issued and not started, in the order of issue. */
  #waiting: Entry[] = [];
  #running: Entry[] = [];
  #last: Entry | null = null;
  /** The queues of each engine, the least recently used first. */
  readonly #queues = new Map<string, Queue[]>();
  /** The copy that each copy engine carried out last. */
  readonly #lastCopy = new Map<string, Entry>();
  /** Before then, no other kernel starts. */
  #startsFrom = 0;
  /** When ends that have been reached become known to the other engines; in order. */
  readonly #news: number[] = [];

  constructor(model: EngineModel) {
    this.model = model;
  }

  /** Adds an operation that the host issues at that time; time must not go back. */
  issue(operation: Operation, at: number): void {
    const dependencies = operation.dependencies.map((id) => this.#entry(id));
    this.advance(at);
    const engine = engineOf(this.model, operation.kind);
    const never = Number.POSITIVE_INFINITY;
    const entry: Entry = {
      operation,
      engine,
      queue: this.#queueFor(engine, operation.stream),
      issued: at,
      dependencies,
      next: null,
      started: never,
      left: operation.duration,
      rate: 1,
      ended: never,
      signalled: never,
    };
    this.#entries.set(operation.id, entry);
    this.#waiting.push(entry);
    if (this.#last !== null) this.#last.next = entry;
    this.#last = entry;
  }

  /**
   * The queue that a stream's next operation goes to. A stream keeps the queue that it used last until another
   * stream has taken it; then it takes one with nothing in it, or else the least recently used.
   */
  #queueFor(engine: string, stream: number): number {
    const count = engine === 'none' ? 1 : queuesOf(this.model, engine);
    if (count === 1) return 0;
    const queues =
      this.#queues.get(engine) ?? Array.from({ length: count }, (_, number) => ({ number, stream: -1 }));
    const isBusy = ({ number }: Queue) => {
      const inside = (entry: Entry) => entry.engine === engine && entry.queue === number;
      return this.#running.some(inside) || this.#waiting.some(inside);
    };
    const queue =
      queues.find((one) => one.stream === stream) ?? queues.find((one) => !isBusy(one)) ?? queues[0]!;
    queue.stream = stream;
    this.#queues.set(engine, [...queues.filter((one) => one !== queue), queue]);
    return queue.number;
  }

  /** Lets time go on to `until`, if it is later than now. */
  advance(until: number): void {
    for (;;) {
      this.#startWhatCan();
      const end = this.#nextEnd();
      if (end > until) break;
      this.#moveTo(end);
    }
    if (until > this.now && until !== Number.POSITIVE_INFINITY) this.now = until;
  }

  /** When something happens next by itself; infinite if nothing does. */
  get next(): number {
    this.#startWhatCan();
    return this.#nextEnd();
  }

  /** Ends an operation without an end of its own (one of endless duration) now, or as soon as what comes before it is complete. */
  release(id: number): void {
    const entry = this.#entry(id);
    entry.left = 0;
    if (!this.#running.includes(entry)) return;
    this.#settle();
    this.#running = this.#running.filter((one) => one !== entry);
    this.#end(entry);
  }

  /** What passes until others hear that it is complete. */
  signalTimeOf({ kind }: Operation): number {
    return engineOf(this.model, kind) === 'none' ? 0 : this.model.signalTime;
  }

  /** Lets time go on until the first of these operations is complete, and says which that is. */
  completeFirst(ids: readonly number[]): number {
    const entries = ids.map((id) => this.#entry(id));
    for (;;) {
      this.#startWhatCan();
      const complete = entries.find(({ signalled }) => signalled <= this.now);
      if (complete !== undefined) return complete.operation.id;
      this.#moveTo(this.#nextEnd());
    }
  }

  /** When an operation ran, or null if it is not complete by now. */
  stayOf(id: number): Stay | null {
    const entry = this.#entry(id);
    return entry.signalled > this.now ? null : this.#stay(entry);
  }

  /** Forgets an operation that is complete; nothing that is issued later may depend on it. */
  forget(id: number): void {
    this.#entries.delete(id);
  }

  /** Lets time go on until the operation is complete, and says when it ran. */
  complete(id: number): Stay {
    this.completeFirst([id]);
    return this.#stay(this.#entry(id));
  }

  #entry(id: number): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new RangeError(`no operation ${id} was issued`);
    return entry;
  }

  /** When every operation ran, in the order of issue. */
  completeAll(): readonly Stay[] {
    return [...this.#entries.values()].map(({ operation }) => this.complete(operation.id));
  }

  #stay({ operation, issued, started, ended, signalled }: Entry): Stay {
    return { operation, issued, started, ended, signalled };
  }

  /** Says how fast each running operation goes from now on. */
  #setRates(): void {
    const kernels = this.#running.filter(({ engine }) => engine === 'compute');
    const speeds = speedsOf(kernels.map(runningKernel), this.model.multiProcessors);
    for (const [i, kernel] of kernels.entries()) kernel.rate = speeds[i]!;
    const { bothWays, bothWaysOut, besideKernels } = this.model;
    for (const entry of this.#running) {
      const { kind } = entry.operation;
      if (kind === 'kernel' || kind === 'none') continue;
      const beside = kernels.length > 0 ? besideKernels : 1;
      const slower = kind === 'host to device' ? bothWays : bothWaysOut;
      entry.rate = 1 / (beside * (this.#otherWayRuns(entry.operation) ? slower : 1));
    }
  }

  /** Whether a copy in the other direction runs. */
  #otherWayRuns({ kind }: Operation): boolean {
    if (kind === 'kernel' || kind === 'none') return false;
    const other = kind === 'host to device' ? 'device to host' : 'host to device';
    return this.#running.some(({ operation }) => operation.kind === other);
  }

  /** When something happens next: an operation ends, comes to its last wave, or its end becomes known. */
  #nextEnd(): number {
    const earliest = this.#running.reduce(
      (time, entry) => Math.min(time, this.#endOf(entry), this.#tailAt(entry)),
      this.#news[0] ?? Number.POSITIVE_INFINITY,
    );
    const free = this.#startsFrom > this.now ? this.#startsFrom : Number.POSITIVE_INFINITY;
    return Math.min(earliest, free);
  }

  /** When a running operation ends if the rates stay. */
  #endOf({ left, rate }: Entry): number {
    return rate === 0 ? Number.POSITIVE_INFINITY : this.#settled + left / rate;
  }

  /** When a running kernel comes to its last wave, if that is still to come and the rates stay. */
  #tailAt(entry: Entry): number {
    if (entry.engine !== 'compute' || entry.rate === 0) return Number.POSITIVE_INFINITY;
    const before = entry.left - tailOf(runningKernel(entry));
    return before > tickAt(this.now) ? this.#settled + before / entry.rate : Number.POSITIVE_INFINITY;
  }

  /** Takes what was done since the rates last changed off the work that is left. */
  #settle(): void {
    for (const entry of this.#running) entry.left -= (this.now - this.#settled) * entry.rate;
    this.#settled = this.now;
  }

  #moveTo(time: number): void {
    // By the same sum as `nextEnd`, so that each step ends something or hears of an end, however late it is.
    const due = new Set(this.#running.filter((entry) => this.#endOf(entry) <= time));
    this.now = time;
    this.#settle();
    while (this.#news.length > 0 && this.#news[0]! <= time) this.#news.shift();
    const ended = this.#running.filter((entry) => due.has(entry) || entry.left <= tickAt(time));
    this.#running = this.#running.filter((entry) => !ended.includes(entry));
    for (const entry of ended) this.#end(entry);
    this.#setRates();
  }

  #end(entry: Entry): void {
    entry.ended = this.now;
    if (this.#isBlocked(entry)) return;
    // What waited for this kernel's end to be signalled goes on with it.
    this.#signal(entry);
    for (const earlier of this.#entries.values()) {
      if (
        earlier.ended <= this.now &&
        earlier.signalled === Number.POSITIVE_INFINITY &&
        !this.#isBlocked(earlier)
      ) {
        this.#signal(earlier);
      }
    }
  }

  #signal(entry: Entry): void {
    entry.signalled = this.now;
    if (entry.engine !== 'none' && this.model.signalTime > 0)
      this.#news.push(this.now + this.model.signalTime);
  }

  /** Whether a complete kernel's signal still waits for the kernels of other streams behind it. */
  #isBlocked(entry: Entry): boolean {
    if (!this.model.delayedSignal || entry.operation.kind !== 'kernel') return false;
    for (let behind = entry.next; behind?.operation.kind === 'kernel'; behind = behind.next) {
      if (behind.operation.stream !== entry.operation.stream && behind.ended === Number.POSITIVE_INFINITY)
        return true;
    }
    return false;
  }

  #ready({ engine, dependencies }: Entry): boolean {
    // An engine itself knows at once that its operation is complete.
    const known = (before: Entry) => {
      if (before.engine === engine) return before.ended;
      return before.signalled + (before.engine === 'none' ? 0 : this.model.signalTime);
    };
    return dependencies.every((before) => known(before) <= this.now);
  }

  #engineHasRoom(entry: Entry): boolean {
    if (entry.engine === 'none') return true;
    const there = this.#running.filter(({ engine }) => engine === entry.engine);
    if (entry.engine !== 'compute' || there.length === 0) return there.length === 0;
    return (
      there.length < this.model.kernelsAtOnce && hasPlace(there.map(runningKernel), runningKernel(entry))
    );
  }

  #start(entry: Entry): void {
    this.#settle();
    entry.started = this.now;
    entry.dependencies = [];
    const { kind, stream } = entry.operation;
    if (kind === 'host to device' || kind === 'device to host') {
      const last = this.#lastCopy.get(entry.engine);
      if (last !== undefined && last.operation.stream !== stream) entry.left += this.model.switchTime;
      if (this.#otherWayRuns(entry.operation)) entry.left += this.model.bothWaysOverhead;
      this.#lastCopy.set(entry.engine, entry);
    }
    if (entry.engine === 'compute') this.#startsFrom = this.now + this.model.startTime;
    if (entry.left <= least) this.#end(entry);
    else this.#running.push(entry);
    this.#setRates();
  }

  #startWhatCan(): void {
    for (;;) {
      const entry = this.#nextToStart();
      if (entry === undefined) return;
      this.#start(entry);
      this.#waiting.splice(this.#waiting.indexOf(entry), 1);
    }
  }

  /** An operation that is ready, at the head of its queue, and that its engine would take now. */
  #nextToStart(): Entry | undefined {
    /** The queues whose head was looked at. */
    const seen = new Set<string>();
    /** Of each copy engine with room, the nearest of its queues from the one that it took its last work from. */
    const copies = new Map<string, { readonly entry: Entry; readonly distance: number }>();
    /** Of the kernels that could start, the first of the highest priority. */
    let kernel: Entry | undefined;
    for (const entry of this.#waiting) {
      const { engine, queue } = entry;
      if (engine === 'none') {
        if (this.#ready(entry)) return entry;
        continue;
      }
      const place = `${engine} ${queue}`;
      if (seen.has(place)) continue;
      seen.add(place);
      if (!this.#ready(entry) || !this.#engineHasRoom(entry)) continue;
      if (engine === 'compute') {
        if (this.#startsFrom > this.now) continue;
        if (kernel === undefined || priorityOf(entry) < priorityOf(kernel)) kernel = entry;
        continue;
      }
      const queues = queuesOf(this.model, engine);
      const distance = (queue - (this.#lastCopy.get(engine)?.queue ?? queue) + queues) % queues;
      if (distance === 0) return entry;
      const other = copies.get(engine);
      if (other === undefined || distance < other.distance) copies.set(engine, { entry, distance });
    }
    const [first] = copies.values();
    return kernel ?? first?.entry;
  }
}

/** What a kernel asks that says nothing about it: the whole device. */
const whole: KernelLoad = { share: 1, blockShare: 1, blocks: 1, waves: 1, latency: 0, issue: 0, memory: 0 };

function runningKernel({ operation, left }: Entry): RunningKernel {
  const { load = whole, duration } = operation;
  return { load, duration, left, priority: operation.priority ?? 0 };
}

function priorityOf({ operation }: Entry): number {
  return operation.priority ?? 0;
}

/** Queues before an engine. */
function queuesOf(model: EngineModel, engine: string): number {
  return engine === 'compute' ? model.hardwareQueues : model.copyQueues;
}

/** Runs a whole schedule that is issued at once, each operation `issueTime` after the one before. */
export function simulate(model: EngineModel, operations: readonly Operation[]): readonly Stay[] {
  const simulation = new Simulation(model);
  for (const [position, operation] of operations.entries())
    simulation.issue(operation, position * model.issueTime);
  return simulation.completeAll();
}
