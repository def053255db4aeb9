// console.log from a kernel.

import type { Node } from 'acorn';
import type { Expression } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { isBigint } from '../number-types.ts';
import { numeric, typed } from '../numbers.ts';
import { undefinedValue, type Value } from '../values.ts';
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
} satisfies SomeHandlers;

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
