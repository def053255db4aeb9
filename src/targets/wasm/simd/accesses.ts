// The accesses of a list of statements, and the divisions that lanes treat as such.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import { constantOf } from '../../analysis/elements.ts';
import { expressionsOf, forEachOperand, listsOf } from '../../analysis/walk.ts';
import type { Indexed } from './limits.ts';

type Loop = Extract<Statement, { kind: 'loop' }>;

/** Visits the accesses in a list, each with the loops of the list that it stands in. */
export function forEachAccess(
  list: readonly Statement[],
  visit: (access: Indexed, loops: readonly Loop[], stores: boolean) => void,
  loops: readonly Loop[] = [],
): void {
  for (const statement of list) {
    if (statement.kind === 'store') visit(statement, loops, true);
    for (const expression of expressionsOf(statement)) {
      forEachOperand(expression, (each) => {
        if (each.kind === 'load') visit(each, loops, false);
      });
    }
    if (statement.kind === 'loop') {
      forEachAccess(statement.body, visit, [...loops, statement]);
      forEachAccess(statement.update, visit, loops);
    } else {
      for (const inner of listsOf(statement)) forEachAccess(inner, visit, loops);
    }
  }
}

type Binary = Expression & { readonly kind: 'binary' };

/** Division of an i32 or u32, or its remainder. */
export function isDivision({ operator, type }: Binary): boolean {
  return (operator === 'divide' || operator === 'remainder') && (type === 'i32' || type === 'u32');
}

/** Division of an i32 or u32 by a positive power of two that is known. */
export function isPowerOfTwoDivision(expression: Binary): boolean {
  if (!isDivision(expression)) return false;
  const divisor = constantOf(expression.right);
  return divisor !== null && divisor > 0 && Number.isInteger(Math.log2(divisor));
}
