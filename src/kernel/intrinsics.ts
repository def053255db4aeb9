// What the compiler knows of the intrinsics, everything that a kernel may say beyond plain arithmetic: their
// names and what they take.
//
// The front end has a handler for each (`satisfies Handlers`). A name is its receiver's kind
// and the member: `cuda.thisGrid`, `block.sync`, `pipeline.producerCommit`, `Math.sqrt`.

import { cudaForms } from './forms-cuda.ts';
import { memberForms } from './forms-members.ts';

const forms = { ...cudaForms, ...memberForms };

/** What combines two values: CUDA's `cooperative_groups::plus` and so on; `less` is the lesser of two. */
export const combinations = ['plus', 'less', 'greater', 'bitAnd', 'bitOr', 'bitXor'] as const;
export type Combination = (typeof combinations)[number];

/** CUDA's `cuda::memory_order`. */
export const memoryOrders = ['relaxed', 'acquire', 'release', 'acq_rel', 'seq_cst'] as const;
export type MemoryOrder = (typeof memoryOrders)[number];

/** Among which threads an operation on memory orders. */
export const memoryScopes = ['block', 'device', 'system'] as const;
export type MemoryScope = (typeof memoryScopes)[number];

/** What an argument must be. */
export type ArgumentKind =
  /** A number or boolean of any type. */
  | 'number'
  /** The same, or a bigint. */
  | 'number or bigint'
  /** A number or boolean, or `a / b` of two integers, which the intrinsic rounds or divides as floats. */
  | 'number or quotient'
  /** All of these. */
  | 'number, bigint or quotient'
  | 'vector'
  /** A vector, or a number that stands for each of its components. */
  | 'vector or number'
  /** An integer, taken as an index. */
  | 'index'
  /** The lanes of a warp: an integer whose bit i stands for lane i. */
  | 'lanes'
  /** An integer that is known when the kernel is compiled. */
  | 'constant'
  /** Elements: an index, or `cuda.alignedSize(align, count)`. */
  | 'count'
  /** An array that may be written. */
  | 'array'
  | 'readonly array'
  /** Extents of two or three dimensions, `[rows, columns]`. */
  | 'shape'
  /** The name of an element type, as a string. */
  | 'element type'
  /** Threads that act together: a block, a tile or a single thread. */
  | 'group'
  /** The same, or any lanes of a warp, or a subset of a block. */
  | 'group or lanes'
  /** A block, a tile, also one of a block that does not fill its last one, or a single thread. */
  | 'group or its lanes'
  | 'block'
  | 'block or tile'
  /** The same, or a tile of a block that does not fill its last one. */
  | 'block, tile or its lanes'
  /** A block, a tile, any lanes of a warp or a subset of a block. */
  | 'block, tile or lanes'
  /** A tile, or a group of any lanes of a warp. */
  | 'tile or lanes'
  /** Any lanes of a warp. */
  | 'lanes of a warp'
  /** The same as `tile or lanes`, or a subset of a block. */
  | 'tile, lanes or subset'
  | 'pipeline'
  | 'pipeline state'
  /** A generator of random numbers. */
  | 'random state'
  | 'scope'
  /** How two values become one: the name of a `Combination`, as a string. */
  | 'combination'
  | 'role'
  /** The name of a `MemoryOrder`, as a string. */
  | 'memory order'
  | 'memory scope'
  /** A number of nanoseconds, with or without a fraction. */
  | 'nanoseconds'
  | 'barrier'
  | 'pipeline or barrier'
  /** What an arrival gave. */
  | 'token'
  /** A function of the kernel, or a device function. */
  | 'function'
  /** An object that the kernel writes, with named members. */
  | 'object'
  /** Text or a number, to print. */
  | 'anything';

/** Arguments by name, in their order. `?` may be left out; `...` takes the rest. */
export interface Form {
  readonly [name: string]: ArgumentKind | `${ArgumentKind}?` | `${ArgumentKind}...`;
}

export type FormTable = typeof forms;

/** The name of an intrinsic, for example `'cuda.memcpyAsync'`. */
export type IntrinsicName = keyof FormTable;

/** The ways to call an intrinsic; null for a property. */
export const formsOf = (name: IntrinsicName): readonly Form[] | null => forms[name];

export function isIntrinsic(name: string): name is IntrinsicName {
  return Object.hasOwn(forms, name);
}

/** The members that a receiver has, in the order of their declaration. */
export function membersOf(receiver: string): string[] {
  const prefix = `${receiver}.`;
  return Object.keys(forms)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
}
