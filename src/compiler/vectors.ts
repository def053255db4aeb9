// Vectors: values of 2 to 4 components, each an expression of its own. They live in the compiler
// alone; a program has their components, and loads and stores of one component at a time.

import type { Node } from 'acorn';
import { componentNames, type VectorType, vectorTypes } from '../kernel/types.ts';
import { conditional } from './build.ts';
import type { Expression } from './ir.ts';
import type { Lowering } from './lowering.ts';
import { narrowed } from './narrow.ts';
import { loadedType } from './number-types.ts';
import { toStored } from './numbers.ts';
import { describe, type NumberValue, number, type Value, type VectorValue } from './values.ts';

/** Which component a name is, or null where a vector of the type has none of that name. */
export function componentIndex(type: VectorType, name: string): number | null {
  const index = (componentNames as readonly string[]).indexOf(name);
  return index >= 0 && index < vectorTypes[type].components ? index : null;
}

/** The names of the components of a type. */
export function componentsOf(type: VectorType): readonly string[] {
  return componentNames.slice(0, vectorTypes[type].components);
}

/** One component as a number. */
export function componentValue({ type, components }: VectorValue, component: number): NumberValue {
  return number(loadedType(type), components[component]!);
}

/** A value as a component of a vector. */
export function toComponent(
  lowering: Lowering,
  value: Value,
  type: VectorType,
  component: number,
  node: Node,
): Expression {
  const what = `component ${componentNames[component]} of a vector (${type})`;
  const stored = toStored(lowering, value, loadedType(type), node, what);
  return narrowed(lowering, stored, vectorTypes[type].component, node);
}

/** The value as a vector of a type; `what` names in a message what takes it. */
export function toVector(
  lowering: Lowering,
  value: Value,
  type: VectorType,
  node: Node,
  what: string,
): VectorValue {
  if (value.kind === 'broken') return lowering.broken();
  if (value.kind === 'vector' && value.type === type) return value;
  return lowering.fail(
    node,
    'WS1004',
    `${what} is a vector (${type}), and is given ${describe(value)}`,
    `make one: cuda.${type}(${componentsOf(type).join(', ')})`,
  );
}

/** One of two vectors of a type. */
export function mergeVectors(
  lowering: Lowering,
  test: Expression,
  a: VectorValue,
  b: VectorValue,
  node: Node,
): VectorValue {
  const range = lowering.range(node);
  const components = a.components.map((one, component) =>
    conditional(test, one, b.components[component]!, range),
  );
  return { kind: 'vector', type: a.type, components };
}
