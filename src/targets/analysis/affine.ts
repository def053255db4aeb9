// Integers that grow by the same constant from one thread to the next: base + c * threadIdx.x,
// with a base that is the same for all threads of a row (the threads that differ in threadIdx.x
// alone; a one-dimensional block is one row).
//
// Integer addition, subtraction and multiplication wrap, so what is said here holds modulo
// 2^width whatever overflows. A coefficient of 1 is what a vector load wants, 0 a broadcast.

import type { Expression, Program, ValueType } from '../../compiler/ir.ts';
import { isBigint, isInteger } from '../../compiler/number-types.ts';
import { constantOf } from './elements.ts';

export interface Affine {
  /** The value where threadIdx.x is 0; null stands for zero. */
  readonly base: Expression | null;
  readonly coefficient: number;
}

/** Beyond this a coefficient is of no use, and arithmetic with it would no longer be exact. */
const largestCoefficient = 2 ** 20;

/** Finds affine forms. */
export class AffineForms {
  readonly #program: Program;
  readonly #isUniform: (expression: Expression) => boolean;
  readonly #formOf: (variable: number) => Affine | null;

  /** `isUniform` says what is the same in a row; `formOf` what is known of a variable that is not. */
  constructor(
    program: Program,
    isUniform: (expression: Expression) => boolean,
    formOf: (variable: number) => Affine | null = () => null,
  ) {
    this.#program = program;
    this.#isUniform = isUniform;
    this.#formOf = formOf;
  }

  /** The form of an expression, or null if it has none. */
  of(expression: Expression): Affine | null {
    if (!isInteger(expression.type)) return null;
    if (this.#isUniform(expression)) return { base: expression, coefficient: 0 };
    switch (expression.kind) {
      case 'variable':
        return this.#formOf(expression.id);
      case 'builtin':
        if (expression.name === 'threadIdx.x') return { base: null, coefficient: 1 };
        return expression.name === 'threadRank'
          ? { base: firstRankOfRow(this.#program, expression), coefficient: 1 }
          : null;
      case 'convert': {
        const operand = this.of(expression.operand);
        if (
          operand === null ||
          expression.format !== undefined ||
          width(expression.operand.type) !== width(expression.type)
        )
          return null;
        const base = operand.base && { ...expression, operand: operand.base };
        return { base, coefficient: operand.coefficient };
      }
      case 'binary':
        return this.#ofBinary(expression);
      default:
        return null;
    }
  }

  #ofBinary(expression: Binary): Affine | null {
    const { operator } = expression;
    if (!['add', 'subtract', 'multiply', 'shiftLeft'].includes(operator)) return null;
    const left = this.of(expression.left);
    const right = this.of(expression.right);
    if (left === null || right === null) return null;
    switch (operator) {
      case 'add':
        return affine(left.coefficient + right.coefficient, combine(expression, left.base, right.base));
      case 'subtract':
        return affine(left.coefficient - right.coefficient, combine(expression, left.base, right.base));
      case 'multiply':
        return multiplied(expression, left, right) ?? multiplied(expression, right, left);
      default: {
        const shift = right.coefficient === 0 ? constantIn(right.base) : null;
        if (shift === null) return null;
        const by = right.base ?? integer(expression.right, 0);
        const base = left.base && { ...expression, left: left.base, right: by };
        return affine(left.coefficient * 2 ** (shift & (width(expression.type) - 1)), base);
      }
    }
  }
}

type Binary = Expression & { readonly kind: 'binary' };

function affine(coefficient: number, base: Expression | null): Affine | null {
  return Math.abs(coefficient) <= largestCoefficient ? { base, coefficient } : null;
}

/** The sum or difference of two bases. */
function combine(expression: Binary, left: Expression | null, right: Expression | null): Expression | null {
  if (right === null) return left;
  if (left === null && expression.operator === 'add') return right;
  return { ...expression, left: left ?? integer(expression, 0), right };
}

/** `form` times a factor that is the same in a row; it must be a literal if the form has a coefficient. */
function multiplied(expression: Binary, form: Affine, factor: Affine): Affine | null {
  if (factor.coefficient !== 0) return null;
  const value = constantIn(factor.base);
  if (value === null && form.coefficient !== 0) return null;
  const base =
    form.base === null || factor.base === null
      ? null
      : { ...expression, left: form.base, right: factor.base };
  return affine(form.coefficient * (value ?? 0), base);
}

function constantIn(base: Expression | null): number | null {
  return base === null ? 0 : constantOf(base);
}

/** The rank of the first thread of a thread's row. */
function firstRankOfRow(program: Program, rank: Expression): Expression | null {
  const [x, y, z] = program.block;
  if (y * z === 1) return null;
  const times = (name: 'threadIdx.y' | 'threadIdx.z', factor: number): Expression => {
    const { type, range } = rank;
    const left: Expression = { kind: 'builtin', name, type, range };
    return { kind: 'binary', operator: 'multiply', left, right: integer(rank, factor), type, range };
  };
  if (z === 1) return times('threadIdx.y', x);
  const { type, range } = rank;
  const left = times('threadIdx.y', x);
  return { kind: 'binary', operator: 'add', left, right: times('threadIdx.z', x * y), type, range };
}

/** A literal of an expression's type and place. */
export function integer({ type, range }: Expression, value: number): Expression {
  return { kind: 'constant', type, value: isBigint(type) ? BigInt(value) : value, range };
}

function width(type: ValueType): number {
  return isBigint(type) ? 64 : 32;
}
