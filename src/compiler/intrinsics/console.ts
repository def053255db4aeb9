// What a kernel says: console.log, and assertions.

import type { AnyNode, Node } from 'acorn';
import { knownTruth } from '../build.ts';
import type { Expression } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { isBigint } from '../number-types.ts';
import { numeric, toBool, typed } from '../numbers.ts';
import { undefinedValue, type Value } from '../values.ts';
import { written } from '../written.ts';
import type { SomeHandlers } from './handler.ts';

export const consoleHandlers = {
  'console.log': ({ lowering, args, node }) => {
    const parts: (string | Expression)[] = [];
    args.parts.forEach((part, position) => {
      if (position > 0) append(parts, ' ');
      print(lowering, part, parts, node);
    });
    lowering.emit({ kind: 'call', intrinsic: 'print', parts, range: lowering.range(node) });
    return undefinedValue;
  },
  'cuda.assert': ({ lowering, args, node, at }) => {
    const condition = at('condition');
    const parts: (string | Expression)[] = [];
    append(parts, `${written(lowering, condition)} does not hold`);
    const message: (string | Expression)[] = [];
    if (args.message !== undefined) print(lowering, args.message, message, node);
    const compared = comparedParts(lowering, condition);
    const isRoomy = valuesOf(compared).length + valuesOf(message).length <= mostValues;
    for (const part of isRoomy ? compared : []) push(parts, part);
    if (message.length > 0) append(parts, ': ');
    for (const part of message) push(parts, part);
    if (valuesOf(message).length > mostValues) {
      lowering.fail(
        at('message'),
        'WS1009',
        `the message of an assertion has ${valuesOf(message).length} values`,
        `leave ${mostValues} of them; console.log prints any number`,
      );
    }
    const test = toBool(lowering, args.condition, condition);
    if (knownTruth(test) === true) return undefinedValue;
    lowering.emit({ kind: 'call', intrinsic: 'assert', test, parts, range: lowering.range(node) });
    return undefinedValue;
  },
} satisfies SomeHandlers;

/** A thread that fails reports so many values. */
const mostValues = 4;

function valuesOf(parts: readonly (string | Expression)[]): Expression[] {
  return parts.filter((part) => typeof part !== 'string');
}

function push(parts: (string | Expression)[], part: string | Expression): void {
  if (typeof part === 'string') append(parts, part);
  else parts.push(part);
}

/** Of `a < b`, where evaluating the sides again does nothing: what they are. */
function comparedParts(lowering: Lowering, condition: Node): (string | Expression)[] {
  const node = condition as AnyNode;
  if (node.type !== 'BinaryExpression') return [];
  const parts: (string | Expression)[] = [];
  for (const side of [node.left as AnyNode, node.right as AnyNode]) {
    if (side.type === 'Literal' || !isPlain(side)) continue;
    const value = lowering.value(side);
    if (value.kind !== 'number') continue;
    append(parts, `${parts.length === 0 ? ', where ' : ' and '}${written(lowering, side)} is `);
    parts.push(typed(lowering, value, side).expression);
  }
  return parts;
}

/** Names, members, elements and what operators make of them. */
function isPlain(node: AnyNode): boolean {
  switch (node.type) {
    case 'Identifier':
    case 'Literal':
      return true;
    case 'MemberExpression':
      return isPlain(node.object as AnyNode) && (!node.computed || isPlain(node.property as AnyNode));
    case 'BinaryExpression':
      return isPlain(node.left as AnyNode) && isPlain(node.right as AnyNode);
    case 'UnaryExpression':
      return node.operator !== 'delete' && isPlain(node.argument);
    case 'ParenthesizedExpression':
      return isPlain(node.expression);
    default:
      return false;
  }
}

/** `inText`: within a template, where JavaScript writes bigints without n. */
function print(
  lowering: Lowering,
  part: Value,
  parts: (string | Expression)[],
  node: Node,
  inText = false,
): void {
  switch (part.kind) {
    case 'text':
      append(parts, part.text);
      break;
    case 'template':
      for (const inner of part.parts) print(lowering, inner, parts, node, true);
      break;
    case 'choice':
      lowering.fail(
        node,
        'WS1006',
        'this prints a string that depends on a condition',
        'print it where the condition is known: if (…) console.log(…)',
      );
      break;
    default: {
      const { type, expression } = typed(lowering, numeric(lowering, part, node), node);
      parts.push(expression);
      if (isBigint(type) && !inText) append(parts, 'n');
    }
  }
}

function append(parts: (string | Expression)[], text: string): void {
  const last = parts.at(-1);
  if (typeof last === 'string') parts[parts.length - 1] = last + text;
  else parts.push(text);
}
