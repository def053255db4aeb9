// Regions that only the first threads of a block have anything to do in.
//
// `if (threadRank < n) …` with an `n` that all threads find the same, and nothing beside it, is the branch's statements for
// the first n threads: a bound of the loop over them, and no mask and no test in each. Where a block
// of one row folds an array in halves, each turn so does what is left, and no more.

import type { Expression, Region, Statement } from '../../compiler/ir.ts';
import { integer } from '../analysis/affine.ts';
import { constantOf } from '../analysis/elements.ts';
import type { Hoisting } from './hoisting.ts';
import type { Unit } from './unit.ts';

/** The first threads of a block, as many as an i32 says (none below 0), and what they do. */
export interface Prefix {
  readonly count: Expression;
  readonly body: readonly Statement[];
}

/** What a region is to its first threads; null where others have something to do, or the block has several rows. */
export function prefixOf(
  unit: Unit,
  { body }: Pick<Region, 'body'>,
  hoisting: Pick<Hoisting, 'isFixed'>,
): Prefix | null {
  const [only, ...others] = body;
  if (!unit.does('prefix') || unit.blockSize !== unit.program.block[0]) return null;
  if (only?.kind !== 'if' || others.length > 0 || only.otherwise.length > 0) return null;
  const count = countOf(only.test, unit.blockSize);
  if (count === null || !hoisting.isFixed(count)) return null;
  unit.tell('prefix', 'branches of the first threads that the others do not come to');
  return { count, body: only.then };
}

/** How many threads a test holds for, where it does so for the first ones of a row of so many. */
function countOf(test: Expression, threads: number): Expression | null {
  if (test.kind !== 'compare' || test.left.type !== 'i32') return null;
  const { operator, left, right } = test;
  if (isRank(left)) {
    if (operator === 'less') return right;
    if (operator === 'equal') return constantOf(right) === 0 ? integer(right, 1) : null;
    return operator === 'lessEqual' ? oneMore(right, threads) : null;
  }
  if (!isRank(right)) return null;
  if (operator === 'greater') return left;
  if (operator === 'equal') return constantOf(left) === 0 ? integer(left, 1) : null;
  return operator === 'greaterEqual' ? oneMore(left, threads) : null;
}

function isRank(expression: Expression): boolean {
  if (expression.kind !== 'builtin') return false;
  return expression.name === 'threadRank' || expression.name === 'threadIdx.x';
}

/** One more than an i32, or than the number of threads where it is larger, so that nothing wraps. */
function oneMore(last: Expression, threads: number): Expression {
  const { type, range } = last;
  const left: Expression = {
    kind: 'binary',
    operator: 'min',
    left: last,
    right: integer(last, threads),
    type,
    range,
  };
  return { kind: 'binary', operator: 'add', left, right: integer(last, 1), type, range };
}
