// Carries commands out on a GPU: every lane of the queue is a stream of the driver.
//
// The queue has made the order of streams into dependencies of commands, so the driver's streams
// are all non-blocking ones; a dependency on another lane is an event that the stream waits for.
// Waiting polls: at first in every turn of the event loop, which costs some microseconds, and
// after a while by a timer, which leaves the processor alone.

import { WarpstageError } from '../../diagnostics/error.ts';
import type { Carrier, Command, Stamp, Work } from '../command.ts';
import type { CopyWork, Memory, SetWork } from '../copies.ts';
import { describeCopy3D } from './copy3d.ts';
import { type Driver, driverResults } from './driver.ts';
import { CudaLane, EventPool } from './lane.ts';
import type { Launcher } from './launcher.ts';

/** CU_STREAM_NON_BLOCKING */
const nonBlocking = 1;
/** How long a wait polls in every turn of the event loop before it goes over to a timer, in milliseconds. */
const eagerMilliseconds = 2;

export class CudaCarrier implements Carrier {
  readonly #driver: Driver;
  readonly #launcher: Launcher;
  readonly #pool: EventPool;
  readonly #lanes = new Map<string, CudaLane>();
  /** The event that times are counted from, and the host's time of it. */
  readonly #origin: { readonly event: number; readonly time: number };
  #watched = 0;
  #lost: WarpstageError | null = null;

  constructor(driver: Driver, launcher: Launcher) {
    this.#driver = driver;
    this.#launcher = launcher;
    this.#pool = new EventPool(driver);
    const event = this.#pool.take();
    driver.check(driver.cuEventRecord(event, 0), 'recording an event');
    driver.check(driver.cuEventSynchronize(event), 'waiting for an event');
    this.#origin = { event, time: performance.now() };
  }

  // Issuing

  #laneOf({ name, priority }: { readonly name: string; readonly priority: number }): CudaLane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      const stream = [0];
      const created = this.#driver.cuStreamCreateWithPriority(stream, nonBlocking, priority);
      this.#driver.check(created, 'creating a stream');
      lane = new CudaLane(this.#driver, this.#pool, stream[0]!);
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #laneOfCommand({ stream, priority }: Command): CudaLane {
    return this.#laneOf({ name: stream, priority });
  }

  /** Has a lane wait for commands of other lanes. */
  #waitForOthers(lane: CudaLane, name: string, commands: readonly Command[]): void {
    for (const command of commands) {
      if (command.stream === name || command.status !== 'queued') continue;
      const event = this.#laneOfCommand(command).mark(command);
      this.#driver.check(this.#driver.cuStreamWaitEvent(lane.stream, event, 0), 'waiting for another stream');
    }
  }

  carry(command: Command, work: Work): void {
    if (this.#lost !== null) throw this.#lost;
    const lane = this.#laneOfCommand(command);
    this.#waitForOthers(lane, command.stream, command.dependencies);
    if (work.kind === 'launch') this.#launcher.launch(work, lane.stream);
    else if (work.kind === 'set') this.#set(work, lane.stream);
    else this.#copy(work, lane.stream);
    lane.add(command);
  }

  #set({ address, byte, bytes }: SetWork, stream: number): void {
    this.#driver.check(this.#driver.cuMemsetD8Async(address, byte, bytes, stream), 'memsetAsync');
  }

  #copy(work: CopyWork, stream: number): void {
    const { destination, source, box } = work;
    const driver = this.#driver;
    if (box.height > 1 || box.depth > 1) {
      driver.check(driver.cuMemcpy3DAsync_v2(describeCopy3D(work), stream), 'a copy of rows');
      return;
    }
    const to = addressOf(destination.memory);
    const from = addressOf(source.memory);
    const { width } = box;
    const results = {
      'host to device': () => driver.cuMemcpyHtoDAsync_v2(to, from, width, stream),
      'device to host': () => driver.cuMemcpyDtoHAsync_v2(to, from, width, stream),
      'device to device': () => driver.cuMemcpyDtoDAsync_v2(to, from, width, stream),
      'host to host': () => driver.cuMemcpyHostToHostAsync(to, from, width, stream),
    };
    driver.check(results[work.direction](), `memcpyAsync ${work.direction}`);
  }

  stamp(stream: { readonly name: string; readonly priority: number }, behind: readonly Command[]): Stamp {
    const lane = this.#laneOf(stream);
    this.#waitForOthers(lane, stream.name, behind);
    const event = this.#pool.take();
    this.#driver.check(this.#driver.cuEventRecord(event, lane.stream), 'recording an event');
    let released = false;
    return {
      time: () => {
        this.#driver.cuEventSynchronize(event);
        return this.#timeOf(event);
      },
      release: () => {
        if (!released) this.#pool.give(event);
        released = true;
      },
    };
  }

  // Completion

  readonly #timeOf = (event: number): number => {
    const milliseconds = [0];
    const result = this.#driver.cuEventElapsedTime(milliseconds, this.#origin.event, event);
    return result === driverResults.success ? this.#origin.time + milliseconds[0]! : performance.now();
  };

  poll(): void {
    for (const lane of this.#lanes.values()) {
      const result = lane.poll(this.#timeOf);
      if (result !== driverResults.success) this.#lose(result);
    }
  }

  watch(command: Command): void {
    if (command.status !== 'queued') return;
    this.#laneOfCommand(command).mark(command);
    command.whenSettled(() => {
      this.#watched -= 1;
    });
    this.#watched += 1;
    if (this.#watched === 1) this.#wait(performance.now());
  }

  #wait(since: number): void {
    const again = () => {
      this.poll();
      if (this.#watched > 0) this.#wait(since);
    };
    if (performance.now() - since < eagerMilliseconds) setImmediate(again);
    else setTimeout(again, 1);
  }

  /** After an error of the device nothing in its context can be used; every command fails. */
  #lose(result: number): void {
    this.#lost = new WarpstageError({
      code: 'WS4006',
      message: `the GPU stopped: ${this.#driver.describe(result)}`,
      hint: 'close the device and open it again; run the kernel on the CPU, where every access is checked, to find the fault',
    });
    for (const lane of this.#lanes.values()) {
      for (const command of lane.abandon()) command.settle(this.#lost, command.queued, performance.now());
    }
  }

  /** Waits until everything is complete, and gives back streams and events. */
  close(): void {
    this.#driver.cuCtxSynchronize();
    for (const lane of this.#lanes.values()) {
      for (const command of lane.abandon()) command.settle(this.#lost, command.queued, performance.now());
      this.#driver.cuStreamDestroy_v2(lane.stream);
    }
    this.#lanes.clear();
    this.#pool.close();
  }
}

/** What the driver takes for an address: a number on the device, the bytes themselves on the host. */
function addressOf(memory: Memory): number | Uint8Array {
  if (memory.kind === 'device') return memory.address;
  return memory.kind === 'shared' ? new Uint8Array(memory.buffer, memory.offset) : memory.bytes;
}
