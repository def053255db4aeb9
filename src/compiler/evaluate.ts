// Evaluates an expression as soon as a launch is known: its scalars and its grid.
//
// Such an expression is made of constants, scalar parameters, the grid's extents and
// operators; it sizes a shared array, for example. Anything that only a running thread knows
// is a broken invariant of the program.

import type { Extent3 } from '../kernel/types.ts';
import {
  binaryOperation,
  compareOperation,
  convertOperation,
  mathOperation,
  unaryOperation,
  type Value,
} from './arithmetic.ts';
import type { BuiltIn, Expression } from './ir.ts';

/** What is known of a launch. */
export interface LaunchValues {
  /** By parameter; what stands in the place of an array is not looked at. */
  readonly scalars: readonly (Value | undefined)[];
  readonly grid: Extent3;
}

/**
 * The value of an expression at a launch.
 *
 * @throws DivisionByZero where an integer is divided by zero
 */
export function evaluateAtLaunch(expression: Expression, launch: LaunchValues): Value {
  const value = (operand: Expression) => evaluateAtLaunch(operand, launch);
  switch (expression.kind) {
    case 'constant':
      return expression.value;
    case 'scalar': {
      const scalar = launch.scalars[expression.id];
      if (scalar === undefined) throw new TypeError(`no value for parameter ${expression.id}`);
      return scalar;
    }
    case 'builtin': {
      const extent = launch.grid[gridAxis(expression.name)]!;
      return expression.type === 'i64' ? BigInt(extent) : extent;
    }
    case 'unary':
      return unaryOperation(expression.operator, expression.type)(value(expression.operand));
    case 'binary':
      return binaryOperation(expression.operator, expression.type)(
        value(expression.left),
        value(expression.right),
      );
    case 'compare':
      return compareOperation(expression.operator)(value(expression.left), value(expression.right));
    case 'convert':
      return convertOperation(
        expression.operand.type,
        expression.type,
        expression.format,
      )(value(expression.operand));
    case 'conditional':
      return value(value(expression.test) ? expression.then : expression.otherwise);
    case 'math':
      return mathOperation(
        expression.function,
        expression.type as 'f32' | 'f64',
      )(...expression.operands.map((operand) => value(operand) as number));
    case 'variable':
    case 'load':
    case 'length':
      throw new TypeError(`the value of a ${expression.kind} is not known at the launch`);
    default:
      return expression satisfies never;
  }
}

function gridAxis(name: BuiltIn): number {
  const axis = ['gridDim.x', 'gridDim.y', 'gridDim.z'].indexOf(name);
  if (axis < 0) throw new TypeError(`the value of ${name} is not known at the launch`);
  return axis;
}
