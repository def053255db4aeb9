// Loops whose lanes all have the same count of turns, as long as they are in it: `while (… && steps < 1000) { …; steps++; }`.
//
// Where each turn adds the same to a variable that begins with a literal, lanes that are still there have the same value of it, whoever
// has left. So one count for all of them says when the last turn is over, and no lane is asked.

import type { Expression, Program, Statement } from '../../../compiler/ir.ts';
import { conjunctsOf, type Loop, stepOf } from '../../analysis/counters.ts';
import { constantOf } from '../../analysis/elements.ts';
import { mayFail } from '../../analysis/failing.ts';
import { anyOperand, anyStatement, assignedIn, listsOf } from '../../analysis/walk.ts';
import { startOf } from '../../legalise/lockstep.ts';
import { conjunctionOf } from '../../legalise/loops.ts';

export interface Rounds {
  /** Turns at most. */
  readonly most: number;
  /** What else is asked for in each turn; null for nothing. */
  readonly test: Expression | null;
}

/** How many turns a loop has for lanes that do not leave it otherwise; null where that is not known, or not asked for. */
export function roundsOf(program: Program, loop: Loop): Rounds | null {
  const { test, testFirst, body, update, label } = loop;
  const isContinue = (each: Statement) => each.kind === 'continue' && each.label === label;
  if (test === null || !testFirst || anyStatement(body, isContinue)) return null;
  const tests = conjunctsOf(test);
  for (const [position, each] of tests.entries()) {
    if (each.kind !== 'compare' || each.operator !== 'less') continue;
    if (each.left.kind !== 'variable' || each.left.type !== 'i32') continue;
    const { id } = each.left;
    const limit = constantOf(each.right);
    // What stands in front of it is evaluated once more than there are turns.
    if (limit === null || tests.slice(0, position).some(canFail)) continue;
    const steps = [...body, ...update].filter((one) => assignedIn([one]).has(id));
    const by = steps.length === 1 ? (stepOf(steps[0]!)?.by ?? 0) : 0;
    const start = startOf(id, before(loop, program.body) ?? []);
    if (by <= 0 || start === null || limit + by > 0x7fffffff) continue;
    return {
      most: Math.max(0, Math.ceil((limit - start) / by)),
      test: conjunctionOf(tests.toSpliced(position, 1)),
    };
  }
  return null;
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
