// Loops whose lanes all have the same count of turns, as long as they are in it: `while (… && steps < limit) { …; steps++; }`.
//
// Where each turn adds the same to a variable that begins with a literal, lanes that are still there have the same value of it, whoever
// has left. So one count for all of them says when the last turn is over, and no lane is asked. The limit is a literal, or, for
// steps of one, what all lanes share.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import { conjunctsOf, isInvariant, type Loop, stepOf } from '../../analysis/counters.ts';
import { constantOf } from '../../analysis/elements.ts';
import { mayFail } from '../../analysis/failing.ts';
import { anyOperand, anyStatement, assignedIn, listsOf } from '../../analysis/walk.ts';
import { startOf } from '../../legalise/lockstep.ts';
import { conjunctionOf } from '../../legalise/loops.ts';
import type { Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import type { GroupContext } from './group.ts';
import type { Lanes } from './lanes.ts';

export interface Rounds {
  /** Turns at most, if they are known. */
  readonly most: number | null;
  /** What the count begins with, and what it stays below. */
  readonly start: number;
  readonly limit: Expression;
  /** What else is asked for in each turn; null for nothing. */
  readonly test: Expression | null;
}

/** How many turns a loop has for lanes that do not leave it otherwise; null where that is not known, or not asked for. */
export function roundsOf(lanes: Lanes, loop: Loop): Rounds | null {
  const { test, testFirst, body, update, label } = loop;
  const isContinue = (each: Statement) => each.kind === 'continue' && each.label === label;
  if (test === null || !testFirst || anyStatement(body, isContinue)) return null;
  const tests = conjunctsOf(test);
  const assigned = assignedIn([loop]);
  for (const [position, each] of tests.entries()) {
    if (each.kind !== 'compare' || each.operator !== 'less') continue;
    if (each.left.kind !== 'variable' || each.left.type !== 'i32') continue;
    const { id } = each.left;
    const limit = constantOf(each.right);
    const isShared = lanes.isUniform(each.right) && isInvariant(each.right, assigned) && !canFail(each.right);
    // What stands in front of it is evaluated once more than there are turns.
    if ((limit === null && !isShared) || tests.slice(0, position).some(canFail)) continue;
    const steps = [...body, ...update].filter((one) => assignedIn([one]).has(id));
    const by = steps.length === 1 ? (stepOf(steps[0]!)?.by ?? 0) : 0;
    const start = startOf(id, before(loop, lanes.program.body) ?? []);
    if (by <= 0 || start === null) continue;
    if (limit === null ? by !== 1 : limit + by > 0x7fffffff) continue;
    return {
      most: limit === null ? null : Math.max(0, Math.ceil((limit - start) / by)),
      start,
      limit: each.right,
      test: conjunctionOf(tests.toSpliced(position, 1)),
    };
  }
  return null;
}

/** Sets a local to the turns that a loop has at most, as an unsigned number. */
export function writeTurnsOf(
  { code, first }: GroupContext,
  { most, start, limit }: Rounds,
  turns: Local,
): void {
  if (most !== null) {
    code.i32(most).set(turns);
    return;
  }
  pushExpression(first, limit);
  code.tee(turns).i32(start).op('i32.sub').i32(0);
  code.get(turns).i32(start).op('i32.gt_s', 'select').set(turns);
}

/** The statements in front of one in its list. */
function before(statement: Statement, list: readonly Statement[]): readonly Statement[] | null {
  const position = list.indexOf(statement);
  if (position >= 0) return list.slice(0, position);
  for (const each of list) {
    for (const inner of listsOf(each)) {
      const found = before(statement, inner);
      if (found !== null) return found;
    }
  }
  return null;
}

function canFail(test: Expression): boolean {
  return anyOperand(test, (each) => each.kind === 'load' || (each.kind === 'binary' && mayFail(each)));
}
