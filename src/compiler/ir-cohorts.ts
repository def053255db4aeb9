// The way of cohorts through a program: threads that came the same way go on as one, until they part.
//
// Threads whose ranks alone separate them are rank groups. Each begins as a cohort, with a program of its
// own, whose body is taken apart into segments. A cohort carries out the steps of a segment, then its end
// says where it goes on. A segment with a head is one where cohorts begin or wait; all others are reached
// with everything in place.
//
// A variable is uniform, with one value in a cohort, or has one for each thread. A head keeps the uniform
// ones in `live` and no others. What threads have of their own, regions find and leave as they say. A cohort
// is never joined by another, and how long it waits and in which order its threads work is left open.

import type { Range } from '../diagnostics/source.ts';
import type { Call, Expression, Program, Region, Statement } from './ir.ts';
import type { CoreCall, CoreOperation } from './ir-core.ts';

/** Threads of a block at even distances: their ranks, and how many they are. */
export interface RankGroup {
  readonly first: number;
  readonly stride: number;
  readonly count: number;
}

/** A place in the text of a program whose threads do what those of several rank groups do: of which it is. */
export interface OfRankGroup extends Range {
  readonly rankGroup: RankGroup;
}

/** What the cohorts of a rank group do. */
export interface CohortWay {
  readonly ranks: RankGroup;
  /** The body as it was taken apart. Its `threadRank` counts the threads of the rank group. */
  readonly program: Program;
  /** Named by their numbers; a block begins at the first. */
  readonly segments: readonly Segment[];
}

/** A wait for a test of words, or the question whether it holds. */
export type CountCall = CoreCall & { readonly operation: Extract<CoreOperation, { kind: 'waitUntil' }> };

export interface Segment<To = number> {
  readonly head: Head | null;
  readonly steps: readonly Step[];
  readonly end: End<To>;
}

export interface Head {
  /** What must be so before the threads go on, if anything. */
  readonly wait: CountCall | null;
  /** Where the threads have let others go on, if that is why they stopped. */
  readonly yieldedAt?: Range;
  /** Uniform variables that are read from here on. */
  readonly live: readonly number[];
  /** Variables with a value for each thread that each finds when it tests what it waits for. */
  readonly loads: readonly number[];
}

export type Step =
  /** What every thread does by itself, in any order. */
  | { readonly kind: 'region'; readonly region: CohortRegion }
  /** Gives uniform variables their values. */
  | { readonly kind: 'once'; readonly statement: Statement }
  /** What all threads do at a call that none of them waits at. */
  | { readonly kind: 'call'; readonly call: Call };

export type End<To = number> =
  | { readonly kind: 'jump'; readonly to: To }
  /** The test is uniform. */
  | { readonly kind: 'branch'; readonly test: Expression; readonly then: To; readonly otherwise: To }
  /** On to a segment whose head may have to wait. */
  | { readonly kind: 'suspend'; readonly to: To }
  /** On to a segment when others have had their turn. */
  | { readonly kind: 'yield'; readonly to: To }
  /** Each thread has a code by the region: 0 to go on at `next`, n to go to the nth exit. */
  | {
      readonly kind: 'split';
      readonly by: CohortRegion;
      readonly next: To;
      readonly exits: readonly Exit<To>[];
    }
  | { readonly kind: 'finish' };

/** Where threads go that leave others behind: all of a cohort straight `to` it, some of one by way of an entry. */
export interface Exit<To = number> {
  readonly to: To;
  /** A segment with a head. */
  readonly entry: To;
}

/** What every thread of a cohort does by itself: it finds its own variables in `loads`, and leaves those in `stores`. */
export interface CohortRegion extends Pick<Region, 'body' | 'loads' | 'stores'> {
  readonly kind: 'region';
  /** What a thread gives at the end: its code, 0 where the test is true and else 1. */
  readonly gives: { readonly kind: 'test'; readonly test: Expression } | null;
  /** Jumps that leave the region, with codes from 1. */
  readonly exits: readonly Jump[];
}

export type Jump = Extract<Statement, { kind: 'break' | 'continue' | 'return' }>;
