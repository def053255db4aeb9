// Rounds of a loop that are not followed: what they leave, where they are like those that were.
//
// Some rounds are followed until the loop is full, and as many by which the others are judged. Each of the others adds to a
// value, and to what the thread has done, what these added on the average.

import type { Value } from '../../compiler/arithmetic.ts';
import type { Statement } from '../../compiler/ir.ts';
import { anyStatement } from './walk.ts';

/** A value that is known, or `undefined`. */
export type Known = Value | undefined;

/** Rounds of a loop that are followed: some until it is full, and as many by which the others are judged. */
export const measuredRounds = 12;

/** What a thread has done so far: bytes moved, those of them read from arrays that nothing writes, slots issued, and slots of the phases that end at barriers. */
export interface Progress {
  bytes: number;
  read: number;
  slots: number;
  phased: number;
  /** When it may issue next. */
  time: number;
  /** When all that it has begun is done. */
  done: number;
}

/** How far a thread has come at the head of a loop. */
export interface Head {
  readonly values: readonly Known[];
  readonly ready: readonly number[];
  readonly state: Progress;
}

/** Whether a statement of a loop's body may leave the loop, or the program. */
export function leaves(body: readonly Statement[]): boolean {
  return anyStatement(body, ({ kind }) => kind === 'break' || kind === 'return');
}

/** By how much a value grew in each of the measured rounds; undefined if it is not known. */
export function stepOf(before: Known, now: Known): number | bigint | undefined {
  if (typeof before === 'number' && typeof now === 'number') {
    const step = (now - before) / measuredRounds;
    return Number.isInteger(step) ? step : undefined;
  }
  if (typeof before !== 'bigint' || typeof now !== 'bigint') return undefined;
  const grown = now - before;
  return grown % BigInt(measuredRounds) === 0n ? grown / BigInt(measuredRounds) : undefined;
}

/** What a value is after some more rounds. */
export function stepped(now: Known, step: number | bigint | undefined, rounds: number): Known {
  if (typeof now === 'number' && typeof step === 'number') return now + step * rounds;
  if (typeof now === 'bigint' && typeof step === 'bigint') return now + step * BigInt(rounds);
  return undefined;
}

/** A figure some more rounds after one that has grown over the measured ones. */
export function after(before: number, now: number, rounds: number): number {
  return now + ((now - before) / measuredRounds) * rounds;
}

/** What the thread has done then. */
export function progressAfter(before: Progress, now: Progress, rounds: number): Progress {
  return {
    bytes: after(before.bytes, now.bytes, rounds),
    read: after(before.read, now.read, rounds),
    slots: after(before.slots, now.slots, rounds),
    phased: after(before.phased, now.phased, rounds),
    time: after(before.time, now.time, rounds),
    done: after(before.done, now.done, rounds),
  };
}
