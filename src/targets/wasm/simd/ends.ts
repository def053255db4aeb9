// Whether the lanes of a group agree about a test, by its first and last lane alone.
//
// Where a test compares what grows by one from lane to lane with what they all share, the first lane's value says whether
// it holds for all of them: one scalar comparison instead of one of each vector. It never says that lanes agree where
// they do not. Where it cannot tell (values wrap, or the bound lies between the lanes) every lane is asked.

import type { Expression } from '../../../compiler/ir.ts';
import { conjunctsOf, disjunctsOf } from '../../analysis/counters.ts';
import { constantOf } from '../../analysis/elements.ts';
import { mayFail } from '../../analysis/failing.ts';
import { anyOperand } from '../../analysis/walk.ts';
import { pushExpression } from '../expressions.ts';
import type { GroupContext } from './group.ts';

/** What grows by one from lane to lane is below, or not below, what the lanes share. */
interface Ends {
  readonly growing: Expression;
  readonly bound: Expression;
  /** How far the first lane's value has to lie below the bound; null where it has to lie at or above it. */
  readonly below: number | null;
}

/** What the lanes share has this value. */
interface Shared {
  readonly test: Expression;
  readonly value: boolean;
}

/**
 * Pushes whether a test surely has a value in all lanes, as an i32. False, and nothing is pushed, where no scalar comparison
 * can say so.
 */
export function pushAgreement(group: GroupContext, test: Expression, value: boolean): boolean {
  if (!group.unit.does('ends')) return false;
  if (anyOperand(test, (each) => each.kind === 'load' || (each.kind === 'binary' && mayFail(each))))
    return false;
  const parts = value ? conjunctsOf(test) : disjunctsOf(test);
  const ends = parts.map((part) =>
    group.lanes.isUniform(part) && parts.length > 1 ? { test: part, value } : endsOf(group, part, value),
  );
  if (ends.includes(null)) return false;
  group.unit.tell('ends', 'tests that the first and last lanes answer for all');
  ends.forEach((part, position) => {
    if ('growing' in part!) pushEnds(group, part);
    else pushShared(group, part!);
    if (position > 0) group.code.op('i32.and');
  });
  return true;
}

function endsOf(group: GroupContext, test: Expression, value: boolean): Ends | null {
  const { lanes, vectors } = group;
  if (test.kind === 'unary' && test.operator === 'not') return endsOf(group, test.operand, !value);
  if (test.kind !== 'compare' || test.left.type !== 'i32') return null;
  const { operator, left, right } = test;
  if (operator === 'equal' || operator === 'notEqual') return null;
  const leftGrows = lanes.growsByOne(left);
  const [growing, bound] = leftGrows ? [left, right] : [right, left];
  if (!lanes.growsByOne(growing) || !lanes.isUniform(bound)) return null;
  const mirrored = leftGrows ? operator : mirrors[operator];
  const last = 4 * vectors - 1;
  switch (value ? mirrored : inverses[mirrored]) {
    // The last lane's value is less, or not more, than the bound.
    case 'less':
      return { growing, bound, below: last + 1 };
    case 'lessEqual':
      return { growing, bound, below: last };
    // So is the first one's not.
    case 'greaterEqual':
      return { growing, bound, below: null };
    default:
      return null;
  }
}

const mirrors = {
  less: 'greater',
  lessEqual: 'greaterEqual',
  greater: 'less',
  greaterEqual: 'lessEqual',
} as const;
const inverses = {
  less: 'greaterEqual',
  lessEqual: 'greater',
  greater: 'lessEqual',
  greaterEqual: 'less',
} as const;

function pushShared({ code, first }: GroupContext, { test, value }: Shared): void {
  pushExpression(first, test);
  if (!value) code.op('i32.eqz');
}

function pushEnds(group: GroupContext, { growing, bound, below }: Ends): void {
  const { code, first, vectors } = group;
  if (below !== null) {
    pushIsBelow(group, growing, bound, below);
    return;
  }
  pushExpression(first, growing);
  pushExpression(first, bound);
  code.op('i32.ge_s');
  // Nor does the last one's wrap.
  pushExpression(first, growing);
  code.i32(2 ** 31 - 4 * vectors).op('i32.le_s', 'i32.and');
}

/** Pushes whether the first lane's value is at least so far below the bound; a bound near the least integer never is. */
function pushIsBelow(
  { code, first }: GroupContext,
  growing: Expression,
  bound: Expression,
  below: number,
): void {
  const least = -(2 ** 31) + below;
  pushExpression(first, growing);
  const literal = constantOf(bound);
  if (literal !== null && literal >= least) {
    code.i32(literal - below).op('i32.le_s');
    return;
  }
  pushExpression(first, bound);
  code.i32(below).op('i32.sub', 'i32.le_s');
  if (bound.kind === 'length') return;
  pushExpression(first, bound);
  code.i32(least).op('i32.ge_s', 'i32.and');
}
