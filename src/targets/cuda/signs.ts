// Which integers are known not to be negative: counters, ranks, lengths, and sums of such.
//
// A counter is a variable that is only ever set to such a value or increased by a constant. It
// would take 2^31 steps to wrap, so it is taken not to. Products are not followed: they do wrap,
// in hashes and random numbers.

import type { Expression, Program } from '../../compiler/ir.ts';
import { forEachAssignment } from './assignments.ts';

/** A function that says whether an integer expression is known not to be negative. */
export function nonNegative(program: Program): (expression: Expression) => boolean {
  const assigned = program.variables.map((): (Expression | null)[] => []);
  forEachAssignment(program.body, (variable, value) => assigned[variable]!.push(value));
  const known = new Map<number, boolean>();

  const isCounter = (id: number): boolean => {
    const before = known.get(id);
    if (before !== undefined) return before;
    // While it is being found out it counts as unknown, so that no circle proves itself.
    known.set(id, false);
    const counter = assigned[id]!.every((value) => value !== null && (isIncrement(value, id) || of(value)));
    known.set(id, counter);
    return counter;
  };
  const isIncrement = (value: Expression, id: number) =>
    value.kind === 'binary' &&
    value.operator === 'add' &&
    value.left.kind === 'variable' &&
    value.left.id === id &&
    value.right.kind === 'constant' &&
    of(value.right);

  const of = (expression: Expression): boolean => {
    switch (expression.kind) {
      case 'constant':
        return Number(expression.value) >= 0;
      case 'builtin':
      case 'length':
        return true;
      case 'variable':
        return isCounter(expression.id);
      case 'binary': {
        const { operator, left, right } = expression;
        if (operator === 'remainder') return of(left);
        const closed =
          operator === 'add' || operator === 'divide' || operator === 'min' || operator === 'max';
        return closed && of(left) && of(right);
      }
      case 'conditional':
        return of(expression.then) && of(expression.otherwise);
      default:
        return false;
    }
  };
  return of;
}
