// Words for loops that count.

import type { Expression, Statement } from '../../compiler/ir.ts';
import { anyStatement, leaves } from '../analysis/walk.ts';

export type Loop = Extract<Statement, { kind: 'loop' }>;

export function isVariable(expression: Expression, id: number): boolean {
  return expression.kind === 'variable' && expression.id === id;
}

/** `a && b` is a conditional with false for its other branch. */
export function conjunctsOf(test: Expression): readonly Expression[] {
  const isAnd =
    test.kind === 'conditional' && test.otherwise.kind === 'constant' && test.otherwise.value === false;
  return isAnd ? [...conjunctsOf(test.test), ...conjunctsOf(test.then)] : [test];
}

/** That all tests hold; null if there is none. */
export function conjunctionOf(tests: readonly Expression[]): Expression | null {
  return tests.reduceRight<Expression | null>((rest, test) => {
    if (rest === null) return test;
    const { range } = test;
    const otherwise: Expression = { kind: 'constant', type: 'bool', value: false, range };
    return { kind: 'conditional', type: 'bool', test, then: rest, otherwise, range };
  }, null);
}

export function negation(operand: Expression): Expression {
  return { kind: 'unary', type: 'bool', operator: 'not', operand, range: operand.range };
}

/** A variable and so much more. */
export function variablePlus(
  id: number,
  amount: number,
  { type, range }: Pick<Expression, 'type' | 'range'>,
): Expression {
  const left: Expression = { kind: 'variable', id, type, range };
  if (amount === 0) return left;
  const value = type === 'i64' || type === 'u64' ? BigInt(amount) : amount;
  const right: Expression = { kind: 'constant', type, value, range };
  return { kind: 'binary', operator: 'add', type, left, right, range };
}

/** The variable that an update does nothing but increase by one; null if it is another update. */
export function incrementOf(update: readonly Statement[]): number | null {
  const [step] = update;
  if (update.length !== 1 || step?.kind !== 'assign') return null;
  const { variable, value } = step;
  const byOne =
    value.kind === 'binary' &&
    value.operator === 'add' &&
    isVariable(value.left, variable) &&
    value.right.kind === 'constant' &&
    Number(value.right.value) === 1;
  return byOne ? variable : null;
}

/** Whether an expression is the same wherever none of these variables is assigned. */
export function isInvariant(expression: Expression, assigned: { has(variable: number): boolean }): boolean {
  const invariant = (each: Expression): boolean => {
    switch (each.kind) {
      case 'variable':
        return !assigned.has(each.id);
      case 'binary':
        return invariant(each.left) && invariant(each.right);
      case 'convert':
        return invariant(each.operand);
      case 'constant':
      case 'scalar':
      case 'builtin':
      case 'length':
        return true;
      default:
        return false;
    }
  };
  return invariant(expression);
}

/** Whether a thread may leave a loop otherwise than by its test. */
export function mayLeave(loop: Loop): boolean {
  const turn = [...loop.body, ...loop.update];
  return leaves(turn) || anyStatement(turn, ({ kind }) => kind === 'return');
}
