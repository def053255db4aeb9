// Segments: what a cohort does from one place where it may have to wait to the next.

import type { Call, Expression, Statement } from '../../../compiler/ir.ts';
import type { Range } from '../../../diagnostics/source.ts';
import type { BarrierWaitCall } from '../barriers.ts';
import type { MakeBarrierCall } from './barriers.ts';
import type { WaitingCall } from './waits.ts';

export interface Segment {
  head: Head | null;
  readonly steps: Step[];
  end: End | null;
}

export interface Head {
  /** What must be so before the threads go on, if anything. */
  readonly wait: WaitingCall | null;
  /** Where the threads have let others go on, if that is why they stopped. */
  readonly yieldedAt?: Range;
  /** Uniform variables that are read from here on. */
  readonly live: readonly number[];
}

export type MakeCall = Extract<Call, { intrinsic: 'makePipeline' }>;

export type Step =
  | { readonly kind: 'region'; readonly region: Region }
  /** Gives uniform variables their values. */
  | { readonly kind: 'once'; readonly statement: Statement }
  /** What a call does before the threads wait, or all that it does. */
  | { readonly kind: 'call'; readonly call: Call }
  /** All threads of the group have come to make the pipeline or barrier. */
  | { readonly kind: 'open'; readonly call: MakeCall | MakeBarrierCall }
  /** Each thread has asked whether a phase of a barrier is over. */
  | { readonly kind: 'answer'; readonly call: BarrierWaitCall }
  /** The cohort's threads all are producers, or consumers. */
  | { readonly kind: 'role'; readonly call: MakeCall; readonly role: 'producer' | 'consumer' };

export type End =
  | { readonly kind: 'jump'; readonly to: Segment }
  | {
      readonly kind: 'branch';
      readonly test: Expression;
      readonly then: Segment;
      readonly otherwise: Segment;
    }
  /** On to a segment that may have to wait. */
  | { readonly kind: 'suspend'; readonly to: Segment }
  /** On to a segment when others have had their turn. */
  | { readonly kind: 'yield'; readonly to: Segment }
  /** Each thread has a code, of the region or of its role: 0 to go on at `next`, n to go to the nth exit. */
  | {
      readonly kind: 'split';
      readonly by: Region | MakeCall;
      readonly next: Segment;
      readonly exits: readonly Exit[];
    }
  | { readonly kind: 'finish' };

/** Where threads go that leave others behind: all of a cohort straight `to` it, some of one by way of an entry. */
export interface Exit {
  readonly to: Segment;
  readonly entry: Segment & { readonly head: Head };
}

/** What every thread of the cohort does by itself. */
export interface Region {
  readonly kind: 'region';
  readonly body: readonly Statement[];
  /** A value that each thread gives at the end: its code 0 if it is true, else 1; or a note for a pipeline. */
  readonly yields: { readonly value: Expression; readonly noteFor: number | null } | null;
  /** Jumps that leave the region, with codes from 1. */
  readonly exits: readonly Jump[];
  /** Varying variables that are read from the scratch memory first, and written to it last. */
  readonly loads: readonly number[];
  readonly stores: readonly number[];
}

export type Jump = Extract<Statement, { kind: 'break' | 'continue' | 'return' }>;

export function emptySegment(): Segment {
  return { head: null, steps: [], end: null };
}
