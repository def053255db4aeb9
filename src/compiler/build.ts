// Makers of expressions, which fold what is known and drop what does nothing.
//
// Folding uses the one definition of the operators (arithmetic.ts), so a folded expression has
// the bits that it would have had at run time. What can fail at run time is left to fail there.

import type { Range } from '../diagnostics/source.ts';
import type { HalfFormat } from '../kernel/half.ts';
import { convertOperation } from './arithmetic.ts';
import { type Computation, computed } from './evaluate.ts';
import type {
  ArrayReference,
  BinaryOperator,
  BuiltIn,
  CompareOperator,
  Expression,
  MathFunction,
  UnaryOperator,
  ValueType,
} from './ir.ts';
import { operandsOf, mapOperands as withOperands } from './operands.ts';

type Constant = Extract<Expression, { kind: 'constant' }>;

export function constant(type: ValueType, value: number | bigint | boolean, range: Range): Constant {
  return { kind: 'constant', type, value, range };
}

/** A constant of any type, given as a number that the type can hold. */
export function numberConstant(type: ValueType, value: number, range: Range): Constant {
  return constant(type, convertOperation('f64', type)(value), range);
}

/** The constant that a computation gives, if it is of constants and does not fail; else the computation. */
export function folded(computation: Computation): Expression {
  const value = computed(
    computation,
    operandsOf(computation).map((operand) => (operand.kind === 'constant' ? operand.value : undefined)),
  );
  return value === undefined ? computation : constant(computation.type, value, computation.range);
}

export function builtin(name: BuiltIn, type: 'i32' | 'i64', range: Range): Expression {
  return { kind: 'builtin', name, type, range };
}

interface LoadDetails {
  readonly component?: number | undefined;
  readonly bounds?: readonly Expression[] | undefined;
  readonly fits?: true | undefined;
}

export function load(
  array: ArrayReference,
  index: Expression,
  type: ValueType,
  range: Range,
  { component, bounds, fits }: LoadDetails = {},
): Expression {
  return {
    kind: 'load',
    array,
    index,
    ...(bounds === undefined ? {} : { bounds }),
    ...(fits === undefined ? {} : { fits }),
    type,
    range,
    ...(component === undefined ? {} : { component }),
  };
}

export function variable(
  id: number,
  type: ValueType,
  range: Range,
): Extract<Expression, { kind: 'variable' }> {
  return { kind: 'variable', id, type, range };
}

/** The bits of an f32 as a float of 16 bits, or the f32 that such bits stand for. */
export function recode(
  operand: Expression,
  type: 'u32' | 'f32',
  format: HalfFormat,
  range: Range,
): Expression {
  return folded({ kind: 'convert', type, operand, format, range });
}

/** The value of a type that has the bits of another value. */
export function bitcast(operand: Expression, type: ValueType, range: Range): Expression {
  if (operand.type === type) return operand;
  const isFloat = (one: ValueType) => one === 'f32' || one === 'f64';
  if (!isFloat(type) && !isFloat(operand.type)) return convert(operand, type, range);
  return folded({ kind: 'convert', type, operand, format: 'bits', range });
}

export function convert(operand: Expression, type: ValueType, range: Range): Expression {
  if (operand.type === type) return operand;
  return folded({ kind: 'convert', type, operand, range });
}

export function unary(operator: UnaryOperator, operand: Expression, range: Range): Expression {
  const { type } = operand;
  if (operator === 'not') {
    if (operand.kind === 'unary' && operand.operator === 'not') return operand.operand;
    // Only these two: with a NaN, !(a < b) is not a >= b.
    if (operand.kind === 'compare' && operand.operator === 'equal') {
      return { ...operand, operator: 'notEqual' };
    }
    if (operand.kind === 'compare' && operand.operator === 'notEqual') {
      return { ...operand, operator: 'equal' };
    }
  }
  return folded({ kind: 'unary', type, operator, operand, range });
}

export function binary(
  operator: BinaryOperator,
  left: Expression,
  right: Expression,
  range: Range,
  how: { readonly fast?: true } = {},
): Expression {
  const { type } = left;
  const made = folded({ kind: 'binary', type, operator, left, right, range, ...how });
  if (made.kind === 'constant') return made;
  if (type !== 'f32' && type !== 'f64') {
    if (right.kind === 'constant' && isRightIdentity(operator, Number(right.value))) return left;
    if (left.kind === 'constant' && isLeftIdentity(operator, Number(left.value))) return right;
    const isZero = (side: Expression) => side.kind === 'constant' && Number(side.value) === 0;
    if (operator === 'multiply' && isZero(right) && cannotFail(left)) return right;
    if (operator === 'multiply' && isZero(left) && cannotFail(right)) return left;
  }
  return made;
}

/** Whether leaving an expression out changes nothing but time. */
export function cannotFail(expression: Expression): boolean {
  if (expression.kind === 'load') return false;
  const divides = expression.kind === 'binary' && /divide|remainder/.test(expression.operator);
  return !divides && operandsOf(expression).every(cannotFail);
}

function isRightIdentity(operator: BinaryOperator, value: number): boolean {
  switch (operator) {
    case 'add':
    case 'subtract':
    case 'or':
    case 'xor':
    case 'shiftLeft':
    case 'shiftRight':
      return value === 0;
    case 'multiply':
    case 'divide':
      return value === 1;
    default:
      return false;
  }
}

function isLeftIdentity(operator: BinaryOperator, value: number): boolean {
  if (operator === 'multiply') return value === 1;
  return (operator === 'add' || operator === 'or' || operator === 'xor') && value === 0;
}

export function compare(
  operator: CompareOperator,
  left: Expression,
  right: Expression,
  range: Range,
): Expression {
  return folded({ kind: 'compare', type: 'bool', operator, left, right, range });
}

export function conditional(
  test: Expression,
  then: Expression,
  otherwise: Expression,
  range: Range,
): Expression {
  if (test.kind === 'constant') return test.value === true ? then : otherwise;
  if (then.kind === 'constant' && otherwise.kind === 'constant') {
    if (Object.is(then.value, otherwise.value)) return then;
    if (then.type === 'bool') return then.value === true ? test : unary('not', test, range);
  }
  return { kind: 'conditional', type: then.type, test, then, otherwise, range };
}

export function math(
  name: MathFunction,
  type: 'f32' | 'f64',
  operands: readonly Expression[],
  range: Range,
  how: { readonly fast?: true } = {},
): Expression {
  return folded({ kind: 'math', type, function: name, operands, range, ...how });
}

/** Whether it is the constant `true`, the constant `false`, or neither (null). */
export function knownTruth(test: Expression): boolean | null {
  return test.kind === 'constant' ? Boolean(test.value) : null;
}

/** The expression with each of its operands replaced, folded anew. */
export function mapOperands(expression: Expression, change: (operand: Expression) => Expression): Expression {
  const changed = withOperands(expression, change);
  switch (changed.kind) {
    case 'unary':
      return unary(changed.operator, changed.operand, changed.range);
    case 'convert':
      // Without a format it may convert what is of its type by now.
      return changed.format === undefined
        ? convert(changed.operand, changed.type, changed.range)
        : folded(changed);
    case 'binary':
      return binary(changed.operator, changed.left, changed.right, changed.range);
    case 'conditional':
      return conditional(changed.test, changed.then, changed.otherwise, changed.range);
    case 'compare':
    case 'math':
      return folded(changed);
    default:
      return changed;
  }
}
