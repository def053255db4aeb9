// What the intermediate representation says of barriers.
//
// A Barrier is a place in the kernel that makes one, or an array of them, for the threads of a
// group together; a call says which of the array by an index. A barrier counts arrivals: a phase
// is over when as many as it expects have come, and the next begins at once.
//
// A token is an i64: the number of the phase that the thread arrived in, one up, and above bit 32
// the index of the barrier; 0 is no token. Where a function runs at the end of each phase, the
// arrival that is the phase's last gives a negative token: its thread runs the function, says
// `barrierComplete`, and only then is the phase over. A target may keep tokens in another way as
// long as 0 and the sign mean the same.

import type { Range } from '../diagnostics/source.ts';
import type { Expression, Group, Makers, SharingGroup, View } from './ir.ts';

export interface Barrier {
  readonly name: string;
  readonly group: SharingGroup;
  /** How many there are; null for one that is no array. */
  readonly count: number | null;
  /** Whether arrivals tell who is to end the phase by `barrierComplete`. */
  readonly completes: boolean;
}

/** The most arrivals that a barrier may expect. */
export const mostArrivals = 2 ** 20 - 1;

interface OfBarrier {
  readonly kind: 'call';
  readonly barrier: number;
  /** Which of an array, of the program's indexType; 0 for one that is no array. */
  readonly index: Expression;
  readonly range: Range;
}

export type BarrierCall =
  | (Makers & {
      readonly kind: 'call';
      readonly intrinsic: 'makeBarrier';
      readonly barrier: number;
      /** Arrivals of a phase, of the indexType; null: the threads of the group. */
      readonly expected: Expression | null;
      readonly range: Range;
    })
  | (OfBarrier & {
      readonly intrinsic: 'barrierArrive';
      /** How many arrivals this is, of the indexType; null: one. */
      readonly count: Expression | null;
      /** Whether one arrival less is expected from the next phase on. */
      readonly drop: boolean;
      /** An i64 variable that gets the token, or null. */
      readonly result: number | null;
    })
  | (OfBarrier & { readonly intrinsic: 'barrierComplete' })
  | (OfBarrier & {
      readonly intrinsic: 'barrierWait';
      /** A token (i64), or the parity of a phase (indexType): even phases are 0. */
      readonly by: 'token' | 'parity';
      readonly phase: Expression;
      /** Nanoseconds to wait at most, or the time of `globaltimer` to wait until (f64); null: as long as it takes. */
      readonly limit: Expression | null;
      readonly until: boolean;
      /** A bool variable that gets whether the phase is over, or null. */
      readonly result: number | null;
    })
  /** The copies that this thread issued so far must arrive before the barrier's current phase is over. */
  | (OfBarrier & { readonly intrinsic: 'barrierBind' })
  /** A copy that must arrive before the barrier's current phase is over. */
  | (OfBarrier & {
      readonly intrinsic: 'memcpyAsync';
      readonly group: Group;
      readonly destination: View;
      readonly source: View;
      readonly count: Expression;
      readonly zeroFill: Expression | null;
      readonly alignment: number;
    });
