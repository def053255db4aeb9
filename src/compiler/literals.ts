// Operators on literals: computed in doubles, or in bigints of any size, as JavaScript does.

import type { Node, BinaryOperator as Token } from 'acorn';
import { conditional } from './build.ts';
import { refuseBigintMix } from './common-type.ts';
import type { Lowering } from './lowering.ts';
import { isLiteral, toBool } from './numbers.ts';
import { type EitherValue, type LiteralValue, literal, number, type Value } from './values.ts';

/** Works on two numbers as on two bigints, whatever TypeScript takes them for. */
type LiteralOperation = (a: number, b: number) => number | boolean;

const onLiterals: { readonly [operator: string]: LiteralOperation } = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '**': (a, b) => a ** b,
  '&': (a, b) => a & b,
  '|': (a, b) => a | b,
  '^': (a, b) => a ^ b,
  '<<': (a, b) => a << b,
  '>>': (a, b) => a >> b,
  '>>>': (a, b) => a >>> b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '==': (a, b) => a === b,
  '===': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '!==': (a, b) => a !== b,
};

/** Computes with literals as JavaScript does; a choice of literals is computed on both sides. */
export function literalOperation(
  lowering: Lowering,
  operator: Token,
  left: Value,
  right: Value,
  node: Node,
): Value | null {
  const operation = onLiterals[operator];
  if (operation === undefined || !isLiteral(left) || !isLiteral(right)) return null;
  if (left.kind === 'literal' && right.kind === 'literal') {
    refuseBigintMix(lowering, [left, right], node, `'${operator}'`);
    const result = computed(lowering, operation, left, right, node);
    return typeof result === 'boolean'
      ? number('bool', lowering.boolConstant(result, node))
      : literal(result);
  }
  // Two choices would make four; they take types instead.
  if (left.kind === 'either' && right.kind === 'either') return null;
  const choice = (left.kind === 'either' ? left : right) as EitherValue;
  const side = (one: LiteralValue | EitherValue) =>
    left.kind === 'either'
      ? literalOperation(lowering, operator, one, right, node)!
      : literalOperation(lowering, operator, left, one, node)!;
  const [then, otherwise] = [side(choice.then), side(choice.otherwise)];
  if (isLiteral(then) && isLiteral(otherwise)) return { kind: 'either', test: choice.test, then, otherwise };
  const range = lowering.range(node);
  const [a, b] = [toBool(lowering, then, node), toBool(lowering, otherwise, node)];
  return number('bool', conditional(choice.test, a, b, range));
}

/** Where bigints have no result, as for `1n / 0n`, JavaScript throws. */
function computed(
  lowering: Lowering,
  operation: LiteralOperation,
  { value: a }: LiteralValue,
  { value: b }: LiteralValue,
  node: Node,
): number | bigint | boolean {
  try {
    return operation(a as number, b as number);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return lowering.fail(node, 'WS1004', `these bigints have no result: ${why}`, 'write another operation');
  }
}
