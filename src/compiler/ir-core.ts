// What the intermediate representation says of a target's own synchronisation: the core.
//
// The front end makes none of this. A pass of `targets/legalise` replaces pipelines, barriers and
// copies by these operations, and a GPU target prints them one by one. The interpreter executes
// them too, under the weakest behaviour that the hardware allows, and the race checker watches: so
// what is proved is what runs.
//
// An mbarrier counts arrivals and bytes. Its phase ends when no arrival and no byte is pending, and
// the next begins at once. Operations name an object by the number of its array and an index.
//
// Orders, as PTX has them: an arrival that releases publishes what its thread did and knows; a wait
// acquires what was published in the phase that it waited for, and no other. A copy that completes
// publishes itself alone. The copy engine reads and writes through a proxy of its own: what threads
// did reaches it through a proxy fence in the same block, on the way to the copy.

import type { Range } from '../diagnostics/source.ts';
import type { ArrayReference, Expression, Group, SharingGroup, View } from './ir.ts';
import type { WarpOperator } from './ir-warps.ts';

/** Mbarriers in a block's shared memory: so many for each of the block's groups of this kind. */
export interface MbarrierArray {
  readonly name: string;
  readonly count: number;
  /** Of lanes there are as many groups as threads of the block. */
  readonly group: SharingGroup;
  /** The hardware's own, or a word that threads count down: copies cannot arrive there by themselves. */
  readonly made: 'hardware' | 'software';
  /** Whether the last arrival of a phase gives a negative token: its thread ends the phase by `mbarrierComplete`. */
  readonly completes: boolean;
  /** Which of the program's barriers it stands for, or null. */
  readonly barrier: number | null;
}

/** For whom a thread waits, as reports name it: the verb of the kernel's text, and what it is said of. */
export interface Waiting {
  readonly verb: string;
  readonly pipeline?: number;
  readonly barrier?: number;
  /** Of a meeting: who meets, and what lanes exchange there, if they do. */
  readonly group?: Group;
  readonly operator?: WarpOperator;
  /** Lanes find each other by the masks that name them. */
  readonly byMask?: boolean;
}

/** A word of an array of counts. */
interface OfCount {
  readonly array: ArrayReference;
  /** Of the program's indexType. */
  readonly index: Expression;
}

interface OfMbarrier {
  readonly mbarrier: number;
  /** Which of the array's, in the thread's own group: an integer. */
  readonly index: Expression;
  /** Of lanes: which of the groups is meant, a u32. */
  readonly instance?: Expression;
}

/**
 * Copies of several threads that one thread makes as one: so many parts, one behind the other, each of as many
 * threads. The first one is that of the first threads of the hardware.
 */
export interface CopyParts {
  readonly count: number;
  readonly threads: number;
}

/** Of every `period` ranks, `width` from `first` on. */
export interface RankRun {
  readonly period: number;
  readonly first: number;
  readonly width: number;
}

/** Which rank of the kernel's block each thread of the hardware has: the producers' in their order, then the others'. */
export interface ThreadOrder {
  readonly producers: RankRun;
  readonly consumers: RankRun;
  /** How many threads are producers. */
  readonly count: number;
  /** Whether each thread of the hardware is the kernel's of the same rank. */
  readonly isSame: boolean;
}

interface Copying {
  readonly destination: View;
  readonly source: View;
  /** Elements, of the program's indexType; both arrays have the same element type. */
  readonly count: Expression;
  /** What the kernel's text promises: both addresses and the size are multiples of so many bytes. */
  readonly promised: number;
}

export type CoreOperation =
  | (OfMbarrier & {
      readonly kind: 'mbarrierInit' /** Arrivals of a phase. */;
      readonly expected: Expression;
    })
  | (OfMbarrier & { readonly kind: 'mbarrierInvalidate' })
  | (OfMbarrier & {
      readonly kind: 'mbarrierArrive';
      /** How many arrivals this is; null: one. */
      readonly count: Expression | null;
      /** Bytes that the phase waits for besides, before the arrival counts; null: none. */
      readonly bytes: Expression | null;
      /** Whether one arrival less is expected from the next phase on. */
      readonly drop: boolean;
      /** A relaxed arrival counts, and publishes nothing. */
      readonly order: 'release' | 'relaxed';
    })
  /** The phase waits for so many bytes more. */
  | (OfMbarrier & { readonly kind: 'mbarrierExpect'; readonly bytes: Expression })
  /** An arrival that comes when this thread's earlier chunk copies are done; counted beforehand unless `noIncrement`. */
  | (OfMbarrier & { readonly kind: 'mbarrierArriveAfterCopies'; readonly noIncrement: boolean })
  | (OfMbarrier & {
      readonly kind: 'mbarrierWait';
      /** The parity of the phase to wait for, an integer of which the lowest bit counts; or the token of an arrival in it. */
      readonly by: 'parity' | 'token';
      readonly awaited: Expression;
      /**
       * Which phase that is: an integer from 0. Hardware sees the parity alone, so this is printed nowhere; the
       * interpreter finds a wait whose parity means another phase. Null where it is not known.
       */
      readonly phase: Expression | null;
      /** Nanoseconds to wait at most, or the time of `globaltimer` to wait until (f64); null: as long as it takes. */
      readonly limit: Expression | null;
      readonly until: boolean;
      /** All lanes of the warp are known to come together. */
      readonly converged: boolean;
      readonly waiting: Waiting;
    })
  /** Ends a phase that has all its arrivals. */
  | (OfMbarrier & { readonly kind: 'mbarrierComplete' })
  /** The group's threads copy in turns, chunk by chunk of so many bytes, from global to shared memory (cp.async). */
  | (Copying & {
      readonly kind: 'copyChunks';
      readonly chunkBytes: 4 | 8 | 16;
      readonly group: Group;
      /** So many elements at the end are set to zero instead, and not read. */
      readonly zeroFill: Expression | null;
    })
  /** What the thread issued since its last commit becomes one group of copies. */
  | { readonly kind: 'copyCommit' }
  /** Waits until at most so many of the thread's youngest groups are under way; more than `most` are never asked for. */
  | { readonly kind: 'copyWait'; readonly allBut: Expression; readonly most: number }
  /** Waits for all copies that the thread has issued. */
  | { readonly kind: 'copyWaitAll' }
  /** Tests the operands of a copy, in a kernel that is checked. */
  | (Copying & {
      readonly kind: 'copyCheck';
      readonly zeroFill: Expression | null;
      /** Whose copies these are where they were made one: each is tested as its own. */
      readonly parts?: CopyParts;
    })
  /** The group's threads copy in turns, element by element: done when they go on. */
  | (Copying & { readonly kind: 'copyElements'; readonly group: Group })
  /** A hint that one thread gives: this part of global memory will be copied soon. */
  | { readonly kind: 'prefetch'; readonly source: View; readonly count: Expression }
  /** One thread gives a copy from global to shared memory to the copy engine; its bytes count at an mbarrier. */
  | (OfMbarrier & Copying & { readonly kind: 'bulkCopy' })
  /** The same from shared to global memory; it joins the thread's own groups of such copies. */
  | (Copying & { readonly kind: 'bulkStore' })
  | { readonly kind: 'bulkCommit' }
  /** Waits for all but the youngest of these groups: until their sources are read, or until they are done. */
  | { readonly kind: 'bulkWait'; readonly allBut: Expression; readonly reads: boolean }
  /** What the thread did and knows of this memory comes before what the copy engine is given after it. */
  | { readonly kind: 'proxyFence'; readonly space: 'shared' | 'global' }
  /** Orders accesses around atomic operations; the scope says among whom. */
  | { readonly kind: 'fence'; readonly scope: 'block' | 'device' | 'system' }
  /** One of the block's numbered barriers, for so many threads. Who does not wait only arrives. */
  | {
      readonly kind: 'namedBarrier';
      readonly id: Expression;
      readonly threads: number;
      readonly waits: boolean;
    }
  /** All threads of the group meet; gives how many of them have a true value. */
  | {
      readonly kind: 'groupCount';
      readonly group: Group;
      readonly value: Expression;
      readonly waiting: Waiting;
    }
  /** True in one lane of the warp, always the same. All its lanes come together. */
  | { readonly kind: 'elect' }
  // Of a program whose threads run as cohorts: they count in words that nobody else changes in the meantime.
  /** Adds to a word, and gives what comes out, an i32. What the thread did and knows is published in a phase (an i32) of that word; null: nowhere. */
  | (OfCount & {
      readonly kind: 'post';
      readonly by: Expression;
      readonly phase: Expression | null;
      /** Each thread by itself, among what else it does by itself. */
      readonly alone?: true;
    })
  /**
   * Waits until a test of words holds, or only asks whether it does: that is its result. If it holds, what was
   * published in that phase of the word and before is known. No target prints the phase.
   */
  | (OfCount & {
      readonly kind: 'waitUntil';
      readonly test: Expression;
      readonly phase: Expression;
      readonly waits: boolean;
      readonly waiting: Waiting;
      /** For the report of a deadlock, each an i32: which of the groups or stages, and how far it has come. */
      readonly place: Expression;
      readonly arrived: Expression;
      readonly expected: Expression;
      readonly left: Expression;
    })
  /** The kernel stops: the threads of a group have noted different counts (i64, the sign bit turned), so many from an index on. */
  | (OfCount & { readonly kind: 'countsDiffer'; readonly pipeline: number; readonly threads: Expression })
  /** The kernel stops: so many producers (an i64) among so many threads (an i32) leave one side without any. */
  | {
      readonly kind: 'oneSided';
      readonly pipeline: number;
      readonly producers: Expression;
      readonly threads: Expression;
    }
  // Of a program that its block runs.
  /** Copies at once: all of it where the block does, in a region the thread's share. Its operands are tested first. */
  | (Copying & { readonly kind: 'copyNow'; readonly group: Group; readonly zeroFill: Expression | null })
  /** The kernel stops: all threads wait for this stage (a u32), which none of them can bring any more. */
  | {
      readonly kind: 'stuckAtStage';
      readonly pipeline: number;
      readonly verb: string;
      readonly stage: Expression;
    }
  /** The same for a phase (an i32) of a barrier: which of its array is an i32 too. */
  | {
      readonly kind: 'stuckAtBarrier';
      readonly barrier: number;
      readonly at: Expression;
      readonly phase: Expression;
    }
  /** The kernel stops: the pipeline is in a state, one of `pipelineStates`, that forbids the call. */
  | {
      readonly kind: 'pipelineMisused';
      readonly pipeline: number;
      readonly verb: string;
      readonly state: Expression;
    }
  /** The kernel stops: a thread does with a barrier what is wrong; `first` and `second`, of type i64, are for its words. */
  | {
      readonly kind: 'barrierMisused';
      readonly barrier: number;
      readonly fault:
        | 'notMade'
        | 'noSuchBarrier'
        | 'wrongExpected'
        | 'differentExpected'
        | 'wrongCount'
        | 'noToken'
        | 'otherToken'
        | 'staleToken';
      readonly at: Expression;
      readonly first: Expression;
      readonly second: Expression;
    };

/** An operation of the core as a statement. */
export interface CoreCall {
  readonly kind: 'call';
  readonly intrinsic: 'core';
  readonly operation: CoreOperation;
  /**
   * A variable that gets what the operation gives, or null: whether a wait with a limit is over or a lane is
   * elected (bool), how many threads have a true value (i32), the token of an arrival (i64).
   */
  readonly result: number | null;
  readonly range: Range;
}

/** The operation of a kind. */
export type OperationOf<Kind extends CoreOperation['kind']> = Extract<CoreOperation, { kind: Kind }>;
