// What a program's arrays are made of, and what is known of their indices.

import type { ArrayReference, Expression, Program } from '../../compiler/ir.ts';
import type { Element } from '../../kernel/types.ts';

/** The element type of an array. */
export function elementOf(program: Program, { space, id }: ArrayReference): Element {
  if (space === 'shared') return program.sharedArrays[id]!.element;
  if (space === 'local') return program.localArrays[id]!.element;
  const parameter = program.parameters[id]!;
  if (parameter.kind !== 'array') throw new TypeError(`parameter ${parameter.name} is not an array`);
  return parameter.element;
}

/** The value of an integer literal. */
export function constantOf(expression: Expression): number | null {
  return expression.kind === 'constant' ? Number(expression.value) : null;
}
