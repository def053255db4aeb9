// What a program's arrays are made of, and what is known of their indices.

import type { ArrayReference, Expression, Program } from '../../compiler/ir.ts';
import { bytesOf } from '../../kernel/layout.ts';
import type { Element } from '../../kernel/types.ts';

/** The element type of an array. */
export function elementOf(program: Program, { space, id, as }: ArrayReference): Element {
  if (as !== undefined) return as;
  if (space === 'shared') return program.sharedArrays[id]!.element;
  if (space === 'local') return program.localArrays[id]!.element;
  const parameter = program.parameters[id]!;
  if (parameter.kind !== 'array') throw new TypeError(`parameter ${parameter.name} is not an array`);
  return parameter.element;
}

/** The value of a literal; null for what is none, and for a literal of 64 bits that a number cannot hold exactly. */
export function constantOf(expression: Expression): number | null {
  if (expression.kind !== 'constant') return null;
  const value = Number(expression.value);
  return typeof expression.value === 'bigint' && !Number.isSafeInteger(value) ? null : value;
}

/** So many elements of an array, counted as those that a reference sees. */
export function lengthAs(program: Program, { space, id, as }: ArrayReference, length: number): number {
  if (as === undefined) return length;
  return Math.floor((length * bytesOf(elementOf(program, { space, id }))) / bytesOf(as));
}
