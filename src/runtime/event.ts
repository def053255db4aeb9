// Events: a set of commands that was a stream's frontier when the event was recorded.
//
// An event is reached when the last of its points is complete, and that is its time; if
// nothing was outstanding, its time is that of the recording. A device that keeps time of its own
// stamps the point instead.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Command, Stamp } from './command.ts';
import type { Device, Event } from './device.ts';
import type { CommandQueue, Lane } from './queue.ts';

interface Recording {
  readonly lane: Lane;
  readonly points: readonly Command[];
  readonly time: number;
  readonly stamp: Stamp | null;
}

export class CommandEvent implements Event {
  readonly device: Device;
  readonly #queue: CommandQueue;
  #recorded: Recording | null = null;
  #destroyed = false;

  constructor(device: Device, queue: CommandQueue) {
    this.device = device;
    this.#queue = queue;
  }

  /** Throws WS4002 if it was destroyed. */
  check(purpose: string): void {
    if (!this.#destroyed) return;
    throw new WarpstageError({ code: 'WS4002', message: `${purpose}: the event was destroyed.` });
  }

  /** What whoever waits for it waits for; nothing, as in CUDA, if it was never recorded. */
  get points(): readonly Command[] {
    return this.#recorded?.points ?? [];
  }

  recordAt(lane: Lane): void {
    this.#recorded?.stamp?.release();
    const points = this.#queue.join(lane);
    this.#recorded = { lane, points, time: performance.now(), stamp: this.#queue.stamp(lane) };
  }

  #report(points: readonly Command[]): void {
    this.#queue.report(points, this.#recorded === null ? [] : [this.#recorded.lane]);
  }

  query(): boolean {
    this.check('query');
    const points = this.points;
    if (!this.#queue.settled(points)) return false;
    this.#report(points);
    return true;
  }

  async synchronize(): Promise<void> {
    this.check('synchronize');
    const points = this.points;
    await this.#queue.completion(points);
    this.#report(points);
  }

  elapsedTime(start: Event): number {
    if (!(start instanceof CommandEvent)) {
      throw new WarpstageError({ code: 'WS4007', message: 'elapsedTime takes the event of the start' });
    }
    return this.#time('the end') - start.#time('the start');
  }

  /** When it was reached, in milliseconds. */
  #time(which: string): number {
    this.check('elapsedTime');
    if (this.#recorded === null) {
      throw new WarpstageError({
        code: 'WS4005',
        message: `elapsedTime: ${which} was never recorded`,
        hint: 'record both events in a stream: stream.record(event)',
      });
    }
    const { points, time, stamp } = this.#recorded;
    if (!this.#queue.settled(points)) {
      throw new WarpstageError({
        code: 'WS4005',
        message: `elapsedTime: ${which} was recorded, but its stream has not reached it yet`,
        hint: 'wait for it first: await event.synchronize()',
      });
    }
    this.#report(points);
    if (stamp !== null) return stamp.time();
    return points.reduce((latest, command) => Math.max(latest, command.ended), time);
  }

  destroy(): void {
    this.check('destroy');
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    if (!this.#destroyed) this.#recorded?.stamp?.release();
    this.#destroyed = true;
  }
}
