// Families of accesses: those whose indices differ by a literal. One check asks for all of a family, and they share an address.

import type { Expression } from '../../../compiler/ir.ts';
import { integer } from '../../analysis/affine.ts';
import { constantOf } from '../../analysis/elements.ts';
import { keyOf } from '../../analysis/expression-key.ts';

/** Literals that lie further apart are of different families. */
export const widest = 4096;

/** What accesses of one family have in common. */
export function familyKey(
  of: string,
  common: Expression | null,
  literal: number,
  ranges: readonly string[],
): string {
  // Small ones on either side of zero are together.
  const group = Math.round(literal / widest);
  return [of, group, common === null ? '' : keyOf(common), ...ranges].join(' ');
}

/** An i32 as a sum of something and a literal. */
export function splitLiteral(expression: Expression): { common: Expression | null; literal: number } {
  const literal = constantOf(expression);
  if (literal !== null) return { common: null, literal };
  if (expression.kind !== 'binary' || (expression.operator !== 'add' && expression.operator !== 'subtract')) {
    return { common: expression, literal: 0 };
  }
  const left = splitLiteral(expression.left);
  const right = splitLiteral(expression.right);
  const adds = expression.operator === 'add';
  const sum = adds ? left.literal + right.literal : left.literal - right.literal;
  if (Math.abs(sum) > 2 ** 30) return { common: expression, literal: 0 };
  if (right.common === null) return { common: left.common, literal: sum };
  if (left.common === null && adds) return { common: right.common, literal: sum };
  const common = { ...expression, left: left.common ?? integer(expression, 0), right: right.common };
  return { common, literal: sum };
}
