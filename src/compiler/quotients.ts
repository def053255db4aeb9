// `a / b` of two integers. Its value need not be an integer, so it is kept as a division until the place that
// takes it says what it is: Math.trunc and the casts to integers divide as integers do, and a place for a
// float divides as floats do. Anywhere else it is a number only where both are constants and it is whole: there
// nothing is to be rounded. Else it is an error.

import type { Node } from 'acorn';
import { type Advice, callFix, castFix, intrinsic, replacement } from './advice.ts';
import { binary, convert } from './build.ts';
import type { Lowering } from './lowering.ts';
import { fits, isFloat, type NumberType } from './number-types.ts';
import {
  hasFraction,
  isNumeric,
  type NumberValue,
  number,
  type QuotientValue,
  type Value,
} from './values.ts';
import { written, writtenOperand } from './written.ts';

/** The quotient of two integers, cut to an integer. */
export function truncated(lowering: Lowering, { type, left, right, node }: QuotientValue): NumberValue {
  return number(type, binary('divide', left, right, lowering.range(node)));
}

/**
 * A quotient of constants that is an integer of their type, or null. Asked for only where a quotient is an error otherwise:
 * so types of variables do not depend on the values of constants.
 */
export function wholeQuotient(lowering: Lowering, quotient: QuotientValue): NumberValue | null {
  return isWhole(quotient) ? truncated(lowering, quotient) : null;
}

/** Whether both are constants and their quotient is an integer that their type holds: -2^31 / -1 is none. */
function isWhole({ type, left, right }: QuotientValue): boolean {
  if (left.kind !== 'constant' || right.kind !== 'constant') return false;
  const [a, b] = [BigInt(left.value), BigInt(right.value)];
  if (b === 0n || a % b !== 0n) return false;
  return fits(Number(a / b), type, left.type === 'i64' ? 'i64' : 'i32');
}

/** The quotient of two integers as a float: both are made floats, and then divided. */
export function divided(
  lowering: Lowering,
  { left, right, node }: QuotientValue,
  type: 'f32' | 'f64',
): NumberValue {
  const range = lowering.range(node);
  return number(type, binary('divide', convert(left, type, range), convert(right, type, range), range));
}

/** A value that goes to a place of a type: a quotient becomes a float if that is one. */
export function dividedFor(lowering: Lowering, value: Value, type: NumberType): Value {
  return value.kind === 'quotient' && isFloat(type) ? divided(lowering, value, type) : value;
}

/** Values that are combined: quotients become floats where they meet one. */
export function dividedTogether<T extends readonly Value[]>(lowering: Lowering, values: T): T {
  if (!values.some(({ kind }) => kind === 'quotient')) return values;
  const type = floatAmong(values);
  const cells = values.flatMap((value) => (value.kind === 'open' ? value.cells : []));
  return values.map((value) => {
    if (value.kind !== 'quotient') return value;
    if (type !== null) return divided(lowering, value, type);
    // What is open may become a float in a later pass.
    return cells.length > 0 ? { kind: 'open', cells, fractional: false } : value;
  }) as unknown as T;
}

/** The float type that values are combined in, as far as it is known; null where they may be integers. */
function floatAmong(values: readonly Value[]): 'f32' | 'f64' | null {
  const types = values.flatMap((value) =>
    value.kind === 'number' && isFloat(value.type) ? [value.type] : [],
  );
  if (types.length > 0) return types.includes('f64') ? 'f64' : 'f32';
  return values.some((value) => isNumeric(value) && hasFraction(value)) ? 'f32' : null;
}

/** A division of integers reached a place that does not say how to round it. */
export function refuseQuotient(
  lowering: Lowering,
  { type, node }: QuotientValue,
  wanted: 'integer' | 'any' = 'any',
): never {
  return lowering.fail(
    node,
    'WS1005',
    `'/' divides two integers (${type}), and their quotient need not be one`,
    adviceOf(lowering, node, wanted),
  );
}

function adviceOf(lowering: Lowering, node: Node, wanted: 'integer' | 'any'): Advice {
  const { left, right, operator } = node as Node & { left: Node; right: Node; operator: string };
  if (operator === '/=') {
    const [target, by] = [written(lowering, left), writtenOperand(lowering, right)];
    const code = `${target} = Math.trunc(${target} / ${by})`;
    return { hint: `write ${code} for integer division`, fixes: [replacement(lowering, node, code)] };
  }
  const whole = `write Math.trunc(${written(lowering, node)}) for integer division`;
  const truncating = callFix(lowering, node, 'Math.trunc');
  if (wanted === 'integer') return { hint: whole, fixes: [truncating] };
  const float = `${intrinsic(lowering, 'f32')}(${written(lowering, left)}) / ${writtenOperand(lowering, right)}`;
  return {
    hint: `${whole}, or ${float} for a float`,
    fixes: [truncating, ...castFix(lowering, left, 'f32')],
  };
}
