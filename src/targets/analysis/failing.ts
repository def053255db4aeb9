// What may fail where it is evaluated: the reading of an element, and the division of integers.

import type { Expression, Statement } from '../../compiler/ir.ts';
import { anyExpression, anyStatement } from './walk.ts';

/** Whether a division may fail, or needs a test of its operands. */
export function mayFail({ operator, type, right }: Expression & { readonly kind: 'binary' }): boolean {
  if (operator !== 'divide' && operator !== 'remainder') return false;
  if (type === 'f32' || type === 'f64' || type === 'bool') return false;
  const divisor = right.kind === 'constant' ? Number(right.value) : null;
  return divisor === null || divisor === 0 || divisor === -1;
}

/** Whether a statement stops the kernel, or reads an element or divides, which may fail. */
export function canFail(statement: Statement): boolean {
  return (
    anyStatement([statement], stops) ||
    anyExpression([statement], (each) => each.kind === 'load' || (each.kind === 'binary' && mayFail(each)))
  );
}

/** Whether a statement stops the kernel because of what a thread does with a pipeline or barrier. */
export function stops(statement: Statement): boolean {
  if (statement.kind !== 'call' || statement.intrinsic !== 'core') return false;
  const { kind } = statement.operation;
  return kind === 'pipelineMisused' || kind === 'barrierMisused';
}
