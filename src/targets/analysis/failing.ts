// What may fail where it is evaluated: the reading of an element, and the division of integers.

import type { Expression, Statement } from '../../compiler/ir.ts';
import { anyExpression } from './walk.ts';

/** Whether a division may fail, or needs a test of its operands. */
export function mayFail({ operator, type, right }: Expression & { readonly kind: 'binary' }): boolean {
  if (operator !== 'divide' && operator !== 'remainder') return false;
  if (type === 'f32' || type === 'f64' || type === 'bool') return false;
  const divisor = right.kind === 'constant' ? Number(right.value) : null;
  return divisor === null || divisor === 0 || divisor === -1;
}

/** Whether a statement reads an element or divides, which may fail. */
export function canFail(statement: Statement): boolean {
  return anyExpression(
    [statement],
    (each) => each.kind === 'load' || (each.kind === 'binary' && mayFail(each)),
  );
}
