// Carries commands out on a GPU: every lane of the queue is a stream of the driver.
//
// The queue has made the order of streams into dependencies of commands, so the driver's streams
// are all non-blocking ones; a dependency on another lane is an event that the stream waits for.

import type { WarpstageError } from '../../diagnostics/error.ts';
import { sitesOf } from '../../targets/cuda/faults.ts';
import { Cancellations } from '../cancellations.ts';
import { deviceClosed } from '../closed.ts';
import type { Carrier, Command, Stamp, Work } from '../command.ts';
import type { CopyWork } from '../copies.ts';
import type { GraphWork } from '../graph-work.ts';
import type { LaunchWork } from '../launch.ts';
import { aborted, cancelled } from './cancelled.ts';
import { Channels, type ToldLaunch } from './channels.ts';
import { GpuClock } from './clock.ts';
import { Completion } from './completion.ts';
import type { Context } from './context.ts';
import { Copy3D, forEachRow } from './copy3d.ts';
import type { Driver } from './driver.ts';
import { EventStamp } from './event-stamp.ts';
import { Graphs, isGpuGraph } from './graphs.ts';
import { HostGates } from './host-gates.ts';
import { CudaLane, EventPool, type Flight } from './lane.ts';
import type { Launcher } from './launcher.ts';
import { launchesOf, lostError } from './lost.ts';
import type { DeviceMemory, PinnedMemory } from './memory.ts';
import type { GpuRecording } from './recording.ts';
import { SpanClock } from './span-marks.ts';
import { fills, StagedCopy, StagingPool } from './staging.ts';
import { StreamPool } from './stream-pool.ts';
import { Waiting } from './waiting.ts';

const nobody: readonly Command[] = [];

/** What the carrier needs of its device. */
export interface CarrierHost {
  readonly driver: Driver;
  readonly context: Context;
  readonly launcher: Launcher;
  readonly memory: DeviceMemory;
  readonly pinned: PinnedMemory;
  /** Called with each line that a kernel prints. */
  print(line: string): void;
  /** Asked when a command is issued whether and how it is recorded, and told when it is complete. */
  readonly recording: GpuRecording;
}

export class CudaCarrier implements Carrier {
  readonly #host: CarrierHost;
  readonly #driver: Driver;
  readonly #pool: EventPool;
  readonly #streams: StreamPool;
  readonly #staging: StagingPool;
  readonly #clock: GpuClock;
  readonly #spans: SpanClock;
  readonly #gates: HostGates;
  readonly #graphs: Graphs;
  readonly #channels: Channels;
  readonly #cancellations = new Cancellations();
  readonly #completion = new Completion();
  readonly #copy3D = new Copy3D();
  readonly #lanes = new Map<string, CudaLane>();
  readonly #waiting = new Waiting(() => this.poll());
  #lost: WarpstageError | null = null;

  constructor(host: CarrierHost) {
    this.#host = host;
    this.#driver = host.driver;
    this.#pool = new EventPool(host.driver);
    this.#streams = new StreamPool(host.driver);
    this.#staging = new StagingPool(host.pinned);
    this.#clock = new GpuClock(host.driver, this.#pool);
    this.#spans = new SpanClock(this.#clock, this.#pool);
    this.#gates = new HostGates(host.driver, host.pinned, () => this.#waiting.progressed());
    this.#channels = new Channels(host.driver, host.memory, host.pinned, (line) => host.print(line));
    this.#graphs = new Graphs(host.driver, this.#pool, (work, stream) => this.#give(work, stream));
  }

  /** Why nothing can be done any more, if so. */
  get lost(): WarpstageError | null {
    return this.#lost;
  }

  // Issuing

  #laneOf(name: string, priority: number): CudaLane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      const stream = this.#streams.take(priority);
      lane = new CudaLane(this.#driver, this.#pool, this.#spans, { name, priority, stream });
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  /** Has a lane wait for commands of other lanes; whether there were any. */
  #waitForOthers(lane: CudaLane, commands: readonly Command[]): boolean {
    let waits = false;
    for (const command of commands) {
      if (command.stream === lane.name || command.status !== 'queued') continue;
      const event = this.#laneOf(command.stream, command.priority).mark(command);
      this.#driver.check(this.#driver.cuStreamWaitEvent(lane.stream, event, 0), 'waiting for another stream');
      waits = true;
    }
    return waits;
  }

  carry(command: Command, work: Work): void {
    if (this.#lost !== null) throw this.#lost;
    this.#host.context.use();
    try {
      this.#carry(command, work);
    } catch (error) {
      throw this.#blame(error);
    }
  }

  #carry(command: Command, work: Work): void {
    const signal = work.kind === 'launch' ? work.signal : null;
    if (signal?.aborted) {
      command.settle(cancelled(work, signal), command.queued, command.queued);
      return;
    }
    const lane = this.#laneOf(command.stream, command.priority);
    lane.prepare();
    this.#host.memory.awaitZeroing(lane);
    const waits = this.#waitForOthers(lane, command.dependencies);
    lane.add(this.#recorded(command, work, lane, waits));
    // A function is called, whether somebody waits for it or not.
    if (work.kind === 'host') this.watch(command);
  }

  /** Gives the work to a lane's stream, with what records it if that is wanted. */
  #recorded(command: Command, work: Work, lane: CudaLane, waits: boolean): Flight {
    const { recording } = this.#host;
    if (!recording.isOn) {
      return { command, work, land: this.#issue(command, work, lane), span: null, activity: null };
    }
    const activity = recording.activityOf(work);
    if (activity !== null) {
      const before = lane.preparations;
      const land = this.#issue(command, work, lane);
      const traced = activity.issued(lane.stream, command, work, lane.preparations - before);
      return { command, work, land, span: null, activity: traced };
    }
    const standing = { stream: lane.stream, previous: lane.pending.at(-1)?.span, waits };
    const start = this.#spans.before(work, standing);
    const land = this.#issue(command, work, lane);
    const issued = land === null ? command.queued : performance.now();
    const span = this.#spans.behind(work, standing, start, issued);
    return { command, work, land, span, activity: null };
  }

  /** Gives the work to a stream; what is left to do when it is complete. */
  #issue(command: Command, work: Work, lane: CudaLane): Flight['land'] {
    const { stream } = lane;
    if (work.kind === 'host') {
      for (const before of command.dependencies) {
        if (before.status === 'queued') this.#laneOf(before.stream, before.priority).mark(before);
      }
      return this.#gates.issue(command, work, stream);
    }
    if (work.kind === 'copy') return this.#copy(work, stream);
    if (work.kind === 'launch' && sitesOf(work.executable) !== undefined) return this.#launch(work, lane);
    if (work.kind === 'graph') this.#graphs.launch(work, stream);
    else this.#give(work, stream);
    return null;
  }

  /** A launch of a kernel that tells of faults, or prints. */
  #launch(work: LaunchWork, lane: CudaLane): Flight['land'] {
    const told = this.#channels.begin(lane, work);
    try {
      this.#host.launcher.launch(work, lane.stream, told);
    } catch (error) {
      this.#channels.withdraw(told.number);
      throw error;
    }
    const deaf = work.signal && this.#cancellations.add(work.signal, () => this.#cancel(told));
    return () => {
      deaf?.();
      return this.#channels.end(told);
    };
  }

  #cancel(told: ToldLaunch): void {
    try {
      this.#guarded(() => this.#channels.cancel(told));
    } catch {
      // This GPU has stopped, which whoever waits for its commands is told.
    }
  }

  /** Work that needs nothing but the stream: what a graph of the driver's can be made of. */
  #give(work: Exclude<Work, GraphWork>, stream: number): void {
    const driver = this.#driver;
    switch (work.kind) {
      case 'launch':
        this.#host.launcher.launch(work, stream);
        break;
      case 'set':
        driver.check(driver.cuMemsetD8Async(work.address, work.byte, work.bytes, stream), 'memsetAsync');
        break;
      case 'copy':
        this.#transfer(new StagedCopy(work, this.#host.pinned, this.#staging, () => {}), work, stream);
        break;
      case 'host':
        throw new TypeError('a host function is not for the GPU alone');
    }
  }

  #copy(work: CopyWork, stream: number): Flight['land'] {
    const staged = new StagedCopy(work, this.#host.pinned, this.#staging, (filled) =>
      this.#settleFillings(filled),
    );
    try {
      this.#transfer(staged, work, stream);
    } catch (error) {
      staged.release();
      throw error;
    }
    return staged.isStaged ? staged.land : null;
  }

  #transfer({ from, to }: StagedCopy, { direction, box, peer }: CopyWork, stream: number): void {
    const driver = this.#driver;
    if (box.height === 1 && box.depth === 1) {
      const copied = driver.cuMemcpyAsync(to.address, from.address, box.width, stream);
      driver.check(copied, `memcpyAsync ${direction}`);
      return;
    }
    if (peer !== true) {
      const description = this.#copy3D.describe(from, to, box);
      driver.check(driver.cuMemcpy3DAsync_v2(description, stream), 'a copy of rows');
      return;
    }
    forEachRow(from, to, box, (begin, target) =>
      driver.check(driver.cuMemcpyAsync(target, begin, box.width, stream), 'a copy of rows'),
    );
  }

  takesGraph(graph: GraphWork): boolean {
    return isGpuGraph(graph, this.#host.pinned);
  }

  forget(name: string): void {
    const lane = this.#lanes.get(name);
    if (lane === undefined || this.#lost !== null) return;
    // Behind something that failed, commands are settled before those that the lane was given earlier.
    const last = lane.pending.at(-1)?.command;
    if (last !== undefined) {
      this.watch(last);
      last.whenSettled(() => this.forget(name));
      return;
    }
    this.#host.context.use();
    this.#lanes.delete(name);
    this.#channels.forget(name);
    this.#host.recording.forget(lane.stream);
    this.#streams.give(lane.stream, lane.priority);
  }

  stamp(stream: { readonly name: string; readonly priority: number }, behind: readonly Command[]): Stamp {
    return this.#guarded(() => {
      const lane = this.#laneOf(stream.name, stream.priority);
      this.#waitForOthers(lane, behind);
      return new EventStamp(this.#pool.record(lane.stream), this.#driver, this.#clock, this.#pool);
    });
  }

  /** The last command under way in each stream: when these are settled, all are. */
  get last(): readonly Command[] {
    return [...this.#lanes.values()].flatMap((lane) => lane.pending.at(-1)?.command ?? []);
  }

  // Completion

  #settleComplete(): void {
    const flights = this.#completion.take((stream) => this.#lanes.get(stream));
    if (flights.length === 0) return;
    // What is only recorded does not have the main thread look more often than it would without.
    if (this.#completion.takeAsked()) this.#waiting.progressed();
    const now = performance.now();
    for (const flight of flights) this.#settle(flight, now);
    if (this.#gates.shut === 0) this.#clock.renew(now);
  }

  #settle({ command, work, land, span, activity }: Flight, now: number): void {
    const before = command.dependencies.find(({ status }) => status === 'failed')?.failure ?? null;
    const own = land?.(before !== null) ?? null;
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
    if (this.#lost !== null) return;
    this.#host.context.use();
    for (const command of asked) {
      if (command.status === 'queued') this.#laneOf(command.stream, command.priority).watch(command);
    }
    let result = 0;
    for (const lane of this.#lanes.values()) {
      result = lane.poll(this.#completion.collect);
      if (result !== 0) break;
    }
    this.#channels.deliver();
    this.#settleComplete();
    if (result !== 0) this.#lose(result);
    else if (this.#gates.shut > 0) this.#gates.poll();
  }

  waitBriefly(commands: readonly Command[]): boolean {
    const [first] = commands;
    if (first === undefined || commands.length > 1) return false;
    this.#guarded(() => this.#laneOf(first.stream, first.priority).watch(first));
    return this.#waiting.lookAtOnce(() => first.status !== 'queued');
  }

  watch(command: Command): void {
    if (command.status !== 'queued') return;
    this.#guarded(() => this.#laneOf(command.stream, command.priority).watch(command));
    this.#waiting.add();
    command.whenSettled(() => this.#waiting.remove());
  }

  /** Blocks until nothing in flight has still to fill a part of this pageable memory. */
  #settleFillings(memory: ArrayBufferLike): void {
    for (const lane of this.#lanes.values()) {
      const last = lane.pending.findLast(({ work }) => fills(work, memory));
      if (last === undefined) continue;
      this.#check(lane.block(last.command));
      this.poll();
    }
  }

  /** Waits until all is done, for memory that is short; false if there was nothing to wait for. */
  drain(): boolean {
    const busy = [...this.#lanes.values()].filter(({ pending }) => pending.length > 0);
    if (busy.length === 0 || this.#gates.shut > 0 || this.#lost !== null) return false;
    for (const lane of busy) this.#check(lane.block(lane.pending.at(-1)!.command));
    this.poll();
    return true;
  }

  // Errors

  /** Calls; if the GPU stopped, everything fails and so does this. */
  #guarded<T>(call: () => T): T {
    if (this.#lost !== null) throw this.#lost;
    this.#host.context.use();
    try {
      return call();
    } catch (error) {
      throw this.#blame(error);
    }
  }

  /** What a call that failed is to throw: whether by itself or because nothing works any more, the context knows. */
  #blame(error: unknown): unknown {
    const result = this.#driver.cuStreamQuery(0);
    if (this.#driver.isFatal(result)) this.#lose(result);
    return this.#lost ?? error;
  }

  #check(result: number): void {
    if (result !== 0) this.#lose(result);
    if (this.#lost !== null) throw this.#lost;
  }

  /** After an error of the device nothing in its context can be used; every command fails. */
  #lose(result: number): void {
    this.#channels.deliver();
    const flights = [...this.#lanes.values()].flatMap((lane) => lane.abandon());
    const launches = flights.flatMap(({ work }) => launchesOf(work));
    this.#lost = lostError(this.#driver.describe(result), launches);
    this.#host.context.lose();
    this.#gates.openAll(this.#lost);
    for (const { command, activity } of flights) {
      command.settle(this.#lost, command.queued, performance.now());
      activity?.settled('lost');
    }
  }

  /** Waits until everything is complete, and gives back streams and events. */
  close(): void {
    this.#gates.openAll(deviceClosed('the host function was not called'));
    if (this.#lost !== null) return;
    this.#host.context.use();
    this.#driver.cuCtxSynchronize();
    for (const lane of this.#lanes.values()) {
      lane.prepare();
      this.#completion.collect(lane.abandon(), true);
      this.#driver.cuStreamDestroy_v2(lane.stream);
    }
    this.#settleComplete();
    for (const { stream } of this.#lanes.values()) this.#host.recording.forget(stream);
    this.#lanes.clear();
    this.#streams.close();
    this.#channels.close();
    this.#graphs.close();
    this.#clock.close();
    this.#pool.close();
  }
}
