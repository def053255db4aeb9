// The form of an entry in the table of intrinsics.
//
// An entry is plain data: the front end checks calls by it, the targets ask it who takes part,
// and the documentation is made of it.

/** What combines two values: CUDA's `cooperative_groups::plus` and so on; `less` is the lesser of two. */
export const combinations = ['plus', 'less', 'greater', 'bitAnd', 'bitOr', 'bitXor'] as const;
export type Combination = (typeof combinations)[number];

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
  /** The name of an element type, as a string. */
  | 'element type'
  /** Threads that act together: a block, a tile or a single thread. */
  | 'group'
  | 'block or tile'
  | 'pipeline'
  | 'pipeline state'
  | 'scope'
  /** How two values become one: the name of a `Combination`, as a string. */
  | 'combination'
  | 'role'
  /** A number of nanoseconds, with or without a fraction. */
  | 'nanoseconds'
  | 'barrier'
  | 'pipeline or barrier'
  /** What an arrival gave. */
  | 'token'
  /** A function that takes nothing. */
  | 'function'
  /** Text or a number, to print. */
  | 'anything';

/** Arguments by name, in their order. `?` may be left out; `...` takes the rest. */
export interface Form {
  readonly [name: string]: ArgumentKind | `${ArgumentKind}?` | `${ArgumentKind}...`;
}

export type ResultKind =
  | 'nothing'
  | 'index'
  | 'i32'
  | 'u32'
  | 'i64'
  | 'u64'
  | 'f32'
  | 'f64'
  | 'bool'
  /** Of the type of the arguments, or of the array's elements. */
  | 'number'
  /** A number that is known when the kernel is compiled. */
  | 'constant'
  | 'extent'
  | 'vector'
  | 'array'
  | 'count'
  /** `cuda.cg`. */
  | 'cg'
  | 'grid'
  | 'block'
  | 'tile'
  | 'thread'
  | 'pipeline'
  | 'pipeline state'
  | 'barrier'
  | 'barriers'
  | 'token';

/** One intrinsic: something that a kernel may say. */
export interface Intrinsic {
  /** The same in CUDA C++. */
  readonly cuda: string;
  /** The ways to call it; absent for a property. */
  readonly forms?: readonly Form[];
  readonly result: ResultKind;
  /** `signals` never waits; `waits` waits for signals of others; `barrier` does both. Absent: it orders nothing. */
  readonly synchronises?: 'signals' | 'waits' | 'barrier';
  /** Whose threads must all call it, or whom it waits for. Absent: only the calling thread. */
  readonly involves?: 'group' | 'block' | 'warp' | 'pipeline' | 'barrier';
  /** What it does, in one sentence. */
  readonly doc: string;
}
