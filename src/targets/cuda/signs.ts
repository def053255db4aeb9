// Which integers are never negative: counters, ranks, lengths, and what is made of them.
//
// Anything that may have wrapped is not known, with one exception. A counter is a variable that is only ever set
// to a value that is known and small, or increased by one: it would take half a thousand million turns to
// become great, so it is taken not to.

import type { Expression, Program } from '../../compiler/ir.ts';
import { forEachAssignment } from '../analysis/assignments.ts';
import { type Bounds, boundsOf, type Ranges } from './ranges.ts';

/** Where a counter starts at the most, and how far it is taken to count. */
const smallStart = 2 ** 29;
const mostTurns = 2 ** 29;

/** A function that says whether an integer expression is known not to be negative. */
export function nonNegative(program: Program, ranges: Ranges): (expression: Expression) => boolean {
  const assigned = program.variables.map((): (Expression | null)[] => []);
  forEachAssignment(program.body, (variable, value) => assigned[variable]!.push(value));
  const known = new Map<number, Bounds | null>();

  const ofVariable = (id: number): Bounds | null => {
    const before = known.get(id);
    if (before !== undefined) return before;
    // While it is being found out nothing is known of it, so that no circle proves itself.
    known.set(id, null);
    const starts = assigned[id]!.filter((value) => value === null || !isIncrement(value, id));
    // Without a start it counts from the zero that every variable holds at first.
    const bounds = starts.map((value) => (value === null ? null : of(value)));
    const start = bounds.length === 0 ? { least: 0, most: 0 } : bounds.reduce(union);
    const counts = starts.length < assigned[id]!.length;
    const result = counts && start !== null ? counted(start) : start;
    known.set(id, result);
    return result;
  };

  const of = (expression: Expression): Bounds | null => {
    const limit = expression.type === 'i32' ? 2 ** 31 : 2 ** 63;
    const bounds = unwrapped(expression, limit);
    return bounds !== null && bounds.least >= -limit && bounds.most < limit ? bounds : null;
  };

  const unwrapped = (expression: Expression, limit: number): Bounds | null => {
    switch (expression.kind) {
      case 'constant':
        return { least: Number(expression.value), most: Number(expression.value) };
      case 'builtin':
      case 'load':
        return ranges.of(expression);
      case 'length':
        // One less than the limit, but of 64 bits that is no double.
        return { least: 0, most: expression.type === 'i32' ? limit - 1 : 2 ** 53 };
      case 'variable':
        return ofVariable(expression.id);
      case 'binary':
        return ofBinary(expression, limit);
      case 'conditional':
        return union(of(expression.then), of(expression.otherwise));
      default:
        return null;
    }
  };

  const ofBinary = (expression: Extract<Expression, { kind: 'binary' }>, limit: number): Bounds | null => {
    const { operator } = expression;
    const [left, right] = [of(expression.left), of(expression.right)];
    if (operator === 'remainder') return isNatural(left) ? { least: 0, most: left.most } : null;
    if (operator === 'max') {
      const least = Math.max(left?.least ?? -limit, right?.least ?? -limit);
      return { least, most: Math.max(left?.most ?? limit - 1, right?.most ?? limit - 1) };
    }
    if (left === null || right === null) return null;
    switch (operator) {
      case 'add':
      case 'subtract':
      case 'multiply':
        return boundsOf(operator, left, right);
      case 'divide':
        return isNatural(left) && isNatural(right) ? { least: 0, most: left.most } : null;
      case 'min':
        return { least: Math.min(left.least, right.least), most: Math.min(left.most, right.most) };
      default:
        return null;
    }
  };
  return (expression) => isNatural(of(expression));
}

function isNatural(bounds: Bounds | null): bounds is Bounds {
  return bounds !== null && bounds.least >= 0;
}

function union(a: Bounds | null, b: Bounds | null): Bounds | null {
  if (a === null || b === null) return null;
  return { least: Math.min(a.least, b.least), most: Math.max(a.most, b.most) };
}

/** The bounds of a counter that starts between others. */
function counted({ least, most }: Bounds): Bounds | null {
  return most <= smallStart ? { least, most: most + mostTurns } : null;
}

function isIncrement(value: Expression, id: number): boolean {
  return (
    value.kind === 'binary' &&
    value.operator === 'add' &&
    value.left.kind === 'variable' &&
    value.left.id === id &&
    value.right.kind === 'constant' &&
    Number(value.right.value) === 1
  );
}
