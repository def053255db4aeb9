// Runs a kernel through the front end and a target, without a device.

import type { Value } from '#warpstage/compiler/arithmetic.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import { type Kernel, kernel as makeKernel } from '#warpstage/kernel/kernel.js';
import { isDeviceFunction, parseSchema } from '#warpstage/kernel/parameters.js';
import type { DeviceFunction, Schema } from '#warpstage/kernel/schema.js';
import type { ElementType, Extent } from '#warpstage/kernel/types.js';
import { extent3, type HostArray, type ProgramResult, runProgram, type Target } from './run-program.ts';

export interface KernelLaunch {
  readonly grid: Extent;
  readonly block: Extent;
  readonly indexType?: 'i32' | 'i64';
  readonly cooperative?: boolean;
  /** Everything by its name in the schema: arrays, scalars, constants and device functions. */
  readonly arguments: Readonly<Record<string, HostArray | Value | Vector | DeviceFunction>>;
}

/** A vector as the host passes it. */
export type Vector = Readonly<Partial<Record<'x' | 'y' | 'z' | 'w', number>>>;

/** Specialises and runs a kernel; the arrays of `launch.arguments` hold the results. */
export function runKernel(target: Target, kernel: Kernel, launch: KernelLaunch): ProgramResult {
  const { indexType = 'i32', cooperative = false } = launch;
  const constants: Record<string, Value> = {};
  const functions: Record<string, DeviceFunction> = {};
  const data: Record<string, HostArray | Value> = {};
  for (const parameter of parseSchema(kernel.schema)) {
    const { name } = parameter;
    const value = launch.arguments[name];
    if (value === undefined) continue;
    if (parameter.kind === 'constant') constants[name] = value as Value;
    else if (parameter.kind === 'function') functions[name] = value as DeviceFunction;
    else if (parameter.kind === 'vector') {
      for (const [component, x] of Object.entries(value as Vector)) data[`${name}.${component}`] = x;
    } else
      data[name] = isIndex(parameter) && indexType === 'i64' ? BigInt(value as number) : (value as Value);
  }
  const block = extent3(launch.block);
  const [, height, depth] = extent3(launch.grid);
  const flatGrid = height === 1 && depth === 1;
  const { program } = specialise(kernel, { block, indexType, cooperative, flatGrid, constants, functions });
  return runProgram(target, program, { grid: launch.grid, arguments: data });
}

function isIndex(parameter: { readonly kind: string; readonly type?: string }): boolean {
  return parameter.kind === 'scalar' && parameter.type === 'index';
}

/** The same kernel or device function with another element type wherever its text and schema say i32. */
export function retyped<K extends Kernel | DeviceFunction>(original: K, element: ElementType): K {
  if (element === 'i32') return original;
  const schema: Schema = Object.fromEntries(
    Object.entries(original.schema).map(([name, entry]) => {
      if (typeof entry !== 'string') return [name, isDeviceFunction(entry) ? retyped(entry, element) : entry];
      const staged = scalarOf(element);
      return [name, entry === 'i32' ? staged : entry.replace('i32[]', `${element}[]`)] as const;
    }),
  ) as Schema;
  const text = original.body.toString().replaceAll(/(['"`])i32\1/g, `'${element}'`);
  const body = new Function(`return ${text}`)();
  return original.kind === 'kernel'
    ? (makeKernel(schema, body, { name: original.name }) as K)
    : { ...original, schema, body };
}

function scalarOf(element: ElementType) {
  return /^[iu](8|16)$/.test(element) ? 'i32' : element;
}
