// What operations cost a GPU, in cycles of a multiprocessor: slots, for which a scheduler issues nothing else, and the
// latency after which the result is there.
//
// The figures are those of Ampere and Hopper to within what an estimate needs; a scheduler issues one instruction of a
// warp a cycle, and a multiprocessor has four.

import type { MathFunction } from '../../compiler/functions.ts';
import type { Expression } from '../../compiler/ir.ts';

export interface Cost {
  readonly slots: number;
  readonly latency: number;
}

const cost = (slots: number, latency: number): Cost => ({ slots, latency });

export const free = cost(0, 0);
const simple = cost(1, 4.25);
/** Of f64, half as many are issued at a time. */
const wide = cost(2, 8);
const division = cost(10, 40);
const wideDivision = cost(24, 90);
const integerDivision = cost(18, 50);
const root = cost(14, 56);
const transcendental = cost(28, 85);

/** Functions of Math that take more, or less, than a sine. */
const mathCosts: Partial<Record<MathFunction, Cost>> = {
  exp: cost(10, 36),
  rsqrt: cost(4, 24),
  round: cost(4, 16),
  sign: cost(3, 12),
  pow: cost(60, 200),
  cbrt: cost(24, 90),
};

/** Every load and store passes one pipe that four schedulers share. */
export const access = { slots: 4, shared: 24, local: 4, barrier: 14, meeting: 11, exchange: 24 } as const;

/** In cycles, what an instruction takes of a warp that has a scheduler to itself. */
export const aloneCycles = 1.35;

/** What is left of a loop's own test and step when loops are unrolled by four. */
export const unrolled = 0.1;

/** What an operation itself costs, without its operands and without loads. */
export function costOf(expression: Expression): Cost {
  const isWide = expression.type === 'f64';
  switch (expression.kind) {
    case 'math': {
      const { slots, latency } = mathCosts[expression.function] ?? transcendental;
      return isWide ? cost(4 * slots, 4 * latency) : cost(slots, latency);
    }
    case 'unary':
      return expression.operator === 'sqrt' ? (isWide ? wideDivision : root) : isWide ? wide : simple;
    case 'binary': {
      const divides = expression.operator === 'divide' || expression.operator === 'remainder';
      if (!divides) return isWide ? wide : simple;
      if (isWide) return wideDivision;
      if (expression.type === 'f32') return division;
      return isPowerOfTwo(expression.right) ? simple : integerDivision;
    }
    case 'compare':
    case 'conditional':
      return simple;
    case 'convert':
      return expression.operand.type === expression.type || isIndex(expression) ? free : simple;
    default:
      return free;
  }
}

/** A conversion between the integers of one width, which is none. */
function isIndex({ type, operand }: Extract<Expression, { kind: 'convert' }>): boolean {
  const narrow = ['i32', 'u32', 'bool'];
  return narrow.includes(type) && narrow.includes(operand.type);
}

function isPowerOfTwo(expression: Expression): boolean {
  if (expression.kind !== 'constant' || typeof expression.value === 'boolean') return false;
  const value = Number(expression.value);
  return value > 0 && Number.isInteger(Math.log2(value));
}
