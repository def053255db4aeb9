// Which records are of which command.
//
// CUPTI numbers the driver's calls, and all that a call started has its number. One thread issues
// everything, so in a stream the calls that started something come in the order of the commands. What
// did not run because the stream broke, or was dropped for want of a buffer, is missing; so where the
// numbers do not come out, a call is only taken for a command whose kind and bytes it has.

import type { ActivityRecord } from './records.ts';

/** A command, and what its records are recognised by. */
export interface Expected {
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
export interface Matched<E> {
  readonly expected: E;
  readonly activity: Activity | null;
}

/** The commands of a stream, and the records of it. */
export class StreamMatching<E extends Expected> {
  #expected: E[] = [];
  /** Calls that the commands are made of. */
  #expectedCalls = 0;
  #records: ActivityRecord[] = [];
  /** Calls that have records so far; null where it has to be counted anew. */
  #recordedCalls: number | null = 0;

  expect(expected: E): void {
    this.#expected.push(expected);
    this.#expectedCalls += expected.calls + expected.preparations;
  }

  add(record: ActivityRecord): void {
    this.#records.push(record);
    this.#recordedCalls = null;
  }

  /** How many commands wait for their records. */
  get waiting(): number {
    return this.#expected.length;
  }

  /** Whether as many calls were recorded as the commands are made of. */
  get isComplete(): boolean {
    this.#recordedCalls ??= countCalls(this.#records);
    return this.#recordedCalls === this.#expectedCalls;
  }

  /** All commands with their records, in the order of issue; both are forgotten. Nothing may be under way. */
  take(): Matched<E>[] {
    const { isComplete } = this;
    const calls = callsOf(this.#records);
    const matched = isComplete ? inOrder(this.#expected, calls) : asFits(this.#expected, calls);
    this.#expected = [];
    this.#expectedCalls = 0;
    this.#records = [];
    this.#recordedCalls = 0;
    return matched;
  }
}

/** How many calls some records are of; brings these into the order of the calls, in which most of them come. */
function countCalls(records: ActivityRecord[]): number {
  records.sort((a, b) => a.correlation - b.correlation);
  let calls = 0;
  let last = Number.NaN;
  for (const { correlation } of records) {
    if (correlation !== last) calls += 1;
    last = correlation;
  }
  return calls;
}

type Calls = readonly (readonly ActivityRecord[])[];

/** The records of each call, of records in the order of calls. */
function callsOf(records: readonly ActivityRecord[]): Calls {
  const calls: ActivityRecord[][] = [];
  let last = Number.NaN;
  for (const record of records) {
    if (record.correlation === last) calls.at(-1)!.push(record);
    else calls.push([record]);
    last = record.correlation;
  }
  return calls;
}

function inOrder<E extends Expected>(expected: readonly E[], calls: Calls): Matched<E>[] {
  let next = 0;
  return expected.map((each) => {
    next += each.preparations;
    const own = each.calls === 1 ? calls[next]! : calls.slice(next, next + each.calls).flat();
    next += each.calls;
    return { expected: each, activity: together(own) };
  });
}

/** How far is looked for what fits, where a call does not fit a command. */
const farthest = 64;

/**
 * Each call goes to a command that it could be of, in order. Where one does not fit, what is nearest is taken to
 * be missing: commands without a call, or calls without a command.
 */
function asFits<E extends Expected>(expected: readonly E[], calls: Calls): Matched<E>[] {
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
  return expected.map((each, position) => ({
    expected: each,
    activity: together(own.get(position) ?? []),
  }));
}

function together(records: readonly ActivityRecord[]): Activity | null {
  if (records.length === 0) return null;
  const [first] = records as [ActivityRecord];
  if (records.length === 1) return first;
  return {
    start: records.reduce((earliest, { start }) => Math.min(earliest, start), Infinity),
    end: records.reduce((latest, { end }) => Math.max(latest, end), -Infinity),
    channel: records.every(({ channel }) => channel === first.channel) ? first.channel : '',
  };
}
