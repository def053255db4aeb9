// What an expression computes, said once: folding, launches, threads of the interpreter, and all that is
// known without running ask here. What each operation does is in arithmetic.ts.
//
// An expression is compiled once, to a closure over a context. The caller says how to read a leaf; a leaf
// that is null is not known there, and then nothing is that is made of it.

import type { Extent3 } from '../kernel/types.ts';
import {
  binaryOperation,
  compareOperation,
  convertOperation,
  DivisionByZero,
  mathOperation,
  unaryOperation,
  type Value,
} from './arithmetic.ts';
import type { BuiltIn, Expression } from './ir.ts';
import { operandsOf } from './operands.ts';

/** An expression that reads something. */
export type Leaf = Extract<Expression, { kind: 'variable' | 'scalar' | 'builtin' | 'length' | 'load' }>;

/** An expression that makes a value of its operands' values. */
export type Computation = Extract<Expression, { kind: 'unary' | 'binary' | 'compare' | 'convert' | 'math' }>;

export type Evaluate<Context> = (context: Context) => Value;

export interface Evaluator<Context> {
  /** Reads a leaf; null where it is not known. */
  readonly leaf: (leaf: Leaf) => Evaluate<Context> | null;
  /** Computes otherwise than by the operation alone; null: by the operation alone. */
  readonly operation?: (
    computation: Computation,
  ) => ((context: Context, first: Value, second: Value) => Value) | null;
}

/**
 * The operation of a computation, on the values of its operands in their order.
 *
 * @throws DivisionByZero from the operation, where an integer is divided by zero
 */
export function operationOf(computation: Computation): (...operands: Value[]) => Value {
  switch (computation.kind) {
    case 'unary':
      return unaryOperation(computation.operator, computation.type);
    case 'binary':
      return binaryOperation(computation.operator, computation.type);
    case 'compare':
      return compareOperation(computation.operator);
    case 'convert':
      return convertOperation(computation.operand.type, computation.type, computation.format);
    case 'math':
      return mathOperation(computation.function, computation.type as 'f32' | 'f64') as () => Value;
    default:
      return computation satisfies never;
  }
}

/** The value of a computation, or undefined where that of an operand is not known, or an integer is divided by zero. */
export function computed(
  computation: Computation,
  operands: readonly (Value | undefined)[],
): Value | undefined {
  if (!operands.every((operand) => operand !== undefined)) return undefined;
  try {
    return operationOf(computation)(...operands);
  } catch (error) {
    if (error instanceof DivisionByZero) return undefined;
    throw error;
  }
}

/** Compiles an expression; null where it is made of something that is not known. */
export function compileEvaluation<Context>(
  expression: Expression,
  evaluator: Evaluator<Context>,
): Evaluate<Context> | null {
  switch (expression.kind) {
    case 'constant': {
      const { value } = expression;
      return () => value;
    }
    case 'variable':
    case 'scalar':
    case 'builtin':
    case 'length':
    case 'load':
      return evaluator.leaf(expression);
    default:
      break;
  }
  const operands = operandsOf(expression).map((operand) => compileEvaluation(operand, evaluator));
  if (!operands.every((operand) => operand !== null)) return null;
  const [first, second, third] = operands as [Evaluate<Context>, Evaluate<Context>, Evaluate<Context>];
  if (expression.kind === 'conditional') {
    return (context) => (first(context) ? second(context) : third(context));
  }
  const special = evaluator.operation?.(expression) ?? null;
  if (special !== null) return (context) => special(context, first(context), second(context));
  const operation = operationOf(expression);
  if (operands.length === 1) return (context) => operation(first(context));
  if (operands.length === 2) return (context) => operation(first(context), second(context));
  return (context) => operation(...operands.map((operand) => operand(context)));
}

/** What is known of a launch. */
export interface LaunchValues {
  /** By parameter; what stands in the place of an array is not looked at. */
  readonly scalars: readonly (Value | undefined)[];
  readonly grid: Extent3;
}

/**
 * The value of an expression of constants, scalar parameters, the grid's extents and operators: it sizes a
 * shared array, for example. Anything that only a running thread knows is a broken invariant of the program.
 *
 * @throws DivisionByZero where an integer is divided by zero
 */
export function evaluateAtLaunch(expression: Expression, launch: LaunchValues): Value {
  return compileEvaluation(expression, atLaunch)!(launch);
}

const atLaunch: Evaluator<LaunchValues> = {
  leaf(leaf) {
    switch (leaf.kind) {
      case 'scalar':
        return ({ scalars }) => {
          const scalar = scalars[leaf.id];
          if (scalar === undefined) throw new TypeError(`no value for parameter ${leaf.id}`);
          return scalar;
        };
      case 'builtin': {
        const axis = gridAxis(leaf.name);
        return leaf.type === 'i64' ? ({ grid }) => BigInt(grid[axis]!) : ({ grid }) => grid[axis]!;
      }
      default:
        throw new TypeError(`the value of a ${leaf.kind} is not known at the launch`);
    }
  },
};

function gridAxis(name: BuiltIn): number {
  const axis = ['gridDim.x', 'gridDim.y', 'gridDim.z'].indexOf(name);
  if (axis < 0) throw new TypeError(`the value of ${name} is not known at the launch`);
  return axis;
}
