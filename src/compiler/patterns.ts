// Destructuring: names bound to the parts of a value.

import type { AnyNode, Node, Pattern, Property } from 'acorn';
import type { DeviceSchema } from '../kernel/schema.ts';
import { declare } from './cells.ts';
import type { Lowering } from './lowering.ts';
import { element, member } from './members.ts';
import { describe, literal, type Value } from './values.ts';

/** Binds the parameters of a kernel or a device function: the data of its schema, and the intrinsics. */
export function bindParameters(
  lowering: Lowering,
  [first, second, third]: readonly Pattern[],
  data: Value,
  schema: DeviceSchema,
): void {
  if (third !== undefined) {
    lowering.fail(
      third,
      'WS1006',
      'there are two parameters: the data of the schema, and the intrinsics',
      `take the data from the first: ({ ${Object.keys(schema).join(', ')} }, cuda) => …`,
    );
  }
  if (first) bindPattern(lowering, first, data);
  if (second) bindPattern(lowering, second, { kind: 'namespace', name: 'cuda' });
}

/** Takes a value apart as a pattern says, and hands each part to `give` with where it goes. */
export function takeApart(
  lowering: Lowering,
  pattern: Pattern,
  value: Value,
  give: (target: Pattern, value: Value) => void,
): void {
  switch (pattern.type) {
    case 'AssignmentPattern': {
      const given = value.kind === 'undefined' ? lowering.value(pattern.right) : value;
      takeApart(lowering, pattern.left, given, give);
      break;
    }
    case 'ArrayPattern':
      pattern.elements.forEach((target, position) => {
        if (target === null) return;
        if (target.type === 'RestElement') {
          takeApart(lowering, target.argument, restOf(lowering, value, position, target), give);
        } else {
          takeApart(lowering, target, element(lowering, value, literal(position), target, target), give);
        }
      });
      break;
    case 'ObjectPattern':
      for (const property of pattern.properties) {
        if (property.type === 'RestElement') refuseRest(lowering, property);
        const name = propertyName(lowering, property);
        takeApart(lowering, property.value, optionalMember(lowering, value, name, property), give);
      }
      break;
    case 'RestElement':
      refuseRest(lowering, pattern);
      break;
    default:
      give(pattern, value);
  }
}

/** Declares the names of a pattern, bound to the parts of a value. */
export function bindPattern(lowering: Lowering, pattern: Pattern, value: Value): void {
  takeApart(lowering, pattern, value, (target, part) => {
    if (target.type === 'Identifier') declare(lowering, target, part);
  });
}

/** The name of a property in a pattern or an object. */
export function propertyName(
  lowering: Lowering,
  { key, computed }: Pick<Property, 'key' | 'computed'>,
): string {
  const node = key as AnyNode;
  if (node.type === 'Identifier' && !computed) return node.name;
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  return lowering.fail(node, 'WS1006', 'the name of a member must be written out', 'write { name: value }');
}

/** With a default in the pattern, a member may be missing. */
function optionalMember(
  lowering: Lowering,
  value: Value,
  name: string,
  property: Extract<Pattern, { type: 'ObjectPattern' }>['properties'][number],
): Value {
  const hasDefault = property.type === 'Property' && property.value.type === 'AssignmentPattern';
  if (hasDefault && value.kind === 'object' && !value.members.has(name)) return { kind: 'undefined' };
  return member(lowering, value, name, property.type === 'Property' ? property.key : property);
}

function restOf(lowering: Lowering, value: Value, position: number, node: Node): Value {
  if (value.kind === 'list') return { kind: 'list', items: value.items.slice(position) };
  return lowering.fail(
    node,
    'WS1006',
    `${describe(value)} has no known rest`,
    value.kind === 'view'
      ? `take a part of it: ${value.name}.subarray(${position})`
      : 'lists have a rest, and arrays have subarray(begin)',
  );
}

function refuseRest(lowering: Lowering, node: Node): never {
  return lowering.fail(node, 'WS1006', "kernels do not have '...' here", 'name each member');
}
