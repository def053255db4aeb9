// A launch to be checked: typed arrays and scalars instead of a device's memory.

import type { Value } from '../compiler/arithmetic.ts';
import type { Program } from '../compiler/ir.ts';
import { specialise } from '../compiler/specialise.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import type { KernelSource } from '../diagnostics/source.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { bytesOf, hostForm } from '../kernel/layout.ts';
import { type KernelParameter, parseSchema } from '../kernel/parameters.ts';
import type { DeviceFunction, OptionalNames, Schema, SchemaEntry, ValueOf } from '../kernel/schema.ts';
import { type CheckedShape, checkedShape, type HostShape } from '../kernel/shaped.ts';
import type { Struct, StructArray } from '../kernel/struct.ts';
import type {
  Element,
  ElementType,
  Extent,
  Extent3,
  HostArray,
  HostArrays,
  TypedArray,
} from '../kernel/types.ts';
import { type ArgumentsOf, inWords, takeArguments } from '../runtime/arguments.ts';
import { needsWideIndex, typedValue } from '../runtime/bind.ts';
import { checkBlock, checkGrid, checkResident, isFlat } from '../runtime/extents.ts';
import { kernelInWords } from '../runtime/launch.ts';

/** An array of which only the length matters. */
export interface ArrayOfLength {
  readonly length: number;
  /** Whether its elements are undefined until the kernel writes them. By default they hold numbers. */
  readonly unfilled?: boolean;
}

/** An array of several dimensions: its shape, and the pitch that its rows have; by default as many elements as a row. */
export interface ArrayOfShape<E extends Element, S extends HostShape> {
  readonly shape: S;
  readonly pitch?: number;
  /** Its elements; without them the array holds numbers. */
  readonly data?: HostArray<E>;
  /** Whether its elements are undefined until the kernel writes them. By default they hold numbers. */
  readonly unfilled?: boolean;
}

/** The same of a check, by the entry in the schema. */
export type CheckedShapeOf<T> = T extends
  | `${infer E extends ElementType}[][]`
  | `readonly ${infer E extends ElementType}[][]`
  ? ArrayOfShape<E, readonly [number, number]>
  : T extends `${infer E extends ElementType}[][][]` | `readonly ${infer E extends ElementType}[][][]`
    ? ArrayOfShape<E, readonly [number, number, number]>
    : never;

export type CheckArgument<T extends SchemaEntry> =
  T extends DeviceFunction<infer P, infer R>
    ? DeviceFunction<P, R>
    : T extends StructArray
      ? Uint8Array | ArrayOfLength
      : T extends Struct
        ? never
        : T extends `readonly ${infer E extends ElementType}[]`
          ? HostArrays[E] | ArrayOfLength
          : T extends `${infer E extends ElementType}[]`
            ? HostArrays[E] | ArrayOfLength
            : T extends `constant ${infer C} = ${string}`
              ? ValueOf<C>
              : T extends `constant ${infer C}`
                ? ValueOf<C>
                : T extends `${string}[][]`
                  ? CheckedShapeOf<T>
                  : ValueOf<T>;

/** What a check passes to a kernel. Constants with a default and device functions may be left out. */
export type CheckArguments<S extends Schema> = {
  readonly [K in Exclude<keyof S, OptionalNames<S>>]: CheckArgument<S[K]>;
} & { readonly [K in OptionalNames<S>]?: CheckArgument<S[K]> };

/** The launch that is checked. The arrays stay as they are. */
export interface CheckLaunch<S extends Schema = Schema> {
  readonly grid: Extent;
  readonly block: Extent;
  /** As of a launch. */
  readonly cooperative?: boolean;
  readonly arguments: CheckArguments<S>;
}

/** The launch, bound: what is the same in every run. */
export interface BoundLaunch {
  readonly program: Program;
  readonly sources: readonly KernelSource[];
  readonly grid: Extent3;
  /** By parameter of the program: an array, or a scalar's value. */
  readonly values: readonly (LaunchArray | Value)[];
}

/** An array of the launch. */
export interface LaunchArray {
  readonly element: Element;
  readonly length: number;
  /** The caller's data; without it the array holds numbers, or nothing if it is unfilled. */
  readonly data: TypedArray | null;
  readonly unfilled: boolean;
}

/** What an sm_90 GPU launches at most. */
export const limits = {
  maxThreadsPerBlock: 1024,
  maxBlockDim: [1024, 1024, 64],
  maxGridDim: [2 ** 31 - 1, 65535, 65535],
  sharedMemoryPerBlock: 227 * 1024,
} as const;

/** A caller without types may give something else. */
function checkLaunchShape(launch: unknown): void {
  const isRecord = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isRecord(launch) && isRecord((launch as { arguments?: unknown }).arguments)) return;
  const given = isRecord(launch) ? 'a launch without `arguments`' : 'something else';
  throw new WarpstageError({
    code: 'WS2001',
    message: `check takes a launch second, with a grid, a block and arguments, and was given ${given}`,
    hint: 'write check(scale, { grid: 2, block: 64, arguments: { y: { length: 100 } } })',
  });
}

/** Checks a launch and compiles its kernel. Throws as a launch on a device does. */
export function bindLaunch(kernel: Kernel, launch: CheckLaunch<never>): BoundLaunch {
  if (kernel?.kind !== 'kernel') {
    throw new WarpstageError({
      code: 'WS2001',
      message: `check takes a kernel first, and was given ${inWords(kernel)}`,
      hint: 'make one with kernel({ … }, ({ … }, cuda) => { … }); that of a job is job.definition.kernel',
    });
  }
  checkLaunchShape(launch);
  const { grid, block, cooperative = false, arguments: given } = launch;
  const fullBlock = checkBlock(kernel, block, limits);
  const fullGrid = checkGrid(kernel.name, grid, limits);
  if (cooperative) checkResident(kernel.name, fullGrid, fullBlock);
  const parameters = parseSchema(kernel.schema);
  const checked = checkArguments(kernel.name, parameters, given);
  const indexType = needsWideIndex(parameters, checked, fullGrid, fullBlock) ? 'i64' : 'i32';
  const { constants, functions } = checked;
  const flatGrid = isFlat(fullGrid);
  const specialisation = {
    block: fullBlock,
    indexType,
    cooperative,
    flatGrid,
    constants,
    functions,
  } as const;
  const { program, sources } = specialise(kernel, specialisation);
  const values = program.parameters.map((parameter) =>
    parameter.kind === 'array'
      ? checked.arrays[parameter.name]!
      : typedValue(parameter.type, checked.scalars[parameter.name]!),
  );
  return { program, sources, grid: fullGrid, values };
}

/** Throws one error with an issue for every argument that is missing, unknown or wrong. */
function checkArguments(
  kernel: string,
  parameters: readonly KernelParameter[],
  given: Readonly<Record<string, unknown>>,
): ArgumentsOf<LaunchArray> {
  const arrayInWords = ({ element, dimensions }: Pick<ArrayParameter, 'element' | 'dimensions'>) =>
    dimensions === undefined
      ? `a ${hostForm(element).Values.name} or { length: n }`
      : `{ shape: ${dimensions === 2 ? '[rows, columns]' : '[planes, rows, columns]'} }, of which data may be a ${hostForm(element).Values.name}`;
  return takeArguments(parameters, given, {
    what: `check of ${kernelInWords(kernel)}`,
    place: () => 'in `arguments`',
    arrayInWords,
    takeArray(parameter, value) {
      if (parameter.dimensions !== undefined) {
        const taken = shapedOf(parameter.element, parameter.dimensions, value);
        if (taken !== null) return taken;
      }
      const array = parameter.dimensions === undefined ? arrayOf(parameter.element, value) : null;
      if (array !== null) return { array };
      const isView = ArrayBuffer.isView(value);
      const found = isView ? `a ${value.constructor.name}` : inWords(value);
      return {
        code: isView ? 'WS2002' : 'WS2001',
        message: `argument \`${parameter.name}\` must be ${arrayInWords(parameter)}, and is ${found}`,
      };
    },
  });
}

type ArrayParameter = Extract<KernelParameter, { kind: 'array' }>;

/** An array with its shape; one without data is as long as that needs. Null if it is none. */
function shapedOf(
  element: Element,
  dimensions: number,
  value: unknown,
): { readonly array: LaunchArray; readonly shape: CheckedShape } | null {
  if (typeof value !== 'object' || value === null || !('shape' in value)) return null;
  const { shape, pitch, data, unfilled } = value as ArrayOfShape<Element, HostShape>;
  if (!Array.isArray(shape) || shape.length !== dimensions) return null;
  const rows = shape.slice(0, -1).reduce((all: number, extent: number) => all * extent, 1);
  const length = rows * (pitch ?? shape.at(-1)!);
  const array = arrayOf(element, data ?? { length, unfilled });
  return array === null ? null : { array, shape: checkedShape(shape, pitch, array.length) };
}

function arrayOf(element: Element, value: unknown): LaunchArray | null {
  const { Values, numbers } = hostForm(element);
  if (value instanceof Values && value.length % numbers === 0) {
    return {
      element,
      length: value.length / numbers,
      data: value,
      unfilled: false,
    };
  }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || Array.isArray(value))
    return null;
  const { length, unfilled = false } = value as ArrayOfLength;
  if (!Number.isSafeInteger(length) || length < 0 || length * bytesOf(element) >= 2 ** 32) return null;
  return { element, length, data: null, unfilled };
}

/** Which arrays of a launch lie, in whole or in part, in the memory of another, by their names. */
export function otherNamesOf({ program, values }: BoundLaunch): ReadonlyMap<string, readonly string[]> {
  const arrays = values.flatMap((value, id) =>
    typeof value === 'object' && value.data !== null
      ? [{ name: program.parameters[id]!.name, data: value.data }]
      : [],
  );
  const end = (data: ArrayBufferView) => data.byteOffset + data.byteLength;
  const overlap = (a: ArrayBufferView, b: ArrayBufferView) =>
    a.buffer === b.buffer && a.byteOffset < end(b) && b.byteOffset < end(a);
  return new Map(
    arrays.map((one) => [
      one.name,
      arrays.filter((other) => other !== one && overlap(one.data, other.data)).map(({ name }) => name),
    ]),
  );
}
