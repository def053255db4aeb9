// Positions in arrays as C++: which of their sums and products may be signed arithmetic.
//
// An index of 32 bits wraps. A signed sum in C++ must not overflow, and because it must not, the compiler may
// turn it into an addition to a pointer, which loops over arrays live on. So signed arithmetic is written where
// the exact value tells that nothing comes of the difference:
//
// - it lies in the type; or
// - it may be too great, but is then below 2^32, and nothing that is added brings it back. What wraps is
//   negative in the end: no position in an array, so that the access is wrong by any rule.
//
// Everything else wraps as the language says. An index of 64 bits always does: that costs nothing there.

import type { Expression } from '../../compiler/ir.ts';
import type { FactOf } from '../analysis/facts.ts';
import { type Bounds, boundsOf, isBounded } from '../analysis/values.ts';

const half = 2 ** 31;

/** A value as C++, and between which bounds it lies if it is computed without wrapping. */
interface Exact extends Bounds {
  readonly text: string;
  /** By how much a value that was too great may have been brought back. */
  readonly back: number;
}

type Sum = Extract<Expression, { kind: 'binary' }> & { readonly operator: 'add' | 'subtract' | 'multiply' };

const signs = { add: '+', subtract: '-', multiply: '*' } as const;

/** A position of 32 bits; `wrapping` writes an expression as the language means it. */
export function positionText(
  position: Expression,
  factOf: FactOf,
  wrapping: (expression: Expression) => string,
): string {
  const exact = (expression: Expression): Exact => {
    const { least, most } = factOf(expression);
    const known = isBounded({ least, most }, expression.type) ? { least, most } : null;
    const sum = isSum(expression)
      ? signed(expression, exact(expression.left), exact(expression.right), known)
      : null;
    if (sum !== null) return sum;
    return { text: wrapping(expression), back: 0, ...(known ?? { least: -half, most: half - 1 }) };
  };
  return isSum(position) ? exact(position).text : wrapping(position);
}

function isSum(expression: Expression): expression is Sum {
  return expression.kind === 'binary' && Object.hasOwn(signs, expression.operator);
}

/** The signed sum; null where it may not stand for the one that wraps. */
function signed({ operator }: Sum, left: Exact, right: Exact, known: Bounds | null): Exact | null {
  const bounds = known ?? boundsOf(operator, left, right);
  if (bounds.least < -half || bounds.most >= 2 * half) return null;
  const back = isTooGreat(left) || isTooGreat(right) ? backOf(operator, left, right) : 0;
  // No array has 2^31 elements, so that 2^31 - 1 is no position either.
  if (back > 1) return null;
  return { ...bounds, back, text: `(${left.text} ${signs[operator]} ${right.text})` };
}

function isTooGreat({ most }: Bounds): boolean {
  return most >= half;
}

/** How far a value that was too great may be brought back, at the most. */
function backOf(operator: Sum['operator'], left: Exact, right: Exact): number {
  switch (operator) {
    case 'add':
      return Math.max(
        isTooGreat(left) ? left.back + Math.max(0, -right.least) : 0,
        isTooGreat(right) ? right.back + Math.max(0, -left.least) : 0,
      );
    case 'subtract':
      return isTooGreat(right) ? Number.POSITIVE_INFINITY : left.back + Math.max(0, right.most);
    case 'multiply':
      return Number.POSITIVE_INFINITY;
  }
}
