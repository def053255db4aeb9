// Operators on literals: computed in doubles, as JavaScript does.

import type { Node, BinaryOperator as Token } from 'acorn';
import { conditional } from './build.ts';
import type { Lowering } from './lowering.ts';
import { isLiteral, toBool } from './numbers.ts';
import { type EitherValue, type LiteralValue, literal, number, type Value } from './values.ts';

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
    const result = operation(left.value, right.value);
    return typeof result === 'number' ? literal(result) : number('bool', lowering.boolConstant(result, node));
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
