// What is done with one of several arrays is done with each, behind a test of which is meant.

import type { Node } from 'acorn';
import { isMeant } from './array-choice.ts';
import { choose } from './conditional.ts';
import type { Lowering } from './lowering.ts';
import type { ArrayChoiceValue, Value, ViewValue } from './values.ts';

/** Does something with the array that is meant, and gives what comes of it. */
export function withArray(
  lowering: Lowering,
  value: ViewValue | ArrayChoiceValue,
  node: Node,
  use: (view: ViewValue) => Value,
): Value {
  if (value.kind === 'view') return use(value);
  const from = (position: number): Value => {
    const view = value.options[position]!;
    if (position === value.options.length - 1) return use(view);
    return choose(
      lowering,
      isMeant(lowering, value, position, node),
      () => use(view),
      () => from(position + 1),
      node,
    );
  };
  return from(0);
}
