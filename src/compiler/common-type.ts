// The type in which numbers are combined.
//
// Typed numbers join their types; a literal follows them, and so does an open number, which notes what it
// meets. Bigints and numbers are never combined.

import type { Node } from 'acorn';
import type { Lowering } from './lowering.ts';
import { isBigint, isFloat, join, type NumberType } from './number-types.ts';
import { isBigintValue } from './numbers.ts';
import { describe, hasFraction, type Numeric, type OpenValue } from './values.ts';

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
    if (joined === null) refuseMix(lowering, value.type, node, operation);
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
    mixHint(bigint, other),
  );
}

function mixHint(bigint: Numeric, other: Numeric): string {
  if (other.kind === 'literal' && Number.isInteger(other.value)) return `write ${other.value}n`;
  if (bigint.kind === 'literal' && other.kind === 'number') return `write ${bigint.value} without n`;
  const type = bigint.kind === 'number' ? bigint.type : 'i64';
  if (other.kind === 'number' && isFloat(other.type)) return `cast one of them: cuda.${other.type}(…)`;
  return `cast one of them: cuda.${type}(…), or cuda.i32(…) for a number`;
}

function refuseMix(lowering: Lowering, type: NumberType, node: Node, operation: string): never {
  const big = isBigint(type);
  return lowering.fail(
    node,
    'WS1004',
    `${operation} combines an ${big ? 'i64 and a u64' : 'i32 and a u32'}`,
    big
      ? 'cast one of them: cuda.i64(…) or cuda.u64(…)'
      : 'cast one of them: cuda.i32(…), cuda.u32(…), or cuda.index(…) for both ranges',
  );
}

/** An open number made of others. */
export function openOf(values: readonly Numeric[], fractional = values.some(hasFraction)): OpenValue {
  const cells = values.flatMap((value) => (value.kind === 'open' ? value.cells : []));
  return { kind: 'open', cells: [...new Set(cells)], fractional };
}
