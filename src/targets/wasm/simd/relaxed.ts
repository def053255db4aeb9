// What instructions of relaxed SIMD do faster, where the engine has them.
//
// Their results may differ from machine to machine, within bounds. A selection between lanes by a mask whose lanes are
// all ones or all zeros has one result. A product and the sum that it goes into are rounded once or twice, as the
// machine likes: only for kernels that say `fma: true`.

import type { Expression } from '../../../compiler/ir.ts';
import type { Code } from '../encoder/code.ts';
import type { RelaxedInstruction } from '../encoder/opcodes.ts';
import type { Unit } from '../unit.ts';

/** Pops what is chosen where the mask is set, what is chosen where it is not, and the mask. */
export function writeSelect(code: Code, unit: Unit): void {
  if (unit.relaxes) code.relaxed('i32x4.relaxed_laneselect');
  else code.op('v128.bitselect');
}

/** A sum with a product in it: the factors, what is added, and the instruction that pops the three. */
export interface Fused {
  readonly operands: readonly [Expression, Expression, Expression];
  readonly instruction: RelaxedInstruction;
  /** What is added is the product's subtrahend. */
  readonly negates: boolean;
}

/** An expression as one instruction that may round once; null where that is not so. */
export function fusedOf(unit: Unit, expression: Expression): Fused | null {
  if (!unit.relaxes || !unit.program.fma || expression.kind !== 'binary' || expression.type !== 'f32') {
    return null;
  }
  const { operator, left, right } = expression;
  if (operator !== 'add' && operator !== 'subtract') return null;
  const madd = 'f32x4.relaxed_madd';
  if (isProduct(left)) {
    return { operands: [left.left, left.right, right], instruction: madd, negates: operator === 'subtract' };
  }
  if (!isProduct(right)) return null;
  const instruction = operator === 'add' ? madd : 'f32x4.relaxed_nmadd';
  return { operands: [right.left, right.right, left], instruction, negates: false };
}

function isProduct(expression: Expression): expression is Expression & { readonly kind: 'binary' } {
  return expression.kind === 'binary' && expression.operator === 'multiply';
}
