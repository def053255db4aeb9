// Whether blocks may go through a loop abreast: in each round of it one after the other, as if they were one block.
//
// They may where all of them have the same rounds, and what the block's own variables have at the head of a round is the same
// in all blocks, or follows from the block's number again. A value is the same in all blocks if it is made of constants, scalars,
// the grid's size and others of the kind alone, and so are the tests that lead to where it is assigned.

import type { Expression, Program, Statement } from '../../../compiler/ir.ts';
import type { Loop } from '../../analysis/counters.ts';
import { mayLeave } from '../../analysis/counters.ts';
import { mayFail } from '../../analysis/failing.ts';
import { analyseLiveness, has } from '../../analysis/liveness.ts';
import {
  anyOperand,
  anyStatement,
  assignedBy,
  assignedIn,
  forEachStatement,
  listsOf,
  readBy,
} from '../../analysis/walk.ts';

export interface Abreast {
  readonly before: readonly Statement[];
  readonly loop: Loop;
  readonly after: readonly Statement[];
  /** What a block assigns anew when it goes on: variables that follow from its number. */
  readonly again: readonly Statement[];
  /** Variables that the loop's body hands on to the next round, and all blocks alike. */
  readonly carried: readonly number[];
}

/** How blocks go through a program's loop abreast; null where they may not. `own`: the variables that a block has itself. */
export function planAbreast(program: Program, loop: Loop, own: ReadonlySet<number>): Abreast | null {
  const { body } = program;
  const isReturn = ({ kind }: Statement) => kind === 'return';
  if (anyStatement(body, isReturn) || mayLeave(loop) || anyStatement(loop.body, isContinueOf(loop)))
    return null;
  const position = body.indexOf(loop);
  const [before, after] = [body.slice(0, position), body.slice(position + 1)];
  const alike = alikeInAllBlocks(program);
  if (loop.test !== null && !isAlike(loop.test, alike)) return null;
  const assigned = assignedIn([loop]);
  const { atStart, after: liveAfter } = analyseLiveness([loop, ...after]);
  const again = new Set<Statement>();
  /** Whether a variable that is read from the loop on has its value again where its block goes on. */
  const isThere = (id: number): boolean => {
    if (alike.has(id)) return true;
    if (assigned.has(id)) return false;
    const [given, second] = body.filter((each) => assignedIn([each]).has(id));
    if (given === undefined) return true;
    if (second !== undefined || given.kind !== 'assign' || !isSure(given.value)) return false;
    again.add(given);
    return [...readBy(given.value)].every(isThere);
  };
  const read = [...own].filter((id) => has(atStart, id) || has(liveAfter(loop), id));
  if (!read.every(isThere)) return null;
  const inBody = assignedIn(loop.body);
  return {
    before,
    loop,
    after,
    again: before.filter((each) => again.has(each)),
    carried: read.filter((id) => inBody.has(id)),
  };
}

function isContinueOf({ label }: Loop): (statement: Statement) => boolean {
  return (each) => each.kind === 'continue' && each.label === label;
}

/** Whether an expression reads no memory, and cannot fail. */
function isSure(expression: Expression): boolean {
  return !anyOperand(expression, (each) => each.kind === 'load' || (each.kind === 'binary' && mayFail(each)));
}

/** Whether an expression is the same in all blocks, where these variables are. */
function isAlike(expression: Expression, alike: ReadonlySet<number>): boolean {
  return (
    isSure(expression) &&
    !anyOperand(
      expression,
      (each) =>
        (each.kind === 'variable' && !alike.has(each.id)) ||
        (each.kind === 'builtin' && !each.name.startsWith('gridDim')),
    )
  );
}

/** The variables that have the same values in all blocks, at every place of a program. */
function alikeInAllBlocks({ body, variables }: Program): ReadonlySet<number> {
  const alike = new Set(variables.keys());
  const visit = (statements: readonly Statement[], here: boolean) => {
    for (const each of statements) {
      const variable = assignedBy(each);
      if (variable !== null && !(here && each.kind === 'assign' && isAlike(each.value, alike)))
        alike.delete(variable);
      const inside = here && isPassedAlike(each, alike);
      for (const list of listsOf(each)) visit(list, inside);
    }
  };
  for (let before = -1; before !== alike.size; ) {
    before = alike.size;
    visit(body, true);
  }
  return alike;
}

/** Whether all blocks go through a statement alike. */
function isPassedAlike(statement: Statement, alike: ReadonlySet<number>): boolean {
  switch (statement.kind) {
    case 'if':
      return isAlike(statement.test, alike);
    case 'loop': {
      if (statement.test !== null && !isAlike(statement.test, alike)) return false;
      let jumps = false;
      forEachStatement(statement.body, ({ kind }) => {
        if (kind === 'break' || kind === 'continue') jumps = true;
      });
      return !jumps;
    }
    default:
      // What jumps there is not followed, and each thread of a region has values of its own.
      return false;
  }
}
