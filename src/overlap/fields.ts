// What the fields of a job may be, for the check of its definition: which parameters of the kernel they may
// name, and how a value that does not fit is called.

import { hostForm } from '../kernel/layout.ts';
import type { KernelParameter } from '../kernel/parameters.ts';

/** Why a value cannot be the array of a parameter, or null. */
export function arrayProblem(value: unknown, parameter: KernelParameter): string | null {
  if (parameter.kind !== 'array') return null;
  const expected = hostForm(parameter.element).Values.name;
  const actual = ArrayBuffer.isView(value) ? value.constructor.name : describe(value);
  return actual === expected
    ? null
    : `must be a ${expected} (the kernel's ${parameter.element}[]), and is ${actual}`;
}

/** The types that hold a position or a count of rows. */
export const positionTypes: ReadonlySet<string> = new Set(['index', 'i32', 'u32', 'f32', 'f64']);

export function hasKind(
  parameter: KernelParameter,
  kind: 'array' | 'writable' | 'scalar' | 'function',
): boolean {
  if (kind === 'writable') return parameter.kind === 'array' && !parameter.readonly;
  if (kind === 'scalar') return parameter.kind === 'scalar' || parameter.kind === 'constant';
  return parameter.kind === kind;
}

export function mismatch(parameter: KernelParameter, wanted: string): string {
  if (wanted === 'writable' && parameter.kind === 'array') return 'an array that the kernel only reads';
  const kinds = {
    array: 'an array',
    scalar: 'a scalar',
    vector: 'a vector',
    constant: 'a constant',
    function: 'a device function',
    struct: 'a type of records',
  };
  return `${kinds[parameter.kind]} of the kernel`;
}

/** A value of a job's definition in a message. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return `[${value.map(describe).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}
