// What loops count: their tests and updates, read.

import type { Expression, Statement } from '../../compiler/ir.ts';
import { constantOf } from './elements.ts';
import { anyOperand, anyStatement, assignedIn, leaves } from './walk.ts';

export type Loop = Extract<Statement, { kind: 'loop' }>;
export type Comparison = Extract<Expression, { kind: 'compare' }>;

export function isVariable(expression: Expression, id: number): boolean {
  return expression.kind === 'variable' && expression.id === id;
}

/** `a && b` is a conditional with false for its other branch. */
export function conjunctsOf(test: Expression): readonly Expression[] {
  const isAnd =
    test.kind === 'conditional' && test.otherwise.kind === 'constant' && test.otherwise.value === false;
  return isAnd ? [...conjunctsOf(test.test), ...conjunctsOf(test.then)] : [test];
}

/** `a || b` is a conditional that is true where its test is. */
export function disjunctsOf(test: Expression): readonly Expression[] {
  const isOr = test.kind === 'conditional' && test.then.kind === 'constant' && test.then.value === true;
  return isOr ? [...disjunctsOf(test.test), ...disjunctsOf(test.otherwise)] : [test];
}

/** Whether an expression is the same wherever none of these variables is assigned, whatever memory holds. */
export function isInvariant(expression: Expression, assigned: { has(variable: number): boolean }): boolean {
  return !anyOperand(
    expression,
    (each) => each.kind === 'load' || (each.kind === 'variable' && assigned.has(each.id)),
  );
}

/** Whether a test asks for a variable to be less than what is the same wherever none of `assigned` is. */
export function isBound(
  test: Expression,
  id: number,
  assigned: { has(variable: number): boolean },
): test is Comparison {
  return (
    test.kind === 'compare' &&
    test.operator === 'less' &&
    isVariable(test.left, id) &&
    isInvariant(test.right, assigned)
  );
}

/** The literal that a statement adds to a variable, and does nothing else. */
export function stepOf(statement: Statement): { readonly variable: number; readonly by: number } | null {
  if (statement.kind !== 'assign') return null;
  const { variable, value } = statement;
  if (value.kind !== 'binary' || value.operator !== 'add' || !isVariable(value.left, variable)) return null;
  const by = constantOf(value.right);
  return by === null ? null : { variable, by };
}

/** The variable that an update does nothing but increase by one; null if it is another update. */
export function incrementOf(update: readonly Statement[]): number | null {
  const step = update.length === 1 ? stepOf(update[0]!) : null;
  return step?.by === 1 ? step.variable : null;
}

/** Whether a thread may leave a loop otherwise than by its test. */
export function mayLeave(loop: Loop): boolean {
  const turn = [...loop.body, ...loop.update];
  return leaves(turn) || anyStatement(turn, ({ kind }) => kind === 'return');
}

/** An i32 that each turn of a loop adds to, and nothing else in it changes. */
export interface Counter {
  readonly variable: number;
  /** What each turn adds: more than 0. */
  readonly step: number;
  /** What it gets in front of the loop, in the same list; null if it has its value from elsewhere. */
  readonly init: Expression | null;
  /** What it is compared with before each turn: it is less, or not more. */
  readonly limit: Expression;
  readonly operator: 'less' | 'lessEqual';
}

/** The counter of a loop `while (counter < limit && …)`, with the statements in front of it. */
export function counterOf(
  { test, testFirst, body, update }: Loop,
  before: readonly Statement[],
): Counter | null {
  const [first] = test === null ? [] : conjunctsOf(test);
  if (!testFirst || first?.kind !== 'compare' || first.left.kind !== 'variable') return null;
  const { left, right, operator } = first;
  if (left.type !== 'i32' || (operator !== 'less' && operator !== 'lessEqual')) return null;
  const variable = left.id;
  const steps = update.map(stepOf).filter((step) => step?.variable === variable);
  const step = steps[0]?.by ?? 0;
  if (step <= 0 || assignedIn(body).has(variable)) return null;
  const init = before.findLast((each) => assignedIn([each]).has(variable));
  return { variable, step, init: init?.kind === 'assign' ? init.value : null, limit: right, operator };
}
