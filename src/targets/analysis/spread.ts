// How a number differs among the threads of a block: by so much for each one that their coordinates differ.
//
// That may also be so many times a number which is the same for all threads, such as the length of a row.
// Arithmetic wraps, and so does what is said here, modulo 2^width.

import type { Expression } from '../../compiler/ir.ts';
import { isBigint, isInteger } from '../../compiler/number-types.ts';
import { constantOf } from './elements.ts';
import { isSame } from './expression-key.ts';

/** By how much a number grows with each coordinate of a thread. */
export type Steps = readonly [x: number, y: number, z: number];

export interface Spread {
  readonly steps: Steps;
  /** It grows by so many times these factors besides, each of which is there once. */
  readonly multiples: readonly Multiple[];
}

export interface Multiple {
  readonly factor: Expression;
  readonly steps: Steps;
}

const none: Spread = { steps: [0, 0, 0], multiples: [] };
/** Beyond this arithmetic would no longer be exact. */
const largest = 2 ** 20;

/**
 * The spread of an integer; null where it is not even. `isFixed` says what is the same for all threads, and `ofVariable` what is
 * known of a variable that is not: by default nothing.
 */
export function spreadOf(
  expression: Expression,
  block: readonly [number, number, number],
  isFixed: (expression: Expression) => boolean,
  ofVariable: (id: number) => Spread | null = () => null,
): Spread | null {
  const of = (each: Expression) => spreadOf(each, block, isFixed, ofVariable);
  if (!isInteger(expression.type)) return null;
  switch (expression.kind) {
    case 'variable':
      return isFixed(expression) ? none : ofVariable(expression.id);
    case 'builtin':
      if (expression.name === 'threadIdx.x') return byItself([1, 0, 0]);
      if (expression.name === 'threadIdx.y') return byItself([0, 1, 0]);
      if (expression.name === 'threadIdx.z') return byItself([0, 0, 1]);
      if (expression.name === 'threadRank') return byItself([1, block[0], block[0] * block[1]]);
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
      if (operator !== 'multiply' || isFixed(expression)) break;
      const [a, b] = [constantOf(left), constantOf(right)];
      if (a !== null) return sum(none, of(right), a);
      if (b !== null) return sum(none, of(left), b);
      if (isFixed(left)) return timesFactor(of(right), left);
      if (isFixed(right)) return timesFactor(of(left), right);
      break;
    }
    default:
  }
  return isFixed(expression) ? none : null;
}

function byItself(steps: Steps): Spread {
  return { steps, multiples: [] };
}

function timesFactor(spread: Spread | null, factor: Expression): Spread | null {
  if (spread === null || spread.multiples.length > 0) return null;
  return { ...none, multiples: [{ factor, steps: spread.steps }] };
}

function sum(a: Spread | null, b: Spread | null, times: number): Spread | null {
  if (a === null || b === null) return null;
  const multiples = [...a.multiples];
  for (const { factor, steps } of b.multiples) {
    const at = multiples.findIndex((each) => isSame(each.factor, factor));
    const added = plus(at === -1 ? none.steps : multiples[at]!.steps, steps, times);
    multiples.splice(at === -1 ? multiples.length : at, 1, { factor, steps: added });
  }
  const steps = plus(a.steps, b.steps, times);
  const isExact = (each: Steps) => each.every((one) => Math.abs(one) <= largest);
  if (!isExact(steps) || !multiples.every((each) => isExact(each.steps))) return null;
  return { steps, multiples: multiples.filter((each) => each.steps.some((one) => one !== 0)) };
}

/** The first, and the second so many times. */
export function plus(a: Steps, b: Steps, times: number): Steps {
  return [a[0] + times * b[0], a[1] + times * b[1], a[2] + times * b[2]];
}
