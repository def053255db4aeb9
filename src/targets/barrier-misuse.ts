// Wrong uses of a barrier, in words: the same on every target.

import { mostArrivals } from '../compiler/ir-barriers.ts';

export interface BarrierMisuse {
  readonly message: string;
  readonly hint: string;
}

/** What messages call a barrier: `bar`, or `bars[1]` in an array. */
export function barrierName({ name, count }: { name: string; count: number | null }, index: number): string {
  return count === null ? name : `${name}[${index}]`;
}

/** What a thread can do wrong with a barrier, by the number that code tells. */
export const barrierFaults = {
  notMade: 0,
  noSuchBarrier: 1,
  wrongExpected: 2,
  differentExpected: 3,
  wrongCount: 4,
  noToken: 5,
  otherToken: 6,
  staleToken: 7,
} as const;

/** The words for one of `barrierFaults`, at the barrier of that index, with the values that they need. */
export function barrierMisuseOf(
  declaration: { name: string; count: number | null },
  fault: number,
  index: number,
  a: number,
  b: number,
): BarrierMisuse {
  const name = barrierName(declaration, index);
  switch (fault) {
    case barrierFaults.notMade:
      return notMade(declaration.name);
    case barrierFaults.noSuchBarrier:
      return noSuchBarrier(declaration.name, a, declaration.count ?? 1);
    case barrierFaults.wrongExpected:
      return wrongExpected(declaration.name, a);
    case barrierFaults.differentExpected:
      return differentExpected(declaration.name, [a, b]);
    case barrierFaults.wrongCount:
      return wrongCount(name, a, b);
    case barrierFaults.noToken:
      return noToken(name);
    case barrierFaults.otherToken:
      return otherToken(name, barrierName(declaration, a));
    default:
      return staleToken(name, a, b);
  }
}

/** A thread uses a barrier that it has not made. */
export function notMade(barrier: string): BarrierMisuse {
  return {
    message: `\`${barrier}\` is used by a thread that did not make it`,
    hint: 'Make the barrier in all threads of the group, before any of them uses it.',
  };
}

/** An array has no such barrier. */
export function noSuchBarrier(barriers: string, index: number, count: number): BarrierMisuse {
  return {
    message: `\`${barriers}[${index}]\` is used, and there ${count === 1 ? 'is 1 barrier' : `are ${count} barriers`}`,
    hint: 'They are counted from 0; use the remainder: i % count.',
  };
}

/** A barrier that expects nobody, or too many. */
export function wrongExpected(barrier: string, expected: number): BarrierMisuse {
  return {
    message: `\`${barrier}\` is made to expect ${arrivals(expected)}`,
    hint: `Expect 1 to ${mostArrivals} arrivals: those of one phase.`,
  };
}

/** The threads of a group do not agree how many arrivals there are. */
export function differentExpected(barrier: string, counts: Iterable<number>): BarrierMisuse {
  const sorted = [...new Set(counts)].sort((a, b) => a - b);
  return {
    message: `the threads make \`${barrier}\` with different numbers of arrivals: ${sorted.join(', ')}`,
    hint: 'Pass the same number in all threads of the group.',
  };
}

/** More arrivals at once than the phase still awaits, or none. */
export function wrongCount(barrier: string, count: number, pending: number): BarrierMisuse {
  return {
    message: `${arrivals(count)} at \`${barrier}\`, whose phase awaits ${pending}`,
    hint:
      count < 1
        ? 'Count as one arrival or more.'
        : 'Let the barrier expect all arrivals of a phase, and let no thread arrive twice before the phase is over.',
  };
}

/** A wait with a variable that no arrival has set. */
export function noToken(barrier: string): BarrierMisuse {
  return {
    message: `a wait at \`${barrier}\` without a token`,
    hint: 'Give the variable the token of an arrival before every wait.',
  };
}

/** A wait with a token of another barrier of the same array. */
export function otherToken(barrier: string, other: string): BarrierMisuse {
  return {
    message: `a wait at \`${barrier}\` with a token of \`${other}\``,
    hint: 'Wait at the barrier at which the thread arrived.',
  };
}

/** A wait with a token that is older than the hardware can tell. */
export function staleToken(barrier: string, phase: number, current: number): BarrierMisuse {
  return {
    message: `a wait at \`${barrier}\` for ${phase < 0 ? 'the phase before its first one' : `phase ${phase}`}, when it is in phase ${current}`,
    hint: 'Wait before the phase after the awaited one is over: hardware tells only a phase from the next.',
  };
}

function arrivals(count: number): string {
  return count === 1 ? '1 arrival' : `${count} arrivals`;
}
