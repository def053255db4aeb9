// What follows from a comparison for its two sides, and from bounds of a sum for what is added up.

import type { CompareOperator, Expression } from '../../compiler/ir.ts';
import { isInteger } from '../../compiler/number-types.ts';
import { type Bounds, clipped, type Fact } from './values.ts';

export type Compare = Extract<Expression, { kind: 'compare' }>;

/** Between which bounds the two sides of a comparison lie where it holds, or where it does not. */
export function boundsAfter(
  { operator }: Compare,
  holds: boolean,
  a: Fact,
  b: Fact,
): readonly [Bounds, Bounds] {
  return limits(holds ? operator : inverse[operator], a, b);
}

/**
 * What holds of the operands of a test that ended so, where they are compared themselves: of `i < n` for `i` and for `n`.
 * Null where the test cannot end so. `of` says what holds before it.
 */
export function factsAfter(
  test: Expression,
  holds: boolean,
  of: (expression: Expression) => Fact,
): readonly (readonly [Expression, Fact])[] | null {
  if (test.kind !== 'compare' || !isInteger(test.left.type)) return [];
  const sides = [test.left, test.right] as const;
  const [a, b] = [of(test.left), of(test.right)];
  const bounds = boundsAfter(test, holds, a, b);
  const found: [Expression, Fact][] = [];
  for (const [side, known] of [a, b].entries()) {
    const fact = clipped(known, test.left.type, bounds[side]!);
    if (fact === null) return null;
    if (fact !== known) found.push([sides[side]!, fact]);
  }
  return found;
}

/** Between which bounds a number lies that a constant is added to, taken from or multiplied by. */
export function undone(
  operator: 'add' | 'subtract' | 'multiply',
  { least, most }: Bounds,
  constant: number,
): Bounds {
  if (operator === 'add') return { least: least - constant, most: most - constant };
  if (operator === 'subtract') return { least: least + constant, most: most + constant };
  if (constant <= 0) return upTo(Number.POSITIVE_INFINITY);
  return { least: Math.ceil(least / constant), most: Math.floor(most / constant) };
}

const inverse: Readonly<Record<CompareOperator, CompareOperator>> = {
  equal: 'notEqual',
  notEqual: 'equal',
  less: 'greaterEqual',
  lessEqual: 'greater',
  greater: 'lessEqual',
  greaterEqual: 'less',
};

/** Between which bounds the sides of a comparison lie that holds. */
function limits(operator: CompareOperator, a: Fact, b: Fact): readonly [Bounds, Bounds] {
  switch (operator) {
    case 'equal':
      return [b, a];
    case 'notEqual':
      return [without(a, b), without(b, a)];
    case 'less':
      return [upTo(b.most - 1), from(a.least + 1)];
    case 'lessEqual':
      return [upTo(b.most), from(a.least)];
    case 'greater':
      return [from(b.least + 1), upTo(a.most - 1)];
    case 'greaterEqual':
      return [from(b.least), upTo(a.most)];
    default:
      return operator satisfies never;
  }
}

function upTo(most: number): Bounds {
  return { least: Number.NEGATIVE_INFINITY, most };
}

function from(least: number): Bounds {
  return { least, most: Number.POSITIVE_INFINITY };
}

/** The bounds of what is not the one value that another may have. */
function without({ least, most }: Bounds, other: Bounds): Bounds {
  if (other.least !== other.most) return { least, most };
  return { least: least === other.least ? least + 1 : least, most: most === other.most ? most - 1 : most };
}
