// Every value that a program assigns to a variable.

import type { Expression, Statement } from '../../compiler/ir.ts';

/** Calls `visit` with each variable and the value assigned to it; null for the result of a call. */
export function forEachAssignment(
  statements: readonly Statement[],
  visit: (variable: number, value: Expression | null) => void,
): void {
  for (const statement of statements) {
    if (statement.kind === 'assign') visit(statement.variable, statement.value);
    else if (statement.kind === 'if') {
      forEachAssignment(statement.then, visit);
      forEachAssignment(statement.otherwise, visit);
    } else if (statement.kind === 'loop') {
      forEachAssignment(statement.body, visit);
      forEachAssignment(statement.update, visit);
    } else if (statement.kind === 'block') forEachAssignment(statement.body, visit);
    else if (statement.kind === 'call' && 'result' in statement && statement.result !== null)
      visit(statement.result, null);
  }
}
