// Random histories of threads that access memory, and by the definition which accesses race.
//
// A history is a list of events in the order in which they took effect. What comes before what follows from
// three rules: a thread's own order; a message from its sender to its receiver; and two fences, where one
// thread operates on a place after its fence, and another on the same place later and before its own. A fence
// of a block counts among threads of that block. A race is a pair of accesses of one element by two threads,
// not both reads and not both atomic, of which neither comes before the other.

import type { Tape } from '../differential/tape.ts';

export const blocks = 2;
export const threadsPerBlock = 6;
const threads = blocks * threadsPerBlock;

/** Elements of one array: beside each other, and a page of the checker's memory or half of one apart. */
const elements = [0, 1, 2048, 4096, 5000] as const;
export const length = 5001;

export type Event = { readonly thread: number } & (
  | { readonly kind: 'read' | 'write' | 'update'; readonly element: number }
  | { readonly kind: 'fence'; readonly scope: 'block' | 'device' }
  | { readonly kind: 'send' | 'receive'; readonly message: number }
);

type Access = Extract<Event, { element: number }>;

export function inWords(event: Event): string {
  const { thread, kind } = event;
  const what = 'element' in event ? event.element : 'scope' in event ? event.scope : event.message;
  return `${thread} ${kind} ${what}`;
}

/** A history that grows event by event, with all that comes before each of them, as bits. */
class History {
  readonly events: Event[] = [];
  readonly #before: bigint[] = [];

  /** What comes before an event that would be the next. */
  #beforeNext(next: Event): bigint {
    let before = 0n;
    const after = (earlier: number) => {
      before |= this.#before[earlier]! | (1n << BigInt(earlier));
    };
    const own = this.events.findLastIndex(({ thread }) => thread === next.thread);
    if (own >= 0) after(own);
    if (next.kind === 'receive')
      after(this.events.findIndex((event) => event.kind === 'send' && event.message === next.message));
    if (next.kind === 'fence') for (const fence of this.#fencesBefore(next)) after(fence);
    return before;
  }

  /** Fences of other threads with an operation behind them that an operation of this thread came after. */
  #fencesBefore(next: Extract<Event, { kind: 'fence' }>): number[] {
    const fences: number[] = [];
    for (const [own, mine] of this.events.entries()) {
      if (mine.thread !== next.thread || mine.kind !== 'update') continue;
      for (const [other, theirs] of this.events.slice(0, own).entries()) {
        if (theirs.kind !== 'update' || theirs.element !== mine.element || theirs.thread === next.thread)
          continue;
        for (const [at, fence] of this.events.slice(0, other).entries()) {
          if (fence.kind !== 'fence' || fence.thread !== theirs.thread) continue;
          const wide = fence.scope === 'device' && next.scope === 'device';
          if (wide || blockOf(fence.thread) === blockOf(next.thread)) fences.push(at);
        }
      }
    }
    return fences;
  }

  add(event: Event): void {
    this.#before.push(this.#beforeNext(event));
    this.events.push(event);
  }

  /** Whether an event that would be the next is an access that races. */
  races(next: Event): boolean {
    if (!('element' in next)) return false;
    const before = this.#beforeNext(next);
    return this.events.some(
      (event, at) => 'element' in event && conflict(event, next) && (before & (1n << BigInt(at))) === 0n,
    );
  }
}

function blockOf(thread: number): number {
  return Math.floor(thread / threadsPerBlock);
}

function conflict(one: Access, other: Access): boolean {
  if (one.element !== other.element || one.thread === other.thread) return false;
  return !(one.kind === other.kind && one.kind !== 'write');
}

export interface RandomHistory {
  /** Without any race. */
  readonly clean: readonly Event[];
  /** One access more that races with some before it; null where none was found. */
  readonly racing: Event | null;
}

/** A clean history, and an access that makes it race. */
export function randomHistory(tape: Tape): RandomHistory {
  const history = new History();
  const steps = 4 + tape.below(36);
  const taken = tape.pick([2, 3, threads]);
  // Accesses of one kind make the longest lists; fences and operations on one place the longest ways.
  const accesses = tape.pick([['read'], ['update'], ['read', 'read', 'update'], ['read', 'write']] as const);
  const [fences, meetings, messages] = tape.pick([
    [0, 0, 0],
    [2, 0, 0],
    [2, 3, 0],
    [1, 1, 2],
  ] as const);
  const hot = tape.chance(1, 2);
  let sent = 0;
  const access = (thread: number, kinds: readonly Access['kind'][]): Event => ({
    thread,
    kind: tape.pick(kinds),
    element: hot && tape.chance(3, 4) ? elements[0] : tape.pick(elements),
  });
  const someone = () => tape.below(taken) * Math.floor(threads / taken);
  const next = (thread: number): Event => {
    let kind = tape.below(4 + fences + meetings + messages) - 4;
    if (kind < 0) return access(thread, accesses);
    if (kind < fences) return { thread, kind: 'fence', scope: tape.pick(['device', 'block']) };
    kind -= fences;
    if (kind < meetings) return { thread, kind: 'update', element: elements[1] };
    if (sent > 0 && tape.chance(1, 2)) return { thread, kind: 'receive', message: tape.below(sent) };
    return { thread, kind: 'send', message: sent++ };
  };
  for (let step = 0; step < steps; ++step) {
    const event = next(someone());
    if (!history.races(event)) history.add(event);
  }
  const last = history.events.findLast((event) => 'element' in event)?.thread ?? 0;
  for (let tries = 0; tries < 8; ++tries) {
    const event = access(tape.chance(1, 2) ? last : someone(), ['write', 'read', 'update']);
    if (history.races(event)) return { clean: history.events, racing: event };
  }
  return { clean: history.events, racing: null };
}
