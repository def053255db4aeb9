// Regions that only the first threads of a block have anything to do in.
//
// `if (threadRank < n) …` with an `n` that all threads find the same, and nothing beside it, is the branch's statements for
// the first n threads: a bound of the loop over them, and no mask and no test in each. Where a block
// of one row folds an array in halves, each turn so does what is left, and no more.
//
// Where such a branch stands at a region's end, behind what all threads do, the region is cut in front of it: the borders of a
// tile are then loaded by a loop over a few threads, and the others are not asked. A cut only lets all threads
// come to the branch before the first one takes it, which threads in any order may do. No value may go across it.

import type { Expression, Region, Statement } from '../../compiler/ir.ts';
import { integer } from '../analysis/affine.ts';
import { constantOf } from '../analysis/elements.ts';
import { anyStatement, assignedIn, leaves, readIn } from '../analysis/walk.ts';
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

type Part = Omit<Region, 'range'>;

/**
 * A region as what all threads do and the branch of the first ones behind it; null where it does not end so, or where a
 * variable goes from one to the other, or the branch leaves one to later regions.
 */
export function cutBeforePrefix(unit: Unit, region: Part, fixed: FixedBeside): readonly [Part, Part] | null {
  const head = region.body.slice(0, -1);
  const tail = region.body.slice(-1);
  if (head.length === 0 || !isPlain(region.body)) return null;
  const [assigned, read, given] = [assignedIn(head), readIn(tail), assignedIn(tail)];
  if ([...read].some((id) => assigned.has(id))) return null;
  if ([...region.stores, ...region.resets].some((id) => given.has(id))) return null;
  if (prefixOf(unit, { body: tail }, fixed(given)) === null) return null;
  unit.tell('prefix', 'regions cut in front of a branch of the first threads');
  const loads = region.loads.filter((id) => read.has(id) || given.has(id));
  return [
    { ...region, body: head },
    { ...region, body: tail, loads, stores: [], resets: [] },
  ];
}

/** What has one value for all threads through statements that assign some variables. */
type FixedBeside = (assigned: ReadonlySet<number>) => Pick<Hoisting, 'isFixed'>;

/** Whether statements neither synchronise nor print, and none of them ends its thread. */
function isPlain(list: readonly Statement[]): boolean {
  const others = ['call', 'return', 'region'];
  return !leaves(list) && !anyStatement(list, ({ kind }) => others.includes(kind));
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
