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
import type { HalfFormat } from '../kernel/half.ts';
import type { MemoryOrder, MemoryScope } from '../kernel/intrinsics.ts';
import { partOf } from '../kernel/layout.ts';
import type { Element, Extent3, NumberElement } from '../kernel/types.ts';
import type { BitFunction, MathFunction } from './functions.ts';
import type { Barrier, BarrierCall } from './ir-barriers.ts';
import type { CohortWay } from './ir-cohorts.ts';
import type { CoreCall, MbarrierArray, ThreadOrder } from './ir-core.ts';
import type { Pipeline, PipelineCall } from './ir-pipelines.ts';
import type { WarpCall, WarpOperator } from './ir-warps.ts';
import type { Conversion } from './printf.ts';

/**
 * A launch has an index of 32 bits if the magnitude of what it counts is below this: what a kernel adds to a
 * length or count, a few stages or a stride, then does not wrap.
 */
export const narrowIndexLimit = 2 ** 31 - 2 ** 16;

export type { MathFunction };

/** How a conversion is made, where it is not that of a number to the same or the nearest one. */
export type ConversionFormat = HalfFormat | 'bits';

/** The type of a value in a variable or expression. */
export type ValueType = 'bool' | 'i32' | 'u32' | 'i64' | 'u64' | 'f32' | 'f64';

/** The type that a load of an element, or of a part of it, gives and a store takes. */
export function elementValueType(element: Element, part = 0): Exclude<ValueType, 'bool'> {
  return numberValueType(partOf(element, part).element);
}

/** The same of a number of memory. */
export function numberValueType(element: NumberElement): Exclude<ValueType, 'bool'> {
  switch (element) {
    case 'i8':
    case 'u8':
    case 'i16':
    case 'u16':
      return 'i32';
    case 'f16':
    case 'bf16':
      return 'u32';
    default:
      return element;
  }
}

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

/** One of the program's arrays: an index into parameters, sharedArrays or localArrays. */
export interface ArrayReference {
  readonly space: 'global' | 'shared' | 'local';
  readonly id: number;
  /** Seen as elements of another type, from the array's beginning on; indices and lengths count those. No local array. */
  readonly as?: Element;
}

/** A part of an array that starts at an offset, counted in elements. */
export interface View {
  readonly array: ArrayReference;
  readonly offset: Expression;
}

// Expressions

export type BuiltIn =
  | 'threadRank'
  | 'threadIdx.x'
  | 'threadIdx.y'
  | 'threadIdx.z'
  | 'blockIdx.x'
  | 'blockIdx.y'
  | 'blockIdx.z'
  | 'gridDim.x'
  | 'gridDim.y'
  | 'gridDim.z';

/**
 * `divide` truncates on integers. `remainder` has the dividend's sign on integers and floats
 * (JavaScript's %). Shifts take the right operand modulo the width. `min`, `max` are
 * JavaScript's: NaN if either is, and -0 below +0.
 */
export type BinaryOperator =
  | 'add'
  | 'subtract'
  | 'multiply'
  | 'divide'
  | 'remainder'
  | 'and'
  | 'or'
  | 'xor'
  | 'shiftLeft'
  | 'shiftRight'
  | 'min'
  | 'max';

export type UnaryOperator =
  | 'negate'
  | 'not'
  | 'complement'
  | 'abs'
  | 'sqrt'
  | 'floor'
  | 'ceil'
  | 'trunc'
  | BitFunction;

export type CompareOperator = 'equal' | 'notEqual' | 'less' | 'lessEqual' | 'greater' | 'greaterEqual';

interface Typed {
  readonly type: ValueType;
  readonly range: Range;
}

export type Expression =
  | (Typed & { readonly kind: 'constant'; readonly value: number | bigint | boolean })
  | (Typed & { readonly kind: 'variable'; readonly id: number })
  /** A scalar parameter. */
  | (Typed & { readonly kind: 'scalar'; readonly id: number })
  /** Of the program's indexType. */
  | (Typed & { readonly kind: 'builtin'; readonly name: BuiltIn })
  /** Elements of the whole array, of the program's indexType. */
  | (Typed & { readonly kind: 'length'; readonly array: ArrayReference })
  /** `index` is of the program's indexType and counts elements from the array's start. */
  | (Typed & {
      readonly kind: 'load';
      readonly array: ArrayReference;
      readonly index: Expression;
      /**
       * Of an array of several dimensions: the index in each, from the outermost, followed by the extent that it must
       * lie inside of. All are of the program's indexType.
       */
      readonly bounds?: readonly Expression[];
      /** Of an array of vectors or records: which of an element's parts, from 0. */
      readonly component?: number;
    })
  | (Typed & { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly operand: Expression })
  | (Typed & {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
      /** Of a division of f32: whether a target may take an instruction that is less exact. */
      readonly fast?: true;
    })
  /** Type bool. */
  | (Typed & {
      readonly kind: 'compare';
      readonly operator: CompareOperator;
      readonly left: Expression;
      readonly right: Expression;
    })
  /**
   * To `type`. Between integers: modulo the width. Integer to float: rounded to nearest even. f64 to f32:
   * rounded. Float to integer: truncated and then modulo 2^32 or 2^64 as JavaScript's `| 0` does (NaN and
   * infinities give 0). bool to number: 0 or 1; number to bool: not equal to zero and not NaN.
   *
   * As `bits`, between an integer and a float of one width: the value that has the same bits. A NaN is one of many.
   *
   * With another format, from u32 to f32 or back: the value that the low 16 bits stand for, and the bits of the
   * nearest value (kernel/half.ts).
   */
  | (Typed & { readonly kind: 'convert'; readonly operand: Expression; readonly format?: ConversionFormat })
  /** Evaluates only the branch that is taken; so `&&` and `||` are conditionals too. */
  | (Typed & {
      readonly kind: 'conditional';
      readonly test: Expression;
      readonly then: Expression;
      readonly otherwise: Expression;
    })
  | (Typed & {
      readonly kind: 'math';
      readonly function: MathFunction;
      readonly operands: readonly Expression[];
      /** Whether a target may take an instruction that is less exact. */
      readonly fast?: true;
    });

// Statements

export type Statement =
  | { readonly kind: 'assign'; readonly variable: number; readonly value: Expression; readonly range: Range }
  | {
      readonly kind: 'store';
      readonly array: ArrayReference;
      readonly index: Expression;
      /** As of a load. */
      readonly bounds?: readonly Expression[];
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
