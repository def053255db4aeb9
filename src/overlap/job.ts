// The declaration of an overlapped job: which parameters of a kernel are streamed, and how.
//
// A job cuts its data into chunks of rows. Each chunk's inputs are copied to the device, the
// kernel runs on them, its outputs are copied back; accumulators stay on the device from the
// first chunk to the last. Every parameter of the kernel has one role in the job: an input, an
// output, an accumulator, a constant array, a setting, or one of the two positions
// (`offset`, `rows`). What a role leaves unsaid has a default that suits the plain case, so the
// smallest job names a kernel, an input and an output.
//
// The names of the roles are checked by TypeScript against the kernel's schema, and again when
// the job is made, for callers without types (declaration.ts).

import type { DeviceFunction, Kernel, Schema } from '../kernel/kernel.ts';
import type { ElementType, Extent, HostArrays, ScalarType, TypedArray } from '../kernel/types.ts';
import { checkDefinition } from './declaration.ts';
import type { HaloDeclaration } from './halo.ts';
import type { RunOptions } from './options.ts';
import { type JobStream, type JobStreamOptions, type StreamPart, streamOf } from './stream.ts';

export type { TypedArray };

/** Names of the arrays of a schema. */
export type ArrayNames<S extends Schema> = {
  [K in keyof S]: S[K] extends `${string}[]` ? K : never;
}[keyof S] &
  string;

/** Names of the arrays of a schema that the kernel may write. */
export type WritableNames<S extends Schema> = {
  [K in keyof S]: S[K] extends `readonly ${string}[]` ? never : S[K] extends `${string}[]` ? K : never;
}[keyof S] &
  string;

/** Names of the scalars and constants of a schema. */
export type ScalarNames<S extends Schema> = {
  [K in keyof S]: S[K] extends ScalarType | `constant ${string}` ? K : never;
}[keyof S] &
  string;

/** Names of the device functions of a schema. */
export type FunctionNames<S extends Schema> = {
  [K in keyof S]: S[K] extends DeviceFunction ? K : never;
}[keyof S] &
  string;

/** The element type of an array of a schema. */
export type ElementOf<T> = {
  [E in ElementType]: T extends `${E}[]` | `readonly ${E}[]` ? E : never;
}[ElementType];

/** What a setting may be set to. */
export type SettingValue = number | bigint | boolean;

/** Elements of a row: a number, or the name of a setting or scalar that holds it. */
export type Width<N extends string = string> = number | N;

/** A parameter whose data streams in, chunk by chunk. */
export interface InputDeclaration<N extends string = string> {
  /** The column of a Parquet file. Default: the parameter's name. */
  readonly column?: string;
  /**
   * Elements of a row. Default 1. The name of a scalar of the kernel takes the width from that
   * setting or, where it is not set, from the shape of the `.npy` file, and passes it to the kernel.
   */
  readonly width?: Width<N>;
  /**
   * Rows before and after the chunk that the kernel sees as well: with `[2, 3]`, row `i` of the
   * chunk is row `i + 2` of the array, whose length is that of the chunk and 5 rows. In two directions, columns
   * beside each row as well: `{ rows: [1, 1], columns: [1, 1] }`. Default `[0, 0]`.
   */
  readonly halo?: readonly [before: number, after: number] | HaloDeclaration;
  /**
   * What the halo holds beyond the first and last row, and beside the first and last column: zeros, or the nearest again.
   * Default `'zero'`.
   */
  readonly edge?: 'zero' | 'clamp';
  /**
   * How data of another element type becomes the kernel's. `'exact'`: each value must fit
   * exactly; f64 to f32 and floats to integers are refused. `'nearest'`: values are rounded to
   * the nearest; one out of range is an error still. Default `'exact'`.
   */
  readonly convert?: 'exact' | 'nearest';
  /** What stands for a null in a Parquet column. Default: a null is an error. */
  readonly nulls?: number;
}

/** A parameter whose data streams out, chunk by chunk. */
export interface OutputDeclaration<N extends string = string> {
  /** Rows out for rows in: `[1, 4]` gives one row for each four rows of input. Default `[1, 1]`. */
  readonly ratio?: readonly [rowsOut: number, rowsIn: number];
  /** Elements of a row. Default 1. */
  readonly width?: Width<N>;
}

/** What is known when the lengths of constant arrays and accumulators are fixed. */
export interface JobContext {
  readonly settings: Readonly<Record<string, SettingValue>>;
  /** Rows of the whole input, where it is known before the end. */
  readonly rows: number | undefined;
  /** Rows of a full chunk. */
  readonly chunkRows: number;
  /** Lengths of the constant arrays, in elements. */
  readonly lengths: Readonly<Record<string, number>>;
}

/** Folds two elements; those of `i64` and `u64` are bigints. */
export type CombineFunction = ((a: number, b: number) => number) | ((a: bigint, b: bigint) => bigint);

/** An array that stays on the device from the first chunk to the last, and is the job's result. */
export interface AccumulatorDeclaration<N extends string = string> {
  /** Elements: a number, the name of a setting, or a function. Default 1. */
  readonly length?: number | N | ((context: JobContext) => number);
  /**
   * `'job'`: one array, which all blocks share and update with atomics. `'block'`: `length`
   * elements for every block of a chunk's launch, block after block; blocks of successive chunks
   * find what their forerunners left, and `combine` folds the blocks together at the end.
   * Default `'job'`.
   */
  readonly per?: 'job' | 'block';
  /**
   * How the elements of different blocks, and of different devices, become one; `'concat'` leaves
   * those of all blocks for `finish`. Over several devices, `per: 'job'` must say it.
   * Default `'sum'`.
   */
  readonly combine?: 'sum' | 'min' | 'max' | 'concat' | CombineFunction;
  /** What the elements hold at first. Default: what `combine` leaves unchanged (0 where that is unknown). */
  readonly initial?: number | bigint;
}

/**
 * An array that is uploaded once: its data, a function that makes it, or `{ operand: true }`, a
 * further input file that is read whole.
 */
export type ArrayDeclaration<A extends TypedArray = TypedArray, N extends string = string> =
  | A
  | ((context: JobContext) => A)
  | OperandDeclaration<N>;

/** A constant array that comes from an input file of its own. */
export interface OperandDeclaration<N extends string = string>
  extends Pick<InputDeclaration<N>, 'column' | 'width' | 'convert' | 'nulls'> {
  readonly operand: true;
}

/** A scalar or constant of the kernel that `--set name=value` changes. */
export interface SettingDeclaration<V extends SettingValue = SettingValue> {
  /** Without a default, a setting must be given. */
  readonly default?: V;
  /** Shown in the help. */
  readonly description?: string;
  /** Least and greatest value that make sense. */
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
}

/** One chunk, as the launch sees it. */
export interface ChunkContext {
  /** Rows of this chunk; those of its halo are not counted. */
  readonly rows: number;
  /** Position of its first row in the whole. */
  readonly offset: number;
  /** Elements of every array parameter of this launch. */
  readonly lengths: Readonly<Record<string, number>>;
  readonly settings: Readonly<Record<string, SettingValue>>;
}

/** Blocks and threads of a chunk's launch. */
export interface LaunchShape {
  /** Threads of a block. Default 256. */
  readonly block?: Extent;
  /** Rows that one thread handles: the grid has as many threads as that takes. Default 1. */
  readonly rowsPerThread?: number;
  /** A fixed grid, for kernels that loop. */
  readonly grid?: Extent;
}

/** The results of the accumulators, by name: what `finish` receives. */
export type AccumulatorArrays<S extends Schema, A extends string> = {
  readonly [K in A]: K extends keyof S ? HostArrays[ElementOf<S[K]>] : never;
};

/** What is known when a job has ended. */
export interface FinishContext extends JobContext {
  readonly rows: number;
}

/** What `job()` takes. */
export interface JobDefinition<
  S extends Schema,
  O extends WritableNames<S> = never,
  A extends WritableNames<S> = never,
  V = AccumulatorArrays<S, A>,
> {
  /** For messages and reports. Default: the kernel's name. */
  readonly name?: string;
  /** One sentence for the help. */
  readonly description?: string;
  readonly kernel: Kernel<S>;
  readonly inputs: { readonly [K in ArrayNames<S>]?: InputDeclaration<ScalarNames<S>> };
  readonly outputs?: { readonly [K in O]: OutputDeclaration<ScalarNames<S>> };
  readonly accumulators?: { readonly [K in A]: AccumulatorDeclaration<ScalarNames<S>> };
  readonly arrays?: {
    readonly [K in ArrayNames<S>]?: ArrayDeclaration<HostArrays[ElementOf<S[K]>], ScalarNames<S>>;
  };
  /** A value alone is the default. */
  readonly settings?: { readonly [K in ScalarNames<S>]?: SettingDeclaration | SettingValue };
  /** Device functions that take the place of the schema's own. */
  readonly functions?: { readonly [K in FunctionNames<S>]?: DeviceFunction };
  /** The scalar that receives the position of the chunk's first row in the whole. */
  readonly offset?: ScalarNames<S>;
  /** The scalar that receives the chunk's rows. */
  readonly rows?: ScalarNames<S>;
  /**
   * What happens when the rows are no multiple of what a ratio takes in: an error; the last rows
   * are dropped; or the kernel sees a shorter last group, for which a whole row comes out.
   * Default `'error'`.
   */
  readonly remainder?: 'error' | 'drop' | 'partial';
  /**
   * The array that says which rows are kept: the kernel writes a number for each row, and where it is 0, the row is left
   * out of all outputs. These have a row for each row of input then (no `ratio`), and what is kept stays in its order.
   * Default: all are.
   */
  readonly keep?: WritableNames<S>;
  readonly launch?:
    | LaunchShape
    | ((chunk: ChunkContext) => { readonly grid: Extent; readonly block: Extent });
  /** Makes the job's value of the accumulators. Default: the accumulators themselves. */
  readonly finish?: (results: AccumulatorArrays<S, A>, context: FinishContext) => V;
}

/** A definition whose schema is no longer known to TypeScript: what the job itself works with. */
export interface AnyDefinition {
  readonly name?: string;
  readonly description?: string;
  readonly kernel: Kernel;
  readonly inputs: Readonly<Record<string, InputDeclaration>>;
  readonly outputs?: Readonly<Record<string, OutputDeclaration>>;
  readonly accumulators?: Readonly<Record<string, AccumulatorDeclaration>>;
  readonly arrays?: Readonly<Record<string, ArrayDeclaration>>;
  readonly settings?: Readonly<Record<string, SettingDeclaration | SettingValue>>;
  readonly functions?: Readonly<Record<string, DeviceFunction>>;
  readonly offset?: string;
  readonly rows?: string;
  readonly remainder?: 'error' | 'drop' | 'partial';
  readonly keep?: string;
  readonly launch?:
    | LaunchShape
    | ((chunk: ChunkContext) => { readonly grid: Extent; readonly block: Extent });
  readonly finish?: (results: Readonly<Record<string, TypedArray>>, context: FinishContext) => unknown;
}

/** Output arrays by name. */
export type OutputArrays = Readonly<Record<string, TypedArray>>;

/** A kernel with the roles of its parameters. Made by `job()`, run by `run()` or part by part by `stream`. */
export interface Job<V = unknown, O extends OutputArrays = OutputArrays, P = unknown> {
  readonly kind: 'job';
  readonly name: string;
  readonly definition: AnyDefinition;
  /**
   * Runs the job over a source, and gives its results part by part while that is still read: typed arrays in order, or
   * where the job has several outputs, objects of these by name. Parts are the program's own; each holds what one chunk
   * gave.
   *
   * Nothing is read before the first part is asked for, and then no more than `depth` chunks beyond those that were
   * taken. Leaving the loop early stops the run, and goes on when everything is given back; the source is told too (its
   * `return`, `cancel` or `destroy`).
   *
   * @param source what `input` of `run()` takes: an async iterable of bytes or typed arrays, a stream of the web or of
   * Node; of a job with several inputs, a list or an object of them
   * @example
   * for await (const part of affineJob.stream(response.body, { settings: { a: 2 }, chunk: '64KiB' })) {
   *   total += part.length; // a Float32Array
   * }
   *
   * @example
   * // From stream to stream: a request's body through the kernel.
   * await pipeline(affineJob.stream(request, { device }).bytes(), response);
   *
   * @throws WarpstageError WS4007 for an option that there is not, WS5006 for a job without outputs; out of the loop,
   * what `run` throws
   */
  stream(source: RunOptions['input'], options?: JobStreamOptions): JobStream<P, V>;
  /** Types only: what a run gives. */
  readonly gives?: { readonly value: V; readonly outputs: O };
}

/** A job whose stream gives parts of its outputs. */
export type StreamingJob<V, O extends OutputArrays> = Job<V, O, StreamPart<O>>;

/** The value that a job's run gives. */
export type JobValue<J> = J extends Job<infer V> ? V : never;

/** What `job` is. */
export type DeclareJob =
  /**
   * Declares an overlapped job.
   *
   * @example
   * const affine = kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32', b: 'f32' }, ({ y, x, a, b }, cuda) => {
   *   const i = cuda.thisGrid().threadRank();
   *   if (i < y.length) y[i] = a * x[i] + b;
   * });
   * export const affineJob = job({
   *   kernel: affine,
   *   inputs: { x: {} },
   *   outputs: { y: {} },
   *   settings: { a: 1, b: { default: 0, description: 'added to every element' } },
   * });
   *
   * @throws WarpstageError WS5007 with an issue for every entry that cannot be
   */
  <
    const S extends Schema,
    O extends WritableNames<S> = never,
    A extends WritableNames<S> = never,
    V = AccumulatorArrays<S, A>,
  >(
    definition: JobDefinition<S, O, A, V>,
  ) => StreamingJob<V, { readonly [K in O]: HostArrays[ElementOf<S[K]>] }>;

/** `job()`, as start.ts gives it away. */
export function job<
  const S extends Schema,
  O extends WritableNames<S> = never,
  A extends WritableNames<S> = never,
  V = AccumulatorArrays<S, A>,
>(
  definition: JobDefinition<S, O, A, V>,
): StreamingJob<V, { readonly [K in O]: HostArrays[ElementOf<S[K]>] }> {
  const checked = checkDefinition(definition, job);
  return Object.freeze({
    kind: 'job',
    get name(): string {
      return checked.name ?? checked.kernel.name;
    },
    definition: checked,
    stream(source: RunOptions['input'], options: JobStreamOptions = {}): JobStream<never, V> {
      return streamOf<V>(this, source, options);
    },
  });
}
