// Expressions of the intermediate representation: what a thread computes without an effect.
//
// An expression may be evaluated again, wherever its variables and the memory that it reads are as they were. Only a `load`
// and an integer `divide` or `remainder` can fail. Both operands of a binary or compare node have the same type.

import type { Range } from '../diagnostics/source.ts';
import type { HalfFormat } from '../kernel/half.ts';
import { partOf } from '../kernel/layout.ts';
import type { Element, NumberElement } from '../kernel/types.ts';
import type { BitFunction, MathFunction } from './functions.ts';

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
      /** The launch has checked that what lies inside of all bounds lies inside the array. */
      readonly fits?: true;
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
