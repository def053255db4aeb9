// A launch to be checked: typed arrays and scalars instead of a device's memory.

import type { Value } from '../compiler/arithmetic.ts';
import type { Program } from '../compiler/ir.ts';
import { specialise } from '../compiler/specialise.ts';
import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import type { KernelSource } from '../diagnostics/source.ts';
import type { Kernel } from '../kernel/kernel.ts';
import {
  isDeviceFunction,
  type KernelParameter,
  parseSchema,
  type ScalarValue,
  scalarProblem,
} from '../kernel/parameters.ts';
import type { DeviceFunction, OptionalNames, Schema, SchemaEntry, ValueOf } from '../kernel/schema.ts';
import {
  type ElementType,
  type Extent,
  type Extent3,
  elementBytes,
  type HostArrays,
  hostArrays,
  lanesOf,
} from '../kernel/types.ts';
import { needsWideIndex, typedValue } from '../runtime/bind.ts';
import { checkBlock, checkGrid, checkResident } from '../runtime/extents.ts';
import { kernelInWords } from '../runtime/launch.ts';
import { heldValue, takeVector } from '../runtime/scalars.ts';

/** An array of which only the length matters. */
export interface ArrayOfLength {
  readonly length: number;
  /** Whether its elements are undefined until the kernel writes them. By default they hold numbers. */
  readonly unfilled?: boolean;
}

export type CheckArgument<T extends SchemaEntry> =
  T extends DeviceFunction<infer P, infer R>
    ? DeviceFunction<P, R>
    : T extends `readonly ${infer E extends ElementType}[]`
      ? HostArrays[E] | ArrayOfLength
      : T extends `${infer E extends ElementType}[]`
        ? HostArrays[E] | ArrayOfLength
        : T extends `constant ${infer C} = ${string}`
          ? ValueOf<C>
          : T extends `constant ${infer C}`
            ? ValueOf<C>
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
  readonly element: ElementType;
  readonly length: number;
  /** The caller's data; without it the array holds numbers, or nothing if it is unfilled. */
  readonly data: HostArrays[ElementType] | null;
  readonly unfilled: boolean;
}

/** What an sm_90 GPU launches at most. */
export const limits = {
  maxThreadsPerBlock: 1024,
  maxBlockDim: [1024, 1024, 64],
  maxGridDim: [2 ** 31 - 1, 65535, 65535],
  sharedMemoryPerBlock: 227 * 1024,
} as const;

/** Checks a launch and compiles its kernel. Throws as a launch on a device does. */
export function bindLaunch(
  kernel: Kernel,
  { grid, block, cooperative = false, arguments: given }: CheckLaunch<never>,
): BoundLaunch {
  if (kernel?.kind !== 'kernel') {
    throw new WarpstageError({
      code: 'WS2001',
      message: 'check takes a kernel first, and was given something else',
      hint: 'make one with kernel({ … }, ({ … }, cuda) => { … })',
    });
  }
  const fullBlock = checkBlock(kernel.name, block, limits);
  const fullGrid = checkGrid(kernel.name, grid, limits);
  if (cooperative) checkResident(kernel.name, fullGrid, fullBlock);
  const parameters = parseSchema(kernel.schema);
  const checked = checkArguments(kernel.name, parameters, given);
  const indexType = needsWideIndex(parameters, checked, fullGrid, fullBlock) ? 'i64' : 'i32';
  const { constants, functions } = checked;
  const specialisation = { block: fullBlock, indexType, cooperative, constants, functions } as const;
  const { program, sources } = specialise(kernel, specialisation);
  const values = program.parameters.map((parameter) =>
    parameter.kind === 'array'
      ? checked.arrays[parameter.name]!
      : typedValue(parameter.type, checked.scalars[parameter.name]!),
  );
  return { program, sources, grid: fullGrid, values };
}

interface Checked {
  readonly arrays: Record<string, LaunchArray>;
  readonly scalars: Record<string, ScalarValue>;
  readonly constants: Record<string, ScalarValue>;
  readonly functions: Record<string, DeviceFunction>;
}

/** Throws one error with an issue for every argument that is missing, unknown or wrong. */
function checkArguments(
  kernel: string,
  parameters: readonly KernelParameter[],
  given: Readonly<Record<string, unknown>>,
): Checked {
  const issues: Issue[] = [];
  const report = (message: string, hint?: string, code: Issue['code'] = 'WS2001') => {
    const whole = `check of ${kernelInWords(kernel)}: ${message}`;
    issues.push({ code, message: whole, ...(hint === undefined ? {} : { hint }) });
  };
  const checked: Checked = { arrays: {}, scalars: {}, constants: {}, functions: {} };
  const values = given ?? {};
  for (const parameter of parameters) {
    const { name } = parameter;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    switch (parameter.kind) {
      case 'array': {
        const array = value === undefined ? null : arrayOf(parameter.element, value);
        if (array !== null) checked.arrays[name] = array;
        else {
          const what = `a ${hostArrays[parameter.element].name} or { length: n }`;
          if (value === undefined) report(`argument \`${name}\` is missing`, `pass ${what} in \`arguments\``);
          else
            report(
              `argument \`${name}\` must be ${what}, and is ${describe(value)}`,
              undefined,
              codeOf(value),
            );
        }
        break;
      }
      case 'scalar':
      case 'constant': {
        const actual = value ?? (parameter.kind === 'constant' ? parameter.default : undefined);
        const problem = actual === undefined ? 'is missing' : scalarProblem(parameter.type, actual);
        if (problem !== null) report(`argument \`${name}\` ${problem}`);
        else {
          const held = heldValue(parameter.type, actual as ScalarValue);
          checked[parameter.kind === 'scalar' ? 'scalars' : 'constants'][name] = held;
        }
        break;
      }
      case 'vector':
        for (const { argument, problem, hint } of takeVector(name, parameter.type, value, checked.scalars)) {
          report(`argument \`${argument}\` ${problem}`, hint);
        }
        break;
      case 'function': {
        const actual = value ?? parameter.function;
        if (isDeviceFunction(actual)) checked.functions[name] = actual;
        else
          report(
            `argument \`${name}\` must be a function made by deviceFunction(), and is ${describe(actual)}`,
          );
        break;
      }
      default:
        parameter satisfies never;
    }
  }
  for (const name of Object.keys(values)) {
    if (parameters.some((parameter) => parameter.name === name)) continue;
    const known = parameters.map((parameter) => `\`${parameter.name}\``).join(', ');
    report(
      `there is no parameter \`${name}\``,
      known === '' ? 'it takes no arguments' : `its parameters are ${known}`,
    );
  }
  if (issues.length > 0) throw new WarpstageError(issues);
  return checked;
}

function arrayOf(element: ElementType, value: unknown): LaunchArray | null {
  if (value instanceof hostArrays[element] && value.length % lanesOf(element) === 0) {
    return {
      element,
      length: value.length / lanesOf(element),
      data: value as HostArrays[ElementType],
      unfilled: false,
    };
  }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || Array.isArray(value))
    return null;
  const { length, unfilled = false } = value as ArrayOfLength;
  if (!Number.isSafeInteger(length) || length < 0 || length * elementBytes[element] >= 2 ** 32) return null;
  return { element, length, data: null, unfilled };
}

const codeOf = (value: unknown) => (ArrayBuffer.isView(value) ? 'WS2002' : 'WS2001');

function describe(value: unknown): string {
  if (ArrayBuffer.isView(value)) return `a ${value.constructor.name}`;
  if (Array.isArray(value)) return 'an array of JavaScript values';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'string' ? `the string '${value}'` : String(value);
}
