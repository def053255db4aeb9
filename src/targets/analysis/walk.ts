// Ways through the IR that every analysis needs: what a statement or an expression is made of.

import type { Expression, Statement } from '../../compiler/ir.ts';
import { coreExpressions } from '../../compiler/ir-core.ts';

/** The expressions that an expression is made of. */
export function operandsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'constant':
    case 'variable':
    case 'scalar':
    case 'builtin':
    case 'length':
      return [];
    case 'load':
      return [expression.index];
    case 'unary':
    case 'convert':
      return [expression.operand];
    case 'binary':
    case 'compare':
      return [expression.left, expression.right];
    case 'conditional':
      return [expression.test, expression.then, expression.otherwise];
    case 'math':
      return expression.operands;
    default:
      return expression satisfies never;
  }
}

/** The expressions that stand in a statement itself, not in statements inside it. */
export function expressionsOf(statement: Statement): readonly Expression[] {
  switch (statement.kind) {
    case 'assign':
      return [statement.value];
    case 'store':
      return [statement.index, statement.value];
    case 'if':
      return [statement.test];
    case 'loop':
      return statement.test === null ? [] : [statement.test];
    case 'block':
    case 'region':
    case 'break':
    case 'continue':
    case 'return':
      return [];
    case 'call':
      break;
    default:
      return statement satisfies never;
  }
  switch (statement.intrinsic) {
    case 'sync':
      return statement.mask === undefined ? [] : [statement.mask];
    case 'warp':
      return [statement.mask, statement.value, statement.lane].filter((each) => each != null);
    case 'producerAcquire':
    case 'producerCommit':
    case 'consumerWait':
    case 'consumerRelease':
    case 'consumerWaitPrior':
    case 'quit':
    case 'globaltimer':
    case 'clock64':
      return [];
    case 'consumerWaitFor':
    case 'consumerWaitUntil':
      return [statement.time];
    case 'core':
      return coreExpressions(statement.operation);
    case 'nanosleep':
      return [statement.duration];
    case 'mark':
      return [statement.made, statement.batch];
    case 'makePipeline':
      return statement.producers === null ? [] : [statement.producers];
    case 'makeBarrier':
      return statement.expected === null ? [] : [statement.expected];
    case 'barrierArrive':
      return statement.count === null ? [statement.index] : [statement.index, statement.count];
    case 'barrierWait':
      return statement.limit === null
        ? [statement.index, statement.phase]
        : [statement.index, statement.phase, statement.limit];
    case 'barrierComplete':
    case 'barrierBind':
      return [statement.index];
    case 'memcpyAsync':
      return [
        statement.destination.offset,
        statement.source.offset,
        statement.count,
        ...(statement.zeroFill === null ? [] : [statement.zeroFill]),
        ...('barrier' in statement ? [statement.index] : []),
      ];
    case 'atomic':
      return statement.compare === null
        ? [statement.index, statement.value]
        : [statement.index, statement.compare, statement.value];
    case 'print':
      return statement.parts.filter((part) => typeof part !== 'string');
    default:
      return statement satisfies never;
  }
}

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
