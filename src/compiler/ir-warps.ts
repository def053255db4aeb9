// What the intermediate representation says of the lanes of a warp.
//
// The lanes that take part each come to a call of one operation and mask, at the same place or not: what
// a lane brings is the call's value, and what it gets the call's result. That lanes meet without exchanging
// anything is a sync of their tile.

import type { Range } from '../diagnostics/source.ts';
import type { BinaryOperator, Expression, Group } from './ir.ts';

/** How a shuffle makes the lane that it reads: it is given, or follows from the calling lane and what is given. */
export const shuffles = { shfl: 'given', shflUp: 'subtract', shflDown: 'add', shflXor: 'xor' } as const;

export type Shuffle = keyof typeof shuffles;

/** How a reduction puts two values together. */
export const reductions = {
  reduceAdd: 'add',
  reduceMin: 'min',
  reduceMax: 'max',
  reduceAnd: 'and',
  reduceOr: 'or',
  reduceXor: 'xor',
} as const satisfies Readonly<Record<string, BinaryOperator>>;

/**
 * What the lanes of a warp do together. `shfl` and its like give the value of another lane; `ballot` the
 * lanes whose value is true; `match` the lanes with the same value; `reduce` all values in one. For
 * `activemask` nobody waits: it gives lanes that happen to be here, the calling one among them.
 */
export type WarpOperator =
  | Shuffle
  | 'ballot'
  | 'any'
  | 'all'
  | 'matchAny'
  | 'matchAll'
  | keyof typeof reductions
  | 'activemask';

/**
 * Lanes exchange values: none goes on before all that take part are here. Of those, threads that returned
 * are not expected. It orders no memory.
 */
export interface WarpCall {
  readonly kind: 'call';
  readonly intrinsic: 'warp';
  readonly operator: WarpOperator;
  readonly group: Extract<Group, { kind: 'tile' }>;
  /** As of a sync. */
  readonly mask?: Expression;
  /** What the lane brings: bool for votes, an integer for `reduce…`, else any number. */
  readonly value: Expression;
  /** Of shuffles, an i32 of which the low five bits count: the lane, the distance or the bits to flip. */
  readonly lane: Expression | null;
  /** Lanes among which a shuffle counts: a power of two, at most the group's size. */
  readonly width: number;
  /** Gets the result, or null: of value's type; u32 for `ballot` and `match`, bool for `any` and `all`. */
  readonly result: number | null;
  readonly range: Range;
}
