// The clock of a followed thread: what it has issued so far, and when values are there.
//
// It issues one instruction after the other. `at` is when the expression that was evaluated last has its value: an operation
// begins when its operands are there, but what follows it need not wait, unless the thread holds.

import { access, aloneCycles, type Cost, unrolled } from './costs.ts';
import type { Progress } from './followed-rounds.ts';

export class FollowedClock {
  progress: Progress = { bytes: 0, read: 0, slots: 0, phased: 0, time: 0, done: 0 };
  /** When the expression that was evaluated last has its value. */
  at = 0;
  readonly #warps: number;
  /** Slots when the last barrier was passed. */
  #phaseBegan = 0;
  /** Which part of what it issues counts. */
  #share = 1;

  /** Of a thread in a block of that many warps. */
  constructor(warps: number) {
    this.#warps = warps;
  }

  /** Issues an operation whose operands are there at `from`. */
  issue({ slots, latency }: Cost, from: number): void {
    const { progress } = this;
    progress.slots += slots * this.#share;
    // What is issued for others too takes this warp one instruction.
    progress.time += Math.min(slots, 1) * aloneCycles * this.#share;
    this.at = Math.max(progress.time, from) + latency * this.#share;
    progress.done = Math.max(progress.done, this.at);
  }

  /** Nothing that follows begins before that time. */
  holdUntil(time: number): void {
    this.progress.time = Math.max(this.progress.time, time);
  }

  barrier(): void {
    const { progress } = this;
    // One unit of the processor counts the arrivals at barriers; a block of few warps has it to itself as long.
    progress.slots += Math.max(1, access.meeting / this.#warps);
    this.holdUntil(progress.done);
    progress.time += access.barrier;
    progress.phased += progress.slots - this.#phaseBegan;
    this.#phaseBegan = progress.slots;
  }

  /** A loop's own test and step cost little. */
  cheaply<T>(act: () => T): T {
    const share = this.#share;
    this.#share = share * unrolled;
    const result = act();
    this.#share = share;
    return result;
  }

  /** Goes on from that progress, with the last barrier as many slots behind as it was. */
  skipTo(progress: Progress): void {
    this.#phaseBegan += progress.slots - this.progress.slots;
    this.progress = progress;
  }
}
