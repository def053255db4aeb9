// Rewrites a program: a copy of its statements with every expression and statement put through
// a function, innermost first.

import type { Call, Expression, Statement } from '../../compiler/ir.ts';
import { mapExpressions, mapOperands } from '../../compiler/operands.ts';

export interface Mapping {
  readonly expression: (mapped: Expression) => Expression;
  /** Gets a statement whose parts are mapped already, and the statement as it was. */
  readonly statement?: (mapped: Statement, original: Statement) => Statement;
}

export function mapStatements(statements: readonly Statement[], mapping: Mapping): readonly Statement[] {
  return statements.map((statement) => {
    const mapped = mapParts(statement, mapping);
    return mapping.statement === undefined ? mapped : mapping.statement(mapped, statement);
  });
}

/** The same statements with each call replaced by others. */
export function replaceCalls(
  statements: readonly Statement[],
  replace: (call: Call) => readonly Statement[],
): readonly Statement[] {
  const list = (inner: readonly Statement[]) => replaceCalls(inner, replace);
  return statements.flatMap((statement): readonly Statement[] => {
    switch (statement.kind) {
      case 'if':
        return [{ ...statement, then: list(statement.then), otherwise: list(statement.otherwise) }];
      case 'loop':
        return [{ ...statement, body: list(statement.body), update: list(statement.update) }];
      case 'block':
      case 'region':
        return [{ ...statement, body: list(statement.body) }];
      case 'call':
        return replace(statement);
      default:
        return [statement];
    }
  });
}

export function mapExpression(expression: Expression, mapping: Mapping): Expression {
  return mapping.expression(mapOperands(expression, (operand) => mapExpression(operand, mapping)));
}

function mapParts(statement: Statement, mapping: Mapping): Statement {
  const own = mapExpressions(statement, (expression) => mapExpression(expression, mapping));
  const list = (statements: readonly Statement[]) => mapStatements(statements, mapping);
  switch (own.kind) {
    case 'if':
      return { ...own, then: list(own.then), otherwise: list(own.otherwise) };
    case 'loop':
      return { ...own, body: list(own.body), update: list(own.update) };
    case 'block':
    case 'region':
      return { ...own, body: list(own.body) };
    default:
      return own;
  }
}
