// A text for each expression; two that have the same one compute the same, as long as the
// variables in them keep their values.

import type { ArrayReference, Expression } from '../../compiler/ir.ts';
import { operandsOf } from './walk.ts';

const keys = new WeakMap<Expression, string>();

export function keyOf(expression: Expression): string {
  const known = keys.get(expression);
  if (known !== undefined) return known;
  const key = `${headOf(expression)}(${operandsOf(expression).map(keyOf).join()})`;
  keys.set(expression, key);
  return key;
}

/** Whether two expressions are written alike, wherever they stand. */
export function isSame(a: Expression, b: Expression): boolean {
  return keyOf(a) === keyOf(b);
}

function headOf(expression: Expression): string {
  switch (expression.kind) {
    case 'constant':
      return `${expression.type} ${Object.is(expression.value, -0) ? '-0' : expression.value}`;
    case 'variable':
    case 'scalar':
      return `${expression.kind} ${expression.id}`;
    case 'builtin':
      return expression.name;
    case 'length':
      return `length ${arrayKey(expression.array)}`;
    case 'load':
      return `load ${arrayKey(expression.array)} ${expression.component ?? ''}`;
    case 'binary':
      return `${expression.fast ? 'fast ' : ''}${expression.operator} ${expression.left.type}`;
    case 'unary':
    case 'compare':
      return `${expression.operator} ${operandsOf(expression)[0]!.type}`;
    case 'convert':
      return `${expression.operand.type} to ${expression.type} ${expression.format ?? ''}`;
    case 'conditional':
      return 'conditional';
    case 'math':
      return expression.fast ? `fast ${expression.function}` : expression.function;
    default:
      return expression satisfies never;
  }
}

/** An array, as what it is seen. */
export function arrayKey({ space, id, as }: ArrayReference): string {
  return `${space} ${id} ${as ?? ''}`;
}
