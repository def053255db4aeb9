// By which power of two an index is divisible, whatever the grid, the thread and the arguments.
//
// Wide and bulk copies need addresses and sizes that are multiples of 16 bytes. Arrays begin at
// such addresses, so what is to be proved is that an offset is a multiple of so many elements.
// A variable is divisible by what all values assigned to it are; that is the greatest fixed point
// of its assignments, found by starting at the top and coming down.

import type { Expression, Program } from '../../compiler/ir.ts';
import { forEachAssignment } from '../analysis/assignments.ts';

/** No power of two beyond this one is distinguished: zero is divisible by all. */
const most = 2 ** 20;

function ofConstant(value: number | bigint | boolean): number {
  const integer = Math.abs(Number(value));
  if (!Number.isSafeInteger(integer)) return 1;
  let power = 1;
  while (power < most && integer % (2 * power) === 0) power *= 2;
  return power;
}

/** A function that gives the largest power of two (up to 2^20) that divides every value of an integer expression. */
export function divisibility(program: Program): (expression: Expression) => number {
  const ofVariable = program.variables.map(() => most);

  const of = (expression: Expression): number => {
    switch (expression.kind) {
      case 'constant':
        return ofConstant(expression.value);
      case 'variable':
        return ofVariable[expression.id]!;
      case 'binary': {
        const left = of(expression.left);
        const right = of(expression.right);
        if (expression.operator === 'multiply') return Math.min(most, left * right);
        if (
          expression.operator === 'add' ||
          expression.operator === 'subtract' ||
          expression.operator === 'remainder'
        ) {
          return Math.min(left, right);
        }
        return 1;
      }
      case 'convert':
        return expression.type === 'i32' || expression.type === 'u32' || expression.type === 'i64'
          ? of(expression.operand)
          : 1;
      case 'conditional':
        return Math.min(of(expression.then), of(expression.otherwise));
      default:
        return 1;
    }
  };

  for (let changed = true; changed; ) {
    changed = false;
    forEachAssignment(program.body, (variable, value) => {
      const power = value === null ? 1 : of(value);
      if (power < ofVariable[variable]!) {
        ofVariable[variable] = power;
        changed = true;
      }
    });
  }
  return of;
}
