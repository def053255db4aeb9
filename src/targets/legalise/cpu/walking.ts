// Loops in which a block walks through an array by whole rows of it, while its neighbours walk beside it.
//
// A block that goes down the columns of a matrix reads a short piece of each row, far from the one before; what lies beside that piece is
// what the next block reads. One block after the other, a processor begins anew with every piece, and has to fetch it again for each row of
// blocks. Where blocks go through such a loop abreast, a whole row of the matrix is read at a time.

import type { ArrayReference, Expression, Program, Statement } from '../../../compiler/ir.ts';
import { bytesOf } from '../../../kernel/layout.ts';
import type { Loop } from '../../analysis/counters.ts';
import { constantOf, elementOf } from '../../analysis/elements.ts';
import { growthIn } from '../../analysis/indices.ts';
import { expressionsOf, forEachOperand, forEachStatement, operandsOf } from '../../analysis/walk.ts';

/** Bytes from piece to piece from which on they are nowhere near each other. */
const far = 1024;

/** The array of the launch that a block walks through in a loop; null where there is none. */
export function walkedIn(loop: Loop, program: Program): ArrayReference | null {
  const growth = new Growth(program);
  const isWalk = (array: ArrayReference, index: Expression) => {
    if (array.space !== 'global') return false;
    if (growth.of(index, 'threadIdx.x') !== 1 || growth.of(index, 'blockIdx.x') !== program.block[0])
      return false;
    const turn = growthIn(loop, index);
    if (turn === null) return false;
    const by = constantOf(turn.factor);
    return by === null || Math.abs(by * turn.step) * bytesOf(elementOf(program, array)) >= far;
  };
  let found: ArrayReference | null = null;
  forEachStatement(loop.body, (statement) => {
    if (statement.kind === 'store' && isWalk(statement.array, statement.index)) found ??= statement.array;
    for (const expression of expressionsOf(statement))
      forEachOperand(expression, (each) => {
        if (each.kind === 'load' && isWalk(each.array, each.index)) found ??= each.array;
      });
  });
  return found;
}

type Axis = 'threadIdx.x' | 'blockIdx.x';

/** By how much integers grow from thread to thread of a row, or from block to block. */
class Growth {
  readonly #values = new Map<number, Expression[]>();

  constructor({ body }: Program) {
    forEachStatement(body, (each: Statement) => {
      if (each.kind === 'assign')
        this.#values.set(each.variable, [...(this.#values.get(each.variable) ?? []), each.value]);
    });
  }

  /** Null where that is not known, or not the same everywhere. */
  of(expression: Expression, axis: Axis, seen: readonly number[] = []): number | null {
    const of = (operand: Expression) => this.of(operand, axis, seen);
    switch (expression.kind) {
      case 'builtin':
        return expression.name === axis || (expression.name === 'threadRank' && axis === 'threadIdx.x')
          ? 1
          : 0;
      case 'constant':
      case 'scalar':
      case 'length':
        return 0;
      case 'variable': {
        if (seen.includes(expression.id)) return 0;
        const values = this.#values.get(expression.id) ?? [];
        const found = values.map((value) => this.of(value, axis, [...seen, expression.id]));
        if (found.length === 1) return found[0]!;
        return found.length > 0 && found.every((each) => each === 0) ? 0 : null;
      }
      case 'binary': {
        const [left, right] = [of(expression.left), of(expression.right)];
        if (left === null || right === null) return null;
        if (expression.operator === 'add') return left + right;
        if (expression.operator === 'subtract') return left - right;
        if (left === 0 && right === 0) return 0;
        if (expression.operator !== 'multiply') return null;
        const [factor, of1] =
          left === 0 ? [constantOf(expression.left), right] : [constantOf(expression.right), left];
        return factor !== null && (left === 0 || right === 0) ? factor * of1 : null;
      }
      default:
        return operandsOf(expression).every((operand) => of(operand) === 0) && expression.kind !== 'load'
          ? 0
          : null;
    }
  }
}
