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

/** The variables that an expression reads. */
export function readBy(expression: Expression): Set<number> {
  const variables = new Set<number>();
  forEachOperand(expression, (each) => {
    if (each.kind === 'variable') variables.add(each.id);
  });
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
