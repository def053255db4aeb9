// Words for loops that count: what analysis/counters.ts reads, written.

import type { Expression } from '../../compiler/ir.ts';
import type { Comparison } from '../analysis/counters.ts';

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

/**
 * That a counter is less than a bound by more than `amount`, where it is known to be less than it, and not negative.
 * The bound gets less and not the counter more: the sum might leave its type.
 */
export function isFarBelow(
  { left: counter, right: bound, ...test }: Comparison,
  amount: number,
): readonly Comparison[] {
  const { type, range } = bound;
  const isWide = type === 'i64' || type === 'u64';
  const by: Expression = { kind: 'constant', type, value: isWide ? BigInt(amount) : amount, range };
  const least: Expression = { kind: 'binary', operator: 'subtract', type, left: bound, right: by, range };
  const isFar: Comparison = { ...test, left: counter, right: amount === 0 ? bound : least };
  const isUnsigned = type === 'u32' || type === 'u64';
  return isUnsigned && amount > 0 ? [{ ...test, left: by, right: bound }, isFar] : [isFar];
}
