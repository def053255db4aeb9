// What a kernel says: console.log, and assertions.

import type { AnyNode, Node } from 'acorn';
import { counted } from '../../diagnostics/count.ts';
import { componentNames } from '../../kernel/types.ts';
import { intrinsic } from '../advice.ts';
import { convert, knownTruth } from '../build.ts';
import type { Expression } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { isBigint } from '../number-types.ts';
import { knownNumber, numeric, toBool, typed } from '../numbers.ts';
import { type Conversion, converted, partsOfFormat, type WrittenConversion, withWidth } from '../printf.ts';
import { describe, undefinedValue, type Value } from '../values.ts';
import { written } from '../written.ts';
import type { SomeHandlers } from './handler.ts';

export const consoleHandlers = {
  'console.log': ({ lowering, args, node }) => {
    const range = lowering.range(node);
    const [first, ...others] = args.parts;
    const format = first?.kind === 'text' && others.length > 0 ? partsOfFormat(first.text) : [];
    if (format.some((part) => typeof part !== 'string')) {
      lowering.emit({
        kind: 'call',
        intrinsic: 'print',
        ...formatted(lowering, format, others, node),
        range,
      });
      return undefinedValue;
    }
    const parts: (string | Expression)[] = [];
    args.parts.forEach((part, position) => {
      if (position > 0) append(parts, ' ');
      print(lowering, part, parts, node);
    });
    lowering.emit({ kind: 'call', intrinsic: 'print', parts, range });
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
        `keep ${mostValues} of them; console.log prints any number`,
      );
    }
    const test = toBool(lowering, args.condition, condition);
    if (knownTruth(test) === true) return undefinedValue;
    lowering.emit({ kind: 'call', intrinsic: 'assert', test, parts, range: lowering.range(node) });
    return undefinedValue;
  },
} satisfies SomeHandlers;

/** What a format makes of values. Those beyond it follow, as console.log writes them. */
function formatted(
  lowering: Lowering,
  format: readonly (string | WrittenConversion)[],
  values: readonly Value[],
  node: Node,
): { readonly parts: (string | Expression)[]; readonly formats: (Conversion | null)[] } {
  const parts: (string | Expression)[] = [];
  const formats: (Conversion | null)[] = [];
  const conversions = format.filter((part) => typeof part !== 'string');
  const wanted = conversions.reduce((all, one) => all + 1 + starsOf(one).length, 0);
  if (values.length < wanted) {
    lowering.fail(
      node,
      'WS1009',
      `the format of console.log has ${counted(conversions.length, 'conversion')}${wanted > conversions.length ? `, which takes ${counted(wanted, 'value')}` : ''}, and is given ${counted(values.length, 'value')}`,
      'give a value for each; a percent sign is written %%',
    );
  }
  const left = [...values];
  for (const part of format) {
    if (typeof part === 'string') {
      append(parts, part);
      continue;
    }
    const given = starsOf(part).map((what) => fixedNumber(lowering, part, what, left.shift()!, node));
    const conversion = withWidth(part, given);
    if (part.type === 's') {
      const value: (string | Expression)[] = [];
      print(lowering, left.shift()!, value, node, true);
      const [text] = value;
      const isText = value.length <= 1 && typeof (text ?? '') === 'string';
      if (isText) append(parts, converted(conversion, (text ?? '') as never));
      else for (const each of value) add(each, value.length === 1 ? conversion : null);
    } else add(operandOf(lowering, conversion, left.shift()!, node), conversion);
  }
  for (const value of left) {
    const more: (string | Expression)[] = [' '];
    print(lowering, value, more, node);
    for (const each of more) add(each, null);
  }
  return { parts, formats };

  function add(part: string | Expression, format: Conversion | null): void {
    push(parts, part);
    if (typeof part !== 'string') formats.push(format);
  }
}

/** What a conversion asks of the call by `*`, in the order of its values. */
function starsOf({ width, precision }: WrittenConversion): ('width' | 'precision')[] {
  return [
    ...(width === '*' ? (['width'] as const) : []),
    ...(precision === '*' ? (['precision'] as const) : []),
  ];
}

/** A width or a precision, which the text of the line depends on. */
function fixedNumber(
  lowering: Lowering,
  { text }: WrittenConversion,
  what: string,
  value: Value,
  node: Node,
): number {
  const known = knownNumber(lowering, numeric(lowering, value, node));
  if (known !== null && Number.isInteger(known) && Math.abs(known) <= 1000) return known;
  return lowering.fail(
    node,
    'WS1009',
    `the ${what} that ${text} asks for must be an integer up to 1000 that is known when the kernel is compiled, and is ${describe(value)}`,
    `write it out, as in %${what === 'width' ? '8' : '.3'}${text.at(-1)}`,
  );
}

/** The value of a conversion, of its type. */
function operandOf(lowering: Lowering, { text, type }: Conversion, value: Value, node: Node): Expression {
  const range = lowering.range(node);
  const { expression } = typed(lowering, numeric(lowering, value, node), node);
  const isFloat = expression.type === 'f32' || expression.type === 'f64';
  if (/[fega]/i.test(type)) return isFloat ? expression : convert(expression, 'f64', range);
  if (isFloat) {
    lowering.fail(
      node,
      'WS1004',
      `${text} writes an integer, and is given ${describe(value)}`,
      `cast the number by ${intrinsic(lowering, 'i32')}, or let the text say %f`,
    );
  }
  const isWide = isBigint(expression.type);
  const signed = type === 'd' || type === 'c';
  return convert(expression, isWide ? (signed ? 'i64' : 'u64') : signed ? 'i32' : 'u32', range);
}

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
    case 'vector':
      part.components.forEach((component, position) => {
        append(parts, `${position === 0 ? '{ ' : ', '}${componentNames[position]!}: `);
        parts.push(component);
        if (isBigint(component.type) && !inText) append(parts, 'n');
      });
      append(parts, ' }');
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
