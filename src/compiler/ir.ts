// The intermediate representation: what a kernel means once everything is known about it but
// the grid and the arguments.
//
// A Program is structured (no graph of blocks: every target wants structure) and typed, and it
// is plain data, so that it can be posted to a worker, printed and compared. It is made for one
// specialisation: constants, device functions, block shape and index width are literals in it;
// local arrow functions and device functions are inlined; a subarray is an (array, offset) pair.
//
// Invariants:
// - An expression has no side effect and may be evaluated again; only a `load` (out of range)
//   and an integer `divide` or `remainder` (by zero) can fail. Whatever has an effect is a
//   statement, in the order of JavaScript's evaluation.
// - Every statement stands at one place: analyses know it by its identity.
// - Operands of a binary or compare node have the same type; conversions are explicit.
// - `index` of the kernel language is the program's `indexType`, i32 or i64.
// - Loads of 8- and 16-bit integers, signed or not, give i32, which holds all their values; stores take
//   an i32 and keep the low bits, as typed arrays do. An f16 or bf16 element is loaded and stored as its
//   bits, a u32; a conversion with a format makes an f32 of them, and them of an f32.
// - There are no values of vectors or records: a load or store of an array of them names the part, a
//   single number (kernel/layout.ts), and a whole element is as many accesses one after the other.

import type { Range } from '../diagnostics/source.ts';
import type { MemoryOrder, MemoryScope } from '../kernel/intrinsics.ts';
import type { Dimensions } from '../kernel/shaped.ts';
import type { Element, Extent3 } from '../kernel/types.ts';
import type { Barrier, BarrierCall } from './ir-barriers.ts';
import type { CohortWay } from './ir-cohorts.ts';
import type { CoreCall, MbarrierArray, ThreadOrder } from './ir-core.ts';
import type { ArrayReference, Expression, ValueType } from './ir-expressions.ts';
import type { Pipeline, PipelineCall } from './ir-pipelines.ts';
import type { WarpCall, WarpOperator } from './ir-warps.ts';
import type { Conversion } from './printf.ts';

export type { MathFunction } from './functions.ts';
export type {
  ArrayReference,
  BinaryOperator,
  BuiltIn,
  CompareOperator,
  ConversionFormat,
  Expression,
  UnaryOperator,
  ValueType,
  View,
} from './ir-expressions.ts';
export { elementValueType, numberValueType } from './ir-expressions.ts';

/**
 * A launch has an index of 32 bits if the magnitude of what it counts is below this: what a kernel adds to a
 * length or count, a few stages or a stride, then does not wrap.
 */
export const narrowIndexLimit = 2 ** 31 - 2 ** 16;

/** A kernel, specialised and typed. */
export interface Program {
  readonly name: string;
  readonly block: Extent3;
  readonly indexType: 'i32' | 'i64';
  /** In the order of the schema; constants and device functions are gone. */
  readonly parameters: readonly Parameter[];
  readonly variables: readonly Variable[];
  readonly sharedArrays: readonly SharedArray[];
  readonly localArrays: readonly LocalArray[];
  /** Arrays that are seen as elements of other types, each once. */
  readonly views?: readonly ArrayReference[];
  readonly pipelines: readonly Pipeline[];
  /** Whether a target may round a product and the sum it goes into once; without it, each is rounded. */
  readonly fma?: boolean;
  /** So many blocks are to fit on a multiprocessor of a GPU. */
  readonly minBlocks?: number;
  readonly barriers: readonly Barrier[];
  /** Of a program that was lowered for a GPU, where threads of the hardware do the work of others of the kernel. */
  readonly threadOrder?: ThreadOrder;
  /** Of a program that was lowered for a GPU. */
  readonly mbarriers?: readonly MbarrierArray[];
  /**
   * Whose way through the program the body is: each thread's, or that of the block as a whole. The block does a
   * statement once, and lets its threads do what stands in regions. The body of a cohort's program is each
   * thread's; its segments say what is done of it once (ir-cohorts.ts).
   */
  readonly level?: 'block' | 'cohort';
  /** Of a program that was lowered to cohorts: how they carry out the body, by rank group. */
  readonly cohorts?: readonly CohortWay[];
  readonly body: readonly Statement[];
}

export type Parameter =
  | {
      readonly kind: 'array';
      readonly name: string;
      readonly element: Element;
      readonly readonly: boolean;
      /** Of one of several dimensions: how many. Scalars that follow have its extents, and its pitch last. */
      readonly dimensions?: Dimensions;
    }
  | {
      readonly kind: 'scalar';
      readonly name: string;
      readonly type: ValueType;
      /** An index of the kernel language: of 32 bits it is below `narrowIndexLimit`, and not below its negative. */
      readonly isIndex?: boolean;
    };

/** A mutable slot of one thread; zero until it is assigned. */
export interface Variable {
  readonly name: string;
  readonly type: ValueType;
  /** For the interpreter's checks of a lowered program alone: a GPU has nothing of it. */
  readonly ghost?: boolean;
}

/** An array that the threads of a block share. Its contents are undefined at the start of a block. */
export interface SharedArray {
  readonly name: string;
  readonly element: Element;
  /** Elements. Made of constants, scalar parameters and the grid's extents alone. */
  readonly count: Expression;
  /** A target's own, with a slot for each thread, through which lanes of a warp exchange values: no part of the launch. */
  readonly exchanges?: boolean;
  /** A lowering's own, of constant size: no part of the launch. */
  readonly own?: boolean;
  /**
   * Words in which threads count, zero at the start of a block. A thread finds and changes several in one step, until
   * it waits; they order nothing but by the operations `post` and `waitUntil`.
   */
  readonly counts?: boolean;
  /** Of such words: that all blocks of the grid have them in common, zero at the start of the launch. */
  readonly ofGrid?: boolean;
  readonly range: Range;
}

/** An array of one thread's own. Its contents are undefined at first; what must be zero, the program stores. */
export interface LocalArray {
  readonly name: string;
  readonly element: Element;
  readonly count: number;
}

/** Threads that act together. A tile is `size` consecutive ranks of the block. */
export type Group =
  | { readonly kind: 'grid' }
  | { readonly kind: 'block' }
  | { readonly kind: 'thread' }
  | { readonly kind: 'tile'; readonly size: number };

/**
 * Threads that share a pipeline or a barrier. `lanes` are any of a warp, or one half of a block that a predicate cuts in two:
 * the call that makes it says which (`Makers`). They meet right before that and right behind it, by syncs of their own.
 */
export type SharingGroup = Group | { readonly kind: 'lanes'; readonly of: 'warp' | 'block' };

/** What a call that makes a pipeline or a barrier says of its group, where that is of lanes. */
export interface Makers {
  /** Its lanes, each a u32 whose bit i is lane i: those of the own warp, or those of each warp of the block. */
  readonly masks?: readonly Expression[];
  /** Which half of a block it is, 0 or 1 (u32). */
  readonly half?: Expression;
  /** What all of them agreed on, if anything (indexType): how many produce, or the number that the lowest of them passed. */
  readonly agreed?: Expression;
}

// Statements

export type Statement =
  | { readonly kind: 'assign'; readonly variable: number; readonly value: Expression; readonly range: Range }
  | {
      readonly kind: 'store';
      readonly array: ArrayReference;
      readonly index: Expression;
      /** As of a load. */
      readonly bounds?: readonly Expression[];
      readonly fits?: true;
      readonly value: Expression;
      /** Of an array of vectors or records: which of an element's parts, from 0. */
      readonly component?: number;
      readonly range: Range;
    }
  | {
      readonly kind: 'if';
      readonly test: Expression;
      readonly then: readonly Statement[];
      readonly otherwise: readonly Statement[];
      readonly range: Range;
    }
  /**
   * Runs `body` while `test` holds; `continue` goes on with `update`. With `testFirst` false (do … while)
   * the first test comes after the first `body` and `update`. A label is unique in its program.
   */
  | {
      readonly kind: 'loop';
      readonly label: number;
      readonly test: Expression | null;
      readonly testFirst: boolean;
      readonly body: readonly Statement[];
      readonly update: readonly Statement[];
      readonly range: Range;
    }
  /** Runs `body` once; `break` with its label leaves it. */
  | {
      readonly kind: 'block';
      readonly label: number;
      readonly body: readonly Statement[];
      readonly range: Range;
    }
  /** Leaves the enclosing loop or block with that label. */
  | { readonly kind: 'break'; readonly label: number; readonly range: Range }
  | { readonly kind: 'continue'; readonly label: number; readonly range: Range }
  /** Ends this thread, or the block where it is the block's statement. */
  | { readonly kind: 'return'; readonly range: Range }
  | Region
  | Call;

/**
 * All threads of the block carry out `body`, each by itself and in any order. It begins when all that stands
 * before it is done, and what follows comes after all of them. A statement of the block, never of a thread; a
 * lowering's own (docs/decisions/0017-one-core-for-the-cpu.md).
 *
 * A variable has one value, or one for each thread. A thread finds its own value of those in `loads` alone, and
 * leaves it to later regions of those in `stores` alone. What has one value is found as it is, unless the region
 * assigns it: then only if it is in `resets`, and it is left only where all threads agree.
 */
export interface Region {
  readonly kind: 'region';
  readonly body: readonly Statement[];
  readonly loads: readonly number[];
  readonly stores: readonly number[];
  readonly resets: readonly number[];
  readonly range: Range;
}

/** `inc` counts up to `value` and then from 0, `dec` down to 0 and then from `value`; of u32. */
export type AtomicOperator =
  | 'add'
  | 'sub'
  | 'min'
  | 'max'
  | 'and'
  | 'or'
  | 'xor'
  | 'inc'
  | 'dec'
  | 'exch'
  | 'cas'
  | 'load'
  | 'store';

/** An intrinsic with an effect. The name is that of the table of intrinsics. */
export type Call =
  | {
      readonly kind: 'call';
      readonly intrinsic: 'sync';
      readonly group: Group;
      /** Of a tile of 32: the lanes that meet, as a u32, where it is not all of them. */
      readonly mask?: Expression;
      /** Threads of one warp may come to it apart from each other. A lowering's own. */
      readonly apart?: boolean;
      /** Lanes meet to exchange values, apart from those that only sync. A target's own, never the front end's. */
      readonly operator?: WarpOperator;
      readonly range: Range;
    }
  | BarrierCall
  | PipelineCall
  | WarpCall
  | CoreCall
  /** Reads a clock into an f64 variable: nanoseconds, or cycles of the processor. */
  | {
      readonly kind: 'call';
      readonly intrinsic: 'globaltimer' | 'clock64';
      readonly result: number;
      readonly range: Range;
    }
  /**
   * Tells whoever records the stages of a block that threads are here. A target's own, never the front
   * end's.
   */
  | {
      readonly kind: 'call';
      readonly intrinsic: 'mark';
      /** The number of the point. */
      readonly at: number;
      /** The pipeline, how many times it was made here (an i32), and for which batch its stage is used (an i32). */
      readonly of: number;
      readonly made: Expression;
      readonly batch: Expression;
      /** Threads that come here together tell it once. */
      readonly once: boolean;
      readonly range: Range;
    }
  /** Lets other threads go on, for about so many nanoseconds (an f64). */
  | {
      readonly kind: 'call';
      readonly intrinsic: 'nanosleep';
      readonly duration: Expression;
      readonly range: Range;
    }
  | {
      readonly kind: 'call';
      readonly intrinsic: 'atomic';
      readonly operator: AtomicOperator;
      readonly array: ArrayReference;
      readonly index: Expression;
      /** Of a `load`, zero. */
      readonly value: Expression;
      /** For `cas`: what the element is compared with. */
      readonly compare: Expression | null;
      /** What it orders beside itself, and among which threads; by default nothing, and those of the device. */
      readonly order?: MemoryOrder;
      readonly scope?: MemoryScope;
      /** A variable that gets the old value, or null. */
      readonly result: number | null;
      readonly range: Range;
    }
  | {
      readonly kind: 'call';
      readonly intrinsic: 'print';
      /** Written one after the other; the spaces between console.log's arguments are among them. */
      readonly parts: readonly (string | Expression)[];
      /** How each value is written; null as console.log does. Absent: all of them so. */
      readonly formats?: readonly (Conversion | null)[];
      readonly range: Range;
    }
  /** Ends the launch with an error, of which the parts are the message, unless the test holds. */
  | {
      readonly kind: 'call';
      readonly intrinsic: 'assert';
      readonly test: Expression;
      /** At most four are expressions. */
      readonly parts: readonly (string | Expression)[];
      readonly range: Range;
    };

/** The intrinsics that are statements of the program. */
export type CallName = Call['intrinsic'];
