// What a kernel's expressions stand for while it is lowered.
//
// Lowering interprets a kernel abstractly: most of what it handles (groups, pipelines, views,
// functions, destructured objects) is known to the compiler alone and leaves no trace in the
// program; only numbers become expressions of the IR.

import type { Function as FunctionNode, Node } from 'acorn';
import type { IntrinsicName } from '../kernel/intrinsics.ts';
import type { DeviceFunction } from '../kernel/schema.ts';
import type { Element, VectorType } from '../kernel/types.ts';
import type { Cell, Frame } from './frame.ts';
import type { ArrayReference, Expression, Group } from './ir.ts';
import type { PipelineScope } from './ir-pipelines.ts';
import { isBigint, type NumberType, type SmallIntegerType } from './number-types.ts';

/** A number of a known type. */
export interface NumberValue {
  readonly kind: 'number';
  readonly type: NumberType;
  readonly expression: Expression;
}

/** A number that the text gives, which has no type yet: it takes that of what it is combined with. */
export interface LiteralValue {
  readonly kind: 'literal';
  readonly value: number | bigint;
}

/** One of two literals. */
export interface EitherValue {
  readonly kind: 'either';
  readonly test: Expression;
  readonly then: LiteralValue | EitherValue;
  readonly otherwise: LiteralValue | EitherValue;
}

/** A number made of variables whose types are not settled yet. It does not outlive inference. */
export interface OpenValue {
  readonly kind: 'open';
  readonly cells: readonly string[];
  readonly fractional: boolean;
}

export type Numeric = NumberValue | LiteralValue | EitherValue | OpenValue;

/** `a / b` of two integers of one type, before it is said how to round it. */
export interface QuotientValue {
  readonly kind: 'quotient';
  readonly type: SmallIntegerType;
  /** Where it is written. */
  readonly node: Node;
  readonly left: Expression;
  readonly right: Expression;
}

/** A vector: its components, each of its component type. */
export interface VectorValue {
  readonly kind: 'vector';
  readonly type: VectorType;
  readonly components: readonly Expression[];
}

/** A part of an array. */
export interface ViewValue {
  readonly kind: 'view';
  readonly array: ArrayReference;
  readonly name: string;
  readonly element: Element;
  readonly readonly: boolean;
  /** Of a list that became an array: the key under which its elements' type is inferred. */
  readonly inferred: string | null;
  /** Of the index type; counts from the array's start. */
  readonly offset: Expression;
  /** Elements of the view, or null where it ends with its array. */
  readonly length: Expression | null;
  /** Of an array of several dimensions, or of a row of one: those that are not indexed yet, from the outermost. */
  readonly dimensions?: readonly Dimension[];
  /** The indices so far, each followed by the extent of its dimension. */
  readonly bounds?: readonly Expression[];
  /** The launch has checked that what lies inside of all dimensions lies inside the array. */
  readonly fits?: true;
  /** Of an element with its neighbours: the first and last position that may be read. */
  readonly window?: readonly [first: number, last: number];
}

/** How many places a dimension has, and how many elements lie from one to the next; of the index type. */
export interface Dimension {
  readonly extent: Expression;
  readonly pitch: Expression;
}

/** One of several arrays of one element type; each is of another array, so that no array stands there twice. */
export interface ArrayChoiceValue {
  readonly kind: 'arrayChoice';
  /** An i32: the position among the options. */
  readonly code: Expression;
  readonly options: readonly ViewValue[];
}

export interface GroupValue {
  readonly kind: 'group';
  readonly group: Group;
  /** Of a tile: how many there are in the group that was partitioned. */
  readonly metaGroupSize: number;
  /** Of one of the tiles that do not fill their block, as a receiver: its lanes. */
  readonly mask?: Expression;
  /** The lanes of the tile that was partitioned, where that is one of these. */
  readonly partitioned?: Expression;
}

/** Any lanes of a warp: a u32 whose bit i stands for lane i. */
export interface LanesValue {
  readonly kind: 'lanes';
  readonly mask: Expression;
  /** Where they are one of the tiles that a block was cut into and does not fill, or of one that such a tile was cut into. */
  readonly tile?: Pick<GroupValue, 'metaGroupSize' | 'partitioned'> & { readonly size: number };
}

/** The threads of a block that bring the same truth, of any warps; what stands here is settled. */
export interface SubsetValue {
  readonly kind: 'subset';
  readonly name: string;
  /** Its lanes in each warp of the block, each a u32. */
  readonly masks: readonly Expression[];
  /** 0 where the predicate holds, else 1; a u32. */
  readonly half: Expression;
  /** Of the thread in it, its threads, and those of the other half if that comes before; of the index type. */
  readonly rank: Expression;
  readonly size: Expression;
  readonly base: Expression;
  /** Where its threads meet. */
  readonly barrier: number;
  /** Threads of the block. */
  readonly most: number;
  /** The arrays through which its threads have exchanged values, by element type. */
  readonly exchanged: Map<Element, ViewValue>;
}

/** One string. */
export interface TextValue {
  readonly kind: 'text';
  readonly text: string;
}

/** One of several strings: an i32 that counts in the lowering's list of strings. */
export interface ChoiceValue {
  readonly kind: 'choice';
  readonly code: Expression;
}

/** Text with values in it, which only console.log takes. */
export interface TemplateValue {
  readonly kind: 'template';
  readonly parts: readonly Value[];
}

/** A count of elements with a promised alignment in bytes. */
export interface CountValue {
  readonly kind: 'count';
  readonly count: Expression;
  readonly alignment: number;
}

/** Made by `cuda.pipelineSharedState`. */
export interface PipelineStateValue {
  readonly kind: 'pipelineState';
  /** Which of the kernel's shared states. */
  readonly id: number;
  readonly scope: PipelineScope;
  readonly stages: number;
}

/** Made by `cuda.curandInit`; what changes of it are variables of the program. */
export interface RandomStateValue {
  readonly kind: 'randomState';
  /** The low and the high 32 bits of each. */
  readonly seed: readonly [Expression, Expression];
  readonly subsequence: readonly [Expression, Expression];
  /** A u64: how many words of the subsequence lie before the next one. */
  readonly drawn: Expression & { readonly kind: 'variable' };
  /** Four u32, of which the next word is one; while it is the first, they are not there yet. */
  readonly words: readonly (Expression & { readonly kind: 'variable' })[];
}

/** An array that the kernel wrote as a list. */
export interface ListValue {
  readonly kind: 'list';
  readonly items: readonly Value[];
  /** Whether a name stands for it, or it is a part of something. */
  readonly named?: boolean;
}

export interface ObjectValue {
  readonly kind: 'object';
  readonly members: ReadonlyMap<string, Value>;
  /** What messages call it. */
  readonly name: string;
  /** The key under which is found which of its members are assigned; none where none can be. */
  readonly key?: string;
  /** The variables of its members, where some are assigned. */
  readonly cells?: ReadonlyMap<string, Cell>;
  /** Whether they belong to a variable that is assigned other objects. */
  readonly moves?: boolean;
  /** Whether a name stands for it, or it is a part of something. */
  readonly named?: boolean;
}

/** A function of the kernel's own, with the frame it was made in. */
export interface ClosureValue {
  readonly kind: 'closure';
  readonly node: FunctionNode;
  readonly frame: Frame;
  readonly name: string;
}

export interface DeviceFunctionValue {
  readonly kind: 'deviceFunction';
  readonly function: DeviceFunction;
  readonly name: string;
}

export interface IntrinsicValue {
  readonly kind: 'intrinsic';
  readonly name: IntrinsicName;
  readonly receiver: Value | null;
}

/** A barrier, or one of an array of them. */
export interface BarrierValue {
  readonly kind: 'barrier';
  readonly id: number;
  readonly name: string;
  /** Of the index type. */
  readonly index: Expression;
}

/** What an arrival gave: an i64 that only waits of the same barriers take. */
export interface TokenValue {
  readonly kind: 'token';
  readonly barrier: number;
  readonly name: string;
  readonly phase: Expression;
}

export type Value =
  | Numeric
  | QuotientValue
  | VectorValue
  | ViewValue
  | ArrayChoiceValue
  | GroupValue
  | LanesValue
  | SubsetValue
  | TextValue
  | ChoiceValue
  | TemplateValue
  | CountValue
  | ListValue
  | ObjectValue
  | ClosureValue
  | DeviceFunctionValue
  | IntrinsicValue
  | { readonly kind: 'pipeline'; readonly id: number }
  | PipelineStateValue
  | RandomStateValue
  | BarrierValue
  | { readonly kind: 'barriers'; readonly id: number; readonly name: string; readonly count: number }
  | TokenValue
  | {
      readonly kind: 'namespace';
      readonly name: 'cuda' | 'cg' | 'Math' | 'Number' | 'BigInt' | 'console';
    }
  /** A type of elements, which the schema names. */
  | { readonly kind: 'elementType'; readonly element: Element }
  | { readonly kind: 'undefined' }
  /** The result of something that was reported already; using it is no further error. */
  | { readonly kind: 'broken' };

export const undefinedValue: Value = { kind: 'undefined' };

export function number(type: NumberType, expression: Expression): NumberValue {
  return { kind: 'number', type, expression };
}

export function literal(value: number | bigint): LiteralValue {
  return { kind: 'literal', value };
}

export function isNumeric(value: Value): value is Numeric {
  switch (value.kind) {
    case 'number':
    case 'literal':
    case 'either':
    case 'open':
      return true;
    default:
      return false;
  }
}

export function isArray(value: Value): value is ViewValue | ArrayChoiceValue {
  return value.kind === 'view' || value.kind === 'arrayChoice';
}

/** Whether two views are of one array. */
export function isSameArray(a: ViewValue, b: ViewValue): boolean {
  return a.array.space === b.array.space && a.array.id === b.array.id && a.array.as === b.array.as;
}

/** Whether a number is a literal that is no integer, or may be one. */
export function hasFraction(value: Numeric): boolean {
  switch (value.kind) {
    case 'literal':
      return typeof value.value === 'number' && !Number.isInteger(value.value);
    case 'either':
      return hasFraction(value.then) || hasFraction(value.otherwise);
    case 'open':
      return value.fractional;
    case 'number':
      return false;
  }
}

/** What a value is, in the words of a message. */
export function describe(value: Value): string {
  switch (value.kind) {
    case 'number':
      if (value.type === 'bool') return 'a bool';
      return `a ${isBigint(value.type) ? 'bigint' : 'number'} of type ${value.type}`;
    case 'literal':
      return typeof value.value === 'bigint' ? `the bigint ${value.value}n` : `the number ${value.value}`;
    case 'either':
    case 'open':
      return 'a number';
    case 'quotient':
      return `a division of two integers (${value.type})`;
    case 'vector':
      return `a vector (${value.type})`;
    case 'view':
      return `the ${value.readonly ? 'read-only ' : ''}${value.element} array '${value.name}'`;
    case 'arrayChoice':
      return `one of the arrays ${value.options.map(({ name }) => `'${name}'`).join(', ')}`;
    case 'group':
      return value.group.kind === 'tile'
        ? `a tile of ${value.group.size} threads`
        : `the ${value.group.kind} group`;
    case 'lanes':
      return value.tile === undefined ? 'a coalesced group' : `a tile of at most ${value.tile.size} threads`;
    case 'subset':
      return 'a subset of the block';
    case 'text':
      return `the string '${value.text}'`;
    case 'choice':
    case 'template':
      return 'a string';
    case 'count':
      return 'an aligned size';
    case 'list':
      return `a list of ${value.items.length}`;
    case 'object':
      return value.name;
    case 'closure':
    case 'deviceFunction':
      return value.name === 'function' ? 'a function' : `the function '${value.name}'`;
    case 'intrinsic':
      return `the function ${value.name}`;
    case 'pipeline':
      return 'a pipeline';
    case 'pipelineState':
      return "a pipeline's shared state";
    case 'randomState':
      return 'a generator of random numbers';
    case 'barrier':
      return `the barrier '${value.name}'`;
    case 'barriers':
      return `the barriers '${value.name}'`;
    case 'token':
      return `a token of '${value.name}'`;
    case 'namespace':
      return value.name === 'cg' ? "'cuda.cg' itself" : `'${value.name}' itself`;
    case 'elementType':
      return `the type of records ${value.element}`;
    case 'undefined':
      return 'undefined';
    case 'broken':
      return 'a value with an error';
  }
}
