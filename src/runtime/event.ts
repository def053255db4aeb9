// Events: a set of commands that was a stream's frontier when the event was recorded.
//
// An event is reached when the last of its points is complete, and that is its time; if
// nothing was outstanding, its time is that of the recording. A device that keeps time of its own
// stamps the point instead.

import { WarpstageError } from '../diagnostics/error.ts';
import { type CapturedPoints, captureProblem } from './capture.ts';
import type { Command, Stamp } from './command.ts';
import type { Device, Event, EventOptions } from './device.ts';
import type { CommandQueue, StreamState } from './queue.ts';

interface Recording {
  readonly stream: StreamState;
  readonly points: readonly Command[];
  /** Where it was recorded in a stream that was captured. */
  readonly captured: CapturedPoints | null;
  /** When it was recorded, of an event with a time that has no stamp. */
  readonly time: number;
  readonly stamp: Stamp | null;
}

const nothing: readonly Command[] = [];

export class CommandEvent implements Event {
  readonly device: Device;
  readonly #queue: CommandQueue;
  #recorded: Recording | null = null;
  readonly #isTimed: boolean;
  #destroyed = false;

  constructor(device: Device, queue: CommandQueue, options: EventOptions = {}) {
    const timing: unknown = options.timing ?? true;
    if (typeof timing !== 'boolean') {
      throw new WarpstageError({
        code: 'WS4007',
        message: `createEvent: timing must be true or false, and is ${String(timing)}`,
      });
    }
    this.device = device;
    this.#queue = queue;
    this.#isTimed = timing;
  }

  /** Throws WS4002 if it was destroyed. */
  check(purpose: string): void {
    if (!this.#destroyed) return;
    throw new WarpstageError({ code: 'WS4002', message: `${purpose}: the event was destroyed.` });
  }

  /** What a wait for it waits for; nothing, as in CUDA, if it was never recorded. */
  get points(): readonly Command[] {
    return this.#recorded?.points ?? nothing;
  }

  recordAt(stream: StreamState): void {
    this.#recorded?.stamp?.release();
    const captured = this.#queue.captured(stream);
    const points = captured === null ? this.#queue.join(stream) : nothing;
    const stamp = captured === null ? this.#queue.mark(stream, this.#isTimed) : null;
    const time = this.#isTimed && stamp === null ? performance.now() : 0;
    this.#recorded = { stream, points, captured, time, stamp };
  }

  /** Has a stream of this queue wait for it. */
  joinTo(stream: StreamState, queue: CommandQueue): void {
    const captured = this.#recorded?.captured ?? null;
    if (queue === this.#queue) queue.wait(stream, this.points, captured);
    else queue.waitForeign(stream, this.#queue.foreign(this.points), captured);
  }

  /** Throws if it was recorded in a capture, where nothing is ever reached. */
  #checkReal(purpose: string): void {
    if ((this.#recorded?.captured ?? null) === null) return;
    throw captureProblem(
      `${purpose}: the event was recorded in a stream that was being captured, and stands for a point of the graph`,
      'record an event after graph.launch(stream), and ask that one',
    );
  }

  get #streams(): readonly StreamState[] {
    return this.#recorded === null ? [] : [this.#recorded.stream];
  }

  query(): boolean {
    this.check('query');
    this.#checkReal('query');
    return this.#queue.query(this.points, this.#streams);
  }

  async synchronize(): Promise<void> {
    this.check('synchronize');
    this.#checkReal('synchronize');
    await this.#queue.synchronize(this.points, this.#streams);
  }

  elapsedTime(start: Event): number {
    if (!(start instanceof CommandEvent)) {
      throw new WarpstageError({ code: 'WS4007', message: 'elapsedTime takes the event of the start' });
    }
    const [stop, begin] = [this.#time('the end'), start.#time('the start')];
    const [to, from] = [this.#recorded?.stamp, start.#recorded?.stamp];
    return (to && from && to.since?.(from)) ?? stop - begin;
  }

  /** When it was reached, in milliseconds. */
  #time(which: string): number {
    this.check('elapsedTime');
    if (!this.#isTimed) {
      throw new WarpstageError({
        code: 'WS4007',
        message: `elapsedTime: ${which} is an event without timing`,
        hint: 'create it with createEvent(), without { timing: false }',
      });
    }
    this.#checkReal('elapsedTime');
    if (this.#recorded === null) {
      throw new WarpstageError({
        code: 'WS4005',
        message: `elapsedTime: ${which} was never recorded`,
        hint: 'record both events in a stream: stream.record(event)',
      });
    }
    const { points, time, stamp } = this.#recorded;
    if (!this.#queue.query(points, this.#streams)) {
      throw new WarpstageError({
        code: 'WS4005',
        message: `elapsedTime: ${which} was recorded, but its stream has not reached it yet`,
        hint: 'wait for it first: await event.synchronize()',
      });
    }
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
