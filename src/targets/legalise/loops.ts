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

/** Whether two expressions are written alike, wherever they stand. */
export function isSame(a: Expression, b: Expression): boolean {
  const text = (expression: Expression) =>
    JSON.stringify(expression, (key, value: unknown) =>
      key === 'range' ? undefined : typeof value === 'bigint' ? `${value}n` : value,
    );
  return text(a) === text(b);
}

export type Less = Extract<Expression, { kind: 'compare' }>;

/** Whether a test asks for a variable to be less than what is the same wherever none of `assigned` is. */
export function isBound(
  test: Expression,
  id: number,
  assigned: { has(variable: number): boolean },
): test is Less {
  return (
    test.kind === 'compare' &&
    test.operator === 'less' &&
    isVariable(test.left, id) &&
    isInvariant(test.right, assigned)
  );
}

/**
 * That a counter is less than a bound by more than `amount`, where it is known to be less than it, and not negative.
 * The bound gets less and not the counter more: the sum might leave its type.
 */
export function isFarBelow({ left: counter, right: bound, ...test }: Less, amount: number): readonly Less[] {
  const { type, range } = bound;
  const isWide = type === 'i64' || type === 'u64';
  const by: Expression = { kind: 'constant', type, value: isWide ? BigInt(amount) : amount, range };
  const least: Expression = { kind: 'binary', operator: 'subtract', type, left: bound, right: by, range };
  const isFar: Less = { ...test, left: counter, right: amount === 0 ? bound : least };
  const isUnsigned = type === 'u32' || type === 'u64';
  return isUnsigned && amount > 0 ? [{ ...test, left: by, right: bound }, isFar] : [isFar];
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
