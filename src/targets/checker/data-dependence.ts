// Whether what a program writes where depends on its data.
//
// A kernel that writes `out[i]` for an `i` that is made of ranks, batches and arguments is meant
// to fill its output, each element once. One that decides by what it has loaded (a filter, a scatter)
// is not. The answer is cautious: in doubt it depends.

import type { Expression, Program, Statement } from '../../compiler/ir.ts';
import { anyOperand, assignedBy, expressionsOf, listsOf } from '../analysis/walk.ts';

/** The stores and copies of a program whose place, or whether they happen, depends on loaded values. */
export function dataDependentWrites(program: Program): ReadonlySet<Statement> {
  const variables = new Set<number>();
  const depends = (expression: Expression | null): boolean =>
    expression !== null &&
    anyOperand(
      expression,
      (each) => each.kind === 'load' || (each.kind === 'variable' && variables.has(each.id)),
    );

  // Once threads may leave a loop, a block or the kernel by their data, all that follows depends on it.
  let leaves = false;
  const dependent = new Set<Statement>();
  const visit = (statements: readonly Statement[], underData: boolean): void => {
    for (const statement of statements) {
      const under = underData || leaves || dependsOnTest(statement, depends);
      if (under) {
        const assigned = assignedBy(statement);
        if (assigned !== null) variables.add(assigned);
        const { kind } = statement;
        if (kind === 'break' || kind === 'continue' || kind === 'return') leaves = true;
      } else if (statement.kind === 'assign' && depends(statement.value)) {
        variables.add(statement.variable);
      } else if (statement.kind === 'call') {
        // What an intrinsic gives is what the data, or the others, made of it.
        const assigned = assignedBy(statement);
        if (assigned !== null) variables.add(assigned);
      }
      if (under || placesOf(statement).some(depends)) dependent.add(statement);
      for (const list of listsOf(statement)) visit(list, under);
    }
  };

  // Loops carry values from their end to their beginning: until nothing is new.
  for (let known = -1; known !== variables.size + Number(leaves); ) {
    known = variables.size + Number(leaves);
    visit(program.body, false);
  }
  return dependent;
}

function dependsOnTest(statement: Statement, depends: (expression: Expression | null) => boolean): boolean {
  return (statement.kind === 'if' || statement.kind === 'loop') && depends(statement.test);
}

/** What says where a statement writes, and how much. */
function placesOf(statement: Statement): readonly Expression[] {
  if (statement.kind === 'store') return [statement.index];
  return statement.kind === 'call' ? expressionsOf(statement) : [];
}
