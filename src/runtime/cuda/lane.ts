// A stream of the driver, and the commands on it that are not known to be complete.
//
// The driver does not say when a command is complete, only when an event is. A *mark* is an event
// behind a command: once it is reached, that command and all before it on the lane are complete.
// Marks are made only where somebody asks: another lane that waits, an event of the user's, a
// synchronisation. So a launch costs no more than the driver's own call.

import type { Command } from '../command.ts';
import { type Driver, driverResults } from './driver.ts';

/** CU_EVENT_DEFAULT: with times. */
const eventFlags = 0;

interface Mark {
  /** The last command that it covers. */
  readonly upTo: number;
  readonly event: number;
}

/** Events that are used again. */
export class EventPool {
  readonly #driver: Driver;
  readonly #free: number[] = [];

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  take(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const event = [0];
    this.#driver.check(this.#driver.cuEventCreate(event, eventFlags), 'creating an event');
    return event[0]!;
  }

  give(event: number): void {
    this.#free.push(event);
  }

  close(): void {
    for (const event of this.#free.splice(0)) this.#driver.cuEventDestroy_v2(event);
  }
}

export class CudaLane {
  readonly stream: number;
  readonly #driver: Driver;
  readonly #pool: EventPool;
  #pending: Command[] = [];
  #marks: Mark[] = [];

  constructor(driver: Driver, pool: EventPool, stream: number) {
    this.#driver = driver;
    this.#pool = pool;
    this.stream = stream;
  }

  get idle(): boolean {
    return this.#pending.length === 0;
  }

  add(command: Command): void {
    this.#pending.push(command);
  }

  /** An event that is reached when the command, which is still pending here, is complete. */
  mark(command: Command): number {
    const covering = this.#marks.find(({ upTo }) => upTo >= command.id);
    if (covering !== undefined) return covering.event;
    const event = this.#pool.take();
    this.#driver.check(this.#driver.cuEventRecord(event, this.stream), 'recording an event');
    this.#marks.push({ upTo: this.#pending.at(-1)!.id, event });
    return event;
  }

  /** Settles what is complete; `timeOf` gives the host's time of an event that was reached. Returns an error of the device, or 0. */
  poll(timeOf: (event: number) => number): number {
    while (this.#marks.length > 0) {
      const [{ upTo, event }] = this.#marks as [Mark];
      const result = this.#driver.cuEventQuery(event);
      if (result === driverResults.notReady) return driverResults.success;
      if (result !== driverResults.success) return result;
      const ended = timeOf(event);
      this.#marks.shift();
      this.#settle(upTo, ended);
      this.#pool.give(event);
    }
    return driverResults.success;
  }

  #settle(upTo: number, ended: number): void {
    let settled = 0;
    for (const command of this.#pending) {
      if (command.id > upTo) break;
      settled += 1;
    }
    // Out of the list first: whoever hears of it may issue more.
    for (const command of this.#pending.splice(0, settled))
      command.settle(null, Math.min(command.queued, ended), ended);
  }

  /** Takes every pending command out, when the device is lost. */
  abandon(): readonly Command[] {
    this.#marks = [];
    return this.#pending.splice(0);
  }
}
