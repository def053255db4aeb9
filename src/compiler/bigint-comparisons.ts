// Comparisons of bigints: exact, with each other whatever their sign, and with integers that are
// numbers, which JavaScript compares with bigints by value too.

import type { Node } from 'acorn';
import { castAdvice, replacementAdvice } from './advice.ts';
import { compare, conditional, constant, convert } from './build.ts';
import type { CompareOperator, Expression } from './ir.ts';
import type { Lowering } from './lowering.ts';
import { type BigintType, fits, isBigint, isFloat } from './number-types.ts';
import { isBigintValue, literalText, sideOf, typed } from './numbers.ts';
import { describe, hasFraction, type Numeric } from './values.ts';

/** A comparison with a bigint on at least one side, or null where there is none. */
export function bigintComparison(
  lowering: Lowering,
  operator: CompareOperator,
  left: Numeric,
  right: Numeric,
  node: Node,
  token: string,
): Expression | null {
  const [leftIs, rightIs] = [isBigintValue(left), isBigintValue(right)];
  if (!leftIs && !rightIs) return null;
  if (left.kind === 'open' || right.kind === 'open') return null;
  if (leftIs !== rightIs) {
    refuseNumbers(
      lowering,
      leftIs ? left : right,
      leftIs ? right : left,
      node,
      token,
      leftIs ? 'right' : 'left',
    );
  }
  const a = operandOf(lowering, operator, left, right, node);
  const b = operandOf(lowering, mirrored[operator], right, left, node);
  const range = lowering.range(node);
  if (a.type === b.type) return compare(operator, a, b, range);
  return a.type === 'i64'
    ? mixed(lowering, operator, a, b, node)
    : mixed(lowering, mirrored[operator], b, a, node);
}

/** What may not be compared with a bigint: by `===`, what is never equal, and floats. */
function refuseNumbers(
  lowering: Lowering,
  bigint: Numeric,
  other: Numeric,
  node: Node,
  token: string,
  number: 'left' | 'right',
): void {
  const what = `'${token}' compares ${describe(bigint)} with ${describe(other)}`;
  if (token.length === 3) {
    const isLiteral = other.kind === 'literal' && Number.isInteger(other.value);
    const type = bigint.kind === 'number' ? bigint.type : 'i64';
    const side = sideOf(node, number);
    const hint = isLiteral
      ? replacementAdvice(lowering, side, `${other.value}n`)
      : castAdvice(lowering, side, type, '', 'cast the number');
    lowering.fail(node, 'WS1004', `${what}, which are never equal`, hint);
  }
  const isExact =
    other.kind === 'number' ? !isFloat(other.type) && other.type !== 'bool' : !hasFraction(other);
  if (isExact) return;
  lowering.fail(
    node,
    'WS1004',
    what,
    castAdvice(lowering, sideOf(node, number === 'left' ? 'right' : 'left'), 'f64', '', 'cast the bigint'),
  );
}

/** An operand as i64, or as u64 where it is one; a literal takes the type of what it is compared with. */
function operandOf(
  lowering: Lowering,
  operator: CompareOperator,
  value: Numeric,
  beside: Numeric,
  node: Node,
): Expression {
  const range = lowering.range(node);
  if (value.kind !== 'literal') {
    const given = typed(lowering, value, node);
    return isBigint(given.type) ? given.expression : convert(given.expression, 'i64', range);
  }
  const whole = BigInt(value.value);
  const preferred = beside.kind === 'number' && isBigint(beside.type) ? beside.type : 'i64';
  const types: readonly BigintType[] = [preferred, 'i64', 'u64'];
  const type = types.find((one) => fits(whole, one, lowering.indexType));
  if (type !== undefined) return constant(type, whole, range);
  return lowering.fail(
    node,
    'WS1004',
    `${literalText(value.value)} is beyond 64 bits, and so is no bigint of a kernel`,
    replacementAdvice(lowering, node, String(alwaysHolds(operator, whole))),
  );
}

/** Whether a comparison holds whose left side is beyond all bigints of 64 bits. */
function alwaysHolds(operator: CompareOperator, left: bigint): boolean {
  if (operator === 'equal' || operator === 'notEqual') return operator === 'notEqual';
  return operator.startsWith('greater') === left > 0n;
}

const mirrored = {
  equal: 'equal',
  notEqual: 'notEqual',
  less: 'greater',
  lessEqual: 'greaterEqual',
  greater: 'less',
  greaterEqual: 'lessEqual',
} as const satisfies Record<CompareOperator, CompareOperator>;

/** An i64 with a u64: less if it is negative, else compared as what both are. */
function mixed(
  lowering: Lowering,
  operator: CompareOperator,
  signed: Expression,
  unsigned: Expression,
  node: Node,
): Expression {
  const range = lowering.range(node);
  const [a, b] = [lowering.settleExpression(signed, 'left'), lowering.settleExpression(unsigned, 'right')];
  const ifLess = operator === 'less' || operator === 'lessEqual' || operator === 'notEqual';
  return conditional(
    compare('less', a, constant('i64', 0n, range), range),
    lowering.boolConstant(ifLess, node),
    compare(operator, convert(a, 'u64', range), b, range),
    range,
  );
}
