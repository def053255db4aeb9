// Random choices as fast-check shrinks them best: a tape of numbers, read one at a time.
//
// A generator asks the tape for each decision and puts the simplest answer first. At the end of
// the tape every answer is the first one; so a shorter tape with smaller numbers is a simpler
// program, and fast-check needs to know nothing about programs.

import fc from 'fast-check';

export class Tape {
  readonly #numbers: readonly number[];
  #position = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** An integer from 0 to `n` (exclusive). */
  below(n: number): number {
    const number = this.#numbers[this.#position] ?? 0;
    this.#position += 1;
    return number % n;
  }

  /** One of the choices, the simplest first. */
  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** False at the end of the tape. */
  chance(once: number, outOf: number): boolean {
    return this.below(outOf) >= outOf - once;
  }

  /** For fast-check's report of a counterexample. */
  toString(): string {
    return `tape ${this.#numbers.slice(0, this.#position).join(' ')}`;
  }

  get ended(): boolean {
    return this.#position >= this.#numbers.length;
  }
}

/** Tapes for programs of up to about `decisions` decisions. */
export function tapes(decisions: number): fc.Arbitrary<Tape> {
  return fc
    .array(fc.nat({ max: 1_000_003 }), { maxLength: decisions, size: 'max' })
    .map((numbers) => new Tape(numbers));
}

/**
 * How many random programs a test runs, and from which seed: fixed, unless the environment says otherwise:
 * WARPSTAGE_RANDOM_RUNS how many, WARPSTAGE_RANDOM_MORE how many times `runs`, by default a half. It takes seconds; what
 * takes far more fails, with the counterexample as small as it has become until then.
 */
export function randomRuns(runs: number): fc.Parameters<unknown> {
  const {
    WARPSTAGE_RANDOM_RUNS: times,
    WARPSTAGE_RANDOM_MORE: more = '0.5',
    WARPSTAGE_RANDOM_SEED: seed,
    WARPSTAGE_RANDOM_SECONDS: seconds,
  } = process.env;
  const numRuns = times === undefined ? Math.ceil(runs * Number(more)) : Number(times);
  return {
    numRuns,
    seed: seed === undefined ? 20_240_517 : Number(seed),
    interruptAfterTimeLimit:
      1000 * (seconds === undefined ? 90 * Math.max(1, numRuns / runs) : Number(seconds)),
    markInterruptAsFailure: true,
  };
}

/** The milliseconds that a test of so many random programs may take: on a GPU each is compiled by NVRTC. */
export function randomLimit(runs: number): number {
  return 30_000 + randomRuns(runs).interruptAfterTimeLimit!;
}
