// How a number differs among the threads of a block: by so much for each one that their coordinates differ.
//
// Arithmetic wraps, and so does what is said here, modulo 2^width.

import type { Expression } from '../../compiler/ir.ts';
import { isBigint, isInteger } from '../../compiler/number-types.ts';
import { constantOf } from './elements.ts';

/** By how much a number grows with each coordinate of a thread. */
export type Spread = readonly [x: number, y: number, z: number];

const none: Spread = [0, 0, 0];
/** Beyond this arithmetic would no longer be exact. */
const largest = 2 ** 20;

/** The spread of an integer; null where it is not even. `isFixed` says what is the same for all threads. */
export function spreadOf(
  expression: Expression,
  block: readonly [number, number, number],
  isFixed: (expression: Expression) => boolean,
): Spread | null {
  const of = (each: Expression) => spreadOf(each, block, isFixed);
  if (!isInteger(expression.type)) return null;
  switch (expression.kind) {
    case 'builtin':
      if (expression.name === 'threadIdx.x') return [1, 0, 0];
      if (expression.name === 'threadIdx.y') return [0, 1, 0];
      if (expression.name === 'threadIdx.z') return [0, 0, 1];
      if (expression.name === 'threadRank') return [1, block[0], block[0] * block[1]];
      break;
    case 'convert': {
      const isSameWidth = isBigint(expression.operand.type) === isBigint(expression.type);
      if (isInteger(expression.operand.type) && isSameWidth && expression.format === undefined)
        return of(expression.operand);
      break;
    }
    case 'binary': {
      const { operator, left, right } = expression;
      if (operator === 'add') return sum(of(left), of(right), 1);
      if (operator === 'subtract') return sum(of(left), of(right), -1);
      if (operator !== 'multiply') break;
      const [a, b] = [constantOf(left), constantOf(right)];
      if (a !== null) return sum(none, of(right), a);
      if (b !== null) return sum(none, of(left), b);
      break;
    }
    default:
  }
  return isFixed(expression) ? none : null;
}

function sum(a: Spread | null, b: Spread | null, times: number): Spread | null {
  if (a === null || b === null) return null;
  const all = a.map((each, axis) => each + times * b[axis]!);
  return all.every((each) => Math.abs(each) <= largest) ? (all as unknown as Spread) : null;
}
