// Issues work: the calls of the driver that a command's work is made of, and what records it.

import { WarpstageError } from '../../diagnostics/error.ts';
import { sitesOf } from '../../targets/cuda/faults.ts';
import type { Cancellations } from '../cancellations.ts';
import type { Command, Work } from '../command.ts';
import type { CopyWork } from '../copies.ts';
import type { WaitWork } from '../foreign-wait.ts';
import type { GraphWork } from '../graph-work.ts';
import type { HostWork } from '../host-call.ts';
import type { LaunchWork } from '../launch.ts';
import type { Channels } from './channels.ts';
import { Copy3D, forEachRow } from './copy3d.ts';
import { type Driver, driverResults } from './driver.ts';
import { type DriverStream, type EventPool, type Flight, fresh } from './driver-stream.ts';
import { Graphs } from './graphs.ts';
import type { Launcher } from './launcher.ts';
import type { PinnedMemory } from './memory.ts';
import type { GpuRecording } from './recording.ts';
import type { SpanClock, Standing } from './span-marks.ts';
import { type Address, reachedAsItIs, StagedCopy, StagingPool } from './staging.ts';

/** Work for the driver; a host function is none, nor a wait. */
export type GpuWork = Exclude<Work, HostWork | WaitWork>;

/** What was done of work that is deferred, when it was called for. */
export interface Prepared {
  /** To be released if the copy is not issued. */
  readonly staged: StagedCopy | null;
}

/** What issuing needs of its dispatcher. */
export interface IssuerHost {
  readonly driver: Driver;
  readonly launcher: Launcher;
  readonly pinned: PinnedMemory;
  readonly recording: GpuRecording;
  readonly channels: Channels;
  readonly spans: SpanClock;
  readonly pool: EventPool;
  /** Waits until nothing has still to fill a part of this pageable memory, which is about to be read. */
  settleFillings(memory: ArrayBufferLike): void;
  /** Blocks until the oldest copy in flight that is staged is settled; false if there is none. */
  settleOldestCopy(): boolean;
  readonly cancellations: Cancellations;
  /** Calls what calls the driver outside of the issue of a command. */
  attempt(call: () => void): void;
}

export class Issuer {
  readonly #host: IssuerHost;
  readonly #driver: Driver;
  readonly #staging: StagingPool;
  readonly #graphs: Graphs;
  readonly #copy3D = new Copy3D();

  constructor(host: IssuerHost) {
    this.#host = host;
    this.#driver = host.driver;
    this.#staging = new StagingPool(host.pinned, () => host.settleOldestCopy());
    this.#graphs = new Graphs(host.driver, host.pool, (work, stream) => this.#give(work, stream));
  }

  /** Does of work that is issued later what belongs to the call: reads typed arrays, loads a kernel. */
  prepare(work: GpuWork): Prepared {
    if (work.kind === 'launch') this.#host.launcher.prepare(work);
    return { staged: work.kind === 'copy' ? this.#stage(work) : null };
  }

  /**
   * Gives work to a stream's stream, with what records it if that is wanted. `waited`: the events of the commands of
   * other streams that it waits for; `prepared`: null unless it was deferred.
   */
  issue(
    command: Command,
    work: GpuWork,
    stream: DriverStream,
    waited: Standing['waited'],
    prepared: Prepared | null,
  ): Flight {
    const { recording, spans } = this.#host;
    if (!recording.takes(work)) {
      return {
        command,
        work,
        land: this.#issue(work, stream, prepared),
        span: null,
        activity: null,
        ...fresh,
      };
    }
    const activity = recording.activityOf(work);
    if (activity !== null) {
      const before = stream.preparations;
      const land = this.#issue(work, stream, prepared);
      const traced = activity.issued(stream.handle, command, work, stream.preparations - before);
      return { command, work, land, span: null, activity: traced, ...fresh };
    }
    const standing = { stream: stream.handle, previous: stream.pending.at(-1)?.span, waited };
    const start = spans.before(work, standing);
    const land = this.#issue(work, stream, prepared);
    const issued = land === null && prepared === null ? command.queued : performance.now();
    const span = spans.behind(work, standing, start, issued);
    return { command, work, land, span, activity: null, ...fresh };
  }

  /** Gives work to a stream; what is left to do when it is complete. */
  #issue(work: GpuWork, stream: DriverStream, prepared: Prepared | null): Flight['land'] {
    const { handle } = stream;
    if (work.kind === 'copy') return this.#copy(work, handle, prepared?.staged ?? null);
    if (work.kind === 'launch' && sitesOf(work.executable) !== undefined) return this.#launch(work, stream);
    if (work.kind === 'graph') this.#graphs.launch(work, handle);
    else this.#give(work, handle);
    return null;
  }

  /** A launch of a kernel that tells of faults, or prints. */
  #launch(work: LaunchWork, stream: DriverStream): Flight['land'] {
    const { channels, launcher, cancellations } = this.#host;
    const reporting = channels.begin(stream, work);
    try {
      launcher.launch(work, stream.handle, reporting);
    } catch (error) {
      channels.withdraw(reporting.number);
      throw error;
    }
    const cancel = () => this.#host.attempt(() => channels.cancel(reporting));
    const deaf = work.signal && cancellations.add(work, work.signal, cancel);
    return () => {
      deaf?.();
      return channels.end(reporting);
    };
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
        this.#copy(work, stream, null);
        break;
      case 'host':
      case 'wait':
        throw new TypeError(`a ${work.kind} is no work of the GPU`);
    }
  }

  #stage(work: CopyWork): StagedCopy {
    const { pinned } = this.#host;
    return new StagedCopy(work, pinned, this.#staging, (read) => this.#host.settleFillings(read));
  }

  #copy(work: CopyWork, stream: number, prepared: StagedCopy | null): Flight['land'] {
    const { pinned } = this.#host;
    if (prepared === null) {
      const from = reachedAsItIs(work.source, pinned);
      const to = reachedAsItIs(work.destination, pinned);
      if (from !== null && to !== null) {
        this.#transfer(from, to, work, stream);
        return null;
      }
    }
    const staged = prepared ?? this.#stage(work);
    try {
      this.#transfer(staged.from, staged.to, work, stream);
    } catch (error) {
      staged.release();
      throw error;
    }
    return staged.isStaged ? staged.land : null;
  }

  #transfer(from: Address, to: Address, { direction, box, peer }: CopyWork, stream: number): void {
    const driver = this.#driver;
    if (box.height === 1 && box.depth === 1) {
      const copied = driver.cuMemcpyAsync(to.address, from.address, box.width, stream);
      if (copied !== driverResults.success) driver.check(copied, `memcpyAsync ${direction}`);
      return;
    }
    if (!peer) {
      const description = this.#copy3D.describe(from, to, box);
      driver.check(driver.cuMemcpy3DAsync_v2(description, stream), 'a copy of rows');
      return;
    }
    forEachRow(from, to, box, (begin, target) =>
      driver.check(driver.cuMemcpyAsync(target, begin, box.width, stream), 'a copy of rows'),
    );
  }

  /** The error of work that the driver has answered so. */
  refusal(work: Work, result: number): WarpstageError | null {
    try {
      if (work.kind === 'launch') this.#host.launcher.refuse(work, result);
      this.#driver.check(result, nameOf(work));
      return null;
    } catch (error) {
      if (error instanceof WarpstageError) return error;
      throw error;
    }
  }

  abandon(): void {
    this.#graphs.abandon();
  }

  close(): void {
    this.#graphs.close();
  }
}

/** What a call of the driver does for such work, as an error says it. */
function nameOf(work: Work): string {
  if (work.kind === 'copy') return `memcpyAsync ${work.direction}`;
  return work.kind === 'graph' ? 'launching a graph' : 'memsetAsync';
}
