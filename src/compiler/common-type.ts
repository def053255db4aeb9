// The type in which numbers are combined.
//
// Typed numbers join their types; a literal follows them, and so does an open number, which notes what it
// meets. Bigints and numbers are never combined.

import type { AnyNode, Node } from 'acorn';
import { type Advice, castFix, intrinsic, replacementAdvice } from './advice.ts';
import type { Lowering } from './lowering.ts';
import { isBigint, isFloat, join, type NumberType } from './number-types.ts';
import { isBigintValue } from './numbers.ts';
import { describe, hasFraction, type Numeric, type OpenValue } from './values.ts';
import { written } from './written.ts';

/**
 * The type in which numbers are combined, noting what open ones meet. Null while one is open and
 * none has a type.
 */
export function commonType(
  lowering: Lowering,
  values: readonly Numeric[],
  node: Node,
  operation: string,
): NumberType | null {
  refuseBigintMix(lowering, values, node, operation);
  let type: NumberType | null = null;
  for (const value of values) {
    if (value.kind !== 'number') continue;
    const joined: NumberType | null = type === null ? value.type : join(type, value.type);
    if (joined === null) refuseMix(lowering, value.type, values, node, operation);
    type = joined;
  }
  const open = values.filter((value) => value.kind === 'open');
  if (type !== null) {
    for (const value of open) lowering.inference.meets(value, type);
  } else if (open.length > 0) {
    lowering.inference.link(open.flatMap(({ cells }) => cells));
    return null;
  }
  if (values.some(hasFraction) && (type === null || !isFloat(type))) return 'f32';
  return type ?? (values.some(isBigintValue) ? 'i64' : 'i32');
}

/** Bigints and numbers are never combined, in JavaScript as here. */
export function refuseBigintMix(
  lowering: Lowering,
  values: readonly Numeric[],
  node: Node,
  operation: string,
): void {
  const settled = values.filter((value) => value.kind !== 'open');
  const bigint = settled.find(isBigintValue);
  const other = settled.find((value) => !isBigintValue(value));
  if (bigint === undefined || other === undefined) return;
  lowering.fail(
    node,
    'WS1004',
    `${operation} combines ${describe(bigint)} with ${describe(other)}`,
    mixAdvice(lowering, values, node, bigint, other),
  );
}

function mixAdvice(
  lowering: Lowering,
  values: readonly Numeric[],
  node: Node,
  bigint: Numeric,
  other: Numeric,
): Advice {
  const operands = operandsOf(node);
  const replaced = (value: Numeric, text: string): Advice => {
    const operand = operands?.[values.indexOf(value)];
    return operand === undefined
      ? { hint: `write ${text}`, fixes: [] }
      : replacementAdvice(lowering, operand, text);
  };
  if (other.kind === 'literal' && Number.isInteger(other.value)) return replaced(other, `${other.value}n`);
  if (bigint.kind === 'literal' && other.kind === 'number') return replaced(bigint, String(bigint.value));
  const type = bigint.kind === 'number' ? bigint.type : 'i64';
  if (other.kind === 'number' && isFloat(other.type)) {
    return castOfSome(lowering, values, node, [[(value) => isBigintValue(value), other.type]]);
  }
  return castOfSome(lowering, values, node, [
    [(value) => !isBigintValue(value), type],
    [(value) => isBigintValue(value), 'i32'],
  ]);
}

/** Which operands a way to mend a mixture casts, and to what. */
type Way = readonly [isCast: (value: Numeric) => boolean, type: string];

/** `cast one of them: cuda.i32(a) or cuda.u32(b)`, each way with all operands that it casts. */
function castOfSome(
  lowering: Lowering,
  values: readonly Numeric[],
  node: Node,
  ways: readonly Way[],
): Advice {
  const operands = operandsOf(node);
  if (operands?.length !== values.length) {
    return { hint: `cast one of them by ${ways.map(([, type]) => `cuda.${type}`).join(' or ')}`, fixes: [] };
  }
  const within = lowering.range(node);
  const made = ways.map(([isCast, type]) => {
    const cast = operands.filter((_, position) => isCast(values[position]!));
    const parts = cast.flatMap((operand) => castFix(lowering, operand, type));
    const codes = cast.map((operand) => `${intrinsic(lowering, type)}(${written(lowering, operand)})`);
    const code = [...new Set(codes)].join(' and ');
    const fix = { title: `write ${code}`, within, edits: parts.flatMap(({ edits }) => edits) };
    return { code, fixes: parts.length > 0 ? [fix] : [] };
  });
  return {
    hint: `cast one of them: ${made.map(({ code }) => code).join(' or ')}`,
    fixes: made.flatMap(({ fixes }) => fixes),
  };
}

/** The nodes whose values are combined; null where they are not written out, as in `a += b`. */
function operandsOf(node: Node): readonly Node[] | null {
  const one = node as AnyNode;
  switch (one.type) {
    case 'BinaryExpression':
      return [one.left, one.right];
    case 'ConditionalExpression':
      return [one.consequent, one.alternate];
    case 'CallExpression':
      return one.arguments;
    default:
      return null;
  }
}

function refuseMix(
  lowering: Lowering,
  type: NumberType,
  values: readonly Numeric[],
  node: Node,
  operation: string,
): never {
  const big = isBigint(type);
  return lowering.fail(
    node,
    'WS1004',
    `${operation} combines an ${big ? 'i64 and a u64' : 'i32 and a u32'}`,
    castOfSome(lowering, values, node, [
      isOf(big ? 'i64' : 'i32', big ? 'u64' : 'u32'),
      isOf(big ? 'u64' : 'u32', big ? 'i64' : 'i32'),
    ]),
  );
}

/** Operands of one type are cast to another. */
function isOf(from: NumberType, to: NumberType): Way {
  return [(value) => value.kind === 'number' && value.type === from, to];
}

/** An open number made of others. */
export function openOf(values: readonly Numeric[], fractional = values.some(hasFraction)): OpenValue {
  const cells = values.flatMap((value) => (value.kind === 'open' ? value.cells : []));
  return { kind: 'open', cells: [...new Set(cells)], fractional };
}
