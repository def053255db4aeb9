// What integers are at least: counters, ranks, lengths, and sums and differences of such.
//
// A counter is a variable that is only ever set to a value with such a bound or increased by a
// constant. It would take 2^31 steps to wrap, so it is taken not to. Products are not followed:
// they do wrap, in hashes and random numbers.

import type { Expression, Program } from '../../compiler/ir.ts';
import { forEachAssignment } from './assignments.ts';

const unknown = Number.NEGATIVE_INFINITY;

/** A function that says whether an integer expression is known not to be negative. */
export function nonNegative(program: Program): (expression: Expression) => boolean {
  const assigned = program.variables.map((): (Expression | null)[] => []);
  forEachAssignment(program.body, (variable, value) => assigned[variable]!.push(value));
  const known = new Map<number, number>();

  const leastOfVariable = (id: number): number => {
    const before = known.get(id);
    if (before !== undefined) return before;
    // While it is being found out nothing is known of it, so that no circle proves itself.
    known.set(id, unknown);
    const starts = assigned[id]!.filter((value) => value === null || !isIncrement(value, id));
    const bounds = starts.map((value) => (value === null ? unknown : least(value)));
    // Without a start it counts from the zero that every variable holds at first.
    const bound = bounds.length === 0 ? 0 : Math.min(...bounds);
    known.set(id, bound);
    return bound;
  };
  const isIncrement = (value: Expression, id: number) =>
    value.kind === 'binary' &&
    value.operator === 'add' &&
    value.left.kind === 'variable' &&
    value.left.id === id &&
    value.right.kind === 'constant' &&
    Number(value.right.value) >= 0;

  const least = (expression: Expression): number => {
    switch (expression.kind) {
      case 'constant':
        return Number(expression.value);
      case 'builtin':
      case 'length':
        return 0;
      case 'variable':
        return leastOfVariable(expression.id);
      case 'binary':
        return leastOfBinary(expression);
      case 'conditional':
        return Math.min(least(expression.then), least(expression.otherwise));
      default:
        return unknown;
    }
  };
  const leastOfBinary = ({ operator, left, right }: Extract<Expression, { kind: 'binary' }>): number => {
    switch (operator) {
      case 'add':
        return least(left) + least(right);
      case 'subtract':
        return right.kind === 'constant' ? least(left) - Number(right.value) : unknown;
      case 'remainder':
        return least(left) >= 0 ? 0 : unknown;
      case 'divide':
        return least(left) >= 0 && least(right) >= 0 ? 0 : unknown;
      case 'min':
        return Math.min(least(left), least(right));
      case 'max':
        return Math.max(least(left), least(right));
      default:
        return unknown;
    }
  };
  return (expression) => least(expression) >= 0;
}
