// Which records are of which command.
//
// CUPTI numbers the driver's calls, and all that a call started has its number. One thread issues
// everything, so in a stream the calls that started something come in the order of the commands. What
// did not run because the stream broke, or was dropped for want of a buffer, is missing; so where the
// numbers do not come out, a call is only taken for a command whose kind and bytes it has.

import type { ActivityRecord } from './records.ts';

/** What a command is to be recognised by. */
export interface Expected<C> {
  readonly command: C;
  /** How many calls that start something came before, for this command but no part of it. */
  readonly preparations: number;
  /** How many calls of the driver that start something it was made of. */
  readonly calls: number;
  /** Kinds that its records may have. */
  readonly kinds: readonly number[];
  /** Bytes of a copy or set of one call; null where that is not known. */
  readonly bytes: number | null;
}

/** What the GPU did for a command, from the first start to the last end. */
export interface Activity {
  readonly start: number;
  readonly end: number;
  readonly channel: string;
}

/** A command, with what the GPU did for it; null where there is no record. */
export interface Matched<C> {
  readonly command: C;
  readonly activity: Activity | null;
}

/** The commands of a stream, and the records of it. */
export class StreamMatching<C> {
  #expected: Expected<C>[] = [];
  #records: ActivityRecord[] = [];
  #calls = new Set<number>();

  expect(expected: Expected<C>): void {
    this.#expected.push(expected);
  }

  add(record: ActivityRecord): void {
    this.#records.push(record);
    this.#calls.add(record.correlation);
  }

  /** How many commands wait for their records. */
  get waiting(): number {
    return this.#expected.length;
  }

  /** Whether as many calls were recorded as the commands are made of. */
  get isComplete(): boolean {
    return (
      this.#expected.reduce((sum, { calls, preparations }) => sum + calls + preparations, 0) ===
      this.#calls.size
    );
  }

  /** All commands with their records, in the order of issue; both are forgotten. Nothing may be under way. */
  take(): Matched<C>[] {
    const byCall = new Map<number, ActivityRecord[]>();
    for (const record of this.#records) {
      const known = byCall.get(record.correlation);
      if (known === undefined) byCall.set(record.correlation, [record]);
      else known.push(record);
    }
    const calls = [...byCall].sort(([a], [b]) => a - b).map(([, records]) => records);
    const matched = this.isComplete ? inOrder(this.#expected, calls) : asFits(this.#expected, calls);
    this.#expected = [];
    this.#records = [];
    this.#calls = new Set();
    return matched;
  }
}

type Calls = readonly (readonly ActivityRecord[])[];

function inOrder<C>(expected: readonly Expected<C>[], calls: Calls): Matched<C>[] {
  let next = 0;
  return expected.map(({ command, calls: count, preparations }) => {
    next += preparations;
    const own = calls.slice(next, next + count).flat();
    next += count;
    return { command, activity: together(own) };
  });
}

/** How far is looked for what fits, where a call does not fit a command. */
const farthest = 64;

/**
 * Each call goes to a command that it could be of, in order. Where one does not fit, what is nearest is taken to
 * be missing: commands without a call, or calls without a command.
 */
function asFits<C>(expected: readonly Expected<C>[], calls: Calls): Matched<C>[] {
  const own = new Map<number, ActivityRecord[]>();
  const slots = expected.flatMap((each, position) =>
    Array.from({ length: each.calls }, () => ({ each, position })),
  );
  const fits = (slot: number, call: number) => {
    const wanted = slots[slot]?.each;
    const found = calls[call];
    if (wanted === undefined || found === undefined) return false;
    const { kinds, bytes } = wanted;
    return found.every((record) => kinds.includes(record.kind) && (bytes === null || record.bytes === bytes));
  };
  let [slot, call] = [0, 0];
  while (slot < slots.length && call < calls.length) {
    let skipped = 0;
    while (skipped <= farthest && !fits(slot + skipped, call) && !fits(slot, call + skipped)) skipped += 1;
    if (skipped > farthest) {
      slot += 1;
      continue;
    }
    if (fits(slot + skipped, call)) slot += skipped;
    else call += skipped;
    const { position } = slots[slot]!;
    own.set(position, [...(own.get(position) ?? []), ...calls[call]!]);
    slot += 1;
    call += 1;
  }
  return expected.map(({ command }, position) => ({ command, activity: together(own.get(position) ?? []) }));
}

function together(records: readonly ActivityRecord[]): Activity | null {
  if (records.length === 0) return null;
  const [first] = records as [ActivityRecord];
  return {
    start: records.reduce((earliest, { start }) => Math.min(earliest, start), Infinity),
    end: records.reduce((latest, { end }) => Math.max(latest, end), -Infinity),
    channel: records.every(({ channel }) => channel === first.channel) ? first.channel : '',
  };
}
