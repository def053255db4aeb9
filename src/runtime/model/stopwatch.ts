// Times on a device's own clock: the median of a few rounds after one that warms up.

import type { Device, Event, Stream } from '../device.ts';
import { median } from './issue-times.ts';

/** Milliseconds that something takes at least: a clock that is too coarse may say that it took no time, or less. */
export const leastTime = 1e-6;

export type Issue = (stream: Stream) => void;

export class Stopwatch {
  readonly device: Device;
  readonly rounds: number;

  constructor(device: Device, rounds: number) {
    this.device = device;
    this.rounds = rounds;
  }

  /**
   * Median milliseconds that what `issue` issues to a stream takes on the device; `before` is issued first, and not
   * timed, so that the host's pace does not count.
   */
  async time(stream: Stream, issue: Issue, before?: Issue): Promise<number> {
    const [time] = await this.times(
      stream,
      (one, mark) => {
        issue(one);
        mark();
      },
      before,
    );
    return time!;
  }

  /** The same from the beginning to each mark that `issue` sets, in this stream or another one. */
  async times(
    stream: Stream,
    issue: (stream: Stream, mark: (at?: Stream) => void) => void,
    before?: Issue,
  ): Promise<number[]> {
    const taken: number[][] = [];
    for (let round = -1; round < this.rounds; ++round) {
      const start = this.device.createEvent();
      const marks: Event[] = [];
      before?.(stream);
      stream.record(start);
      issue(stream, (at = stream) => {
        const event = this.device.createEvent();
        at.record(event);
        marks.push(event);
      });
      for (const event of marks) await event.synchronize();
      for (const [i, event] of marks.entries()) {
        taken[i] ??= [];
        if (round >= 0) taken[i].push(event.elapsedTime(start));
        event.destroy();
      }
      start.destroy();
    }
    return taken.map((times) => Math.max(median(times), leastTime));
  }
}
