// kernel() and deviceFunction(): plain TypeScript functions with a schema beside them.
//
// Nothing is compiled here; a kernel keeps its function, and the compiler reads the function's
// own text when it is launched. So a kernel means the same after type stripping, bundling and
// minifying, as long as it captures nothing.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Cuda } from './cuda.ts';
import { parseDeviceSchema, parseSchema } from './parameters.ts';
import type {
  BodyData,
  DeviceFunction,
  DeviceSchema,
  OptionalNames,
  Schema,
  SchemaEntry,
  ValueOf,
} from './schema.ts';
import type { HostShape } from './shaped.ts';
import type { RecordOf, Struct, StructArray } from './struct.ts';
import type { Element, ElementType, ScalarType, VectorType } from './types.ts';

export type { DeviceFunction, DeviceSchema, Schema } from './schema.ts';

/** A function that runs once for every thread of a grid. Made by `kernel()`. */
export interface Kernel<S extends Schema = Schema> {
  readonly kind: 'kernel';
  /**
   * For messages: the one given to `kernel()`, the function's own name, or that of its export; else `kernel`.
   * Timelines show the variable that such a kernel is kept in.
   */
  readonly name: string;
  readonly schema: S;
  readonly body: (data: never, cuda: never) => void;
  /** Whether a device may round a product and the sum it goes into once instead of twice. */
  readonly fma: boolean;
  readonly launchBounds?: LaunchBounds;
}

/** What launches of a kernel keep to, so that its code may be made for it. CUDA: `__launch_bounds__`. */
export interface LaunchBounds {
  /** Threads of a block, at most: a launch with more is refused (WS2003). Default: what the device allows. */
  readonly maxThreads?: number;
  /**
   * So many blocks are to fit on a multiprocessor of a GPU, at least: its compiler uses fewer registers for that, and may have to
   * keep values in memory. Default: as many as come of it. A CPU knows no such limit.
   */
  readonly minBlocks?: number;
}

export interface KernelOptions {
  /** For messages, where the function has no name of its own. */
  readonly name?: string;
  /**
   * Lets a device contract `a * b + c` into one fused multiply-add, as nvcc does by default: faster, and its
   * results may then differ from another device's in the last bit. A CPU does where the engine has relaxed SIMD
   * (Node 21 and later) and threads run in vectors.
   */
  readonly fma?: boolean;
  /**
   * Limits of launches. Whether they pay, `device.occupancy` says.
   *
   * @example
   * const sum = kernel({ y: 'f32[]' }, body, { launchBounds: { maxThreads: 256, minBlocks: 8 } });
   *
   * @see CUDA C++ Programming Guide, section 10.38 Launch Bounds
   */
  readonly launchBounds?: LaunchBounds;
}

/** What an array parameter takes at a launch: an array of a device, of the declared element type. */
export interface ArrayArgument<E extends Element = Element> {
  readonly kind: 'device';
  readonly element: E;
  readonly length: number;
}

/** What a parameter of several dimensions takes, `image: 'f32[][]'`: a device's array with its shape. */
export interface ShapedArgument<E extends Element = Element, S extends HostShape = HostShape> {
  /** The extents. An array by itself has none: pass `array.shaped([rows, columns])`. */
  readonly shape: S;
  readonly array: ArrayArgument<E>;
  /** How many elements lie from the beginning of a row to that of the next. */
  readonly pitch: number;
}

/** What a parameter takes of which nothing is known. */
export type AnyArgument = ValueOf<ScalarType | VectorType> | ArrayArgument | ShapedArgument | DeviceFunction;

/** What a parameter of several dimensions takes, by its entry in the schema. */
export type ShapedArgumentOf<T> = T extends
  | `${infer E extends ElementType}[][]`
  | `readonly ${infer E extends ElementType}[][]`
  ? ShapedArgument<E, readonly [number, number]>
  : T extends `${infer E extends ElementType}[][][]` | `readonly ${infer E extends ElementType}[][][]`
    ? ShapedArgument<E, readonly [number, number, number]>
    : never;

export type LaunchArgument<T extends SchemaEntry> = [SchemaEntry] extends [T]
  ? AnyArgument
  : T extends DeviceFunction<infer P, infer R>
    ? DeviceFunction<P, R>
    : T extends StructArray<infer F>
      ? ArrayArgument<RecordOf<F>>
      : T extends Struct
        ? never
        : T extends `readonly ${infer E extends ElementType}[]`
          ? ArrayArgument<E>
          : T extends `${infer E extends ElementType}[]`
            ? ArrayArgument<E>
            : T extends `constant ${infer C} = ${string}`
              ? ValueOf<C>
              : T extends `constant ${infer C}`
                ? ValueOf<C>
                : T extends `${string}[][]`
                  ? ShapedArgumentOf<T>
                  : ValueOf<T>;

/** What a launch passes. Constants with a default and device functions may be left out. */
export type LaunchArguments<S extends Schema> = {
  readonly [K in Exclude<keyof S, OptionalNames<S>>]: LaunchArgument<S[K]>;
} & { readonly [K in OptionalNames<S>]?: LaunchArgument<S[K]> };

export type { ScalarType };

/**
 * Makes a kernel of a schema and a function.
 *
 * The function runs once for every thread. Its first parameter holds what the schema declares,
 * its second the intrinsics; it captures nothing from outside.
 *
 * @example
 * const scale = kernel({ y: 'f32[]', a: 'f32' }, ({ y, a }, cuda) => {
 *   const i = cuda.thisGrid().threadRank();
 *   if (i < y.length) y[i] = a * y[i];
 * });
 *
 * @throws WarpstageError WS1010 for a schema entry that cannot be read, WS4007 for launch bounds that are no whole numbers from 1
 * @see CUDA C++ Programming Guide, section 5.1 Kernels
 */
export function kernel<const S extends Schema>(
  schema: S,
  body: (data: BodyData<S>, cuda: Cuda) => void,
  options: KernelOptions = {},
): Kernel<S> {
  const own = schemaOf(schema, parseSchema);
  checkBody(body, 'kernel');
  const given = options.name ?? body.name;
  return Object.freeze({
    kind: 'kernel',
    get name(): string {
      return given || (namesOfExports.get(this) ?? 'kernel');
    },
    schema: own,
    body,
    fma: options.fma === true,
    ...(options.launchBounds === undefined ? {} : { launchBounds: checkedBounds(options.launchBounds) }),
  });
}

/** A copy of launch bounds that are right. */
function checkedBounds(bounds: LaunchBounds): LaunchBounds {
  const known: readonly string[] = ['maxThreads', 'minBlocks'];
  for (const [name, value] of Object.entries(bounds ?? { launchBounds: bounds })) {
    if (known.includes(name) && (value === undefined || (Number.isInteger(value) && value >= 1))) continue;
    const what = known.includes(name) ? `is ${String(value)}` : 'is not known';
    throw new WarpstageError({
      code: 'WS4007',
      message: `launchBounds.${name} ${what}: a kernel may have maxThreads and minBlocks, whole numbers from 1`,
      hint: 'write for example launchBounds: { maxThreads: 256, minBlocks: 4 }',
    });
  }
  return Object.freeze({ ...bounds });
}

const namesOfExports = new WeakMap<Kernel, string>();

/** Gives a kernel without a name of its own that of the first export under which it was found. */
export function nameAfterExport(kernel: Kernel, name: string): void {
  if (!namesOfExports.has(kernel)) namesOfExports.set(kernel, name);
}

/**
 * Makes a function that kernels call through an entry of their schema.
 *
 * @example
 * const square = deviceFunction({ x: 'f32' }, ({ x }) => x * x);
 * const squares = kernel({ y: 'f32[]', square }, ({ y, square }, cuda) => {
 *   const i = cuda.thisGrid().threadRank();
 *   y[i] = square({ x: y[i] });
 * });
 *
 * A pipeline that the kernel has made is passed too, and so are barriers: `{ pipeline: 'pipeline' }`,
 * `{ barrier: 'barrier', ready: 'barrier[]' }`.
 *
 * @throws WarpstageError WS1010 for a schema entry that cannot be read
 * @see CUDA C++ Programming Guide, section 10.1 Function Execution Space Specifiers
 */
export function deviceFunction<const S extends DeviceSchema, R>(
  schema: S,
  body: (data: BodyData<S>, cuda: Cuda) => R,
): DeviceFunction<S, R> {
  const own = schemaOf(schema, parseDeviceSchema);
  checkBody(body, 'deviceFunction');
  return Object.freeze({ kind: 'deviceFunction', schema: own, body });
}

/** The schema as it is now, read and checked: what is compiled does not change with the caller's object. */
export function schemaOf<S extends DeviceSchema>(schema: S, parse: (schema: S) => unknown): S {
  const isObject = typeof schema === 'object' && schema !== null && !Array.isArray(schema);
  const own = isObject ? Object.freeze({ ...schema }) : schema;
  parse(own);
  return own;
}

function checkBody(body: unknown, maker: 'kernel' | 'deviceFunction'): void {
  if (typeof body === 'function') return;
  throw new WarpstageError({
    code: 'WS1001',
    message: `${maker}() takes a schema and a function, and its second argument is ${body === null ? 'null' : typeof body}`,
    hint: `write ${maker}({ y: 'f32[]' }, ({ y }, cuda) => { … })`,
  });
}
