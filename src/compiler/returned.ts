// What a function returns, where its caller has said which types its results are for: a quotient of integers that is
// returned for a float is a division of floats.

import type { Node } from 'acorn';
import type { ReturnTarget } from './frame.ts';
import type { Lowering } from './lowering.ts';
import { computedType } from './number-types.ts';
import { rounded } from './numbers.ts';
import { dividedFor } from './quotients.ts';
import type { Value } from './values.ts';

/** The value of the expression that a function returns. */
export function returned(lowering: Lowering, node: Node, returns: ReturnTarget): Value {
  returns.expression = node;
  const value = lowering.value(node);
  const { results } = returns;
  return rounded(
    lowering,
    typeof results === 'string' ? dividedFor(lowering, value, computedType(results)) : value,
  );
}

/** The value of a member of an object, which may be what the function returns. */
export function memberValue(lowering: Lowering, object: Node, name: string, node: Node): Value {
  const { returns } = lowering.frame;
  const value = lowering.value(node);
  const results = returns?.expression === object ? returns.results : undefined;
  const type = typeof results === 'object' ? results[name] : undefined;
  return rounded(lowering, type === undefined ? value : dividedFor(lowering, value, computedType(type)));
}
