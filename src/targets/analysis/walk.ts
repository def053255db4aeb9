// Ways through the IR that every analysis needs: what a statement or an expression is made of.

import type { Expression, Statement } from '../../compiler/ir.ts';
import { expressionsOf, operandsOf } from '../../compiler/operands.ts';

export { expressionsOf, operandsOf };

/** The lists of statements inside a statement. */
export function listsOf(statement: Statement): readonly (readonly Statement[])[] {
  switch (statement.kind) {
    case 'if':
      return [statement.then, statement.otherwise];
    case 'loop':
      return [statement.body, statement.update];
    case 'block':
    case 'region':
      return [statement.body];
    default:
      return [];
  }
}

/** The variable that a statement itself gives a value, or null. */
export function assignedBy(statement: Statement): number | null {
  if (statement.kind === 'assign') return statement.variable;
  return statement.kind === 'call' && 'result' in statement ? statement.result : null;
}

/** Visits statements and all statements inside them, outer ones first. */
export function forEachStatement(
  statements: readonly Statement[],
  visit: (statement: Statement) => void,
): void {
  for (const statement of statements) {
    visit(statement);
    for (const list of listsOf(statement)) forEachStatement(list, visit);
  }
}

/** Whether something holds of a statement, or of one inside them. */
export function anyStatement(
  statements: readonly Statement[],
  holds: (statement: Statement) => boolean,
): boolean {
  return statements.some(
    (statement) => holds(statement) || listsOf(statement).some((list) => anyStatement(list, holds)),
  );
}

/** Whether something holds of an expression, or of one inside it. */
export function anyOperand(expression: Expression, holds: (expression: Expression) => boolean): boolean {
  return holds(expression) || operandsOf(expression).some((operand) => anyOperand(operand, holds));
}

/** Whether something holds of an expression of statements, or of one inside it. */
export function anyExpression(
  statements: readonly Statement[],
  holds: (expression: Expression) => boolean,
): boolean {
  return anyStatement(statements, (statement) =>
    expressionsOf(statement).some((expression) => anyOperand(expression, holds)),
  );
}

/** Whether statements have a jump to somewhere outside them. */
export function leaves(statements: readonly Statement[]): boolean {
  const inside = new Set<number>();
  return anyStatement(statements, (each) => {
    if (each.kind === 'loop' || each.kind === 'block') inside.add(each.label);
    return (each.kind === 'break' || each.kind === 'continue') && !inside.has(each.label);
  });
}

/** How many statements there are, with those inside them. */
export function countStatements(statements: readonly Statement[]): number {
  let count = 0;
  forEachStatement(statements, () => {
    count += 1;
  });
  return count;
}

/** Visits an expression and all expressions inside it. */
export function forEachOperand(expression: Expression, visit: (expression: Expression) => void): void {
  visit(expression);
  for (const operand of operandsOf(expression)) forEachOperand(operand, visit);
}

/** Visits every expression, and every expression inside one, of statements and what is inside them. */
export function forEachExpression(
  statements: readonly Statement[],
  visit: (expression: Expression) => void,
): void {
  forEachStatement(statements, (statement) => {
    for (const expression of expressionsOf(statement)) forEachOperand(expression, visit);
  });
}

/** The variables that statements, or statements inside them, may give a value. */
export function assignedIn(statements: readonly Statement[]): Set<number> {
  const variables = new Set<number>();
  forEachStatement(statements, (statement) => {
    const variable = assignedBy(statement);
    if (variable !== null) variables.add(variable);
  });
  return variables;
}

/** The variables that expressions read. */
export function readBy(...expressions: readonly Expression[]): Set<number> {
  const variables = new Set<number>();
  for (const expression of expressions) {
    forEachOperand(expression, (each) => {
      if (each.kind === 'variable') variables.add(each.id);
    });
  }
  return variables;
}

/** The variables that statements, or statements inside them, read. */
export function readIn(statements: readonly Statement[]): Set<number> {
  const variables = new Set<number>();
  forEachExpression(statements, (each) => {
    if (each.kind === 'variable') variables.add(each.id);
  });
  return variables;
}
